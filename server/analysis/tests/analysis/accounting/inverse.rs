//! Tests of the parameters that a batch needs for a given central ε.

use hushbin::{Error, ErrorCode};
use hushbin_analysis::accounting::{
    ReportMixture, compute_batch_privacy, largest_alpha, smallest_batch_size,
};
use hushbin_tests::mixtures;

const BUCKETS: u32 = 1 << 22;

fn heaviest(favoured: u32, epsilon: f64) -> ReportMixture {
    mixtures::heaviest(favoured, BUCKETS, epsilon)
}

/// The result is small enough, and slightly more is too much.
#[test]
fn the_largest_alpha_is_met() {
    for (epsilon, central, n, delta) in [
        (1.0, 0.01, 100_000, 1e-8),
        (1.0, 0.06, 1000, 1e-3),
        (0.1, 0.02, 50, 1e-6),
        (4.0, 0.02, 3_000_000, 1e-12),
        (12.0, 0.3, 20_000_000, 1e-9),
    ] {
        let most = largest_alpha(epsilon, n, 1.0, delta, central).unwrap();
        let alpha = |favoured| {
            let [favoured, others] = [favoured, BUCKETS - favoured].map(f64::from);
            hushbin::choose::mixture_alpha(favoured, others, f64::exp(epsilon))
        };
        let favoured = (1..BUCKETS / 2).rfind(|&c| alpha(c) <= most).unwrap();
        let of =
            |favoured| compute_batch_privacy(&heaviest(favoured, epsilon), n, 1.0, delta).unwrap();
        let at = format!("ε = {epsilon}, ε_c = {central}, n = {n}, δ = {delta}: {most}");
        assert!(of(favoured).central_epsilon <= central, "{at}");
        assert!(of(favoured + 1).central_epsilon > central, "{at}");
        // Dishonest people's reports hide no person.
        let half = largest_alpha(epsilon, 2 * n, 0.5, delta, central).unwrap();
        assert_eq!(half, most, "{at}");
    }
}

#[test]
fn every_central_epsilon_has_an_alpha() {
    for epsilon in [0.001, 1.0, 12.0] {
        for n in [2, 1000, 1_000_000] {
            for delta in [0.1, 1e-6, 1e-15] {
                let generic = ReportMixture::for_any_randomizer(epsilon).unwrap().alpha();
                let mut before = 0.0;
                for central in [0.0, 0.3 * epsilon, 0.999 * epsilon, epsilon, 12.0] {
                    let most = largest_alpha(epsilon, n, 1.0, delta, central).unwrap();
                    let at = format!("ε = {epsilon}, n = {n}, δ = {delta}, ε_c = {central}");
                    assert!(before * (1.0 - 1e-6) <= most && most <= generic, "{at}");
                    // Loss of a single report.
                    let alone = delta / (epsilon.exp() - central.exp());
                    assert!(
                        central >= epsilon || most > 0.999 * alone.min(generic),
                        "{at}"
                    );
                    assert!(central < epsilon || most == generic, "{at}");
                    before = most;
                }
            }
        }
    }
}

/// n is enough and n − 1 is not, also if not all reports are honest.
#[test]
fn the_smallest_batch_is_exact() {
    for (epsilon, favoured, honest, delta, central) in [
        (1.0, BUCKETS / 2, 1.0, 1e-8, 0.01),
        (1.0, BUCKETS / 17, 0.5, 1e-8, 0.01),
        (0.1, BUCKETS / 9, 0.7, 1e-6, 0.08),
        (3.0, BUCKETS / 40, 0.03, 1e-10, 0.05),
        (2.0, BUCKETS / 5, 0.9, 1e-3, 1.999),
        (1.0, BUCKETS / 2, 0.1, 1e-3, 1.0),
        (0.5, 100, 1.0, 1e-12, 0.001),
    ] {
        let mixture = heaviest(favoured, epsilon);
        let n = smallest_batch_size(&mixture, honest, delta, central).unwrap();
        let of = |n| compute_batch_privacy(&mixture, n, honest, delta);
        let at = format!("ε = {epsilon}, {favoured} favoured, {honest}, ε_c = {central}: {n}");
        assert!(of(n).unwrap().central_epsilon <= central, "{at}");
        // A batch needs two honest reports.
        let less = of(n - 1).map_or(f64::INFINITY, |found| found.central_epsilon);
        assert!(less > central, "{at}");
    }
}

#[test]
fn what_no_batch_reaches_is_refused() {
    let any = ReportMixture::for_any_randomizer(8.0).unwrap();
    let range = |error: Error, name: &str| match error {
        Error::OutOfRange { name: found, .. } => assert_eq!(found, name),
        error => panic!("{error:?}"),
    };
    range(
        smallest_batch_size(&any, 1.0, 1e-9, 0.0).unwrap_err(),
        "central_epsilon",
    );
    range(
        smallest_batch_size(&any, 1.0, 1e-9, 13.0).unwrap_err(),
        "central_epsilon",
    );
    range(
        smallest_batch_size(&any, 1.0, 0.0, 0.1).unwrap_err(),
        "delta",
    );
    range(
        smallest_batch_size(&any, 0.0, 1e-9, 0.1).unwrap_err(),
        "honest_fraction",
    );
    range(
        smallest_batch_size(&any, 1e-12, 1e-9, 0.1).unwrap_err(),
        "honest_reports",
    );
    range(
        largest_alpha(0.0, 10, 1.0, 1e-9, 0.1).unwrap_err(),
        "epsilon",
    );
    range(
        largest_alpha(1.0, 10, 1.0, 1e-9, -0.1).unwrap_err(),
        "central_epsilon",
    );
    range(
        largest_alpha(1.0, 1, 1.0, 1e-9, 0.1).unwrap_err(),
        "reports",
    );
    assert_eq!(
        largest_alpha(1.0, 10, 2.0, 1e-9, 0.1).unwrap_err().code(),
        ErrorCode::OutOfRange
    );
}
