mod coco;
mod collision;
mod hash_bin;
mod nonmissing;
mod sparsity;

use hushbin::TaskDraft;
use hushbin::domain::Domain;
use hushbin::hash::{BalancedHash, HashFamily};
use serde_json::json;

fn domain_of(items: &serde_json::Value, sparsity: u32) -> Domain {
    let draft: TaskDraft = serde_json::from_value(json!({
        "id": "choice", "items": items, "sparsity": sparsity, "epsilon": 1.0, "value": "real",
        "mechanism": { "name": "coco", "favoured": 1, "buckets": 2 },
    }))
    .unwrap();
    draft.resolve_task().unwrap().questions()[0].domain()
}

fn domain(items: u32, sparsity: u32) -> Domain {
    domain_of(&json!(items), sparsity)
}

/// Parameters of a mechanism with several hash functions: the number of functions R, the cells of
/// each, and c.
struct Functions {
    /// Smallest number of cells.
    first: u32,
    /// Greatest c for this number of cells of all functions.
    most: fn(u32) -> u32,
    elements: fn(&Domain, HashFamily) -> Option<u32>,
    /// Returns the chosen R and number of cells at an ε, and the variance.
    choose: fn(&Domain, f64, HashFamily) -> (u32, u32, f64),
    /// Returns the variance for any R, number of cells and c.
    variance: fn(&Domain, f64, HashFamily, u32, u32, u32) -> f64,
}

impl Functions {
    /// Checks the choice against all affordable numbers of functions, R·s·(1 + rounds) ≤ 1500. A
    /// hundredth is allowed, because it does not justify twice as many functions.
    fn assert_chosen_is_best(&self, hashings: &[HashFamily]) {
        let mut several = 0;
        for (items, sparsity) in [(3, 2), (20, 1), (20, 3), (60, 8)] {
            let domain = domain(items, sparsity);
            for epsilon in [0.3, 1.0, 2.5] {
                for &hashing in hashings {
                    let chosen = self.assert_better_than_all(&domain, epsilon, hashing);
                    several += u32::from(chosen > 1);
                }
            }
        }
        assert!(several > 3 * hashings.len() as u32, "{several}");
    }

    fn assert_better_than_all(&self, domain: &Domain, epsilon: f64, hashing: HashFamily) -> u32 {
        let sparsity = domain.sparsity();
        let affordable = |hashes: u32, cells: u32| {
            let elements = (self.elements)(domain, hashing).unwrap();
            let balanced = || BalancedHash::new(elements, cells).round_count();
            let rounds = hashing.is_balanced().then(balanced).unwrap_or(1);
            hashes == 1 || hashes * sparsity * (1 + rounds as u32) <= 1500
        };
        let (chosen, cells, ours) = (self.choose)(domain, epsilon, hashing);
        assert!(affordable(chosen, cells), "{chosen} by {cells}");
        let wide = (2.0 * f64::from(sparsity) * (epsilon.exp() + 2.0)) as u32 + 2;
        for hashes in (0..=10).map(|power| 1 << power) {
            for others in (self.first..=wide).filter(|&cells| affordable(hashes, cells)) {
                let most = (self.most)(hashes * others).min(hashes * sparsity);
                for favoured in (1..=most).step_by(1 + most as usize / 12) {
                    let theirs =
                        (self.variance)(domain, epsilon, hashing, hashes, others, favoured);
                    assert!(
                        ours <= 1.0105 * theirs || theirs < 0.0,
                        "{chosen} by {cells}: {ours}, not {theirs} of {hashes} by {others}, \
                         {favoured}; {domain:?}, ε = {epsilon}, {hashing:?}"
                    );
                }
            }
        }
        chosen
    }
}
