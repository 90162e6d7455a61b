//! The search for a rule, a number of hash functions R, a number of buckets t and
//! a number of favoured ones c: least total variance within a budget.
//!
//! Whoever reports hashes R·s elements, each in so many rounds: unless a draft says
//! so, no more than is [`AFFORDABLE`]; and R is the least power of two whose variance
//! is within [`WORTH`] of the best of them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::buckets::{BucketsDraft, ChooseBuckets, Rated, paper};
use super::budget::{Budget, HIDES_TOO_LITTLE, Limit};
use super::cells::Cells;
use super::contract::Choose;
use super::objective::Goal;
use super::predict::Predict;
use super::search::{Candidate, Search};
use crate::bounds;
use crate::domain::Domain;
use crate::error::Error;
use crate::hash::Hashing;
use crate::mechanism::contract::Parameters;
use crate::mechanism::hash_bin::LevelName;
use crate::mechanism::occupancy::{NearSums, TopSum, TopSums};
use crate::mechanism::{BucketReport, Subset};

/// The greatest R·s·(1 + rounds) that is chosen where R > 1. In a page each takes some
/// 5 ns of a report: an element under one hash function took 8 ns where there is a
/// single pair, 30 in five rounds, 60 in nine and 126 in 21.
const AFFORDABLE: u32 = 1500;
/// A variance this many times the least is as good, at fewer hash functions.
const WORTH: f64 = 1.01;
/// How many of the ranked of each R are compared exactly to choose R, and of the one
/// that is chosen.
const FIRST: usize = 3;
const FINALISTS: usize = 8;
/// Up to this R·s everything is ranked with exact sums: with independent cells,
/// near ones led to 12 per cent more variance at 3 and 7 at 5, to nothing at 16.
const EXACT: u32 = 12;
/// From this s on near sums decide: at s = 1024 they led to what exact ones do, c but
/// for one in a thousand, which take a tenth of a second each.
const LONG: u32 = 256;
/// Up to so many c are all tried.
const ALL: u32 = 24;
/// With more items than this for each entry, paddings are a small part of all slots.
const FEW_ENTRIES: u32 = 16;
/// Paddings are kept unless the variance without is below theirs by this factor: of
/// people with few entries they make less noise.
const PADDED: f64 = 1.003;

const NO_WINDOW: Error = Error::Combination {
    reason: "no \"balanced-windows\" agree with what is said: they take rule \"heaviest\", one of \"hashes\", and 2 \"favoured\" or more of 3 to 255 \"buckets\", no more than answers where either is left open",
};

/// The best parameters over a domain that agree with a draft.
///
/// Under the paper's rule every t is tried. Under the other a grid of t is ranked, mostly by sums
/// that are near; then the best of one R and their neighbours are compared with exact sums.
///
/// # Errors
/// [`Error::OutOfRange`] or [`Error::Combination`] when no parameters agree with
/// what is said, or none of them keep to the budget.
pub(super) fn choose<R: ChooseBuckets>(
    domain: &Domain,
    budget: Budget,
    draft: &BucketsDraft<R::Name>,
    goal: &Goal<'_>,
) -> Result<Subset<R>, Error> {
    let complete = draft.complete::<R>(domain)?;
    let paper = draft.rule_or_default::<R>() == paper::<R>().name();
    let with = |hashing| Buckets {
        domain,
        epsilon: budget.epsilon,
        limit: budget.limit(),
        goal,
        hashing,
        favoured: draft.favoured,
        hashes: draft.hashes.or(draft.favoured.map(|_| 1)),
    };
    let search = with(draft.hashing_over(domain));
    let limit = &search.limit;
    let numbers = [draft.favoured, draft.buckets, draft.hashes];
    let says_nothing = draft.hashing.is_none() && numbers == [None; 3];
    let windows = |other| R::windows(domain, limit, draft, goal, other);
    let chosen = match complete {
        _ if search.hashing == Hashing::BalancedWindows => {
            search.hashing.check(domain)?;
            let best = windows(None).filter(|_| !paper);
            best.ok_or(NO_WINDOW)?.1
        }
        Some(complete) if paper || draft.favoured.is_some() => complete,
        None if paper => search.paper(),
        complete => {
            let cells = complete.map(|complete| complete.cells());
            let padded = search.strongest::<R>(cells);
            let fills = draft.hashing.is_none() && padded.1.rule().fills();
            let filled = (fills && has_many_entries(domain))
                .then(|| with(Hashing::BalancedItems).strongest(cells));
            match filled {
                Some(filled) if filled.0 * PADDED < padded.0 => filled.1,
                _ if says_nothing => windows(Some(padded)).map_or(padded.1, |best| best.1),
                _ => padded.1,
            }
        }
    };
    Parameters::check(&chosen, domain)?;
    let favoured = chosen.favoured().unwrap_or(domain.sparsity());
    if search.limit.allows(favoured, chosen.outcomes()) {
        Ok(chosen)
    } else {
        Err(HIDES_TOO_LITTLE)
    }
}

impl<R: ChooseBuckets> Choose for Subset<R>
where
    Self: Predict + Parameters<Report = BucketReport>,
{
    type Draft = BucketsDraft<R::Name>;

    fn check_draft(draft: &Self::Draft, domain: &Domain) -> Result<(), Error> {
        match draft.complete::<R>(domain)? {
            Some(own) => Parameters::check(&own, domain),
            None => Ok(()),
        }
    }

    fn best(search: &Search<'_>, draft: &Self::Draft) -> Result<Candidate, Error> {
        let goal = search.goal();
        search.best(|domain, budget| choose(domain, budget, draft, &goal))
    }

    fn offers(search: &Search<'_>, _: LevelName) -> Result<Vec<Candidate>, Error> {
        if search.budget.limit().allows_buckets() {
            Ok(alloc::vec![R::offer(search)?])
        } else {
            Ok(Vec::new())
        }
    }

    fn agrees_with(&self, draft: &Self::Draft) -> Result<(), Error> {
        draft.agrees_with(self)
    }

    fn longest_report(&self, _: &Domain, _: f64) -> BucketReport {
        BucketReport::longest(self.outcomes())
    }
}

/// Whether paddings would be a good part of all slots.
fn has_many_entries(domain: &Domain) -> bool {
    let few = |items: u32| items / domain.sparsity() > FEW_ENTRIES;
    domain.items().is_some_and(|items| !few(items))
}

struct Buckets<'a> {
    domain: &'a Domain,
    epsilon: f64,
    limit: Limit,
    goal: &'a Goal<'a>,
    hashing: Hashing,
    favoured: Option<u32>,
    hashes: Option<u32>,
}

/// Sums over the c strongest, exactly or nearly.
enum Sums {
    Exact(TopSums),
    Near(NearSums),
}

impl Sums {
    fn at(&self, c: u32) -> TopSum {
        match self {
            Self::Exact(sums) => sums.at(c),
            Self::Near(sums) => sums.at(c),
        }
    }
}

impl Buckets<'_> {
    fn sparsity(&self) -> u32 {
        self.domain.sparsity()
    }

    /// Beyond this many cells of a function no variance falls: P1's optimum is below s·e + 2s
    /// buckets, and more cells than elements add nothing to a permutation. What is said of hiding
    /// among others comes on top ([`Limit::steps`]).
    fn most_cells<R: ChooseBuckets>(&self) -> u32 {
        let s = f64::from(self.sparsity());
        let wide = 2.0 * s * (self.limit.e + 2.0);
        let wide = match self.elements::<R>() {
            Some(elements) => wide.min(f64::from(elements)),
            None => wide,
        };
        wide.clamp(1.0, bounds::BUCKETS.max / f64::from(R::SIDES)) as u32
    }

    /// Of a balanced hash.
    fn elements<R: ChooseBuckets>(&self) -> Option<u32> {
        let elements = Subset::<R>::elements_under(self.hashing, self.domain)?;
        self.hashing.is_balanced().then_some(elements)
    }

    /// A search stays within the bounds.
    fn with<R: ChooseBuckets>(&self, rule: R, cells: u32, hashes: u32) -> Subset<R> {
        Subset::with_hashes(rule, self.hashing, R::SIDES * cells, hashes)
            .expect("within the bounds of buckets, hashes and favoured")
    }

    /// The best under the paper's rule.
    fn paper<R: ChooseBuckets>(&self) -> Subset<R> {
        let s = self.sparsity();
        let first = s + 1;
        let hiding = self.limit.least_buckets(s).div_ceil(R::SIDES).max(first);
        let candidates = (first..=self.most_cells::<R>().max(first))
            .filter(|cells| self.limit.allows(s, R::SIDES * cells))
            .chain(core::iter::once(hiding))
            .map(|cells| {
                let subset = self.with(paper::<R>(), cells, 1);
                (
                    R::paper_variance(&subset, self.domain, self.epsilon, self.goal),
                    subset,
                )
            });
        least(candidates).1
    }

    /// Numbers of cells to try under the other rule.
    fn cells<R: ChooseBuckets>(&self) -> Cells {
        let favoured = self.favoured.unwrap_or(1);
        let hashes = self.hashes.unwrap_or(1);
        // Not all buckets can be favoured.
        let fewest = (bounds::BUCKETS.min as u32).div_ceil(R::SIDES);
        let least = (fewest..)
            .find(|cells| R::most_favoured(hashes * R::SIDES * cells) >= favoured)
            .unwrap_or(favoured);
        let steps = self.limit.steps(self.favoured, self.sparsity());
        Cells {
            least,
            most: self.most_cells::<R>().max(least),
            elements: self.elements::<R>(),
            steps: steps.into_iter().map(|t| t.div_ceil(R::SIDES)).collect(),
        }
    }

    /// Numbers of hash functions to try.
    fn functions(&self) -> Vec<u32> {
        let most = (AFFORDABLE / 2 / self.sparsity()).max(1);
        match self.hashes {
            Some(hashes) => alloc::vec![hashes],
            None => (0..=most.ilog2()).map(|power| 1 << power).collect(),
        }
    }

    /// Whether so many of them may have so many cells.
    fn affords<R: ChooseBuckets>(&self, cells: u32, hashes: u32) -> bool {
        let buckets = u64::from(hashes) * u64::from(R::SIDES * cells);
        let affordable = || {
            let rounds = self.any::<R>(cells, hashes).hash(self.domain).rounds() as u32;
            hashes * self.sparsity() * (1 + rounds) <= AFFORDABLE
        };
        buckets <= bounds::BUCKETS.max as u64
            && (hashes == 1 || self.hashes.is_some() || affordable())
    }

    /// The best under the other rule, of so many cells or any number.
    fn strongest<R: ChooseBuckets>(&self, cells: Option<u32>) -> Rated<R> {
        let Some(cells) = cells else {
            let tries = self.cells::<R>();
            let best = self.best_of(&tries.tried());
            let around = tries.around(best.1.cells());
            return self.best_around(best, around);
        };
        self.best_of(&[cells])
    }

    /// The best of these numbers of cells.
    fn best_of<R: ChooseBuckets>(&self, cells: &[u32]) -> Rated<R> {
        let functions = self.functions();
        let mut ranked: Vec<Vec<Rated<R>>> = alloc::vec![Vec::new(); functions.len()];
        for &cells in cells {
            let near = self.near::<R>(cells);
            for (ranked, &hashes) in ranked.iter_mut().zip(&functions) {
                if self.affords::<R>(cells, hashes) {
                    ranked.push(self.rank(cells, hashes, &near));
                }
            }
        }
        ranked.retain(|ranked| !ranked.is_empty());
        for ranked in &mut ranked {
            ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        // Near sums may be off by more than what is worth a function.
        let leader = |ranked: &Vec<Rated<R>>| {
            let first = ranked.iter().take(FIRST);
            least(first.map(|(_, subset)| self.decide(subset)))
        };
        let leaders: Vec<Rated<R>> = ranked.iter().map(leader).collect();
        let best = leaders.iter().map(|leader| leader.0);
        let best = best.fold(f64::INFINITY, f64::min);
        let (leader, ranked) = leaders
            .into_iter()
            .zip(ranked)
            .find(|(leader, _)| leader.0 <= WORTH * best)
            .expect("one of them is the best");
        let others = ranked.into_iter().take(FINALISTS).skip(FIRST);
        let others = others.map(|(_, subset)| self.decide(&subset));
        least(core::iter::once(leader).chain(others))
    }

    /// The best of one and of others with these numbers of cells.
    fn best_around<R: ChooseBuckets>(
        &self,
        best: Rated<R>,
        cells: impl Iterator<Item = u32>,
    ) -> Rated<R> {
        let hashes = best.1.hashes();
        let others = cells
            .filter(|cells| *cells != best.1.cells() && self.affords::<R>(*cells, hashes))
            .map(|cells| self.decide(&self.any(cells, hashes)));
        least(core::iter::once(best).chain(others))
    }

    /// Any c.
    fn any<R: ChooseBuckets>(&self, cells: u32, hashes: u32) -> Subset<R> {
        self.with(R::strongest(self.favoured.unwrap_or(1)), cells, hashes)
    }

    fn near<R: ChooseBuckets>(&self, cells: u32) -> NearSums {
        self.any::<R>(cells, self.hashes.unwrap_or(1))
            .occupancy(self.domain)
            .near_sums(R::STRENGTH)
    }

    /// The best c, by sums that are near unless exact ones take no longer.
    fn rank<R: ChooseBuckets>(&self, cells: u32, hashes: u32, near: &NearSums) -> Rated<R> {
        let any = self.any(cells, hashes);
        if hashes * self.sparsity() <= EXACT {
            self.decide(&any)
        } else {
            self.favour(&any, &Sums::Near(near.of_functions(hashes)))
        }
    }

    /// The best c, by exact sums unless near ones are as good.
    fn decide<R: ChooseBuckets>(&self, any: &Subset<R>) -> Rated<R> {
        let occupancy = any.occupancy(self.domain);
        if self.sparsity() >= LONG {
            let near = occupancy.near_sums(R::STRENGTH);
            return self.favour(any, &Sums::Near(near.of_functions(any.hashes())));
        }
        let most = *self.favourable(any).end();
        let sums = occupancy.top_sums(R::STRENGTH, any.hashes(), most);
        self.favour(any, &Sums::Exact(sums))
    }

    /// Which c to try. With c = R·s every cell with an element is favoured already.
    fn favourable<R: ChooseBuckets>(&self, any: &Subset<R>) -> RangeInclusive<u32> {
        let most = R::most_favoured(any.outcomes());
        match self.favoured {
            Some(c) => c..=c,
            None => 1..=most.min(any.hashes() * self.sparsity()),
        }
    }

    /// The best c and its variance; infinite where no c keeps to the budget.
    fn favour<R: ChooseBuckets>(&self, any: &Subset<R>, sums: &Sums) -> Rated<R> {
        let rate = |c: u32| {
            if self.limit.allows(c, any.outcomes()) {
                let sums = sums.at(c);
                R::variance(any, self.domain, &self.limit.bound, c, &sums, self.goal)
            } else {
                f64::INFINITY
            }
        };
        let (first, last) = self.favourable(any).into_inner();
        // The variance falls with G(c)/Ω, which as a ratio of something concave to
        // something linear has one peak; c is allowed up to some number.
        let (mut low, mut high) = (first, last);
        while high - low > ALL {
            let middle = low + (high - low) / 2;
            let (here, next) = (rate(middle), rate(middle + 1));
            if here.is_infinite() || here < next {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let rated = (low.saturating_sub(ALL / 2).max(first)..=(high + ALL / 2).min(last))
            .map(|c| (rate(c), c));
        let (variance, c) = least(rated);
        let best = self.with(R::strongest(c), any.cells(), any.hashes());
        (variance, best)
    }
}

/// The candidate of least variance; the first of equals.
///
/// # Panics
/// If there is no candidate.
fn least<T>(candidates: impl Iterator<Item = (f64, T)>) -> (f64, T) {
    candidates
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there is a candidate")
}
