//! Options of `hushbin estimate` that describe a query: the question, its items, and the estimates.

use clap::Args;
use hushbin_analysis::estimate::{DEFAULT_CONFIDENCE, EstimateOptions};
use hushbin_analysis::heavy_hitters::{self, DEFAULT_ALPHABET};

use crate::cli::output::Error;
use crate::estimates;

/// Options of a query: the question, its items, and the form of the answer.
#[derive(Debug, Clone, Args)]
pub(super) struct QueryOptions {
    /// Name of the question to estimate; needed if the task has several questions
    #[arg(long, value_name = "NAME")]
    question: Option<String>,
    /// Names of the items to estimate, separated by commas; a name that contains a comma needs
    /// double quotes (default all items of the question)
    #[arg(long, value_name = "ITEMS")]
    items: Option<String>,
    #[arg(
        long,
        value_name = "P",
        help = format!("Confidence of each interval, 0.5 to 0.999999999 (default {DEFAULT_CONFIDENCE})")
    )]
    confidence: Option<f64>,
    /// Post-processing of the estimates, one or several of 'conditional-mean', 'projection',
    /// 'full-projection' and 'shrinkage', separated by commas (default none)
    #[arg(long, value_name = "NAMES")]
    post_processing: Option<String>,
    /// Quantiles to estimate, for a question of kind 'number' with bins: fractions of people, above
    /// 0 and below 1, separated by commas (default 0.5,0.75,0.95)
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    quantiles: Option<Vec<f64>>,
    /// Also list the items whose estimates differ significantly from 0. The value is the maximum
    /// expected fraction of wrong items in that list, 1e-9 to 0.5 (default no list)
    #[arg(long, value_name = "RATE")]
    false_discovery_rate: Option<f64>,
    #[arg(
        long,
        value_name = "LETTERS",
        help = format!(
            "Letters that the texts may contain, for a question of kind 'text'; list each letter \
             once (default '{DEFAULT_ALPHABET}')"
        )
    )]
    alphabet: Option<String>,
}

impl QueryOptions {
    /// Checks that no option of a query is given, because partial totals do not depend on a query.
    ///
    /// # Errors
    /// When an option is given.
    pub(super) fn check_no_options_given(&self) -> Result<(), Error> {
        let question = [
            ("--question", self.question.is_some()),
            ("--confidence", self.confidence.is_some()),
            ("--alphabet", self.alphabet.is_some()),
        ];
        match question
            .iter()
            .chain(&self.item_option_presence())
            .find(|given| given.1)
        {
            Some((option, _)) => Err(format!(
                "{option} needs --format csv or json: partial totals cover all questions"
            )
            .into()),
            None => Ok(()),
        }
    }

    /// Checks that no option for searches of texts is given.
    ///
    /// # Errors
    /// When `--alphabet` is given.
    pub(super) fn check_no_alphabet(&self) -> Result<(), Error> {
        match &self.alphabet {
            Some(_) => Err("--alphabet is only for questions of kind \"text\"".into()),
            None => Ok(()),
        }
    }

    /// Returns the names of the options for questions with items, and whether each is given.
    const fn item_option_presence(&self) -> [(&'static str, bool); 4] {
        [
            ("--items", self.items.is_some()),
            ("--post-processing", self.post_processing.is_some()),
            ("--quantiles", self.quantiles.is_some()),
            (
                "--false-discovery-rate",
                self.false_discovery_rate.is_some(),
            ),
        ]
    }

    /// Returns the options of a query.
    ///
    /// # Errors
    /// When a list of names cannot be read.
    pub(super) fn estimate_options(&self) -> Result<EstimateOptions, Error> {
        let mut post = Vec::new();
        if let Some(names) = &self.post_processing {
            estimates::parse_post_processing(names, &mut post)?;
        }
        Ok(EstimateOptions {
            question_name: self.question.clone(),
            item_names: self.items.as_deref().map(parse_item_names).transpose()?,
            confidence: self.confidence.unwrap_or(DEFAULT_CONFIDENCE),
            post_processing_methods: post,
            quantiles: self.quantiles.clone(),
            false_discovery_rate: self.false_discovery_rate,
        })
    }

    /// Returns the options of a search for texts.
    ///
    /// # Errors
    /// When an option for questions with items is given.
    pub(super) fn search_options(&self) -> Result<heavy_hitters::SearchOptions, Error> {
        if let Some((option, _)) = self.item_option_presence().iter().find(|(_, given)| *given) {
            return Err(format!("{option} is not for a question of kind \"text\"").into());
        }
        Ok(heavy_hitters::SearchOptions {
            question_name: self.question.clone(),
            alphabet: (self.alphabet.clone()).unwrap_or_else(|| DEFAULT_ALPHABET.to_owned()),
            confidence: self.confidence.unwrap_or(DEFAULT_CONFIDENCE),
            ..heavy_hitters::SearchOptions::default()
        })
    }
}

/// Parses the item names in one line of CSV.
fn parse_item_names(line: &str) -> Result<Vec<String>, Error> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(line.as_bytes());
    let mut records = reader.records();
    let names = match (records.next().transpose()?, records.next()) {
        (Some(names), None) => names,
        _ => return Err(format!("--items is {line:?}, expected one line of names").into()),
    };
    match names.iter().any(str::is_empty) {
        true => Err("--items: a name is empty".into()),
        false => Ok(names.iter().map(str::to_owned).collect()),
    }
}
