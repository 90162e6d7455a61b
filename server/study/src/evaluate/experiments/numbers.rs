//! Means of numeric attributes that every person has: P4's figures 1, 3, 4 and 5.

use crate::competitors::{
    Budget, ComparedQuestion, GaussianMechanism, TwoPointMechanism, as_printed, compare_mechanisms,
};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::evaluate::crowd::census::{CensusCrowd, CensusExtract, Person};
use crate::evaluate::crowd::random::generator_stream;
use crate::evaluate::measure::axis::{BudgetAxis, FIXED_DELTA, FIXED_EPSILON, plotted_epsilons};
use crate::evaluate::measure::experiment::{
    Experiment, Figure, Measurement, MeasurementPoint, Panel, StudyError, WorkUnit,
};
use crate::evaluate::measure::measurement::MSE;
use crate::evaluate::measure::score::ErrorSummary;
use crate::evaluate::measure::size::StudySize;
use crate::evaluate::measure::table::MeasurementTable;
use crate::evaluate::mechanism::numbers_mechanism::{NumbersMechanism, NumbersMechanismName};

/// Experiment on the means of numbers, with every mechanism.
#[derive(Debug)]
pub(crate) struct AttributeMeansExperiment {
    size: StudySize,
    cells: Vec<AttributeCell>,
}

/// Crowd of people who each have several numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum AttributeCrowd {
    /// Crowd with normal numbers N(0, 1/16), clipped to [−1, 1]. The field is the number of
    /// attributes of each person.
    Normal(u32),
    /// Numeric attributes of a census-like crowd.
    Census(CensusExtract),
}

/// Parameters of one cell of the experiment. Several units of work repeat a cell, each with
/// different random numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AttributeCell {
    crowd: AttributeCrowd,
    epsilon: f64,
    delta: f64,
}

const WORST_VARIANCE_METRIC: &str = "worst variance";
/// Metric: [`MSE`] that a formula predicts.
const EXPECTED_MSE_METRIC: &str = "expected MSE";
/// Name, in tables, of the estimand of figure 1: the mean of one number.
const ONE_NUMBER_ESTIMAND: &str = "one number";

impl AttributeCrowd {
    const fn attribute_count(self) -> u32 {
        match self {
            Self::Normal(attributes) => attributes,
            Self::Census(extract) => extract.numeric_count(),
        }
    }

    const fn estimand(self) -> &'static str {
        match self {
            Self::Normal(_) => "mean, N(0, 1/16)",
            Self::Census(CensusExtract::Brazil) => "mean, like Brazil's census",
            Self::Census(CensusExtract::Mexico) => "mean, like Mexico's census",
        }
    }
}

impl AttributeMeansExperiment {
    /// Creates the experiment, with the points and repeats of the given size.
    pub(crate) fn new(size: StudySize) -> Self {
        let normal: &[u32] = size.quick_or_full(&[1, 5, 15], &[1, 5, 10, 15]);
        let extracts = size.quick_or_full(&CensusExtract::ALL[..1], &CensusExtract::ALL);
        let mut crowds: Vec<AttributeCrowd> =
            normal.iter().copied().map(AttributeCrowd::Normal).collect();
        crowds.extend(extracts.iter().copied().map(AttributeCrowd::Census));
        let mut cells = Vec::new();
        for crowd in crowds {
            let over_epsilon = plotted_epsilons(size)
                .iter()
                .map(|&epsilon| (epsilon, FIXED_DELTA));
            let over_delta = delta_values(size)
                .iter()
                .map(|&delta| (FIXED_EPSILON, delta));
            for (epsilon, delta) in over_epsilon.chain(over_delta) {
                let cell = AttributeCell {
                    crowd,
                    epsilon,
                    delta,
                };
                if !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
        }
        Self { size, cells }
    }

    fn people_count(&self) -> u64 {
        self.size.quick_or_full(10_000, 400_000)
    }
}

fn delta_values(size: StudySize) -> &'static [f64] {
    size.quick_or_full(&[1e-6, 1e-2], &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2])
}

impl Experiment for AttributeMeansExperiment {
    fn name(&self) -> &'static str {
        "numbers"
    }

    fn title(&self) -> &'static str {
        "Means of numbers that every person has (P4, figures 1, 3, 4, 5)"
    }

    /// Returns one unit of work that only evaluates formulas, and one unit for each repeat of each
    /// cell.
    fn work_units(&self) -> Vec<WorkUnit> {
        let computed = WorkUnit::formula_unit("computed", self.cells.len());
        let repeats = 10;
        let cells = self.cells.iter().enumerate();
        let simulated = cells.flat_map(|(index, cell)| {
            let work = self.people_count() as f64 * cell.microseconds_per_person();
            WorkUnit::repeated_units(repeats, index, work, |repeat| {
                format!(
                    "{}, d = {}, ε = {}, δ = {}, repeat {repeat}",
                    cell.crowd.estimand(),
                    cell.crowd.attribute_count(),
                    cell.epsilon,
                    cell.delta
                )
            })
        });
        std::iter::once(computed).chain(simulated).collect()
    }

    fn run_unit(&self, unit: &WorkUnit, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        match self.cells.get(unit.index) {
            Some(cell) => cell.simulate(self.people_count(), rng),
            None => formula_measurements(),
        }
    }

    fn figures(&self, table: &MeasurementTable) -> Vec<Figure> {
        let census = |cell: &AttributeCell| matches!(cell.crowd, AttributeCrowd::Census(_));
        let normal = |cell: &AttributeCell| matches!(cell.crowd, AttributeCrowd::Normal(_));
        let mut figures: Vec<Figure> = BudgetAxis::ALL
            .map(|axis| one_number_figure(table, axis))
            .into();
        let mut mean =
            |name: &str, title: &str, axis: BudgetAxis, wanted: &dyn Fn(&AttributeCell) -> bool| {
                figures.push(Figure {
                    name: name.to_owned(),
                    title: format!("{title} {}", axis.title_suffix()),
                    x_label: axis.label(),
                    y_label: "MSE of means",
                    are_x_and_y_logarithmic: [true, true],
                    panels: self.panels(table, axis, wanted),
                });
            };
        let title = "MSE of means, for census-like people";
        mean("p4-3-epsilon", title, BudgetAxis::Epsilon, &census);
        mean("p4-3-delta", title, BudgetAxis::Delta, &census);
        let title = "MSE of means of N(0, 1/16)";
        mean("p4-4", title, BudgetAxis::Epsilon, &normal);
        mean("p4-5", title, BudgetAxis::Delta, &normal);
        figures
    }
}

impl AttributeMeansExperiment {
    /// Returns a panel for each crowd of the wanted cells.
    fn panels(
        &self,
        table: &MeasurementTable,
        axis: BudgetAxis,
        wanted: &dyn Fn(&AttributeCell) -> bool,
    ) -> Vec<Panel> {
        let mut crowds: Vec<AttributeCrowd> = Vec::new();
        for cell in self.cells.iter().filter(|cell| wanted(cell)) {
            if !crowds.contains(&cell.crowd) {
                crowds.push(cell.crowd);
            }
        }
        let panel = |crowd: AttributeCrowd| {
            let d = crowd.attribute_count();
            let here = |point: &MeasurementPoint| point.items == d && axis.includes_point(point);
            let curves =
                table.mechanism_curves(crowd.estimand(), MSE, here, |point| axis.x_value(point));
            Panel {
                title: match crowd {
                    AttributeCrowd::Normal(d) => format!("d = {d}"),
                    AttributeCrowd::Census(extract) => format!("{}, d = {d}", extract.label()),
                },
                curves,
            }
        };
        crowds.into_iter().map(panel).collect()
    }
}

fn one_number_figure(table: &MeasurementTable, axis: BudgetAxis) -> Figure {
    let curves = table.mechanism_curves(
        ONE_NUMBER_ESTIMAND,
        WORST_VARIANCE_METRIC,
        |point| axis.includes_point(point),
        |point| axis.x_value(point),
    );
    Figure {
        name: format!("p4-1-{}", axis.file_suffix()),
        title: format!(
            "Worst variance of a number's estimate {}",
            axis.title_suffix()
        ),
        x_label: axis.label(),
        y_label: "variance of one report's estimate",
        are_x_and_y_logarithmic: [true, true],
        panels: vec![Panel {
            title: "d = 1".to_owned(),
            curves,
        }],
    }
}

/// Computes the measurements of P4's figure 1 from formulas.
fn formula_measurements() -> Result<Vec<Measurement>, StudyError> {
    let mut rows = Vec::new();
    let over_epsilon = plotted_epsilons(StudySize::Full)
        .iter()
        .map(|&epsilon| (epsilon, FIXED_DELTA));
    let over_delta = delta_values(StudySize::Full)
        .iter()
        .map(|&delta| (FIXED_EPSILON, delta));
    for (epsilon, delta) in over_epsilon.chain(over_delta) {
        let budget = Budget::new(epsilon, delta)?;
        let ours = compare_mechanisms(ComparedQuestion::Number, &budget, 1)?
            .rows
            .remove(0);
        let ours = ours
            .variance
            .expect("hushbin has a variance at every budget")
            .worst;
        let point = MeasurementPoint {
            people: 1,
            items: 1,
            sparsity: 1,
            epsilon,
            delta,
            parameter: 0.0,
        };
        for (mechanism, value) in [
            ("hushbin, number", ours),
            ("Algorithm 2", TwoPointMechanism::new(&budget).variance(0.0)),
            (
                "Gaussian",
                GaussianMechanism::for_numbers(1, &budget)?.variance(),
            ),
        ] {
            rows.push(Measurement::new(
                point,
                mechanism,
                ONE_NUMBER_ESTIMAND,
                WORST_VARIANCE_METRIC,
                value,
            ));
        }
    }
    Ok(rows)
}

impl AttributeCell {
    /// Returns the estimated running time for each person, in microseconds.
    fn microseconds_per_person(&self) -> f64 {
        // Mechanism-1 draws vectors until one is favoured, which takes more tries at a greater ε.
        0.5 + f64::from(self.crowd.attribute_count())
            * (0.15 + 0.005 * self.epsilon.exp().min(100.0))
    }

    /// Estimates a crowd's means with every mechanism. The generator's first stream draws the
    /// people. Each later stream draws the reports of one mechanism.
    fn simulate(&self, people: u64, rng: &ChaCha8Rng) -> Result<Vec<Measurement>, StudyError> {
        let d = self.crowd.attribute_count();
        let budget = Budget::new(self.epsilon, self.delta)?;
        let mut all = MechanismRun::for_all_mechanisms(d, &budget, rng)?;
        let mut drawn = NumbersSequence::new(self.crowd, generator_stream(rng, 0));
        let (mut truth, mut square) = (vec![0.0; d as usize], 0.0);
        let n = people as f64;
        for _ in 0..people {
            let values = drawn.next_numbers();
            for (mean, value) in truth.iter_mut().zip(values) {
                *mean += value / n;
                square += value * value / (n * f64::from(d));
            }
            for own in &mut all {
                own.mechanism
                    .add_report(values, &mut own.sums, &mut own.rng)?;
            }
        }
        let mut rows: Vec<Measurement> = Vec::new();
        for mut own in all {
            let means = own
                .mechanism
                .estimate_means(&own.sums, people, &mut own.rng);
            let label = own.name.label();
            rows.push(self.measurement_of_value(
                people,
                label,
                MSE,
                ErrorSummary::new(&means, &truth).mean_squared_error,
            ));
            let expected = own.mechanism.variance(square.sqrt()) / n;
            rows.push(self.measurement_of_value(people, label, EXPECTED_MSE_METRIC, expected));
        }
        // Mechanisms as printed are not simulated, because they are not (ε, δ)-private.
        for (label, variance) in self.as_printed_variances(&budget, square)? {
            rows.push(self.measurement_of_value(people, &label, MSE, variance / n));
        }
        Ok(rows)
    }

    fn measurement_of_value(
        &self,
        people: u64,
        mechanism: &str,
        metric: &str,
        value: f64,
    ) -> Measurement {
        let d = self.crowd.attribute_count();
        let point = MeasurementPoint {
            people,
            items: d,
            sparsity: d,
            epsilon: self.epsilon,
            delta: self.delta,
            parameter: 0.0,
        };
        Measurement::new(point, mechanism, self.crowd.estimand(), metric, value)
    }

    /// Returns the average variances of the mechanisms as printed, for numbers whose mean square is
    /// `square`. Each variance comes with a label, which says that the mechanism does not keep the
    /// requested δ.
    fn as_printed_variances(
        &self,
        budget: &Budget,
        square: f64,
    ) -> Result<Vec<(String, f64)>, StudyError> {
        let d = self.crowd.attribute_count();
        if d == 1 {
            return Ok(Vec::new());
        }
        let noise = as_printed::undercalibrated_gaussian(d, budget)?;
        let mut lines = vec![(
            "Gaussian as printed, δ not kept".to_owned(),
            noise.sigma.powi(2),
        )];
        // The mechanism is left out if its printed probability exceeds 1.
        if let Ok(own) = as_printed::uncorrected_majority_mechanism(d, budget) {
            let times = own.actual_delta / budget.delta();
            let label = format!("Mechanism-1 as printed, really {times:.0} δ");
            lines.push((label, own.estimate_scale.powi(2) - square));
        }
        Ok(lines)
    }
}

/// Mechanism, with its sums over the reports so far and its random generator.
struct MechanismRun {
    name: NumbersMechanismName,
    mechanism: NumbersMechanism,
    sums: Vec<f64>,
    rng: ChaCha8Rng,
}

impl MechanismRun {
    /// Creates every private mechanism, each with its own stream of random numbers. The streams are
    /// numbered from 1.
    fn for_all_mechanisms(
        attributes: u32,
        budget: &Budget,
        rng: &ChaCha8Rng,
    ) -> Result<Vec<Self>, StudyError> {
        let mut all = Vec::new();
        for (index, name) in (1..).zip(NumbersMechanismName::PRIVATE_MECHANISMS) {
            all.push(Self {
                name,
                mechanism: name.build(attributes, budget)?,
                sums: vec![0.0; attributes as usize],
                rng: generator_stream(rng, index),
            });
        }
        Ok(all)
    }
}

/// Sequence of people whose numbers are drawn one after the other.
struct NumbersSequence {
    census: Option<CensusCrowd>,
    person: Person,
    rng: ChaCha8Rng,
}

impl NumbersSequence {
    fn new(crowd: AttributeCrowd, rng: ChaCha8Rng) -> Self {
        let person = Person {
            numeric_values: vec![0.0; crowd.attribute_count() as usize],
            ..Person::default()
        };
        let census = match crowd {
            AttributeCrowd::Normal(_) => None,
            AttributeCrowd::Census(extract) => Some(CensusCrowd::new(extract)),
        };
        Self {
            census,
            person,
            rng,
        }
    }

    fn next_numbers(&mut self) -> &[f64] {
        match &self.census {
            Some(census) => census.draw_person(&mut self.rng, &mut self.person),
            None => {
                for own in &mut self.person.numeric_values {
                    let normal: f64 = StandardNormal.sample(&mut self.rng);
                    *own = (0.25 * normal).clamp(-1.0, 1.0);
                }
            }
        }
        &self.person.numeric_values
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn run(cell: AttributeCell, people: u64, seed: u64) -> Vec<Measurement> {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        cell.simulate(people, &rng).unwrap()
    }

    /// The errors of d means are approximately normal. So the MSE of 40 runs differs from its
    /// expectation by a relative 5 √(2/(40 d)) at most.
    #[test]
    fn errors_are_as_variances_say() {
        for (crowd, epsilon) in [
            (AttributeCrowd::Normal(5), 1.0),
            (AttributeCrowd::Normal(15), 4.0),
            (AttributeCrowd::Census(CensusExtract::Brazil), 2.0),
            (AttributeCrowd::Census(CensusExtract::Mexico), 8.0),
        ] {
            let cell = AttributeCell {
                crowd,
                epsilon,
                delta: 1e-6,
            };
            let runs = 40;
            let table = MeasurementTable::new((0..runs).flat_map(|seed| run(cell, 500, seed)));
            let d = f64::from(crowd.attribute_count());
            for expected in table.rows_of(crowd.estimand(), EXPECTED_MSE_METRIC) {
                let name = &expected.first_measurement.mechanism;
                let mut rows = table.rows_of(crowd.estimand(), MSE);
                let observed = rows
                    .find(|row| row.first_measurement.mechanism == *name)
                    .unwrap();
                let ratio = observed.mean_value / expected.mean_value;
                let off = (2.0 / (runs as f64 * d)).sqrt();
                assert!((ratio - 1.0).abs() < 5.0 * off, "{cell:?} {name}: {ratio}");
            }
        }
    }

    #[test]
    fn units_are_named_once_and_say_the_same_again() {
        for size in [StudySize::Quick, StudySize::Full] {
            let numbers = AttributeMeansExperiment::new(size);
            let mut names: Vec<String> = numbers
                .work_units()
                .into_iter()
                .map(|own| own.name)
                .collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
        let cell = AttributeCell {
            crowd: AttributeCrowd::Normal(5),
            epsilon: 2.0,
            delta: 1e-6,
        };
        assert_eq!(run(cell, 100, 1), run(cell, 100, 1));
        assert_ne!(run(cell, 100, 1), run(cell, 100, 2));
    }

    #[test]
    fn figures_have_a_curve_for_each_mechanism() {
        let numbers = AttributeMeansExperiment::new(StudySize::Quick);
        let rng = ChaCha8Rng::seed_from_u64(1);
        let mut rows = formula_measurements().unwrap();
        for cell in &numbers.cells {
            rows.extend(cell.simulate(20, &rng).unwrap());
        }
        let figures = numbers.figures(&MeasurementTable::new(rows));
        let names: Vec<&str> = figures.iter().map(|own| own.name.as_str()).collect();
        let all = [
            "p4-1-epsilon",
            "p4-1-delta",
            "p4-3-epsilon",
            "p4-3-delta",
            "p4-4",
            "p4-5",
        ];
        assert_eq!(names, all);
        // At a small ε, normal noise is ten times worse, and δ brings no gain.
        let [ours, theirs, noise] = &figures[0].panels[0].curves[..] else {
            panic!()
        };
        assert!(noise.points[0][1] > 10.0 * theirs.points[0][1]);
        assert!(ours.points[9][1] < 0.01 * theirs.points[9][1]);
        let of_five = &figures[4].panels[1];
        assert_eq!((of_five.title.as_str(), of_five.curves.len()), ("d = 5", 8));
        assert!(of_five.curves[7].label.ends_with("really 16 δ"));
    }
}
