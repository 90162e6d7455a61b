//! List of all mechanisms for ratings.

use hushbin::Error;

use super::entry_sampling::SingleEntrySampling;
use super::harmony::HarmonyMechanism;
use super::k_fold::KFoldRepetition;
use super::laplace_noise::LaplaceMechanism;
use super::naive_bits::NaivePerturbation;
use super::normal_noise::GaussianRatingMechanism;
use super::pckv::{PckvGrr, PckvUe};
use super::privkv::PrivKv;
use super::rating_oracle::{OracleSetting, RatingOracle};
use super::signed_bit::HashedSignBitOracle;
use super::signed_item_hashing::SignedItemHashOracle;
use super::three_answers::PrivKvThreeAnswers;

/// Unit of privacy: the pairs of inputs that a report's ε makes indistinguishable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivacyUnit {
    /// User level: any two inputs are neighbours.
    UserLevel,
    /// Event level: neighbouring inputs differ in one entry.
    EventLevel,
    /// Two inputs are neighbours if the differences of their values add up to at most the distance
    /// L.
    WithinDistance,
}

/// Mechanism with its name, unit of privacy, source and constructor.
#[derive(Debug, Clone, Copy)]
pub struct NamedOracle {
    /// Name in figures.
    pub name: &'static str,
    /// Unit of privacy: which pairs of inputs a report's ε makes indistinguishable.
    pub privacy_unit: PrivacyUnit,
    /// Source of the mechanism, and deviations from the source.
    pub published_source: &'static str,
    /// Constructor, which chooses the parameters for a setting.
    pub build: fn(&OracleSetting) -> Result<Box<dyn RatingOracle>, Error>,
}

/// List of all published mechanisms for ratings.
pub const PUBLISHED_RATING_ORACLES: &[NamedOracle] = &[
    NamedOracle {
        name: "PrivKV",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "Ye et al. 2019; spends less than ε",
        build: |setting| Ok(Box::new(PrivKv::with_published_budget_split(setting)?)),
    },
    NamedOracle {
        name: "PrivKV, calibrated",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "Ye et al. 2019, with parameters that spend ε",
        build: |setting| Ok(Box::new(PrivKv::with_calibrated_budget_split(setting)?)),
    },
    NamedOracle {
        name: "PrivKV, three answers",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "PrivKV as interpreted in P1",
        build: |setting| Ok(Box::new(PrivKvThreeAnswers::new(setting)?)),
    },
    NamedOracle {
        name: "PCKV-UE",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "Gu et al. 2020",
        build: |setting| Ok(Box::new(PckvUe::new(setting)?)),
    },
    NamedOracle {
        name: "PCKV-GRR",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "Gu et al. 2020 as in P1: does not use that drawing an item adds privacy, so it spends less than ε",
        build: |setting| Ok(Box::new(PckvGrr::without_amplification(setting)?)),
    },
    NamedOracle {
        name: "PCKV-AGRR",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "Gu et al. 2020",
        build: |setting| Ok(Box::new(PckvGrr::with_amplification(setting)?)),
    },
    NamedOracle {
        name: "sampling, OLH",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "T. Wang et al. 2017 on one random entry",
        build: |setting| {
            Ok(Box::new(SingleEntrySampling::<SignedItemHashOracle>::new(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "sampling, one bit",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "code of P3",
        build: |setting| {
            Ok(Box::new(SingleEntrySampling::<HashedSignBitOracle>::new(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "k-fold, OLH",
        privacy_unit: PrivacyUnit::EventLevel,
        published_source: "P3 §2.1, with slots in random order",
        build: |setting| {
            Ok(Box::new(KFoldRepetition::<SignedItemHashOracle>::new(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "k-fold, one bit",
        privacy_unit: PrivacyUnit::EventLevel,
        published_source: "P3 §2.1 with the oracle of its code, with slots in random order",
        build: |setting| {
            Ok(Box::new(KFoldRepetition::<HashedSignBitOracle>::new(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "naive bits, event",
        privacy_unit: PrivacyUnit::EventLevel,
        published_source: "P3, Table 1",
        build: |setting| {
            Ok(Box::new(NaivePerturbation::with_event_level_privacy(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "naive bits, user",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "P3, Table 1, with ε/k for each bit",
        build: |setting| {
            Ok(Box::new(NaivePerturbation::with_user_level_privacy(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "Gaussian, event",
        privacy_unit: PrivacyUnit::EventLevel,
        published_source: "Balle and Y.-X. Wang 2018",
        build: |setting| {
            Ok(Box::new(GaussianRatingMechanism::with_event_level_privacy(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "Gaussian, user",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "Balle and Y.-X. Wang 2018",
        build: |setting| {
            Ok(Box::new(GaussianRatingMechanism::with_user_level_privacy(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "Harmony",
        privacy_unit: PrivacyUnit::UserLevel,
        published_source: "Nguyên et al. 2016",
        build: |setting| Ok(Box::new(HarmonyMechanism::new(setting)?)),
    },
    NamedOracle {
        name: "Gaussian, within L",
        privacy_unit: PrivacyUnit::WithinDistance,
        published_source: "Balle and Y.-X. Wang 2018",
        build: |setting| {
            Ok(Box::new(GaussianRatingMechanism::with_distance_privacy(
                setting,
            )?))
        },
    },
    NamedOracle {
        name: "Laplace, within L",
        privacy_unit: PrivacyUnit::WithinDistance,
        published_source: "Dwork et al. 2006",
        build: |setting| Ok(Box::new(LaplaceMechanism::new(setting)?)),
    },
];
