//! `tessera query add`: adds a filter, in words instead of JSON.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::{Args, Subcommand, builder::PossibleValuesParser};

use crate::cli::{CliError, CliResult, Exit, query_source::QuerySource};
use tessera_model::{
    Anchor, AnchorKind, Filter, MediaId, TagId,
    vql::{InvalidField, IssueMode, IssueName, LabelRule, MAX_FILTERS},
};

#[derive(Debug, Args)]
pub struct QueryAddOptions {
    /// Query to extend; - or none: standard input. In a terminal, an empty query.
    #[arg(long, short, value_name = "FILE", global = true)]
    file: Option<PathBuf>,
    #[command(subcommand)]
    kind: FilterCommand,
}

#[derive(Debug, Subcommand)]
enum FilterCommand {
    /// Captions: full text or meaning.
    #[command(subcommand)]
    Text(TextFilterCommand),
    /// Classification labels.
    Labels {
        /// How to compare labels.
        #[arg(value_name = "OP",
              value_parser = PossibleValuesParser::new(LabelRule::ALL.iter().map(|rule| rule.as_str())))]
        rule: String,
        /// The labels.
        #[arg(required = true)]
        labels: Vec<String>,
    },
    /// User tags, by ID: a media item must have all of them.
    Tags {
        /// The only operator.
        #[arg(value_name = "OP", value_parser = ["is"])]
        _op: String,
        /// IDs of the tags.
        #[arg(required = true, value_name = "UUID")]
        tags: Vec<TagId>,
    },
    /// A quality issue; `blur` is the documented one.
    Issues {
        /// Name of the issue.
        #[arg(value_name = "ISSUE")]
        word: String,
        /// Media items with the issue, or without it.
        #[arg(long, default_value = "in", value_parser = ["in", "out"])]
        mode: String,
        /// Minimum confidence, 0 to 1.
        #[arg(long, value_name = "0-1")]
        min_confidence: Option<f64>,
        /// Maximum confidence, 0 to 1.
        #[arg(long, value_name = "0-1")]
        max_confidence: Option<f64>,
    },
    /// Media items with a near-duplicate of at least this similarity.
    Duplicates {
        /// The similarity, 0 to 1.
        #[arg(value_name = "0-1")]
        similarity: f64,
    },
    /// Media items with a uniqueness score above this.
    Uniqueness {
        /// The score, 0 to 1.
        #[arg(value_name = "0-1")]
        score: f64,
    },
    /// Media items that are similar to an image.
    Similarity {
        /// An image in the dataset, or an uploaded one.
        #[arg(value_name = "OP", value_parser = ["media", "upload"])]
        op: String,
        /// ID of the image.
        #[arg(value_name = "UUID")]
        media: MediaId,
        /// Maximum distance, 0 to 1: lower is stricter.
        #[arg(long, value_name = "0-1")]
        max_distance: Option<f64>,
    },
}

#[derive(Debug, Subcommand)]
enum TextFilterCommand {
    /// Captions that match words, with AND, OR, -without and "phrases".
    Fts {
        /// The words.
        text: String,
    },
    /// Captions or images with a meaning similar to a text.
    Semantic {
        /// The text.
        text: String,
        /// Minimum similarity, 0 to 1: higher is stricter.
        #[arg(long, value_name = "0-1")]
        min_sim: Option<f64>,
    },
}

impl QueryAddOptions {
    pub(super) fn extended_query(self) -> CliResult<Vec<Filter>> {
        let filter = self.kind.to_filter().map_err(|InvalidField { field, reason }| {
            let named = match field {
                "threshold" | "confidence_min" | "confidence_max" => format!("{field}: {reason}"),
                _ => reason,
            };
            CliError::usage(named)
        })?;
        let mut filters = if self.file.is_none() && io::stdin().is_terminal() {
            Vec::new()
        } else {
            QuerySource { file: self.file, vql: None }.filters()?
        };
        if filters.len() == MAX_FILTERS {
            let message = format!("a query has at most {MAX_FILTERS} filters");
            return Err(CliError::new(Exit::Invalid, message));
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
                let rule = LabelRule::from_keyword(rule).unwrap_or(LabelRule::OneOf);
                Filter::labels(rule, labels.iter().map(String::as_str))
            }
            Self::Tags { tags, .. } => Filter::tags(tags.clone()),
            Self::Issues { word, mode, min_confidence, max_confidence } => {
                let mode = IssueMode::from_keyword(mode).unwrap_or(IssueMode::In);
                Filter::issue(IssueName::new(word)?, mode, *min_confidence, *max_confidence)
            }
            Self::Duplicates { similarity } => Filter::duplicates(*similarity),
            Self::Uniqueness { score } => Filter::uniqueness(*score),
            Self::Similarity { op, media, max_distance } => {
                let kind = op.parse().unwrap_or(AnchorKind::Media);
                Filter::similar(Anchor { media: *media, kind }, *max_distance)
            }
        }
    }
}
