//! `tessera query add`: one filter more, in words instead of JSON. The service's own words where it
//! has some: KIND OP VALUE.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::{Args, Subcommand, builder::PossibleValuesParser};

use super::QuerySource;
use crate::cli::{CliError, Exit};
use tessera_model::{
    Anchor, AnchorKind, Filter, MediaId, TagId,
    vql::{InvalidField, IssueMode, IssueName, LabelRule, MAX_FILTERS},
};

/// What is added to what.
#[derive(Debug, Args)]
pub struct QueryAddOptions {
    /// The query so far; - or none: standard input. In a terminal an empty one.
    #[arg(long, short, value_name = "FILE", global = true)]
    file: Option<PathBuf>,
    #[command(subcommand)]
    kind: FilterCommand,
}

/// The filter.
#[derive(Debug, Subcommand)]
enum FilterCommand {
    /// What captions say, or what they or the picture mean.
    #[command(subcommand)]
    Text(TextFilterCommand),
    /// Classification labels.
    Labels {
        /// How they are compared.
        #[arg(value_name = "OP",
              value_parser = PossibleValuesParser::new(LabelRule::ALL.iter().map(|rule| rule.word())))]
        rule: String,
        /// The labels.
        #[arg(required = true)]
        labels: Vec<String>,
    },
    /// Tags that people gave, by id: a medium must carry every one.
    Tags {
        /// The only comparison there is.
        #[arg(value_name = "OP", value_parser = ["is"])]
        _op: String,
        /// The ids.
        #[arg(required = true, value_name = "UUID")]
        tags: Vec<TagId>,
    },
    /// A quality issue; `blur` is the word that is published.
    Issues {
        /// Its word.
        #[arg(value_name = "ISSUE")]
        word: String,
        /// Media with it, or without it.
        #[arg(long, default_value = "in", value_parser = ["in", "out"])]
        mode: String,
        /// Lowest confidence that counts, 0 to 1.
        #[arg(long, value_name = "0-1")]
        min_confidence: Option<f64>,
        /// Highest confidence that counts, 0 to 1.
        #[arg(long, value_name = "0-1")]
        max_confidence: Option<f64>,
    },
    /// Has a near-duplicate at least this similar.
    Duplicates {
        /// The similarity, 0 to 1.
        #[arg(value_name = "0-1")]
        similarity: f64,
    },
    /// Is more unlike the rest than this.
    Uniqueness {
        /// The score, 0 to 1.
        #[arg(value_name = "0-1")]
        score: f64,
    },
    /// Looks like an image.
    Similarity {
        /// Of the dataset, or uploaded.
        #[arg(value_name = "OP", value_parser = ["media", "upload"])]
        op: String,
        /// Its id.
        #[arg(value_name = "UUID")]
        media: MediaId,
        /// Largest distance that counts, 0 to 1: lower is stricter.
        #[arg(long, value_name = "0-1")]
        max_distance: Option<f64>,
    },
}

/// A filter on text.
#[derive(Debug, Subcommand)]
enum TextFilterCommand {
    /// The caption matches words, with AND, OR, NOT and "phrases".
    Fts {
        /// The words.
        text: String,
    },
    /// The caption or the picture means something like a text.
    Semantic {
        /// The text.
        text: String,
        /// Least similarity that counts, 0 to 1: higher is stricter.
        #[arg(long, value_name = "0-1")]
        min_sim: Option<f64>,
    },
}

impl QueryAddOptions {
    /// The query with the filter.
    ///
    /// # Errors
    /// [`Exit::Invalid`]: the query so far is wrong, or full; [`Exit::Usage`]: the filter is wrong.
    pub(super) fn extended_query(self) -> Result<Vec<Filter>, CliError> {
        let filter = self.kind.to_filter().map_err(|InvalidField { field, reason }| {
            let named = match field {
                "threshold" | "confidence_min" | "confidence_max" => format!("{field}: {reason}"),
                _ => reason,
            };
            CliError::new(Exit::Usage, named)
        })?;
        let mut filters = if self.file.is_none() && io::stdin().is_terminal() {
            Vec::new()
        } else {
            QuerySource { file: self.file, vql: None }.filters()?
        };
        if filters.len() == MAX_FILTERS {
            let sentence = format!("the query is full: at most {MAX_FILTERS} filters");
            return Err(CliError::new(Exit::Invalid, sentence));
        }
        filters.push(filter);
        Ok(filters)
    }
}

impl FilterCommand {
    fn to_filter(&self) -> Result<Filter, InvalidField> {
        match self {
            Self::Text(TextFilterCommand::Fts { text }) => Filter::full_text(text),
            Self::Text(TextFilterCommand::Semantic { text, min_sim }) => {
                Filter::semantic(text, *min_sim)
            }
            Self::Labels { rule, labels } => {
                let rule = LabelRule::parse(rule).unwrap_or(LabelRule::OneOf);
                Filter::labels(rule, labels.iter().map(String::as_str))
            }
            Self::Tags { tags, .. } => Filter::tags(tags.clone()),
            Self::Issues { word, mode, min_confidence, max_confidence } => {
                let mode = IssueMode::parse(mode).unwrap_or(IssueMode::In);
                Filter::issue(IssueName::new(word)?, mode, *min_confidence, *max_confidence)
            }
            Self::Duplicates { similarity } => Filter::duplicates(*similarity),
            Self::Uniqueness { score } => Filter::uniqueness(*score),
            Self::Similarity { op, media, max_distance } => {
                let kind = AnchorKind::parse(op).unwrap_or(AnchorKind::Media);
                Filter::similar(Anchor { media: *media, kind }, *max_distance)
            }
        }
    }
}
