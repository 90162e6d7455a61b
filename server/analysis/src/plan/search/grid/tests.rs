//! Grids as they are chosen for a central ε, beside the closed form of the paper.

use hushbin::choose::grid::Draft;
use serde_json::Value;

use super::*;
use crate::accounting::account;

const REFERENCE: &str = include_str!("../../../../../../tests/reference/shuffle-sums.json");

fn rows() -> Vec<Value> {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    all["shuffled_grid"].as_array().unwrap().clone()
}

/// A grid of one attribute, or of all it takes, with so many cells.
fn with_cells(cells: u32) -> Grid {
    match cells {
        25 => Grid::new(2, 4).unwrap(),
        cells => Grid::new(1, cells - 1).unwrap(),
    }
}

/// One favoured cell of M, summed by an independent program.
#[test]
fn shuffled_grids_are_those_of_the_reference() {
    let mut seen = 0;
    for row in rows() {
        let number = |field: &str| row[field].as_f64();
        let Some(epsilon) = number("epsilon") else {
            continue;
        };
        seen += 1;
        let own = with_cells(number("cells").unwrap() as u32);
        let mixture = Mixture::grid(&own, epsilon).unwrap();
        assert!(
            (mixture.alpha() * (epsilon.exp() + f64::from(own.cells()) - 1.0) - 1.0).abs() < 1e-12
        );
        let n = number("n").unwrap() as u64;
        let found = account(&mixture, n, 1.0, number("delta").unwrap()).unwrap();
        let expected = number("central").unwrap();
        let ratio = found.central_epsilon / expected;
        assert!((ratio - 1.0).abs() < 1e-7, "{row}: {found:?}");
        // As a choice with so many answers, each with a bucket of its own.
    }
    assert_eq!(seen, 4);
}

/// A goal without a cap on the local ε, for ε_c = 1 at δ = 10⁻⁶.
fn uncapped(attributes: u32, people: u64, draft: Draft) -> GridGoal {
    GridGoal {
        most_epsilon: 12.0,
        draft,
        ..GridGoal::new(attributes, people, 1.0, 1e-6)
    }
}

/// Closed forms of the paper: γ of a message, for n people, M cells and ε_c = 1.
fn closed_form(cells: f64, n: f64) -> f64 {
    let delta: f64 = 1e-6;
    (14.0 * cells * (2.0 / delta).ln() / (n - 1.0)).max(27.0 * cells / (n - 1.0))
}

/// As the reference has it; it takes 4.8 to 7 times the γ that is enough.
#[test]
fn the_closed_form_is_that_of_the_paper_and_loose() {
    let mut seen = 0;
    for row in rows() {
        let Some(gamma) = row["gamma_closed_form"].as_f64() else {
            continue;
        };
        seen += 1;
        let (cells, n) = (row["cells"].as_f64().unwrap(), row["n"].as_u64().unwrap());
        let closed = closed_form(cells, n as f64);
        assert!((closed / gamma - 1.0).abs() < 1e-9, "{row}");
        let own = with_cells(cells as u32);
        let draft = Draft {
            drawn: Some(own.drawn()),
            steps: Some(own.steps()),
        };
        let found = grid(&uncapped(2, n, draft)).unwrap().unwrap();
        let needed = cells / (found.epsilon.exp() + cells - 1.0);
        assert!(
            (4.7..7.1).contains(&(closed / needed)),
            "{}",
            closed / needed
        );
    }
    assert_eq!(seen, 2);
}

/// What is chosen for ε_c = 1 and δ = 10⁻⁶ with all attributes drawn: r, M, the local ε and
/// the standard error to the digits stated, and that of the paper's closed form. Of one
/// number r = 8 and 16 were stated, but 7 and 15 are better, by 0.6 and 0.1 per cent.
#[test]
fn grids_are_chosen_for_a_central_epsilon() {
    for (d, n, stated, best, epsilon, error, closed) in [
        (1, 10_000, [8, 9], 7, 5.50, 0.0025, 0.0045),
        (1, 100_000, [16, 17], 15, 7.77, 0.00036, 0.00062),
        (2, 100_000, [6, 49], 6, 7.78, 0.00072, 0.0011),
        (4, 100_000, [3, 256], 3, 7.87, 0.0015, 0.0023),
        (8, 100_000, [1, 256], 1, 7.87, 0.0035, 0.0066),
    ] {
        let what = format!("{d} numbers of {n}");
        let choose = |steps| {
            let drawn = Some(d);
            let goal = uncapped(d, n, Draft { drawn, steps });
            grid(&goal).unwrap().unwrap()
        };
        let two = |x: f64| format!("{x:.1e}");
        for (steps, own) in [(None, best), (Some(stated[0]), stated[0])] {
            let found = choose(steps);
            assert_eq!((found.grid.drawn(), found.grid.steps()), (d, own), "{what}");
            assert_eq!(format!("{:.2}", found.epsilon), format!("{epsilon:.2}"));
            assert_eq!(two(found.standard_error), two(error), "{what}: {found:?}");
        }
        assert_eq!(choose(Some(stated[0])).grid.cells(), stated[1]);
        // None beside it is better, at its own local ε.
        let found = choose(None);
        for steps in 1..=(best + 3) {
            if Grid::new(d, steps).is_ok() {
                assert!(choose(Some(steps)).standard_error >= found.standard_error);
            }
        }
        // What is found keeps to ε_c, and a larger local ε would not.
        let central = |epsilon: f64| {
            let mixture = Mixture::grid(&found.grid, epsilon).unwrap();
            account(&mixture, n, 1.0, 1e-6).unwrap().central_epsilon
        };
        assert!(central(found.epsilon) <= 1.0 + 1e-9 && central(found.epsilon + 0.002) > 1.0);

        let domain = Domain::dense(d);
        let best_closed = (1..64).filter_map(|steps| {
            let own = Grid::new(d, steps).ok()?;
            let cells = f64::from(own.cells());
            let gamma = closed_form(cells, n as f64);
            let epsilon = (1.0 + cells * (1.0 - gamma) / gamma).ln();
            let rates = (epsilon > 0.001).then(|| own.rates(&domain, epsilon))?;
            Some((rates.worst_variance() / n as f64).sqrt())
        });
        let least = best_closed.fold(f64::INFINITY, f64::min);
        assert_eq!(two(least), two(closed), "{what}: {least}");
    }
}

/// With the cap of 4, and with k left open.
#[test]
fn local_epsilons_are_capped_unless_told_otherwise() {
    for (d, n, drawn, steps) in [
        (1, 10_000, 1, 4),
        (1, 100_000, 1, 4),
        (2, 100_000, 2, 2),
        (4, 100_000, 2, 2),
        (8, 100_000, 4, 1),
    ] {
        let found = grid(&GridGoal::new(d, n, 1.0, 1e-6)).unwrap().unwrap();
        let own = (found.grid.drawn(), found.grid.steps());
        assert_eq!((own, found.epsilon), ((drawn, steps), 4.0));
        // As the core chooses without shuffling.
        let local = Grid::choose(&Domain::dense(d), 4.0, &Draft::default());
        assert_eq!(local, Ok(found.grid));
    }
    // Five of eight numbers on three levels rather than all on two.
    let found = grid(&uncapped(8, 100_000, Draft::default()))
        .unwrap()
        .unwrap();
    assert_eq!((found.grid.drawn(), found.grid.steps()), (5, 2));
    assert!((found.standard_error - 0.002955).abs() < 1e-6, "{found:?}");
    // Where fewer are honest less is told.
    let all = uncapped(2, 100_000, Draft::default());
    let half = GridGoal {
        honest_fraction: 0.5,
        ..all
    };
    let [all, half] = [all, half].map(|goal| grid(&goal).unwrap().unwrap());
    assert!(half.epsilon < all.epsilon && half.standard_error > all.standard_error);
    for wrong in [
        GridGoal::new(0, 100, 1.0, 1e-6),
        GridGoal::new(1, 0, 1.0, 1e-6),
        GridGoal::new(1, 100, -1.0, 1e-6),
        GridGoal::new(1, 100, 1.0, 1.0),
        GridGoal {
            most_epsilon: 13.0,
            ..GridGoal::new(1, 100, 1.0, 1e-6)
        },
    ] {
        assert!(grid(&wrong).is_err(), "{wrong:?}");
    }
}

/// A search that leaves out what cannot be better leaves nothing better out.
#[test]
fn nothing_better_is_left_out() {
    for (d, n, central, most_epsilon) in [
        (1, 300, 0.5, 12.0),
        (2, 5_000, 0.1, 12.0),
        (3, 2_000_000, 0.3, 6.0),
        (5, 1_000, 2.0, 12.0),
    ] {
        let goal = GridGoal {
            most_epsilon,
            ..GridGoal::new(d, n, central, 1e-8)
        };
        let found = grid(&goal).unwrap().unwrap();
        let all = Draft::default().candidates(d);
        for own in all.filter(|own| own.cells() <= 64 || own.cells() % 97 == 0) {
            let draft = Draft {
                drawn: Some(own.drawn()),
                steps: Some(own.steps()),
            };
            let other = grid(&GridGoal { draft, ..goal }).unwrap().unwrap();
            assert!(
                found.standard_error <= other.standard_error,
                "{d}, {n}, {central}: {found:?}, {other:?}"
            );
        }
    }
}
