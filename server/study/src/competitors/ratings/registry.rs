//! List of all mechanisms for ratings.

use hushbin::Error;

use super::harmony::Harmony;
use super::k_fold::KFold;
use super::laplace_noise::LaplaceNoise;
use super::naive_bits::NaiveBits;
use super::normal_noise::NormalNoise;
use super::oracle::{Oracle, Setting};
use super::pckv::{PckvGrr, PckvUe};
use super::privkv::PrivKv;
use super::sampling::Sampling;
use super::signed_bit::SignedBit;
use super::signed_hash::SignedHash;
use super::three_answers::ThreeAnswers;

/// Unit of privacy: the pairs of inputs that a report's ε makes indistinguishable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protects {
    /// User level: any two inputs are neighbours.
    User,
    /// Event level: neighbouring inputs differ in one entry.
    Event,
    /// Inputs are neighbours if the differences of their values add up to at most L.
    Neighbouring,
}

/// Mechanism with its name, unit of privacy, source and constructor.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Name in figures.
    pub name: &'static str,
    /// Unit of privacy that ε applies to.
    pub protects: Protects,
    /// Source of the mechanism, and deviations from the source.
    pub source: &'static str,
    /// Constructor, which chooses the parameters for a setting.
    pub build: fn(&Setting) -> Result<Box<dyn Oracle>, Error>,
}

/// List of all mechanisms.
pub const ORACLES: &[Named] = &[
    Named {
        name: "PrivKV",
        protects: Protects::User,
        source: "Ye et al. 2019; spends less than ε",
        build: |setting| Ok(Box::new(PrivKv::published(setting)?)),
    },
    Named {
        name: "PrivKV, calibrated",
        protects: Protects::User,
        source: "Ye et al. 2019, with parameters that spend ε",
        build: |setting| Ok(Box::new(PrivKv::calibrated(setting)?)),
    },
    Named {
        name: "PrivKV, three answers",
        protects: Protects::User,
        source: "PrivKV as P1 reads it",
        build: |setting| Ok(Box::new(ThreeAnswers::new(setting)?)),
    },
    Named {
        name: "PCKV-UE",
        protects: Protects::User,
        source: "Gu et al. 2020",
        build: |setting| Ok(Box::new(PckvUe::new(setting)?)),
    },
    Named {
        name: "PCKV-GRR",
        protects: Protects::User,
        source: "Gu et al. 2020 as P1 has it, handicapped: ε before the draw is counted, so that it spends less",
        build: |setting| Ok(Box::new(PckvGrr::direct(setting)?)),
    },
    Named {
        name: "PCKV-AGRR",
        protects: Protects::User,
        source: "Gu et al. 2020",
        build: |setting| Ok(Box::new(PckvGrr::adaptive(setting)?)),
    },
    Named {
        name: "sampling, OLH",
        protects: Protects::User,
        source: "T. Wang et al. 2017 on one random entry",
        build: |setting| Ok(Box::new(Sampling::<SignedHash>::new(setting)?)),
    },
    Named {
        name: "sampling, one bit",
        protects: Protects::User,
        source: "the code of P3",
        build: |setting| Ok(Box::new(Sampling::<SignedBit>::new(setting)?)),
    },
    Named {
        name: "k-fold, OLH",
        protects: Protects::Event,
        source: "P3 §2.1, its slots in random order",
        build: |setting| Ok(Box::new(KFold::<SignedHash>::new(setting)?)),
    },
    Named {
        name: "k-fold, one bit",
        protects: Protects::Event,
        source: "P3 §2.1 with the oracle of its code, its slots in random order",
        build: |setting| Ok(Box::new(KFold::<SignedBit>::new(setting)?)),
    },
    Named {
        name: "naive bits, event",
        protects: Protects::Event,
        source: "P3, Table 1",
        build: |setting| Ok(Box::new(NaiveBits::event(setting)?)),
    },
    Named {
        name: "naive bits, user",
        protects: Protects::User,
        source: "P3, Table 1, with ε/k for each bit",
        build: |setting| Ok(Box::new(NaiveBits::user(setting)?)),
    },
    Named {
        name: "Gaussian, event",
        protects: Protects::Event,
        source: "Balle and Y.-X. Wang 2018",
        build: |setting| Ok(Box::new(NormalNoise::event(setting)?)),
    },
    Named {
        name: "Gaussian, user",
        protects: Protects::User,
        source: "Balle and Y.-X. Wang 2018",
        build: |setting| Ok(Box::new(NormalNoise::user(setting)?)),
    },
    Named {
        name: "Harmony",
        protects: Protects::User,
        source: "Nguyên et al. 2016",
        build: |setting| Ok(Box::new(Harmony::new(setting)?)),
    },
    Named {
        name: "Gaussian, within L",
        protects: Protects::Neighbouring,
        source: "Balle and Y.-X. Wang 2018",
        build: |setting| Ok(Box::new(NormalNoise::within(setting)?)),
    },
    Named {
        name: "Laplace, within L",
        protects: Protects::Neighbouring,
        source: "Dwork et al. 2006",
        build: |setting| Ok(Box::new(LaplaceNoise::new(setting)?)),
    },
];
