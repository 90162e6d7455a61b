//! Federated learning: P1's application. People learn from what they wrote, and of what
//! that changes report a few coordinates by hushbin's own task.

use hushbin::choose::{Asked, MechanismDraft, QuestionDraft, coco};
use hushbin::sample::choose_front;
use hushbin::task::Budget;
use hushbin::{Entry, Error, Items, Randomizer, Task, TaskDraft, ValueKind};
use hushbin_analysis::estimate::{Totals, points};
use rand_chacha::ChaCha8Rng;

use super::GAP;
use super::local::Local;
use super::words::{MESSAGES, Message, Words};
use crate::evaluate::study::experiment::{
    Experiment, Figure, Measured, Panel, Point, StudyError, Unit,
};
use crate::evaluate::study::random::stream;
use crate::evaluate::study::size::Size;
use crate::evaluate::study::table::Table;

/// Logistic regression on words by rounds of federated averaging.
#[derive(Debug)]
pub(crate) struct Federated {
    size: Size,
    cells: Vec<Cell>,
}

/// What units repeat.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    people: usize,
    words: u16,
    /// s: how many coordinates a person reports.
    sparsity: u32,
    rounds: usize,
    /// Of all that a person reports together.
    epsilon: f64,
}

/// Which coordinates of their change people report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    /// Those of greatest magnitude.
    Top,
    /// Any of those that changed, scaled up by how many there are to one.
    Random,
}

/// When a person takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// In one round, at ε.
    Once,
    /// In each of R rounds, at ε/R.
    Always,
}

/// A way to learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    pick: Pick,
    part: Part,
    is_private: bool,
}

const METRIC: &str = "misclassified";
const ESTIMAND: &str = "logistic regression, words";
/// What heeds no word, and nobody's privacy.
const GUESS: &str = "the commoner answer";
/// C: changes of a weight are clipped to [−C, C] and reported as parts of it.
const CLIP: f64 = 0.5;

impl Federated {
    /// The experiment of a size.
    pub(crate) fn new(size: Size) -> Self {
        let epsilons: &[f64] = size.pick(&[0.5, 2.0, 8.0], &[0.5, 1.0, 2.0, 4.0, 8.0, 12.0]);
        let cell = |&epsilon: &f64| Cell {
            people: size.pick(20_000, 100_000),
            words: size.pick(256, 512),
            sparsity: 8,
            rounds: size.pick(5, 10),
            epsilon,
        };
        Self {
            size,
            cells: epsilons.iter().map(cell).collect(),
        }
    }
}

impl Experiment for Federated {
    fn name(&self) -> &'static str {
        "federated"
    }

    fn title(&self) -> &'static str {
        "Federated learning of sparse changes (P1, application)"
    }

    fn units(&self) -> Vec<Unit> {
        let repeats = self.size.pick(3, 10);
        let cells = self.cells.iter().enumerate();
        let units = cells.flat_map(|(index, cell)| {
            Unit::repeats(repeats, index, cell.work(), |repeat| {
                format!("ε = {}, repeat {repeat}", cell.epsilon)
            })
        });
        units.collect()
    }

    fn run(&self, unit: &Unit, rng: &ChaCha8Rng) -> Result<Vec<Measured>, StudyError> {
        self.cells[unit.index].learn(rng)
    }

    fn figures(&self, table: &Table) -> Vec<Figure> {
        let Cell {
            people,
            words,
            sparsity,
            rounds,
            ..
        } = self.cells[0];
        let curves = table.curves(ESTIMAND, METRIC, |_| true, |point| point.epsilon);
        vec![Figure {
            name: "p1-federated".to_owned(),
            title: format!(
                "Federated logistic regression of {people} people in {rounds} rounds over ε"
            ),
            x: "ε of a person in all",
            y: METRIC,
            logarithmic: [true, false],
            panels: vec![Panel {
                title: format!("{words} words, {sparsity} reported"),
                curves,
            }],
        }]
    }
}

impl Pick {
    const BOTH: [Self; 2] = [Self::Top, Self::Random];

    const fn label(self) -> &'static str {
        match self {
            Self::Top => "greatest",
            Self::Random => "random",
        }
    }
}

impl Way {
    /// For one way to pick, without privacy first.
    fn all(pick: Pick) -> [Self; 3] {
        let way = |part, is_private| Self {
            pick,
            part,
            is_private,
        };
        [
            way(Part::Once, false),
            way(Part::Once, true),
            way(Part::Always, true),
        ]
    }

    fn label(self) -> String {
        let pick = self.pick.label();
        match (self.is_private, self.part) {
            (false, _) => format!("without privacy, {pick}"),
            (true, Part::Once) => format!("CoCo, {pick}, one round each at ε"),
            (true, Part::Always) => format!("CoCo, {pick}, every round at ε/R"),
        }
    }
}

/// How the mean change of a round's people becomes known.
enum Channel {
    /// As it is.
    Plain,
    /// Reports of a task.
    Private(Box<Task>),
}

impl Cell {
    /// About how long it takes, in microseconds.
    fn work(&self) -> f64 {
        (self.people * (1 + 2 * self.rounds)) as f64 * 4.0
    }

    /// All ways, of the same people. These are drawn from the generator's first stream,
    /// reports from those behind it.
    fn learn(&self, rng: &ChaCha8Rng) -> Result<Vec<Measured>, StudyError> {
        let words = Words::new(self.words);
        let drawn = &mut stream(rng, 0);
        let crowd: Vec<_> = (0..self.people).map(|_| words.draw(drawn)).collect();
        let held_out: Vec<_> = (0..self.people / 10).map(|_| words.draw(drawn)).collect();
        // Weights of 0 say of all messages that they are not liked.
        let liked = misclassified(&vec![0.0; usize::from(self.words)], &held_out);
        let mut rows = vec![self.measured(GUESS, METRIC, liked.min(1.0 - liked))];
        let mut index = 0;
        for pick in Pick::BOTH {
            let mut plain = None;
            for way in Way::all(pick) {
                index += 1;
                let weights = self.weights(way, &crowd, stream(rng, index))?;
                let error = misclassified(&weights, &held_out);
                let plain = *plain.get_or_insert(error);
                rows.push(self.measured(&way.label(), METRIC, error));
                // The coordinates are picked alike.
                rows.push(self.measured(&way.label(), GAP, error - plain));
            }
        }
        Ok(rows)
    }

    /// Weights after all rounds, from 0.
    fn weights(
        &self,
        way: Way,
        crowd: &[[Message; MESSAGES]],
        mut rng: ChaCha8Rng,
    ) -> Result<Vec<f64>, StudyError> {
        let channel = self.channel(way)?;
        let mut weights = vec![0.0; self.words.into()];
        for round in 0..self.rounds {
            let people = self.taking_part(way.part, crowd, round);
            let change = self.change(way.pick, &channel, people, &weights, &mut rng)?;
            for (weight, change) in weights.iter_mut().zip(change) {
                *weight += RATE * CLIP * change;
            }
        }
        Ok(weights)
    }

    /// Those of a crowd who take part in a round.
    fn taking_part<'a, T>(&self, part: Part, crowd: &'a [T], round: usize) -> &'a [T] {
        let each = crowd.len() / self.rounds;
        match part {
            Part::Once => &crowd[round * each..(round + 1) * each],
            Part::Always => crowd,
        }
    }

    /// hushbin's task for the coordinates of a change, as parts of C.
    fn channel(&self, way: Way) -> Result<Channel, Error> {
        if !way.is_private {
            return Ok(Channel::Plain);
        }
        let draft = TaskDraft {
            id: "change".to_owned(),
            epsilon: match way.part {
                Part::Once => self.epsilon,
                Part::Always => self.epsilon / self.rounds as f64,
            },
            people: None,
            questions: vec![QuestionDraft {
                name: "weights".to_owned(),
                asked: Asked::Ratings(Items::Count(self.words.into()), ValueKind::Real),
                sparsity: Some(self.sparsity),
                entries: None,
                weight: None,
                mechanism: MechanismDraft::Coco(coco::Draft::default()),
            }],
            budget: Budget::default(),
        };
        Ok(Channel::Private(Box::new(draft.resolve()?)))
    }

    /// The mean change that people report, in parts of C.
    fn change(
        &self,
        pick: Pick,
        channel: &Channel,
        people: &[[Message; MESSAGES]],
        weights: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<f64>, StudyError> {
        let mut local = Local::new(weights.len());
        let mut sums = vec![0.0; weights.len()];
        let mut private = match channel {
            Channel::Plain => None,
            Channel::Private(task) => Some((task, Randomizer::new(task), Totals::new(task))),
        };
        for messages in people {
            let mut changes = local.learn(weights, messages);
            self.sparsify(pick, &mut changes, rng);
            match &mut private {
                None => changes
                    .iter()
                    .for_each(|own| sums[own.item as usize] += own.value),
                Some((_, randomizer, totals)) => {
                    totals.fold(&randomizer.randomize(&changes, rng)?.report);
                }
            }
        }
        let Some((task, _, totals)) = private else {
            return Ok(sums.iter().map(|sum| sum / people.len() as f64).collect());
        };
        let items: Vec<u64> = (0..u64::from(self.words)).collect();
        let points = points(task, &totals, &items);
        let mean = |own: &hushbin_analysis::estimate::ItemPoints| {
            own.mean.expect("CoCo estimates means").estimate
        };
        Ok(points.iter().map(mean).collect())
    }

    /// Keeps s coordinates at most, clipped and in parts of C.
    fn sparsify(&self, pick: Pick, changes: &mut Vec<Entry>, rng: &mut ChaCha8Rng) {
        let (all, keep) = (changes.len(), self.sparsity as usize);
        let mut scale = 1.0 / CLIP;
        if keep < all {
            match pick {
                Pick::Top => {
                    let greater = |a: &Entry, b: &Entry| b.value.abs().total_cmp(&a.value.abs());
                    changes.select_nth_unstable_by(keep, greater);
                }
                Pick::Random => {
                    choose_front(rng, changes, keep);
                    scale *= all as f64 / keep as f64;
                }
            }
            changes.truncate(keep);
        }
        for own in changes {
            own.value = (scale * own.value).clamp(-1.0, 1.0);
        }
    }

    fn measured(&self, mechanism: &str, metric: &str, value: f64) -> Measured {
        let point = Point {
            people: self.people as u64,
            items: self.words.into(),
            sparsity: self.sparsity,
            epsilon: self.epsilon,
            delta: 0.0,
            parameter: 0.0,
        };
        Measured::new(point, mechanism, ESTIMAND, metric, value)
    }
}

/// What the mean change is multiplied by: few people write any one word.
const RATE: f64 = 4.0;

/// The part of messages that are predicted wrong.
fn misclassified(weights: &[f64], people: &[[Message; MESSAGES]]) -> f64 {
    let messages = people.iter().flatten();
    let wrong = messages.filter(|own| (own.score(weights) > 0.0) != own.liked);
    wrong.count() as f64 / (people.len() * MESSAGES) as f64
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    const SMALL: Cell = Cell {
        people: 3000,
        words: 32,
        sparsity: 4,
        rounds: 3,
        epsilon: 4.0,
    };

    fn generator(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    fn learn(cell: Cell, seeds: u64) -> Table {
        Table::new((0..seeds).flat_map(|seed| cell.learn(&generator(seed)).unwrap()))
    }

    /// The mean of a metric's repeats, and its standard error.
    fn mean(table: &Table, metric: &str, way: Way) -> [f64; 2] {
        let mut rows = table.of(ESTIMAND, metric);
        let row = rows.find(|row| row.first.mechanism == way.label());
        let row = row.unwrap();
        [row.mean, row.standard_error]
    }

    fn changes(values: &[f64]) -> Vec<Entry> {
        let entry = |(item, &value)| Entry { item, value };
        (10..).zip(values).map(entry).collect()
    }

    /// What is reported of changes, by item.
    fn reported(pick: Pick, values: &[f64], rng: &mut ChaCha8Rng) -> Vec<(u64, f64)> {
        let mut changes = changes(values);
        SMALL.sparsify(pick, &mut changes, rng);
        let mut pairs: Vec<_> = changes.iter().map(|own| (own.item, own.value)).collect();
        pairs.sort_by_key(|own| own.0);
        pairs
    }

    #[test]
    fn the_greatest_changes_are_kept_as_parts_of_what_they_are_clipped_to() {
        let rng = &mut generator(1);
        let all = [0.05, -0.25, 0.125, -0.75, 0.0625, 0.5, 0.03];
        let kept = [(11, -0.5), (12, 0.25), (13, -1.0), (15, 1.0)];
        assert_eq!(reported(Pick::Top, &all, rng), kept);
        // Neither leaves out any of so few, nor scales them for it.
        let few = [(10, 0.125), (11, -1.0), (12, 1.0), (13, -0.25)];
        for pick in Pick::BOTH {
            let found = reported(pick, &[0.0625, -0.5, 4.0, -0.125], rng);
            assert_eq!(found, few, "{pick:?}");
            assert_eq!(reported(pick, &[], rng), []);
        }
    }

    /// Each of seven is kept with probability 4/7 and then is 7/4 of itself, so draws of a
    /// coordinate of part v have mean v and variance v²·(7/4 − 1). Means of 20,000 are
    /// normal: one of seven is 5 standard errors off in 4 of a million runs.
    #[test]
    fn random_changes_are_unbiased_until_they_are_clipped() {
        let rng = &mut generator(2);
        // Of 0.5 and scaled up, at most 1.
        let all = [0.28, -0.28, 0.2, -0.1, 0.05, -0.02, 0.01];
        let draws = 20_000;
        let mut sums = [0.0; 7];
        for _ in 0..draws {
            let found = reported(Pick::Random, &all, rng);
            assert_eq!(found.len(), 4);
            for (item, part) in found {
                assert!(part.abs() <= 1.0);
                sums[item as usize - 10] += part;
            }
        }
        for (sum, change) in sums.into_iter().zip(all) {
            let (mean, part) = (sum / f64::from(draws), change / CLIP);
            let error = part.abs() * (0.75 / f64::from(draws)).sqrt();
            assert!((mean - part).abs() < 5.0 * error, "{mean} {part}");
        }
        let clipped = reported(Pick::Random, &[3.0; 7], rng);
        assert!(clipped.iter().all(|&(_, part)| part == 1.0));
    }

    /// A round of the same people, over and over: the greatest coordinates need no random
    /// numbers, so all that differs from the mean without privacy is noise of reports.
    #[test]
    fn the_mean_that_is_reported_is_that_without_privacy() {
        let words = Words::new(SMALL.words);
        let rng = &mut generator(3);
        let people: Vec<_> = (0..300).map(|_| words.draw(rng)).collect();
        let weights: Vec<f64> = (0..SMALL.words)
            .map(|word| f64::from(word % 3) - 1.0)
            .collect();
        let mut change = |way| {
            let channel = SMALL.channel(way).unwrap();
            SMALL
                .change(Pick::Top, &channel, &people, &weights, rng)
                .unwrap()
        };
        let [plain, once, _] = Way::all(Pick::Top);
        let plain = change(plain);
        let repeats = 200;
        let rounds: Vec<Vec<f64>> = (0..repeats).map(|_| change(once)).collect();
        let norm: f64 = plain.iter().map(|own| own * own).sum();
        let slope = |round: &Vec<f64>| -> f64 {
            let both = round.iter().zip(&plain);
            both.map(|(a, b)| a * b).sum::<f64>() / norm
        };
        let mean = |values: &[f64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|own| (own - mean).powi(2)).sum();
            [mean, (squares / (n - 1.0) / n).sqrt()]
        };
        // By all coordinates at once, which would tell a scale that is wrong by a tenth.
        let slopes: Vec<f64> = rounds.iter().map(slope).collect();
        let [slope, error] = mean(&slopes);
        assert!((slope - 1.0).abs() < 5.0 * error, "{slope} {error}");
        assert!(error < 0.02, "{error}");
        // By each: of 32 with 199 degrees of freedom one is 5 off in 4 of 100,000 runs.
        for (word, plain) in plain.iter().enumerate() {
            let values: Vec<f64> = rounds.iter().map(|round| round[word]).collect();
            let [mean, error] = mean(&values);
            assert!(
                (mean - plain).abs() < 5.0 * error,
                "{word}: {mean} {plain} {error}"
            );
        }
    }

    /// One report in each round that they take part in.
    #[test]
    fn nobody_spends_more_than_epsilon() {
        let cell = Cell {
            people: 32,
            rounds: 5,
            ..SMALL
        };
        let crowd: Vec<usize> = (0..cell.people).collect();
        for pick in Pick::BOTH {
            let [plain, private @ ..] = Way::all(pick);
            assert!(matches!(cell.channel(plain).unwrap(), Channel::Plain));
            for way in private {
                let Channel::Private(task) = cell.channel(way).unwrap() else {
                    panic!("{way:?} is private");
                };
                assert_eq!(task.questions().len(), 1);
                let mut spent = vec![0.0; cell.people];
                for round in 0..cell.rounds {
                    for &person in cell.taking_part(way.part, &crowd, round) {
                        spent[person] += task.questions()[0].epsilon();
                    }
                }
                // Those who are left over of equal rounds take no part.
                let expected = |person| match way.part {
                    Part::Once if person >= 30 => 0.0,
                    _ => cell.epsilon,
                };
                for (person, spent) in spent.into_iter().enumerate() {
                    // But for rounding of ε/R.
                    let off: f64 = spent - expected(person);
                    assert!(off.abs() < 1e-12, "{way:?} {person}: {spent}");
                }
            }
        }
    }

    /// By at least 0.04 and 3 standard errors of the difference, to less than 0.04.
    #[test]
    fn the_gap_to_the_run_without_privacy_shrinks() {
        let [hidden, told] = [0.5, 8.0].map(|epsilon| learn(Cell { epsilon, ..SMALL }, 16));
        for pick in Pick::BOTH {
            let [plain, private @ ..] = Way::all(pick);
            for table in [&hidden, &told] {
                assert_eq!(mean(table, GAP, plain), [0.0; 2]);
            }
            // It does not depend on ε.
            let [of_hidden, of_told] = [&hidden, &told].map(|table| mean(table, METRIC, plain));
            assert_eq!(of_hidden, of_told);
            for way in private {
                let [hidden, told] = [&hidden, &told].map(|table| mean(table, GAP, way));
                let shrunk = hidden[0] - told[0];
                let error = hidden[1].hypot(told[1]);
                assert!(
                    shrunk > 0.04_f64.max(3.0 * error),
                    "{way:?}: {hidden:?} {told:?}"
                );
                assert!(told[0].abs() < 0.04, "{way:?}: {told:?}");
            }
        }
    }

    /// A coin errs in half of all messages, the better of the two guesses that heed no word
    /// in 0.45 of these. A part of 1000 people's has a standard error below 0.016, however
    /// alike the messages of each. Whoever knows all weights errs in one of seven, which
    /// nobody is much better than. No round leaves steps so long that the next ones take
    /// them back.
    #[test]
    fn without_privacy_it_predicts_better_than_a_coin() {
        for (pick, rounds) in [(Pick::Top, 4), (Pick::Top, 5), (Pick::Random, 5)] {
            let cell = Cell {
                people: 2000 * rounds,
                words: 64,
                sparsity: 8,
                rounds,
                ..SMALL
            };
            let words = Words::new(cell.words);
            let rng = &mut generator(4);
            let crowd: Vec<_> = (0..cell.people).map(|_| words.draw(rng)).collect();
            let held_out: Vec<_> = (0..1000).map(|_| words.draw(rng)).collect();
            let liked = misclassified(&[0.0; 64], &held_out);
            let guessed = liked.min(1.0 - liked);
            let [plain, ..] = Way::all(pick);
            let weights = cell.weights(plain, &crowd, generator(5)).unwrap();
            let error = misclassified(&weights, &held_out);
            let what = format!("{pick:?}, {rounds}: {error} beside {guessed}");
            assert!((0.12..guessed - 0.05).contains(&error), "{what}");
        }
    }

    #[test]
    fn runs_repeat_and_units_are_named_once() {
        let small = Cell {
            people: 200,
            ..SMALL
        };
        let table = learn(small, 2);
        assert_eq!(table, learn(small, 2));
        let federated = Federated::new(Size::Full);
        let mut names: Vec<String> = federated.units().into_iter().map(|own| own.name).collect();
        let count = names.len();
        assert_eq!(count, 6 * 10);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let figures = federated.figures(&table);
        assert_eq!([figures.len(), figures[0].panels.len()], [1, 1]);
        let curves = figures[0].panels[0].curves.iter();
        let labels: Vec<&str> = curves.map(|own| own.label.as_str()).collect();
        let ways = Pick::BOTH.into_iter().flat_map(Way::all).map(Way::label);
        let all = std::iter::once(GUESS.to_owned()).chain(ways);
        assert_eq!(labels, all.collect::<Vec<_>>());
        let title = "Federated logistic regression of 100000 people in 10 rounds over ε";
        assert_eq!(figures[0].title, title);
    }
}
