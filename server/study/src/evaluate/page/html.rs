//! HTML page of a study: the comparison with the best competitors, and every figure.

use std::fmt::Write;

use crate::competitors::ratings::{PUBLISHED_RATING_ORACLES, PrivacyUnit};
use crate::figure::figure_size;

use super::results::ExperimentResults;
use crate::evaluate::measure::metric_comparisons::{MetricComparisonCell, MetricComparisonOutcome};

const PAGE_STYLESHEET: &str = include_str!("page.css");

/// Returns the page as HTML. The page shows `command`, which is the command that reproduces the
/// study.
pub(crate) fn render_page(command: &str, results: &[ExperimentResults]) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = append_page_html(&mut page, command, results);
    page
}

fn append_page_html(
    page: &mut String,
    command: &str,
    results: &[ExperimentResults],
) -> std::fmt::Result {
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>hushbin evaluated</title>\n<style>\n{PAGE_STYLESHEET}</style>\n</head>\n<body>\n<main>\n\
         <h1>hushbin compared with published mechanisms</h1>\n\
         <p>The papers' experiments, rerun with every mechanism that they compare. Each mechanism \
         has its best parameters and an unbiased estimator. Errors in published mechanisms are \
         corrected. The command <code>{}</code> produces this page, its figures and its tables. \
         The same seed gives the same numbers on every machine, except for times.</p>\n",
        escape_html(command)
    )?;
    // Some experiments have no competitors.
    let compared = results.iter().any(|own| !own.outcomes.is_empty());
    write_table_of_contents(page, results, compared)?;
    if compared {
        write_metric_comparisons(page, results)?;
    }
    for own in results {
        write_experiment_section(page, own)?;
    }
    write_published_mechanisms(page)?;
    page.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

fn write_table_of_contents(
    page: &mut String,
    results: &[ExperimentResults],
    compared: bool,
) -> std::fmt::Result {
    page.push_str("<nav aria-label=\"Experiments\">\n<ul>\n");
    if compared {
        page.push_str("<li><a href=\"#wins\">Comparison with the best competitor</a></li>\n");
    }
    for own in results {
        let (name, title) = (escape_html(&own.name), escape_html(&own.title));
        writeln!(page, "<li><a href=\"#{name}\">{title}</a></li>")?;
    }
    page.push_str("<li><a href=\"#mechanisms\">Published mechanisms</a></li>\n</ul>\n</nav>\n");
    Ok(())
}

/// Writes the section with the median ratio, the worst ratio and the lost cells of every contest.
fn write_metric_comparisons(page: &mut String, results: &[ExperimentResults]) -> std::fmt::Result {
    page.push_str(
        "<section>\n<h2 id=\"wins\">Comparison with the best competitor</h2>\n\
         <p>hushbin's error divided by that of the best competitor, for each combination of \
         parameters (cell) of an experiment. Below 1, hushbin is better. A cell is lost if the \
         competitor is better by more than three standard errors.</p>\n<div class=\"scroll\">\n<table>\n\
         <caption>hushbin's error divided by the best competitor's</caption>\n<thead>\n<tr>\
         <th scope=\"col\">Experiment</th><th scope=\"col\">Estimand</th>\
         <th scope=\"col\">Error</th><th scope=\"col\" class=\"number\">Cells</th>\
         <th scope=\"col\" class=\"number\">Median</th>\
         <th scope=\"col\" class=\"number\">Worst</th><th scope=\"col\">Worst cell</th>\
         <th scope=\"col\" class=\"number\">Lost</th></tr>\n</thead>\n<tbody>\n",
    );
    for own in results {
        for outcome in &own.outcomes {
            write_metric_comparison_row(page, own, outcome)?;
        }
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
    let outcomes = results.iter().flat_map(|own| &own.outcomes);
    let lost: Vec<(&MetricComparisonOutcome, &MetricComparisonCell)> = outcomes
        .flat_map(|outcome| outcome.lost_cells().map(move |cell| (outcome, cell)))
        .collect();
    if lost.is_empty() {
        page.push_str("<p>No cell is lost.</p>\n</section>\n");
        return Ok(());
    }
    let (count, s) = (lost.len(), if lost.len() == 1 { "" } else { "s" });
    writeln!(
        page,
        "<details>\n<summary>{count} lost cell{s}</summary>\n<ul>"
    )?;
    for (outcome, cell) in &lost {
        writeln!(
            page,
            "<li>{} of {}, {}: {} is better, ratio {:.3} ± {:.3}</li>",
            escape_html(outcome.metric_comparison.metric),
            escape_html(outcome.metric_comparison.estimand),
            describe_cell(cell),
            escape_html(&cell.best_competitor),
            cell.ratio,
            cell.ratio * cell.log_ratio_standard_error
        )?;
    }
    page.push_str("</ul>\n</details>\n</section>\n");
    Ok(())
}

fn write_metric_comparison_row(
    page: &mut String,
    own: &ExperimentResults,
    outcome: &MetricComparisonOutcome,
) -> std::fmt::Result {
    let worst = outcome.worst_cell();
    writeln!(
        page,
        "<tr><th scope=\"row\"><a href=\"#{name}\">{name}</a></th><td>{}</td><td>{}</td>\
         <td class=\"number\">{}</td><td class=\"number\">{:.3}</td>\
         <td class=\"number\">{:.3}</td><td>{}, {}</td><td class=\"number\">{}</td></tr>",
        escape_html(outcome.metric_comparison.estimand),
        escape_html(outcome.metric_comparison.metric),
        outcome.cells.len(),
        outcome.median_ratio(),
        worst.ratio,
        describe_cell(worst),
        escape_html(&worst.best_competitor),
        outcome.lost_cells().count(),
        name = escape_html(&own.name),
    )
}

/// Returns the parameters of a contest's cell as text.
pub(crate) fn describe_cell(cell: &MetricComparisonCell) -> String {
    let point = &cell.point;
    let (n, d, s) = (point.people, point.items, point.sparsity);
    let mut text = format!("n = {n}, d = {d}, s = {s}, ε = {}", point.epsilon);
    if point.parameter != 0.0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ", parameter = {}", point.parameter);
    }
    text
}

fn write_experiment_section(page: &mut String, own: &ExperimentResults) -> std::fmt::Result {
    let (name, title) = (escape_html(&own.name), escape_html(&own.title));
    writeln!(
        page,
        "<section>\n<h2 id=\"{name}\">{title}</h2>\n\
         <p class=\"quiet\">Table of all numbers: <a href=\"tables/{name}.csv\">tables/{name}.csv</a>. \
         Error bars extend two standard errors to either side.</p>"
    )?;
    for remark in own.remarks {
        writeln!(page, "<p>{}</p>", escape_html(remark))?;
    }
    for figure in &own.figures {
        let (file, title) = (escape_html(&figure.name), escape_html(&figure.title));
        let (width, height) = figure_size(figure);
        writeln!(
            page,
            "<figure>\n<img src=\"figures/{file}.svg\" width=\"{width}\" height=\"{height}\" \
             loading=\"lazy\" alt=\"{title}\">\n<figcaption>{title}</figcaption>\n</figure>"
        )?;
    }
    page.push_str("</section>\n");
    Ok(())
}

fn write_published_mechanisms(page: &mut String) -> std::fmt::Result {
    page.push_str(
        "<section>\n<h2 id=\"mechanisms\">Published mechanisms</h2>\n<div class=\"scroll\">\n\
         <table>\n<caption>Mechanisms for rated items. All others have the names of their papers.</caption>\n\
         <thead>\n<tr><th scope=\"col\">Name</th><th scope=\"col\">ε protects</th>\
         <th scope=\"col\">Source</th></tr>\n</thead>\n<tbody>\n",
    );
    for named in PUBLISHED_RATING_ORACLES {
        let protects = match named.privacy_unit {
            PrivacyUnit::UserLevel => "all entries of a person",
            PrivacyUnit::EventLevel => "one entry",
            PrivacyUnit::WithinDistance => {
                "inputs at a distance of at most L (sum of absolute differences)"
            }
        };
        writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{protects}</td><td>{}</td></tr>",
            escape_html(named.name),
            escape_html(named.published_source)
        )?;
    }
    page.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    Ok(())
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
