//! The cost of a task in words.

use std::io::{self, Write};

use hushbin::Items;

use super::cost::Cost;
use crate::cli::describe;
use hushbin_analysis::estimate::DEFAULT_CONFIDENCE;

/// Half-width beyond which an interval holds every value that a mean can have.
const USELESS: f64 = 1.0;

impl Cost {
    /// Writes it all, with a table of errors and one of candidates.
    pub(super) fn write_words(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_task(out)?;
        writeln!(out)?;
        self.write_predictions(out)?;
        writeln!(out)?;
        self.write_candidates(out)
    }

    fn write_task(&self, out: &mut dyn Write) -> io::Result<()> {
        let task = &self.task;
        let items = match task.items() {
            Items::Named(names) => format!("{} named items", names.len()),
            Items::Count(count) => format!("{count} items"),
            Items::Open(_) => "any strings as items".to_owned(),
        };
        writeln!(
            out,
            "{}: {items}, {} of them a report",
            task.id(),
            task.sparsity()
        )?;
        writeln!(out, "fingerprint  {}", self.fingerprint)?;
        writeln!(
            out,
            "mechanism    {}",
            describe::mechanism(task.mechanism())
        )?;
        writeln!(
            out,
            "local ε      {} asked for, {} spent by each report (rounded up)",
            task.epsilon(),
            self.effective_epsilon
        )?;
        writeln!(out, "protects     {}", self.protects)?;
        if let Some(bias) = &self.bias {
            writeln!(out, "bias         {bias}")?;
        }
        for (of, distance) in [
            ("of means", &self.mean_distance),
            ("of frequencies", &self.frequency_distance),
        ] {
            if let Some(distance) = distance {
                writeln!(out, "bound        {of} it {}", distance.text)?;
            }
        }
        if self.delta > 0.0 {
            writeln!(
                out,
                "δ            {:e}, the probability that the guarantee fails, if signs are as good as random",
                self.delta
            )?;
        }
        writeln!(
            out,
            "size         {} bytes a report, {} bytes an upload of one",
            self.report_bytes, self.upload_bytes
        )
    }

    fn write_predictions(&self, out: &mut dyn Write) -> io::Result<()> {
        let confidence = 100.0 * DEFAULT_CONFIDENCE;
        writeln!(
            out,
            "expected error of an item that few have, in means from -1 to 1:"
        )?;
        writeln!(
            out,
            "{:>12}  {:>14}  {:>14}  {:>14}",
            "reports",
            "standard error",
            format!("{confidence}% interval"),
            format!("all items {confidence}%")
        )?;
        for prediction in &self.predictions {
            let together = prediction
                .simultaneous_interval
                .map_or_else(|| "-".to_owned(), |half| format!("±{half:.4}"));
            let remark = if prediction.interval >= USELESS {
                "  noise: the interval holds every possible value"
            } else {
                ""
            };
            writeln!(
                out,
                "{:>12}  {:>14.5}  {:>14}  {together:>14}{remark}",
                prediction.people,
                prediction.mean_standard_error,
                format!("±{:.4}", prediction.interval),
            )?;
        }
        Ok(())
    }

    fn write_candidates(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "the same, and what else there is, for {} people; root mean squared errors over all items:",
            self.planned_people
        )?;
        writeln!(
            out,
            "  {:<10}  {:>8}  {:>8}  {:>8}  {:>9}  protects",
            "mechanism", "sparsity", "mean", "of bias", "frequency"
        )?;
        let number = |error| describe::decimals(error, 4);
        for (index, candidate) in self.candidates.iter().enumerate() {
            writeln!(
                out,
                "{} {:<10}  {:>8}  {:>8}  {:>8}  {:>9}  {}",
                if index == 0 { "*" } else { " " },
                candidate.mechanism.name(),
                candidate.sparsity,
                number(candidate.mean_error),
                number(candidate.mean_bias),
                number(candidate.frequency_error),
                candidate.protects,
            )?;
        }
        if self.candidates.iter().any(|c| c.mean_bias > Some(0.0)) {
            writeln!(
                out,
                "  bias: of entries left out or clipped, if all people had the same items; no number of people lessens it"
            )?;
        }
        Ok(())
    }
}
