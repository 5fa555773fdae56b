//! Compares the quality of a dataset with conditions.

use std::{cell::LazyCell, path::PathBuf};

use tessera_model::{
    DatasetId, Failure, SafeText,
    check::{Condition, ConditionResult, Limit, Rule},
};

use super::{
    file_actions::{OriginalFinder, selection_of_media},
    leaks::{DatasetPart, find_leaks, missing_media},
    media_rows::{MediaRow, duplicate_groups},
};
use crate::state::StateFolder;

/// The result of a condition.
#[derive(Debug, PartialEq)]
pub struct Check<'a> {
    pub rule: Rule,
    pub name: String,
    pub limit: String,
    pub found: usize,
    pub passed: bool,
    /// The media items that count.
    pub media: Vec<&'a MediaRow>,
}

impl<'a> Check<'a> {
    fn at_most(rule: Rule, limit: Limit, media: Vec<&'a MediaRow>, all: usize) -> Self {
        let name = match rule {
            Rule::Captions => "without a caption",
            Rule::Labels => "without a label",
            _ => rule.id(),
        };
        Self {
            rule,
            name: name.to_owned(),
            limit: format!("at most {limit}"),
            found: media.len(),
            passed: limit.allows(media.len(), all),
            media,
        }
    }

    fn at_least(minimum: u64, all: usize) -> Self {
        Self {
            rule: Rule::Media,
            name: Rule::Media.id().to_owned(),
            limit: format!("at least {minimum}"),
            found: all,
            passed: all as u64 >= minimum,
            media: Vec::new(),
        }
    }

    pub fn into_result(self) -> ConditionResult {
        let media =
            self.media.iter().filter_map(|row| Some((row.media?, PathBuf::from(&row.path))));
        ConditionResult {
            rule: self.rule,
            name: SafeText::detail(&self.name),
            limit: self.limit,
            found: self.found,
            passed: self.passed,
            media: selection_of_media(&media.collect::<Vec<_>>()),
        }
    }
}

/// Conditions, with what they need besides the media items.
pub struct CheckList(Vec<Condition<DatasetPart>>);

impl CheckList {
    /// Reads the parts that the conditions name.
    ///
    /// # Errors
    /// See [`DatasetPart::read`].
    pub fn read(
        state: &StateFolder,
        dataset: DatasetId,
        conditions: &[Condition],
        finder: Option<&dyn OriginalFinder>,
    ) -> Result<Self, Failure> {
        let part = |name: &str| DatasetPart::read(state, dataset, name, finder);
        let ready = |condition: &Condition| {
            Ok(match condition {
                Condition::AtLeast(minimum) => Condition::AtLeast(*minimum),
                Condition::AtMost(rule, limit) => Condition::AtMost(*rule, *limit),
                Condition::NoLeaks([a, b]) => Condition::NoLeaks([part(a)?, part(b)?]),
            })
        };
        conditions.iter().map(ready).collect::<Result<_, _>>().map(Self)
    }

    /// Says which media items of selections the dataset no longer has.
    pub fn missing(&self, rows: &[MediaRow]) -> Vec<String> {
        let parts = self.0.iter().filter_map(|condition| match condition {
            Condition::NoLeaks(parts) => Some(parts),
            Condition::AtLeast(_) | Condition::AtMost(..) => None,
        });
        missing_media(parts.flatten(), rows)
    }

    /// Compares the media items of the dataset, and the pictures and videos that could not be read, with each condition.
    ///
    /// # Errors
    /// A part contains no media.
    pub fn check<'a>(
        &self,
        rows: &'a [MediaRow],
        unread: &'a [MediaRow],
    ) -> Result<Vec<Check<'a>>, Failure> {
        let duplicates = LazyCell::new(|| duplicate_groups(rows));
        let check = |condition: &Condition<DatasetPart>| match condition {
            Condition::AtLeast(minimum) => Ok(Check::at_least(*minimum, rows.len())),
            Condition::AtMost(Rule::Unreadable, limit) => {
                let all = rows.len() + unread.len();
                Ok(Check::at_most(Rule::Unreadable, *limit, unread.iter().collect(), all))
            }
            Condition::AtMost(Rule::Duplicates, limit) => {
                let further = duplicates.iter().flat_map(|group| &group[1..]).copied().collect();
                Ok(Check::at_most(Rule::Duplicates, *limit, further, rows.len()))
            }
            Condition::AtMost(rule, limit) => {
                Ok(Check::at_most(*rule, *limit, counted(*rule, rows), rows.len()))
            }
            Condition::NoLeaks(parts) => {
                let leaks = find_leaks(rows, &duplicates, parts)?;
                let crossing = leaks.iter().flat_map(|leak| &leak.b).copied().collect();
                let name = format!("leaks from {} to {}", parts[0].name, parts[1].name);
                Ok(Check { name, ..Check::at_most(Rule::Leaks, Limit::ZERO, crossing, rows.len()) })
            }
        };
        self.0.iter().map(check).collect()
    }
}

/// Returns the media items that a rule counts one by one.
fn counted(rule: Rule, rows: &[MediaRow]) -> Vec<&MediaRow> {
    let counts = |row: &&MediaRow| match rule {
        Rule::Captions => !row.has_caption,
        Rule::Labels => row.classes().is_empty(),
        _ => rule.issue().is_some_and(|issue| row.has_issue(issue)),
    };
    rows.iter().filter(counts).collect()
}
