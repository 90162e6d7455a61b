//! Experiment on a choice among k options. It estimates the share of each option, as in P4's
//! figures 2, 6 and 7.

use crate::competitors::Budget;
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use crate::evaluate::crowd::census::{Census, Extract, Person};
use crate::evaluate::crowd::random::{Zipf, stream};
use crate::evaluate::measure::axis::{DELTA, epsilons};
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, Panel, Point, StudyError, Unit,
};
use crate::evaluate::measure::measurement::MSE;
use crate::evaluate::measure::score::Score;
use crate::evaluate::measure::size::Size;
use crate::evaluate::measure::table::Table;
use crate::evaluate::mechanism::choice_protocol::ChoiceProtocolName;

/// Experiment that estimates the shares of a choice's options, with every protocol.
#[derive(Debug)]
pub(crate) struct Choices {
    size: Size,
    cells: Vec<Cell>,
}

/// Crowd of people, and the questions that they answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Crowd {
    /// One choice among this number of options, whose shares follow Zipf's law.
    Zipf(u32),
    /// The categories of a census-like crowd. Each person answers about one category, drawn
    /// uniformly.
    Census(Extract),
}

/// Parameters of one cell of the experiment. Several units of work repeat a cell, each with
/// different random numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    crowd: Crowd,
    people: u64,
    epsilon: f64,
    delta: f64,
}

/// Answers to one question: the number of people who reported each option, and the true share of
/// each option among all people.
struct QuestionCounts {
    counts: Vec<u64>,
    truth: Vec<f64>,
}

/// Values of δ in P4's figure 6.
const DELTAS: [f64; 2] = [1e-6, 1e-7];
/// Values of ε in P4's figure 7.
const EPSILONS: [f64; 2] = [0.5, 5.0];
/// Values of k in P4's figure 2.
const OPTIONS: [u32; 3] = [2, 10, 100];
/// Metric: [`MSE`] that a formula predicts.
const EXPECTED: &str = "expected MSE";
/// Name, in tables, of the estimand of figure 2: the share of one option.
const ONE: &str = "one option";
/// Metric: variance of one report's estimate of an option's share, if the reporting person did not
/// choose the option. The paper calls this variance the noise.
const VARIANCE: &str = "variance of another's option";
/// Metric: variance of one report's estimate of an option's share, averaged over all k options. The
/// reporting person chose one of them.
const AVERAGE: &str = "average variance";

impl Choices {
    /// Creates the experiment, with the points and repeats of the given size.
    pub(crate) fn new(size: Size) -> Self {
        let mut cells = Vec::new();
        for &extract in size.pick(&Extract::ALL[..1], &Extract::ALL) {
            for &delta in size.pick(&DELTAS[..1], &DELTAS) {
                cells.extend(epsilons(size).iter().map(|&epsilon| Cell {
                    crowd: Crowd::Census(extract),
                    people: size.pick(10_000, 400_000),
                    epsilon,
                    delta,
                }));
            }
        }
        let options: &[u32] = size.pick(
            &[2, 16, 128],
            &[2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024],
        );
        for epsilon in EPSILONS {
            cells.extend(options.iter().map(|&options| Cell {
                crowd: Crowd::Zipf(options),
                people: size.pick(10_000, 100_000),
                epsilon,
                delta: DELTA,
            }));
        }
        Self { size, cells }
    }
}

impl Experiment for Choices {
    fn name(&self) -> &'static str {
        "choices"
    }

    fn title(&self) -> &'static str {
        "Shares of the options of one choice (P4, figures 2, 6, 7)"
    }

    /// Returns one unit of work that only evaluates formulas, and one unit for each repeat of each
    /// cell.
    fn units(&self) -> Vec<Unit> {
        let computed = Unit::computed("computed", self.cells.len());
        let repeats = self.size.pick(5, 10);
        let cells = self.cells.iter().enumerate();
        let simulated = cells.flat_map(|(index, cell)| {
            Unit::repeats(repeats, index, cell.estimated_work(), |repeat| {
                format!(
                    "{}, {} options, ε = {}, δ = {}, repeat {repeat}",
                    cell.crowd.estimand(),
                    cell.crowd.options(),
                    cell.epsilon,
                    cell.delta
                )
            })
        });
        std::iter::once(computed).chain(simulated).collect()
    }

    fn run(&self, unit: &Unit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        match self.cells.get(unit.index) {
            Some(cell) => cell.simulate(rng),
            None => computed_measurements(),
        }
    }

    fn figures(&self, table: &Table) -> Vec<Figure> {
        let noise = |&options: &u32| Panel {
            title: format!("k = {options}"),
            curves: table.curves(
                ONE,
                VARIANCE,
                |point| point.items == options,
                |point| point.epsilon,
            ),
        };
        let over_options = |&epsilon: &f64| Panel {
            title: format!("ε = {epsilon}"),
            curves: table.curves(
                Crowd::Zipf(2).estimand(),
                MSE,
                |point| point.epsilon == epsilon,
                |point| f64::from(point.items),
            ),
        };
        let figure = |name: &str, title: &str, x, y, panels| Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            x,
            y,
            logarithmic: [true, true],
            panels,
        };
        let title =
            "Variance of the share of an option that the person did not choose, at δ = 1e-6";
        let y = "variance of one report's estimate";
        let panels = OPTIONS.iter().map(noise).collect();
        let two = figure("p4-2", title, "ε", y, panels);
        let title = "MSE of the shares of categories, for census-like people";
        let six = figure(
            "p4-6",
            title,
            "ε",
            "MSE of shares",
            self.census_panels(table),
        );
        let title = "MSE of shares that follow Zipf's law with exponent 1.3, at δ = 1e-6";
        let panels = EPSILONS.iter().map(over_options).collect();
        let seven = figure("p4-7", title, "k", "MSE of shares", panels);
        vec![two, six, seven]
    }
}

impl Choices {
    /// Returns the panels of P4's figure 6, one for each census-like crowd and δ.
    fn census_panels(&self, table: &Table) -> Vec<Panel> {
        let mut panels: Vec<Panel> = Vec::new();
        for cell in &self.cells {
            let Crowd::Census(extract) = cell.crowd else {
                continue;
            };
            let title = format!("{}, δ = {:e}", extract.label(), cell.delta);
            if panels.iter().any(|own| own.title == title) {
                continue;
            }
            let here = |point: &Point| point.delta == cell.delta;
            panels.push(Panel {
                title,
                curves: table.curves(cell.crowd.estimand(), MSE, here, |point| point.epsilon),
            });
        }
        panels
    }
}

/// Computes the measurements of P4's figure 2 from formulas.
fn computed_measurements() -> Result<Vec<Measurement>, StudyError> {
    let mut rows = Vec::new();
    for options in OPTIONS {
        for &epsilon in epsilons(Size::Full) {
            let budget = Budget::new(epsilon, DELTA)?;
            let point = Point {
                people: 1,
                items: options,
                sparsity: 1,
                epsilon,
                delta: DELTA,
                parameter: 0.0,
            };
            for name in ChoiceProtocolName::ALL {
                let protocol = name.build(options, &budget)?;
                let [own, other] = [true, false].map(|own| protocol.variance(own));
                let k = f64::from(options);
                let average = (own + (k - 1.0) * other) / k;
                for (metric, value) in [(VARIANCE, other), (AVERAGE, average)] {
                    rows.push(Measurement::new(point, name.label(), ONE, metric, value));
                }
            }
        }
    }
    Ok(rows)
}

impl Crowd {
    const fn estimand(self) -> &'static str {
        match self {
            Self::Zipf(_) => "share, Zipf 1.3",
            Self::Census(Extract::Brazil) => "share, like Brazil's census",
            Self::Census(Extract::Mexico) => "share, like Mexico's census",
        }
    }

    /// Returns the total number of options of all questions.
    fn options(self) -> u32 {
        match self {
            Self::Zipf(options) => options,
            Self::Census(extract) => extract.category_sizes().iter().sum(),
        }
    }

    fn questions(self) -> u32 {
        match self {
            Self::Zipf(_) => 1,
            Self::Census(extract) => extract.category_sizes().len() as u32,
        }
    }

    /// Draws people and counts their answers to each question.
    fn draw_answers(self, people: u64, rng: &mut ChaCha8Rng) -> Vec<QuestionCounts> {
        match self {
            Self::Zipf(options) => {
                let law = Zipf::new(options, 1.3);
                let mut counts = vec![0; options as usize];
                for _ in 0..people {
                    counts[law.draw(rng) as usize] += 1;
                }
                vec![QuestionCounts::answered_by_all(&counts)]
            }
            Self::Census(extract) => {
                let none = |values: &u32| vec![0; *values as usize];
                let mut counts: Vec<Vec<u64>> = extract.category_sizes().iter().map(none).collect();
                let mut all = counts.clone();
                let (census, mut person) = (Census::new(extract), Person::default());
                for _ in 0..people {
                    census.draw(rng, &mut person);
                    for (counts, &own) in all.iter_mut().zip(&person.categories) {
                        counts[own as usize] += 1;
                    }
                    let drawn = rng.next_u32() as usize % counts.len();
                    counts[drawn][person.categories[drawn] as usize] += 1;
                }
                let both = counts.into_iter().zip(all);
                both.map(|(counts, all)| QuestionCounts::new(counts, &all))
                    .collect()
            }
        }
    }
}

impl QuestionCounts {
    fn new(counts: Vec<u64>, all: &[u64]) -> Self {
        let people = all.iter().sum::<u64>() as f64;
        Self {
            truth: all.iter().map(|own| *own as f64 / people).collect(),
            counts,
        }
    }

    fn answered_by_all(counts: &[u64]) -> Self {
        Self::new(counts.to_vec(), counts)
    }

    fn people(&self) -> f64 {
        self.counts.iter().sum::<u64>() as f64
    }
}

impl Cell {
    /// Returns the estimated running time of a unit, in microseconds.
    fn estimated_work(&self) -> f64 {
        let each = match self.crowd {
            Crowd::Zipf(options) => 0.15 + f64::from(options) * 0.003 / self.epsilon.exp(),
            Crowd::Census(_) => 0.9,
        };
        self.people as f64 * each + f64::from(self.crowd.options())
    }

    /// Estimates a crowd's shares with every protocol. The generator's first stream draws the
    /// people. Each later stream draws the reports of one protocol.
    fn simulate(&self, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let budget = Budget::new(self.epsilon, self.delta)?;
        let questions = self.crowd.draw_answers(self.people, &mut stream(rng, 0));
        let truth: Vec<f64> = questions.iter().flat_map(|own| own.truth.clone()).collect();
        let mut rows = Vec::new();
        for (index, name) in (1..).zip(ChoiceProtocolName::ALL) {
            let rng = &mut stream(rng, index);
            let (mut estimates, mut expected) = (Vec::new(), 0.0);
            for own in &questions {
                let protocol = name.build(own.counts.len() as u32, &budget)?;
                estimates.extend(protocol.estimate(&own.counts, rng)?);
                let [hit, other] = [true, false].map(|own| protocol.variance(own));
                let n = own.people();
                // The truth includes people who were not asked this question, which adds the
                // variance of sampling.
                let left_out = 1.0 - n / self.people as f64;
                let variance = |f: &f64| f * hit + (1.0 - f) * other + left_out * f * (1.0 - f);
                let sum: f64 = own.truth.iter().map(variance).sum();
                expected += sum / n / truth.len() as f64;
            }
            let observed = Score::new(&estimates, &truth).mean_square;
            for (metric, value) in [(MSE, observed), (EXPECTED, expected)] {
                rows.push(self.measurement(name, metric, value));
            }
        }
        Ok(rows)
    }

    fn measurement(&self, name: ChoiceProtocolName, metric: &str, value: f64) -> Measurement {
        let point = Point {
            people: self.people,
            items: self.crowd.options(),
            sparsity: self.crowd.questions(),
            epsilon: self.epsilon,
            delta: self.delta,
            parameter: 0.0,
        };
        Measurement::new(point, name.label(), self.crowd.estimand(), metric, value)
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn run(cell: Cell, seed: u64) -> Vec<Measurement> {
        cell.simulate(&ChaCha8Rng::seed_from_u64(seed)).unwrap()
    }

    #[test]
    fn errors_are_as_variances_say() {
        for (crowd, epsilon) in [
            (Crowd::Zipf(16), 0.5),
            (Crowd::Zipf(40), 5.0),
            (Crowd::Census(Extract::Brazil), 1.0),
            (Crowd::Census(Extract::Mexico), 4.0),
        ] {
            let cell = Cell {
                crowd,
                people: 2000,
                epsilon,
                delta: DELTA,
            };
            let table = Table::new((0..40).flat_map(|seed| run(cell, seed)));
            for expected in table.rows_of(crowd.estimand(), EXPECTED) {
                let name = &expected.first.mechanism;
                let mut rows = table.rows_of(crowd.estimand(), MSE);
                let observed = rows.find(|row| row.first.mechanism == *name).unwrap();
                let ratio = observed.mean / expected.mean;
                let off = observed.standard_error / expected.mean;
                assert!((ratio - 1.0).abs() < 4.5 * off, "{cell:?} {name}: {ratio}");
            }
        }
    }

    #[test]
    fn figures_have_a_curve_for_each_protocol_and_units_a_name() {
        let choices = Choices::new(Size::Quick);
        let mut rows = computed_measurements().unwrap();
        for cell in &choices.cells {
            let cell = Cell {
                people: 200,
                ..*cell
            };
            let again = run(cell, 1);
            assert_eq!(again, run(cell, 1));
            rows.extend(again);
        }
        let figures = choices.figures(&Table::new(rows));
        let names: Vec<&str> = figures.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["p4-2", "p4-6", "p4-7"]);
        for panel in figures.iter().flat_map(|own| &own.panels) {
            assert_eq!(
                panel.curves.len(),
                ChoiceProtocolName::ALL.len(),
                "{panel:?}"
            );
        }
        // hushbin's parameters minimise the sum of variances over all options, including the
        // person's own.
        for panel in &figures[0].panels {
            let ours = &panel.curves[0].points;
            for curve in &panel.curves[1..] {
                for (ours, theirs) in ours.iter().zip(&curve.points) {
                    let ratio = theirs[1] / ours[1];
                    assert!(ratio > 0.94, "{} {}: {ratio}", panel.title, curve.label);
                }
            }
        }
        let full = Choices::new(Size::Full);
        let mut names: Vec<String> = full.units().into_iter().map(|own| own.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
