//! Numbers in trees of bins: which node a report tells of, what it gives away, what is
//! chosen, and what is refused.

use hushbin::domain::{Domain, Signed};
use hushbin::hash::Hashing;
use hushbin::mechanism::collision::{Collision, Randomizer, Rule};
use hushbin::task::{Cross, Kind, Part, QuestionParts, Scale, Tree};
use hushbin::{Entry, Error, Items, Mechanism, Question, Report, Task, TaskDraft};
use serde_json::{Value, json};

use crate::support::generators::{randomize, seeded};
use crate::support::significance::{assert_rates, assert_uniform};

fn draft(question: &Value, epsilon: f64) -> TaskDraft {
    let mut question = question.clone();
    question["name"] = json!("load");
    question["kind"] = json!("number");
    let file = json!({ "id": "t", "epsilon": epsilon, "questions": [question] });
    serde_json::from_value(file).unwrap()
}

fn scale(question: &Question) -> &Scale {
    let Kind::Number(scale) = question.kind() else {
        unreachable!()
    };
    scale
}

fn bins(count: u32) -> Scale {
    Scale::bins((0..=count).map(f64::from).collect()).unwrap()
}

fn question(scale: Scale, collision: Collision, epsilon: f64) -> Result<Question, Error> {
    Question::new(QuestionParts {
        name: "load".to_owned(),
        items: Items::Count(scale.cells()),
        kind: Kind::Number(scale),
        sparsity: 1,
        weight: 1,
        epsilon,
        mechanism: collision.into(),
    })
}

fn independent(buckets: u32) -> Collision {
    let rule = Rule::Heaviest { favoured: 1 };
    Collision::new(rule, Hashing::Independent, buckets).unwrap()
}

/// Shapes, some of which bins do not fill.
fn trees() -> impl Iterator<Item = Tree> {
    let branches: [&[u32]; 6] = [
        &[2, 2],
        &[4, 4, 4],
        &[3, 5],
        &[7, 2, 3],
        &[2, 2, 2, 2],
        &[16, 8],
    ];
    branches.into_iter().flat_map(|branches| {
        let all: u32 = branches.iter().product();
        let below = all / branches[0];
        (all - below + 1..=all).map(move |bins| Tree::new(bins, branches.to_vec()).unwrap())
    })
}

/// Each layer divides the bins, each node but the last joining as many, and no two nodes of
/// any layers are the same element.
#[test]
fn layers_divide_the_bins() {
    for tree in trees() {
        let mut first = 0;
        for layer in 0..tree.layers() {
            let nodes = tree.layer(layer);
            assert_eq!(nodes.start, first, "{tree:?}");
            first = nodes.end;
            let mut joined = vec![0; nodes.len()];
            for bin in 0..tree.bins() {
                joined[(tree.node(layer, bin) - nodes.start) as usize] += 1;
            }
            let (last, others) = joined.split_last().unwrap();
            assert!(
                others.iter().all(|count| *count == tree.joined(layer)),
                "{tree:?}"
            );
            assert!((1..=tree.joined(layer)).contains(last), "{tree:?}");
        }
        assert_eq!(tree.nodes(), first);
        assert_eq!(tree.layer(0).end, tree.branches()[0]);
        assert_eq!(tree.joined(tree.layers() - 1), 1);
    }
}

/// A report tells of the node of the layer that its seed draws, as often as a choice of as
/// many nodes would, and of the others by chance.
#[test]
fn reports_tell_of_one_layer() {
    const REPORTS: u64 = 20_000;
    let file = json!({ "min": 0, "max": 50, "bins": 50, "tree": [4, 4, 4] });
    let task = draft(&file, 2.0).resolve().unwrap();
    let question = &task.questions()[0];
    let tree = scale(question).tree().unwrap();
    let Mechanism::Collision(collision) = question.mechanism() else {
        unreachable!()
    };
    let domain = question.domain();
    assert_eq!(domain, Domain::exact(4 + 13 + 50, 1));
    let (support, rates) = (collision.support(&domain), collision.rates(&domain, 2.0));
    let mut randomizer = hushbin::Randomizer::new(&task);
    let mut rng = seeded(11);
    let mut layers = [0; 3];
    // Hits of the person's nodes by layer, in reports of that layer and of others.
    let (mut own, mut others) = ([0; 3], [0; 3]);
    for _ in 0..REPORTS {
        let number = [Entry {
            item: 0,
            value: 37.2,
        }];
        let made = randomize(&mut randomizer, &number, &mut rng).unwrap();
        let Report::Collision(report) = made.report else {
            unreachable!()
        };
        let drawn = tree.drawn(report.seed);
        layers[drawn] += 1;
        for layer in 0..3 {
            let hit = u64::from(support.hits(&report, u64::from(tree.node(layer, 37))));
            if layer == drawn {
                own[layer] += hit;
            } else {
                others[layer] += hit;
            }
        }
    }
    assert_uniform(&layers, "layers");
    for layer in 0..3 {
        let told = (format!("told in {layer}"), own[layer], rates.p_true);
        assert_rates(layers[layer], &[told]);
        let not = (format!("not told in {layer}"), others[layer], rates.p_false);
        assert_rates(REPORTS - layers[layer], &[not]);
    }
}

/// For every seed, whatever two numbers, each bucket is as likely to within the effective
/// ε, which is no more than was asked for: over 1,200 sets of parameters.
#[test]
fn any_two_numbers_are_as_near_as_epsilon_says() {
    let mut sets = 0;
    for tree in trees().filter(|tree| tree.bins() <= 64) {
        for buckets in [2, 3, 5, 8, 13, 40] {
            for epsilon in [0.001, 0.5, 1.0, 2.3, 6.0, 12.0] {
                let scale = bins(tree.bins()).in_tree(tree.branches().to_vec()).unwrap();
                let asked = question(scale, independent(buckets), epsilon).unwrap();
                assert!(asked.effective_epsilon() <= epsilon);
                assert_hidden(&tree, &asked, buckets);
                sets += 1;
            }
        }
    }
    assert!(sets > 1000, "{sets}");
}

fn assert_hidden(tree: &Tree, question: &Question, buckets: u32) {
    let (domain, epsilon) = (question.domain(), question.epsilon());
    let mut randomizer = Randomizer::new(&independent(buckets), &domain, epsilon);
    for seed in [5, 17, 42] {
        let mut extremes = vec![(f64::INFINITY, 0.0_f64); buckets as usize];
        let nodes = tree.layer(tree.drawn(seed));
        // Numbers of one node are told alike.
        for node in [nodes.start, nodes.start.midpoint(nodes.end), nodes.end - 1] {
            let told = Signed {
                item: node.into(),
                negative: false,
            };
            let row = randomizer.probabilities(seed, &[told]);
            for (p, (least, most)) in row.into_iter().zip(&mut extremes) {
                (*least, *most) = (least.min(p), most.max(p));
            }
        }
        for (least, most) in extremes {
            let loss = (most / least).ln();
            assert!(
                loss <= question.effective_epsilon() + 1e-12,
                "{question:?}: {loss}"
            );
        }
    }
}

/// Where bins are many and wanted for quantiles, unless something else is said.
#[test]
fn trees_are_chosen_where_they_are_better() {
    let chosen = |question: &Value, epsilon| {
        let task = draft(question, epsilon).resolve().unwrap();
        let tree = scale(&task.questions()[0]).tree();
        tree.map(|tree| tree.branches().to_vec())
    };
    let quantiles = |bins: u32| json!({ "min": 0, "max": 1, "want": "quantiles", "bins": bins });
    assert_eq!(chosen(&quantiles(1024), 1.0), Some(vec![4; 5]));
    assert_eq!(chosen(&quantiles(1000), 1.0), Some(vec![4; 5]));
    assert_eq!(chosen(&quantiles(64), 1.0), Some(vec![4; 3]));
    // Few bins, or so much told of each that a tree only divides reports.
    assert_eq!(chosen(&quantiles(32), 1.0), None);
    assert_eq!(chosen(&quantiles(64), 6.0), None);
    let with = |field: &str, value: Value| {
        let mut question = quantiles(1024);
        question[field] = value;
        question
    };
    assert_eq!(chosen(&with("want", json!("histogram")), 1.0), None);
    assert_eq!(chosen(&with("tree", json!([1024])), 1.0), None);
    assert_eq!(
        chosen(&with("tree", json!([32, 32])), 1.0),
        Some(vec![32, 32])
    );
    let buckets = json!({ "name": "collision", "buckets": 4 });
    assert_eq!(chosen(&with("mechanism", buckets), 1.0), None);
    let edges: Vec<f64> = (0..=99).map(f64::from).collect();
    let edges = json!({ "edges": edges, "want": "quantiles" });
    assert_eq!(chosen(&edges, 1.0), Some(vec![7, 4, 4]));
}

#[test]
fn tasks_with_trees_are_read_back() {
    let wanted = json!({ "min": 0, "max": 64, "bins": 64, "want": "quantiles", "unit": "s" });
    let task = draft(&wanted, 1.0).resolve().unwrap();
    let bytes = task.canonical_bytes();
    assert_eq!(Task::from_canonical_bytes(&bytes).unwrap(), task);
    let file = serde_json::to_value(&task).unwrap();
    assert_eq!(file["questions"][0]["tree"], json!([4, 4, 4]));
    assert_eq!(serde_json::from_value::<Task>(file.clone()).unwrap(), task);
    let read: TaskDraft = serde_json::from_value(file).unwrap();
    assert_eq!(read.resolve().unwrap(), task);
    draft(&wanted, 1.0).agrees_with(&task).unwrap();
    read.agrees_with(&task).unwrap();
    let mut other = wanted;
    for tree in [json!([8, 8]), json!([64])] {
        other["tree"] = tree;
        let error = draft(&other, 1.0).agrees_with(&task).unwrap_err();
        assert!(matches!(error, Error::Question { .. }), "{error}");
        assert!(error.to_string().contains("tree"), "{error}");
        let another = draft(&other, 1.0).resolve().unwrap();
        assert_ne!(another.fingerprint(), task.fingerprint());
        assert!(draft(&other, 1.0).agrees_with(&another).is_ok());
    }
}

#[test]
fn trees_that_make_no_sense_are_refused() {
    let refused = |question: &Value| {
        let resolved = draft(question, 1.0).resolve();
        resolved.unwrap_err().to_string()
    };
    let asked = |field: &str, value: Value| {
        let mut question = json!({ "min": 0, "max": 8, "bins": 8, "tree": [2, 4] });
        question[field] = value;
        question
    };
    for tree in [
        json!([]),
        json!([7]),
        json!([1, 8]),
        json!([2, 3]),
        json!([3, 4]),
        json!([8, 1]),
    ] {
        let error = refused(&asked("tree", tree));
        assert!(error.contains("multiply to the number of bins"), "{error}");
    }
    let overflow = refused(&asked("tree", json!([65_536, 65_536])));
    assert!(overflow.contains("multiply"), "{overflow}");
    let mechanism = json!({ "name": "collision", "hashing": "balanced" });
    let balanced = refused(&asked("mechanism", mechanism));
    assert!(balanced.contains("\"independent\""), "{balanced}");
    let mean = json!({ "id": "t", "epsilon": 1.0, "questions": [{ "name": "load",
        "kind": "number", "min": 0, "max": 8, "want": "mean", "tree": [2, 4] }] });
    let mean = serde_json::from_value::<TaskDraft>(mean).unwrap_err();
    assert!(mean.to_string().contains("mean"), "{mean}");
    let other = json!({ "id": "t", "epsilon": 1.0,
        "questions": [{ "name": "q", "kind": "flag", "tree": [2, 4] }] });
    let other = serde_json::from_value::<TaskDraft>(other)
        .unwrap_err()
        .to_string();
    assert!(other.contains("\"tree\""), "{other}");
    let columns = Part::number("load", bins(8).in_tree(vec![2, 4]).unwrap());
    let cross = Cross::new(Part::flag("beta"), columns);
    let crossed = Question::new(QuestionParts {
        name: "q".to_owned(),
        items: Items::Count(cross.cells()),
        kind: Kind::Cross(cross),
        sparsity: 1,
        weight: 1,
        epsilon: 1.0,
        mechanism: independent(4).into(),
    });
    assert!(crossed.unwrap_err().to_string().contains("\"tree\""));
}
