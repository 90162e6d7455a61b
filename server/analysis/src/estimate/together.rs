//! Shares of options of several parts that are told of together.
//!
//! Of each part everybody gives one option, so that its shares sum to 1. What they are
//! estimated to sum to beyond that is noise: each of a part's c estimates is less a c-th
//! of it, (hit − H/c)/gap + 1/c, where a report hits H of the part's options. Of people
//! whose answers are even it is the best linear estimate that there is: options of a part
//! being alike, what all parts are estimated to sum to tells no more of how one option
//! differs from another.
//!
//! What a report counts for an option depends on whether it is the one given: of M members
//! of the input in a report's bucket any are as likely as others, and so is what else the
//! bucket holds. So the law of M says all.

use std::collections::HashMap;
use std::sync::Arc;

use statrs::distribution::{Binomial, Discrete, Hypergeometric};

use hushbin::hash::Hashing;
use hushbin::mechanism::collision::{Collision, Rates};
use hushbin::task::{Kind, Together};
use hushbin::{Mechanism, Question};

use super::law::Law;
use super::people::People;
use super::point::{ItemPoints, Point, variance_over_people};
use super::score::{Crowd, Score, ScoreLaw};

/// The parts of a question, with the laws of what reports count.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    together: Together,
    rates: Rates,
    whose: People,
    /// By the number of options, up to [`Rates::FEW`].
    laws: HashMap<u32, Arc<ScoreLaw>>,
}

impl Parts {
    /// Those of a question that has parts.
    pub(super) fn of(question: &Question, whose: People) -> Option<Self> {
        let (Kind::Together(together), Mechanism::Collision(collision)) =
            (question.kind(), question.mechanism())
        else {
            return None;
        };
        let hits = Hits::new(question, collision);
        let law = |options: u32| {
            let crowd = |given| Crowd::alike(hits.score(options, given));
            let law = ScoreLaw {
                nodes: vec![(0.0, crowd(false)), (1.0, crowd(true))],
                given: whose == People::Given,
            };
            (options, Arc::new(law))
        };
        let options = together.parts().iter().map(hushbin::task::Part::cells);
        Some(Self {
            together: together.clone(),
            rates: collision.rates(&question.domain(), question.epsilon()),
            whose,
            laws: options
                .filter(|&count| count <= Rates::FEW)
                .map(law)
                .collect(),
        })
    }

    /// How many items there are.
    pub(super) fn items(&self) -> u64 {
        self.together.cells().into()
    }

    /// How many options there are beside an item and with it, where there are few.
    fn options(&self, item: u64) -> Option<u32> {
        let (part, _) = self.together.option(item as u32);
        let options = self.together.parts()[part].cells();
        self.laws.contains_key(&options).then_some(options)
    }

    /// Estimates of items, of those of all items by their own hits.
    pub(super) fn points(
        &self,
        raw: &[ItemPoints],
        items: &[u64],
        reports: u64,
    ) -> Vec<ItemPoints> {
        let share = |item: u32| raw[item as usize].share.map_or(0.0, |own| own.estimate);
        let surplus: Vec<f64> = (0..self.together.parts().len())
            .map(|part| {
                let cells = self.together.parts()[part].cells();
                let shares = (0..cells).map(|option| share(self.together.cell(part, option)));
                (shares.sum::<f64>() - 1.0) / f64::from(cells)
            })
            .collect();
        let point = |&item: &u64| {
            let Some(options) = self.options(item) else {
                return raw[item as usize];
            };
            let (part, _) = self.together.option(item as u32);
            let estimate = share(item as u32) - surplus[part];
            let [with, without] =
                [true, false].map(|given| self.rates.option_variance(options, given));
            let variance = variance_over_people(self.whose, estimate, with, without);
            ItemPoints {
                share: Some(Point::new(estimate, variance, reports as f64)),
                ..ItemPoints::default()
            }
        };
        items.iter().map(point).collect()
    }

    /// The law of an item's estimate, where its part has few options.
    pub(super) fn law(&self, item: u64) -> Option<Law> {
        let law = &self.laws[&self.options(item)?];
        Some(Law::Scores(Arc::clone(law)))
    }
}

/// What a report hits of a part.
struct Hits {
    /// P(M = k) for k from 0 to s.
    members: Vec<f64>,
    /// m and N: slots that a report hits, of how many; `None` where elements are hashed
    /// independently.
    slots: Option<[u32; 2]>,
    /// P(hit) of an element that is hashed independently.
    alone: f64,
}

impl Hits {
    fn new(question: &Question, collision: &Collision) -> Self {
        let domain = question.domain();
        let slots = collision.support(&domain).slots() as u32;
        Self {
            members: collision.members(&domain, question.epsilon()),
            slots: (collision.hashing() != Hashing::Independent)
                .then(|| [slots / collision.buckets(), slots]),
            alone: 1.0 / f64::from(collision.buckets()),
        }
    }

    /// What a report counts for one of so many options, which is given or not: 1 for a hit,
    /// and for each hit of another −1/(c − 1).
    fn score(&self, options: u32, given: bool) -> Score {
        let others = options - 1;
        // From −(c − 1) to c − 1.
        let mut counts = vec![0.0; 2 * others as usize + 1];
        for (members, &p) in (0_u32..).zip(&self.members).filter(|(_, p)| **p > 0.0) {
            let mut add = |p: f64, own: bool, beside: u32, rest: &[f64]| {
                let first = if own { 2 * others } else { others } - beside;
                for (hits, q) in rest.iter().enumerate() {
                    counts[first as usize - hits] += p * q;
                }
            };
            let member = f64::from(members) / f64::from(self.sparsity());
            if given {
                let rest = self.others(others, members, None);
                add(p * member, true, 0, &rest);
                add(p * (1.0 - member), false, 0, &rest);
                continue;
            }
            let own = self.chance(members);
            for (own, p) in [(true, p * own), (false, p * (1.0 - own))] {
                if p > 0.0 {
                    let rest = self.others(others - 1, members, Some(own));
                    add(p * member, own, 1, &rest);
                    add(p * (1.0 - member), own, 0, &rest);
                }
            }
        }
        let count = |index: usize| index as f64 / f64::from(others) - 1.0;
        let counts = counts.into_iter().enumerate();
        counts
            .filter(|(_, p)| *p > 0.0)
            .map(|(index, p)| (count(index), p))
            .collect()
    }

    fn sparsity(&self) -> u32 {
        self.members.len() as u32 - 1
    }

    /// P(hit) of an option that is not given, beside so many members.
    fn chance(&self, members: u32) -> f64 {
        self.slots.map_or(self.alone, |[m, slots]| {
            f64::from(m - members) / f64::from(slots - self.sparsity())
        })
    }

    /// How many of so many options that are not given are hit beside so many members; and
    /// beside another that is not, where it is `known` whether that one is hit.
    fn others(&self, count: u32, members: u32, known: Option<bool>) -> Vec<f64> {
        let all = 0..=u64::from(count);
        let Some([m, slots]) = self.slots else {
            let law = Binomial::new(self.alone, count.into()).expect("a probability");
            return all.map(|hits| law.pmf(hits)).collect();
        };
        let left = slots - self.sparsity() - u32::from(known.is_some());
        let drawn = m - members - u32::from(known == Some(true));
        let law = Hypergeometric::new(left.into(), count.into(), drawn.into());
        let law = law.expect("as many slots as elements, at least");
        all.map(|hits| law.pmf(hits)).collect()
    }
}
