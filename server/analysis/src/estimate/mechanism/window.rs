//! Estimates from reports of the window mechanism: the mean of each attribute. The attributes are
//! the numbers that the question asks people to give.
//!
//! An atom is a possible reported value. A report's seed draws m of the d attributes. The report
//! reveals one atom of each drawn attribute.
//!
//! The score of a report for an attribute is the atom's value times `scale` if the attribute is
//! drawn, and otherwise 0. Its expectation is the person's number. An attribute is drawn with
//! probability m/d, which `scale` takes into account. So sums of scores are divided by the number
//! of all reports, including reports that did not draw the attribute.
//!
//! For a fixed population, standard errors use the worst-case variance over all numbers. For a
//! question with one number, the worst-case variance is at most 1.2 times the actual variance, if ε
//! is at most 6 and hushbin chooses the parameters. For many numbers at a large ε, it is several
//! times the actual variance. For a random sample, the variance of people's own numbers is
//! included.

use hushbin::domain::Domain;
use hushbin::mechanism::window::{AtomDecoder, EstimateScaleAndVariance, Report, Window};

use super::estimated_mechanism::{CountedReports, EstimatedMechanism};
use crate::estimate::counters::{SlotCounters, TotalsError, TotalsReader};
use crate::estimate::distribution::{
    ContributionDistribution, CrowdBetweenNodes, ScoreDistribution, ScoreProbabilities,
    ScoredGroups,
};
use crate::estimate::point::{Estimand, ItemPointEstimates, PointEstimate, SamplingModel};

/// Minimum number of reports for estimating the variance of scores from the reports.
const MIN_REPORTS_FOR_VARIANCE: f64 = 300.0;

impl EstimatedMechanism for Window {
    type Report = Report;
    type EstimationParameters = EstimateScaleAndVariance;
    type Counts = WindowCounts;

    fn estimands(&self, _: &Domain) -> &'static [Estimand] {
        &[Estimand::Mean]
    }

    fn estimation_parameters(&self, domain: &Domain, epsilon: f64) -> EstimateScaleAndVariance {
        self.estimate_scale_and_variance(domain, epsilon)
    }

    fn empty_counts(&self, domain: &Domain, _: f64, _: &[u64]) -> WindowCounts {
        let attributes = domain.item_count().unwrap_or(0) as usize;
        WindowCounts {
            atom_decoder: self.atom_decoder(domain),
            atoms_per_attribute: self.atoms_per_attribute() as usize,
            atom_counters: SlotCounters::new(attributes * self.atoms_per_attribute() as usize),
        }
    }

    #[inline]
    fn add_report(counts: &mut WindowCounts, report: &Report) {
        let WindowCounts {
            atom_decoder: support,
            atoms_per_attribute: atoms,
            atom_counters: counted,
        } = counts;
        support.for_each_atom(report, |attribute, atom| {
            counted.increment(attribute as usize * *atoms + atom as usize);
        });
    }

    fn counter_updates_per_report(&self, _: &Domain, _: f64) -> Option<u64> {
        Some(self.drawn_attribute_count().into())
    }

    fn merge(counts: &mut WindowCounts, others: &WindowCounts) {
        counts.atom_counters.merge(&others.atom_counters);
    }

    fn encode(counts: &WindowCounts, bytes: &mut Vec<u8>) {
        counts
            .atom_counters
            .encode(counts.atom_counters.slot_range(), bytes);
    }

    fn decode(
        counts: &mut WindowCounts,
        reports: u64,
        bytes: &mut TotalsReader<'_>,
    ) -> Result<(), TotalsError> {
        // A report has at most one atom of an attribute.
        let slots = &mut counts.atom_counters;
        slots.decode(
            slots.slot_range(),
            counts.atoms_per_attribute,
            reports,
            bytes,
        )
    }

    fn point_estimates(
        &self,
        seen: &CountedReports<'_, Self>,
        items: &[u64],
    ) -> Vec<ItemPointEstimates> {
        let counts = |item| seen.counts.attribute_atom_counts(item);
        let point = |&item| {
            estimate_attribute_mean(
                seen.estimation_parameters,
                &counts(item),
                seen.sampling_model,
                seen.reports as f64,
            )
        };
        items.iter().map(point).collect()
    }

    fn contribution_distribution(
        &self,
        seen: &CountedReports<'_, Self>,
        _: u64,
        _: &ItemPointEstimates,
    ) -> ContributionDistribution {
        ContributionDistribution::Scores(
            score_distribution(seen.estimation_parameters, seen.sampling_model).into(),
        )
    }

    fn contribution_range(
        &self,
        rates: &EstimateScaleAndVariance,
        _: &Domain,
        _: f64,
        _: Estimand,
    ) -> [f64; 2] {
        let most = rates.estimate_factor()
            * rates.atom_top_level_ratios[rates.atom_top_level_ratios.len() - 1];
        [-most, most]
    }

    /// Returns the variance for people whose number is 1, and the worst-case variance over all
    /// numbers. The latter replaces the variance for people without the item, because every person
    /// has a number.
    fn variances_with_and_without(
        rates: &EstimateScaleAndVariance,
        _: u32,
        _: Estimand,
    ) -> [f64; 2] {
        [rates.estimate_variance(1.0), rates.max_variance()]
    }
}

/// Estimates the mean of one attribute. `counts` contains the number of reports with each atom.
fn estimate_attribute_mean(
    rates: &EstimateScaleAndVariance,
    counts: &[u64],
    whose: SamplingModel,
    reports: f64,
) -> ItemPointEstimates {
    let over = |weight: fn(f64) -> f64| -> f64 {
        let weighed = rates.atom_top_level_ratios.iter().zip(counts);
        let sum: f64 = weighed.map(|(y, count)| weight(*y) * *count as f64).sum();
        sum / reports
    };
    let mean = over(|y| y) * rates.estimate_factor();
    let variance = match whose {
        SamplingModel::FixedPopulation | SamplingModel::RoundedValues => rates.max_variance(),
        // The mean square of the score is greatest for numbers at the ends of the range.
        SamplingModel::RandomSample if reports < MIN_REPORTS_FOR_VARIANCE => {
            rates.estimate_second_moment(1.0) - (mean * mean).min(1.0)
        }
        SamplingModel::RandomSample => {
            over(|y| y * y) * rates.estimate_factor().powi(2) - (mean * mean).min(1.0)
        }
    };
    ItemPointEstimates {
        mean: Some(PointEstimate::new(mean, variance, reports)),
        ..ItemPointEstimates::default()
    }
}

/// Returns the distribution of scores for every true mean. Of all crowds with this mean, the one
/// whose sum of scores varies most is assumed. People's numbers may be at levels or between them.
fn score_distribution(rates: &EstimateScaleAndVariance, whose: SamplingModel) -> ScoreDistribution {
    let node = |level: usize| {
        (
            rates.level_values[level],
            ScoredGroups::of_one_group(score_probabilities_at_level(rates, level)),
        )
    };
    // If two levels coincide, keep only the first.
    let apart =
        |level: &usize| *level == 0 || rates.level_values[level - 1] < rates.level_values[*level];
    ScoreDistribution {
        nodes: (0..rates.level_values.len())
            .filter(apart)
            .map(node)
            .collect(),
        is_fixed_population: whose != SamplingModel::RandomSample,
        crowd_between_nodes: CrowdBetweenNodes::WorstCase,
    }
}

/// Returns the score distribution of one report from a person whose number is a level. Scores are
/// divided by the score of the last atom.
fn score_probabilities_at_level(
    rates: &EstimateScaleAndVariance,
    level: usize,
) -> ScoreProbabilities {
    let favoured = level..level + rates.favoured_atom_count();
    let last = rates.atom_top_level_ratios[rates.atom_top_level_ratios.len() - 1];
    let atom = |(atom, value): (usize, &f64)| {
        let more = if favoured.contains(&atom) {
            rates.favoured_probability_gap
        } else {
            0.0
        };
        (
            value / last,
            rates.attribute_reveal_fraction * (rates.unfavoured_atom_probability + more),
        )
    };
    let idle = (rates.attribute_reveal_fraction < 1.0)
        .then_some((0.0, 1.0 - rates.attribute_reveal_fraction));
    let values = rates.atom_top_level_ratios.iter().enumerate();
    values.map(atom).chain(idle).collect()
}

/// Number of reports with each atom, by attribute.
#[derive(Debug, Clone)]
pub(crate) struct WindowCounts {
    atom_decoder: AtomDecoder,
    atoms_per_attribute: usize,
    /// Counts of atoms, in one row per attribute.
    atom_counters: SlotCounters,
}

impl WindowCounts {
    /// Returns the counts of one attribute's atoms.
    fn attribute_atom_counts(&self, attribute: u64) -> Vec<u64> {
        let first = attribute as usize * self.atoms_per_attribute;
        let slots = first..first + self.atoms_per_attribute;
        slots.map(|slot| self.atom_counters.get(slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hushbin::choose::window::ParametersDraft;

    use super::*;
    use crate::numeric::confidence_limits::{LimitSide, TailThresholds};

    /// Computes the distribution of the sum of reported atoms' values. `people` are pairs of a
    /// number and how many people have it. The result is in units of the mechanism's integer
    /// values.
    fn sums(
        window: &Window,
        rates: &EstimateScaleAndVariance,
        people: &[(f64, usize)],
    ) -> BTreeMap<i64, f64> {
        let mut all = BTreeMap::from([(0, 1.0)]);
        for &(number, count) in people {
            let above = rates.level_values.partition_point(|level| *level <= number);
            let above = above.clamp(1, rates.level_values.len() - 1);
            let [low, high] = [rates.level_values[above - 1], rates.level_values[above]];
            let part = (number - low) / (high - low);
            let [own, next] =
                [above - 1, above].map(|level| score_probabilities_at_level(rates, level));
            let mut told: BTreeMap<i64, f64> = BTreeMap::new();
            for (at, ((_, p), (_, q))) in own.iter().zip(&next).enumerate() {
                // The last outcome means that the attribute is not drawn.
                let value =
                    (at < rates.atom_top_level_ratios.len()).then(|| window.atom_value(at as u32));
                *told.entry(value.unwrap_or(0).into()).or_default() += (1.0 - part) * p + part * q;
            }
            for _ in 0..count {
                let mut sums = BTreeMap::new();
                for (sum, p) in &all {
                    for (value, q) in &told {
                        *sums.entry(sum + value).or_insert(0.0) += p * q;
                    }
                }
                sums.retain(|_, p| *p > 1e-14);
                all = sums;
            }
        }
        all
    }

    /// Intervals miss the true mean at most 10 per cent more often than stated. So 95% intervals
    /// cover it with a probability of at least 94.5 per cent. Miss rates are summed over all
    /// outcomes, for people at the ends, at levels and between levels.
    #[test]
    fn intervals_miss_no_more_often_than_they_say() {
        let levels = |drawn: u32| ParametersDraft {
            drawn: Some(drawn),
            atoms: Some(3),
            favoured: Some(1),
            values: Some(vec![1]),
            objective: None,
        };
        for (attributes, epsilon, most, draft) in [
            (1, 0.2, 40, ParametersDraft::default()),
            (1, 0.5, 30, ParametersDraft::default()),
            (1, 1.0, 24, ParametersDraft::default()),
            (1, 2.0, 16, ParametersDraft::default()),
            (1, 4.0, 8, ParametersDraft::default()),
            (1, 6.0, 6, ParametersDraft::default()),
            (4, 1.0, 16, ParametersDraft::default()),
            (4, 4.0, 10, ParametersDraft::default()),
            (5, 8.0, 40, ParametersDraft::default()),
            (5, 12.0, 40, ParametersDraft::default()),
            // With few levels, the worst case is between two levels.
            (1, 3.0, 60, levels(1)),
            (1, 6.0, 60, levels(1)),
            (2, 6.0, 60, levels(2)),
        ] {
            let domain = Domain::of_dense_inputs(attributes);
            let window = Window::choose_parameters(&domain, epsilon, &draft).unwrap();
            let rates = window.estimate_scale_and_variance(&domain, epsilon);
            let law = ContributionDistribution::Scores(
                score_distribution(&rates, SamplingModel::RoundedValues).into(),
            );
            for people in [
                vec![(0.0, most)],
                vec![(1.0, most)],
                vec![(-1.0, most / 2), (1.0, most / 2)],
                vec![(-1.0, most - 1), (1.0, 1)],
                vec![(-0.5, most / 4), (0.1, most / 4), (0.3, most / 2)],
                vec![(0.7, 5)],
                vec![(-1.0, 1)],
                vec![(0.4, 1)],
                vec![(-1.0, 1), (0.2, 1)],
                vec![(-0.5, most / 2), (0.5, most / 2)],
                vec![(-0.25, most / 2), (0.25, most / 2)],
            ] {
                let n: usize = people.iter().map(|(_, count)| count).sum();
                let sum: f64 = people.iter().map(|(x, count)| x * *count as f64).sum();
                let truth = sum / n as f64;
                let what = format!("{attributes}, ε = {epsilon}, {people:?}");
                let sums = sums(&window, &rates, &people);
                let top = f64::from(window.favoured_atom_value_sum(window.level_count() - 1));
                let misses = |sum: i64, failure: &TailThresholds, side: LimitSide| {
                    let mean = sum as f64 / top / n as f64 * rates.estimate_factor();
                    let point = PointEstimate::new(mean, rates.max_variance(), n as f64);
                    let limit =
                        law.confidence_limit(Estimand::Mean, point, n as f64, failure, side);
                    assert!((limit - mean) * side.sign() > 0.0, "{what}: {mean} {limit}");
                    (truth - limit) * side.sign() > 1e-9
                };
                let all: Vec<(i64, f64)> = sums.into_iter().collect();
                for failure in [0.05, 0.025, 0.005, 1e-3] {
                    let law_failure = TailThresholds::new(failure);
                    // Limits increase with the sum.
                    let low = all
                        .partition_point(|(sum, _)| misses(*sum, &law_failure, LimitSide::Upper));
                    let high = all
                        .partition_point(|(sum, _)| !misses(*sum, &law_failure, LimitSide::Lower));
                    let outside = all[..low].iter().chain(&all[high..]);
                    let missed: f64 = outside.map(|(_, p)| p).sum();
                    assert!(
                        missed < 1.1 * 2.0 * failure,
                        "{what}: {missed} at {failure}"
                    );
                }
            }
        }
    }

    /// Intervals for many people are hardly wider than normal intervals for the crowd whose scores
    /// vary most.
    #[test]
    fn intervals_of_many_are_those_of_the_widest_crowd() {
        for (attributes, epsilon, atoms) in [(1, 1.0, None), (1, 6.0, Some(3)), (5, 12.0, None)] {
            let domain = Domain::of_dense_inputs(attributes);
            let draft = ParametersDraft {
                atoms,
                favoured: atoms.map(|_| 1),
                values: atoms.map(|_| vec![1]),
                drawn: atoms.map(|_| 1),
                objective: None,
            };
            let window = Window::choose_parameters(&domain, epsilon, &draft).unwrap();
            let rates = window.estimate_scale_and_variance(&domain, epsilon);
            let law = ContributionDistribution::Scores(
                score_distribution(&rates, SamplingModel::RoundedValues).into(),
            );
            let (people, failure) = (1e6, TailThresholds::new(0.025));
            let point = PointEstimate::new(0.0, rates.max_variance(), people);
            let limit =
                law.confidence_limit(Estimand::Mean, point, people, &failure, LimitSide::Upper);
            // Crowds in which half of the people have a number and half its negative.
            let variances =
                (0..=1000).map(|step| rates.estimate_variance(f64::from(step) / 1000.0));
            let worst = variances.fold(0.0, f64::max);
            let ratio = limit / (failure.normal_quantile() * (worst / people).sqrt());
            assert!((0.995..1.05).contains(&ratio), "{window:?}: {ratio}");
        }
    }
}
