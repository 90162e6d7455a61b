//! HTML page of a study: the comparison with the best competitors, and every figure.

use std::fmt::Write;

use crate::competitors::ratings::{ORACLES, PrivacyUnit};
use crate::figure::size;

use super::drawn::Drawn;
use crate::evaluate::measure::contests::{ContestCell, ContestOutcome};

const STYLE: &str = include_str!("page.css");

/// Returns the page as HTML. `how` is the command that reproduces it, which the page shows.
pub(crate) fn html(how: &str, drawn: &[Drawn]) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, how, drawn);
    page
}

fn write_page(page: &mut String, how: &str, drawn: &[Drawn]) -> std::fmt::Result {
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>hushbin evaluated</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>hushbin beside what others published</h1>\n\
         <p>The papers' experiments, rerun with every mechanism that they compare: each at its \
         best, with an estimator without bias, and repaired where it was published with an \
         error. This page, its figures and its tables come from <code>{}</code>; with the same \
         seed they are the same on any machine, but for times.</p>\n",
        escape(how)
    )?;
    // Some experiments have no competitors.
    let compared = drawn.iter().any(|own| !own.outcomes.is_empty());
    write_contents(page, drawn, compared)?;
    if compared {
        write_wins(page, drawn)?;
    }
    for own in drawn {
        write_experiment(page, own)?;
    }
    write_mechanisms(page)?;
    page.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

fn write_contents(page: &mut String, drawn: &[Drawn], compared: bool) -> std::fmt::Result {
    page.push_str("<nav aria-label=\"Experiments\">\n<ul>\n");
    if compared {
        page.push_str("<li><a href=\"#wins\">Who wins</a></li>\n");
    }
    for own in drawn {
        let (name, title) = (escape(&own.name), escape(&own.title));
        writeln!(page, "<li><a href=\"#{name}\">{title}</a></li>")?;
    }
    page.push_str("<li><a href=\"#mechanisms\">Mechanisms of others</a></li>\n</ul>\n</nav>\n");
    Ok(())
}

/// Writes the section with the median ratio, the worst ratio and the lost cells of every contest.
fn write_wins(page: &mut String, drawn: &[Drawn]) -> std::fmt::Result {
    page.push_str(
        "<section>\n<h2 id=\"wins\">Who wins</h2>\n\
         <p>Our error over that of the best other mechanism, cell by cell of an experiment's \
         grid: below 1 ours is better. A cell is lost where another is better by more than \
         three standard errors.</p>\n<div class=\"scroll\">\n<table>\n\
         <caption>Our error over the best other's</caption>\n<thead>\n<tr>\
         <th scope=\"col\">Experiment</th><th scope=\"col\">Estimand</th>\
         <th scope=\"col\">Error</th><th scope=\"col\" class=\"number\">Cells</th>\
         <th scope=\"col\" class=\"number\">Median</th>\
         <th scope=\"col\" class=\"number\">Worst</th><th scope=\"col\">Worst cell</th>\
         <th scope=\"col\" class=\"number\">Lost</th></tr>\n</thead>\n<tbody>\n",
    );
    for own in drawn {
        for outcome in &own.outcomes {
            write_outcome(page, own, outcome)?;
        }
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
    let outcomes = drawn.iter().flat_map(|own| &own.outcomes);
    let lost: Vec<(&ContestOutcome, &ContestCell)> = outcomes
        .flat_map(|outcome| outcome.lost().map(move |cell| (outcome, cell)))
        .collect();
    if lost.is_empty() {
        page.push_str("<p>No cell is lost.</p>\n</section>\n");
        return Ok(());
    }
    let (count, s) = (lost.len(), if lost.len() == 1 { "" } else { "s" });
    writeln!(
        page,
        "<details>\n<summary>{count} lost cell{s}, one by one</summary>\n<ul>"
    )?;
    for (outcome, cell) in &lost {
        writeln!(
            page,
            "<li>{} of {}, {}: {} is better, {:.3} ± {:.3}</li>",
            escape(outcome.contest.metric),
            escape(outcome.contest.estimand),
            place(cell),
            escape(&cell.best),
            cell.ratio,
            cell.ratio * cell.deviation
        )?;
    }
    page.push_str("</ul>\n</details>\n</section>\n");
    Ok(())
}

fn write_outcome(page: &mut String, own: &Drawn, outcome: &ContestOutcome) -> std::fmt::Result {
    let worst = outcome.worst();
    writeln!(
        page,
        "<tr><th scope=\"row\"><a href=\"#{name}\">{name}</a></th><td>{}</td><td>{}</td>\
         <td class=\"number\">{}</td><td class=\"number\">{:.3}</td>\
         <td class=\"number\">{:.3}</td><td>{}, {}</td><td class=\"number\">{}</td></tr>",
        escape(outcome.contest.estimand),
        escape(outcome.contest.metric),
        outcome.cells.len(),
        outcome.median(),
        worst.ratio,
        place(worst),
        escape(&worst.best),
        outcome.lost().count(),
        name = escape(&own.name),
    )
}

/// Returns the parameters of a cell as text.
pub(crate) fn place(cell: &ContestCell) -> String {
    let point = &cell.point;
    let (n, d, s) = (point.people, point.items, point.sparsity);
    let mut place = format!("n = {n}, d = {d}, s = {s}, ε = {}", point.epsilon);
    if point.parameter != 0.0 {
        // Writing to a string cannot fail.
        let _ = write!(place, ", parameter = {}", point.parameter);
    }
    place
}

fn write_experiment(page: &mut String, own: &Drawn) -> std::fmt::Result {
    let (name, title) = (escape(&own.name), escape(&own.title));
    writeln!(
        page,
        "<section>\n<h2 id=\"{name}\">{title}</h2>\n\
         <p class=\"quiet\">All numbers: <a href=\"tables/{name}.csv\">tables/{name}.csv</a>. \
         Bars are two standard errors to either side.</p>"
    )?;
    for remark in own.remarks {
        writeln!(page, "<p>{}</p>", escape(remark))?;
    }
    for figure in &own.figures {
        let (file, title) = (escape(&figure.name), escape(&figure.title));
        let (width, height) = size(figure);
        writeln!(
            page,
            "<figure>\n<img src=\"figures/{file}.svg\" width=\"{width}\" height=\"{height}\" \
             loading=\"lazy\" alt=\"{title}\">\n<figcaption>{title}</figcaption>\n</figure>"
        )?;
    }
    page.push_str("</section>\n");
    Ok(())
}

fn write_mechanisms(page: &mut String) -> std::fmt::Result {
    page.push_str(
        "<section>\n<h2 id=\"mechanisms\">Mechanisms of others</h2>\n<div class=\"scroll\">\n\
         <table>\n<caption>For rated items; others are named as their papers do</caption>\n\
         <thead>\n<tr><th scope=\"col\">Name</th><th scope=\"col\">ε protects</th>\
         <th scope=\"col\">Source</th></tr>\n</thead>\n<tbody>\n",
    );
    for named in ORACLES {
        let protects = match named.privacy_unit {
            PrivacyUnit::User => "all that a person has",
            PrivacyUnit::Event => "one entry",
            PrivacyUnit::Neighbouring => "inputs whose values differ by at most L in sum",
        };
        writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{protects}</td><td>{}</td></tr>",
            escape(named.name),
            escape(named.source)
        )?;
    }
    page.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    Ok(())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
