//! Exact loss between all inputs, from the sampled threshold.

use hushbin::domain::Domain;
use hushbin::mechanism::window::{Randomizer, Window};
use num_bigint::BigUint;

use super::{entries, stands, windows};
use crate::support::exact::{Exact, Exp};
use crate::support::loss;

/// Ratio of the probabilities of a favoured cell and of another one.
fn ratio(window: &Window, epsilon: f64) -> Exact {
    let inside = BigUint::from(window.thresholds(epsilon).favoured_threshold(1).0);
    let outside = (BigUint::from(1_u8) << 64) - &inside;
    let favoured = window.favoured_cell_count();
    let others = window.atom_combination_count() - favoured;
    Exact::new(inside, favoured.into()) / Exact::new(outside, others.into())
}

/// Under inputs at levels and between them, the likelihood ratio of every report is at most exp of
/// the effective ε. That is at most the requested ε.
#[test]
fn inputs_hide_in_each_other() {
    let mut sets = 0;
    for window in windows(130) {
        let domain = Domain::of_dense_inputs(window.drawn_attribute_count());
        for step in 0..4 {
            let epsilon = 0.011 + 2.91 * f64::from(step);
            sets += 1;
            let effective = window.thresholds(epsilon).effective_epsilon();
            let randomizer = Randomizer::new(&window, &domain, epsilon);
            let levels = (0..window.level_count()).map(|level| stands(&window, level));
            let between = [-0.93, -0.2, 0.0, 0.37, 0.71];
            let inputs = levels.chain(between).flat_map(|own| {
                // All attributes equal, and all but the first at an end.
                let mut other = vec![-1.0; window.drawn_attribute_count() as usize];
                other[0] = own;
                [vec![own; window.drawn_attribute_count() as usize], other]
            });
            let rows = inputs.map(|values| randomizer.cell_probabilities(5, &entries(&values)));
            let lost = loss(rows.collect::<Vec<_>>());
            assert!(
                lost <= effective * (1.0 + 1e-12),
                "{window:?}, {epsilon}: {lost}"
            );
            assert!(lost > effective - 1e-9, "{window:?}, {epsilon}: {lost}");
            assert!(effective <= epsilon && effective > epsilon - 1e-9);
        }
    }
    assert!(sets > 1000, "{sets}");
}

/// Windows with parameters of all sizes.
#[test]
fn no_window_spends_more_than_is_asked() {
    let mut sets = 0;
    for window in windows(Window::MAX_CELL_COUNT).step_by(6) {
        for epsilon in [0.001, 0.1, 1.0, 2.5, 6.0, 12.0] {
            sets += 1;
            let effective = window.thresholds(epsilon).effective_epsilon();
            let ratio = ratio(&window, epsilon);
            assert!(effective <= epsilon, "{window:?}, {epsilon}");
            assert!(
                ratio <= Exp::of(effective).low_ratio(),
                "{window:?}, {epsilon}"
            );
            assert!(ratio >= Exact::from_integer(1_u8.into()));
            assert!(effective > epsilon - 1e-9, "{window:?}, {epsilon}");
        }
    }
    assert!(sets > 6000, "{sets}");
}
