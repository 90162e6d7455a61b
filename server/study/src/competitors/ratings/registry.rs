//! List of all mechanisms for ratings.

use hushbin::Error;

use super::harmony::Harmony;
use super::k_fold::KFoldRepetition;
use super::laplace_noise::LaplaceNoise;
use super::naive_bits::NaiveBits;
use super::normal_noise::NormalNoise;
use super::oracle::{OracleSetting, RatingOracle};
use super::pckv::{PckvGrr, PckvUe};
use super::privkv::PrivKv;
use super::sampling::EntrySampling;
use super::signed_bit::SignedBit;
use super::signed_hash::SignedHash;
use super::three_answers::PrivKvThreeAnswers;

/// Unit of privacy: the pairs of inputs that a report's ε makes indistinguishable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivacyUnit {
    /// User level: any two inputs are neighbours.
    User,
    /// Event level: neighbouring inputs differ in one entry.
    Event,
    /// Two inputs are neighbours if the differences of their values add up to at most the distance
    /// L.
    Neighbouring,
}

/// Mechanism with its name, unit of privacy, source and constructor.
#[derive(Debug, Clone, Copy)]
pub struct NamedOracle {
    /// Name in figures.
    pub name: &'static str,
    /// Unit of privacy: which pairs of inputs a report's ε makes indistinguishable.
    pub privacy_unit: PrivacyUnit,
    /// Source of the mechanism, and deviations from the source.
    pub source: &'static str,
    /// Constructor, which chooses the parameters for a setting.
    pub build: fn(&OracleSetting) -> Result<Box<dyn RatingOracle>, Error>,
}

/// List of all published mechanisms for ratings.
pub const ORACLES: &[NamedOracle] = &[
    NamedOracle {
        name: "PrivKV",
        privacy_unit: PrivacyUnit::User,
        source: "Ye et al. 2019; spends less than ε",
        build: |setting| Ok(Box::new(PrivKv::published(setting)?)),
    },
    NamedOracle {
        name: "PrivKV, calibrated",
        privacy_unit: PrivacyUnit::User,
        source: "Ye et al. 2019, with parameters that spend ε",
        build: |setting| Ok(Box::new(PrivKv::calibrated(setting)?)),
    },
    NamedOracle {
        name: "PrivKV, three answers",
        privacy_unit: PrivacyUnit::User,
        source: "PrivKV as interpreted in P1",
        build: |setting| Ok(Box::new(PrivKvThreeAnswers::new(setting)?)),
    },
    NamedOracle {
        name: "PCKV-UE",
        privacy_unit: PrivacyUnit::User,
        source: "Gu et al. 2020",
        build: |setting| Ok(Box::new(PckvUe::new(setting)?)),
    },
    NamedOracle {
        name: "PCKV-GRR",
        privacy_unit: PrivacyUnit::User,
        source: "Gu et al. 2020 as in P1: does not use that drawing an item adds privacy, so it spends less than ε",
        build: |setting| Ok(Box::new(PckvGrr::without_amplification(setting)?)),
    },
    NamedOracle {
        name: "PCKV-AGRR",
        privacy_unit: PrivacyUnit::User,
        source: "Gu et al. 2020",
        build: |setting| Ok(Box::new(PckvGrr::adaptive(setting)?)),
    },
    NamedOracle {
        name: "sampling, OLH",
        privacy_unit: PrivacyUnit::User,
        source: "T. Wang et al. 2017 on one random entry",
        build: |setting| Ok(Box::new(EntrySampling::<SignedHash>::new(setting)?)),
    },
    NamedOracle {
        name: "sampling, one bit",
        privacy_unit: PrivacyUnit::User,
        source: "code of P3",
        build: |setting| Ok(Box::new(EntrySampling::<SignedBit>::new(setting)?)),
    },
    NamedOracle {
        name: "k-fold, OLH",
        privacy_unit: PrivacyUnit::Event,
        source: "P3 §2.1, with slots in random order",
        build: |setting| Ok(Box::new(KFoldRepetition::<SignedHash>::new(setting)?)),
    },
    NamedOracle {
        name: "k-fold, one bit",
        privacy_unit: PrivacyUnit::Event,
        source: "P3 §2.1 with the oracle of its code, with slots in random order",
        build: |setting| Ok(Box::new(KFoldRepetition::<SignedBit>::new(setting)?)),
    },
    NamedOracle {
        name: "naive bits, event",
        privacy_unit: PrivacyUnit::Event,
        source: "P3, Table 1",
        build: |setting| Ok(Box::new(NaiveBits::event_level(setting)?)),
    },
    NamedOracle {
        name: "naive bits, user",
        privacy_unit: PrivacyUnit::User,
        source: "P3, Table 1, with ε/k for each bit",
        build: |setting| Ok(Box::new(NaiveBits::user_level(setting)?)),
    },
    NamedOracle {
        name: "Gaussian, event",
        privacy_unit: PrivacyUnit::Event,
        source: "Balle and Y.-X. Wang 2018",
        build: |setting| Ok(Box::new(NormalNoise::event_level(setting)?)),
    },
    NamedOracle {
        name: "Gaussian, user",
        privacy_unit: PrivacyUnit::User,
        source: "Balle and Y.-X. Wang 2018",
        build: |setting| Ok(Box::new(NormalNoise::user_level(setting)?)),
    },
    NamedOracle {
        name: "Harmony",
        privacy_unit: PrivacyUnit::User,
        source: "Nguyên et al. 2016",
        build: |setting| Ok(Box::new(Harmony::new(setting)?)),
    },
    NamedOracle {
        name: "Gaussian, within L",
        privacy_unit: PrivacyUnit::Neighbouring,
        source: "Balle and Y.-X. Wang 2018",
        build: |setting| Ok(Box::new(NormalNoise::within_distance(setting)?)),
    },
    NamedOracle {
        name: "Laplace, within L",
        privacy_unit: PrivacyUnit::Neighbouring,
        source: "Dwork et al. 2006",
        build: |setting| Ok(Box::new(LaplaceNoise::new(setting)?)),
    },
];
