//! `hushbin key`: keys of shufflers and analysers.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use data_encoding::HEXLOWER;

use super::output::Error;
use crate::keys::{self, Algorithm};
use crate::role::signature;
use crate::sealed::Configuration;
use crate::task::task_file::TaskFile;
use crate::{ohttp, sealed};

/// Make and show the keys of shufflers and analysers
///
/// Files are PEM, as openssl genpkey and openssl pkey -pubout write them.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(CreateOptions),
    Public(PublicOptions),
    Pin(PinOptions),
    Gateway(GatewayOptions),
}

/// Make a private key, which nobody but the file's owner may read, and print its public half
#[derive(Debug, Args)]
struct CreateOptions {
    /// What it is for: pages seal reports to an analyser's key, and requests to a gateway's;
    /// shufflers and analysers know each other by what they sign
    #[arg(long = "for", value_name = "PURPOSE", value_enum)]
    algorithm: Algorithm,
    /// File of the private key, which must not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Print the public half of a private key
#[derive(Debug, Args)]
struct PublicOptions {
    /// What the key is for
    #[arg(long = "for", value_name = "PURPOSE", value_enum)]
    algorithm: Algorithm,
    /// File of the private key
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Print what a page knows the analyser of a task by, for each public key that reports are
/// sealed to
#[derive(Debug, Args)]
struct PinOptions {
    /// Task file
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// Files of the analyser's public keys for sealing
    #[arg(value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
}

/// Print what a page knows the gateway behind a relay by: the key configuration of Oblivious HTTP
/// for each public key that requests are sealed to, hexadecimal
#[derive(Debug, Args)]
struct GatewayOptions {
    /// Files of the public keys of --ohttp-key
    #[arg(value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<(), Error> {
    match &options.command {
        Command::Create(CreateOptions { algorithm, file }) => {
            let private = keys::create(file, *algorithm)?;
            write!(out, "{}", public_pem(*algorithm, &private))?;
        }
        Command::Public(PublicOptions { algorithm, file }) => {
            let private = keys::read_private(file, *algorithm)?;
            write!(out, "{}", public_pem(*algorithm, &private))?;
        }
        Command::Pin(PinOptions { task, keys }) => {
            let task = TaskFile::read(task)?.resolve()?;
            for file in keys {
                let key = keys::read_public(file, Algorithm::X25519)?;
                let pin = Configuration::new(&task, &key).pin();
                writeln!(out, "{}", HEXLOWER.encode(&pin))?;
            }
        }
        Command::Gateway(GatewayOptions { keys }) => {
            for file in keys {
                let key = keys::read_public(file, Algorithm::X25519)?;
                writeln!(out, "{}", HEXLOWER.encode(&ohttp::configuration(&key)))?;
            }
        }
    }
    Ok(())
}

/// The public half of a private key, as a file holds it.
fn public_pem(algorithm: Algorithm, private: &[u8; keys::LENGTH]) -> String {
    let public = match algorithm {
        Algorithm::X25519 => sealed::public(private),
        Algorithm::Ed25519 => signature::public(private),
    };
    keys::public_pem(algorithm, &public)
}
