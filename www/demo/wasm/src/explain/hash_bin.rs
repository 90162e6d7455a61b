//! Explanation of hash-bin's reports.

use hushbin::Entry;
use hushbin::domain::SignedItem;
use hushbin::hash::HashKeys;
use hushbin::mechanism::hash_bin::{
    HashBin, RandomisedResponse, Randomizer, Report, ResponseDistribution,
};

use super::answer_placement::{AnswerBin, AnswerPlacement, Outcome, SignedAnswer, SignedBinAnswer};
use super::explain_mechanism::{DomainAndEpsilon, ExplainMechanism, Reported};

impl ExplainMechanism for HashBin {
    type Report = Report;

    fn decode_randomised_part(&self, report: &Report) -> Reported {
        match &report.response {
            RandomisedResponse::Sign(plus) => Reported::Sign { plus: *plus },
            RandomisedResponse::Bins(bins) => {
                let grid = f64::from(self.grid_steps());
                Reported::Bins {
                    values: bins.iter().map(|&steps| steps as f64 / grid).collect(),
                }
            }
        }
    }

    fn place_answers(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Report,
    ) -> AnswerPlacement {
        let mut bins = bin_contents(self, setting, answers, report.seed);
        match &report.response {
            RandomisedResponse::Bins(_) => AnswerPlacement::Bins { bins },
            RandomisedResponse::Sign(_) => {
                // Only user level reports a sign, and it has one bin.
                let clipped = bin_sums(self, setting, answers, report.seed)[0];
                let chance = plus_probability(&response_distribution(self, setting), clipped);
                let bin = bins.swap_remove(0);
                let pushing = |push: i8, chance| {
                    let counted = bin.answers.iter().filter(|counted| counted.push == push);
                    Outcome {
                        answers: counted.map(|counted| counted.answer).collect(),
                        paddings: 0,
                        chance,
                    }
                };
                AnswerPlacement::Sign {
                    sum: bin.sum,
                    plus: pushing(1, chance),
                    minus: pushing(-1, 1.0 - chance),
                }
            }
        }
    }

    fn log_likelihood(
        &self,
        setting: &DomainAndEpsilon,
        answers: &[SignedItem],
        report: &Report,
    ) -> f64 {
        let sums = bin_sums(self, setting, answers, report.seed);
        let sampling = response_distribution(self, setting);
        match &report.response {
            RandomisedResponse::Sign(plus) => {
                let chance = plus_probability(&sampling, sums[0]);
                (if *plus { chance } else { 1.0 - chance }).ln()
            }
            RandomisedResponse::Bins(bins) => {
                let rate = sampling.laplace_noise().map_or(0.0, |noise| noise.rate());
                let level = (0.5 * rate).tanh().ln();
                let off = |(&bin, sum): (&i64, f64)| level - rate * (bin as f64 - sum).abs();
                bins.iter().zip(sums).map(off).sum()
            }
        }
    }

    /// Returns a sum over all bins. For each bin, the sum of the first input's answers is
    /// multiplied by the bin's reported sign or noisy value.
    fn audit_score(
        &self,
        setting: &DomainAndEpsilon,
        [first, _]: &[Vec<SignedItem>; 2],
        report: &Report,
    ) -> f64 {
        let bins = bin_contents(self, setting, first, report.seed);
        match &report.response {
            RandomisedResponse::Sign(plus) => bins[0].sum * if *plus { 1.0 } else { -1.0 },
            RandomisedResponse::Bins(noisy) => {
                let turned = |(bin, &noisy): (&AnswerBin, &i64)| bin.sum * noisy as f64;
                bins.iter().zip(noisy).map(turned).sum()
            }
        }
    }

    fn noise_scale(&self, setting: &DomainAndEpsilon) -> Option<f64> {
        let noise = response_distribution(self, setting).laplace_noise()?;
        Some(1.0 / (noise.rate() * f64::from(self.grid_steps())))
    }
}

fn response_distribution(hash_bin: &HashBin, setting: &DomainAndEpsilon) -> ResponseDistribution {
    hash_bin.response_distribution(setting.domain.item_count(), setting.epsilon)
}

/// Returns the content of each bin under a seed: its answers and the sum of these.
fn bin_contents(
    hash_bin: &HashBin,
    setting: &DomainAndEpsilon,
    answers: &[SignedItem],
    seed: u64,
) -> Vec<AnswerBin> {
    let support = hash_bin.item_bin_lookup(&setting.domain);
    let keys = HashKeys::new(seed);
    let mut bins = vec![AnswerBin::default(); hash_bin.bin_count() as usize];
    for signed in answers {
        let (bin, sign) = support.bin_and_sign(&keys, signed.item);
        let answer = SignedAnswer::from(signed);
        let push = answer.sign * sign;
        let bin = &mut bins[bin as usize];
        bin.sum += f64::from(push);
        bin.answers.push(SignedBinAnswer { answer, push });
    }
    bins
}

/// Returns the sum of the answers in each bin, as the randomizer computes it, in grid steps. At
/// user level, the sum is clipped.
fn bin_sums(
    hash_bin: &HashBin,
    setting: &DomainAndEpsilon,
    answers: &[SignedItem],
    seed: u64,
) -> Vec<f64> {
    let entry = |signed: &SignedItem| Entry {
        item: signed.item,
        value: if signed.is_negative { -1.0 } else { 1.0 },
    };
    let entries: Vec<Entry> = answers.iter().map(entry).collect();
    Randomizer::new(hash_bin, &setting.domain, setting.epsilon).bins_before_noise(seed, &entries)
}

/// Returns the probability that the sign plus is reported for a clipped sum. `sum` is in grid
/// steps.
fn plus_probability(sampling: &ResponseDistribution, sum: f64) -> f64 {
    // A sum between two steps is rounded to one of them at random, without bias.
    let (floor, up) = (sum.floor(), sum - sum.floor());
    let plus = |steps: f64| sampling.plus_probability(steps as i32).unwrap_or(0.5);
    (1.0 - up) * plus(floor) + up * plus(floor + 1.0)
}
