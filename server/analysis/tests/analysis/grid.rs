use hushbin::choose::grid::Draft;
use hushbin_analysis::plan::{GridGoal, grid};
#[test]
fn probe() {
    for (d, n, r, m) in [
        (1, 10_000, 8, 9),
        (1, 100_000, 16, 17),
        (2, 100_000, 6, 49),
        (4, 100_000, 3, 256),
        (8, 100_000, 1, 256),
    ] {
        for drawn in [Some(d), None] {
            for cap in [12.0, 4.0] {
                let start = std::time::Instant::now();
                let found = grid(&GridGoal {
                    most_epsilon: cap,
                    draft: Draft { drawn, steps: None },
                    ..GridGoal::new(d, n, 1.0, 1e-6)
                })
                .unwrap()
                .unwrap();
                println!("{d} {n} expected {r} {m}: {found:?} {:?}", start.elapsed());
            }
        }
        let draft = Draft {
            drawn: Some(d),
            steps: Some(r),
        };
        let found = grid(&GridGoal {
            most_epsilon: 12.0,
            draft,
            ..GridGoal::new(d, n, 1.0, 1e-6)
        })
        .unwrap()
        .unwrap();
        println!("   table's own: {found:?}");
    }
}
