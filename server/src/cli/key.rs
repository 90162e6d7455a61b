//! `hushbin key`: keys of shufflers, analysers and gateways.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use data_encoding::HEXLOWER;

use super::output::Error;
use crate::keys::{self, KeyAlgorithm};
use crate::role::signature;
use crate::sealed::KeyConfiguration;
use crate::task::task_file::TaskFile;
use crate::{ohttp, sealed};

/// Create and show keys of shufflers, analysers and gateways
///
/// Key files have the format PEM, and are interchangeable with those of 'openssl genpkey' and
/// 'openssl pkey -pubout'.
#[derive(Debug, Args)]
pub(super) struct KeyCommandOptions {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    Create(KeyCreateOptions),
    Public(PublicKeyOptions),
    Pin(PrintKeyPinsOptions),
    Gateway(GatewayKeyConfigOptions),
}

/// Create a private key in a file that only its owner can read, and print the public key
#[derive(Debug, Args)]
struct KeyCreateOptions {
    /// Purpose of the key
    #[arg(long = "for", value_name = "PURPOSE", value_enum)]
    algorithm: KeyAlgorithm,
    /// New file for the private key (PEM)
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Print the public key that belongs to a private key
#[derive(Debug, Args)]
struct PublicKeyOptions {
    /// Purpose of the key
    #[arg(long = "for", value_name = "PURPOSE", value_enum)]
    algorithm: KeyAlgorithm,
    /// File with the private key (PEM)
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Print the pin of each sealing key of an analyser
///
/// A web page passes these pins to the hushbin client in the option 'analyser'.
#[derive(Debug, Args)]
struct PrintKeyPinsOptions {
    /// Task file (JSON) of the task whose reports are sealed
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// Files with the analyser's public sealing keys (PEM)
    #[arg(value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
}

/// Print the public configuration of each gateway key
///
/// Each key gives one line of hexadecimal digits: a key configuration of Oblivious HTTP (RFC 9458).
/// A web page passes one such line to the hushbin client in the option 'relay.gateway'.
#[derive(Debug, Args)]
struct GatewayKeyConfigOptions {
    /// Files with the gateway's public sealing keys (PEM)
    #[arg(value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
}

pub(super) fn run_key_command(
    options: &KeyCommandOptions,
    out: &mut dyn Write,
) -> Result<(), Error> {
    match &options.command {
        KeyCommand::Create(KeyCreateOptions { algorithm, file }) => {
            let private = keys::create_private_key(file, *algorithm)?;
            write!(out, "{}", public_key_pem(*algorithm, &private))?;
        }
        KeyCommand::Public(PublicKeyOptions { algorithm, file }) => {
            let private = keys::read_private_key(file, *algorithm)?;
            write!(out, "{}", public_key_pem(*algorithm, &private))?;
        }
        KeyCommand::Pin(PrintKeyPinsOptions { task, keys }) => {
            let tasks = TaskFile::read(task)?.resolve_labelled_tasks()?;
            for file in keys {
                let key = keys::read_public_key(file, KeyAlgorithm::X25519)?;
                for task in &tasks {
                    let pin = KeyConfiguration::new(task, &key).configuration_pin();
                    writeln!(out, "{}", HEXLOWER.encode(&pin))?;
                }
            }
        }
        KeyCommand::Gateway(GatewayKeyConfigOptions { keys }) => {
            for file in keys {
                let key = keys::read_public_key(file, KeyAlgorithm::X25519)?;
                writeln!(out, "{}", HEXLOWER.encode(&ohttp::key_configuration(&key)))?;
            }
        }
    }
    Ok(())
}

/// Returns the public key that belongs to a private key, in PEM.
fn public_key_pem(algorithm: KeyAlgorithm, private: &[u8; keys::KEY_BYTES]) -> String {
    let public = match algorithm {
        KeyAlgorithm::X25519 => sealed::x25519_public_key(private),
        KeyAlgorithm::Ed25519 => signature::derive_ed25519_public_key(private),
    };
    keys::public_pem(algorithm, &public)
}
