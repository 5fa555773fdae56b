//! Collects the problems of the records of a sidecar, so that one sentence per file names a few of them and counts the
//! others.

use std::borrow::Cow;

use super::extra_columns::RefusedColumns;
use tessera_model::text::count_with_noun;

/// Says what is wrong with a record, without the position of the record.
pub(crate) type Reason = Cow<'static, str>;

/// The number of different reasons that are shown for a sidecar.
const MAX_EXAMPLES: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct SidecarDiagnostics {
    /// The word for a position, such as a line, in the singular and the plural.
    nouns: [&'static str; 2],
    /// The current position, counted from 1.
    position: usize,
    last_reported: usize,
    /// The first positions with different reasons.
    examples: Vec<(usize, String)>,
    further_positions: usize,
    /// The columns that are not kept.
    pub refused: RefusedColumns,
}

impl SidecarDiagnostics {
    pub fn new(noun: &'static str, plural: &'static str) -> Self {
        Self { nouns: [noun, plural], ..Self::default() }
    }

    /// Moves to a position, counted from 1.
    pub(crate) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    pub fn next_position(&mut self) {
        self.position += 1;
    }

    pub fn check(&mut self, result: Result<(), impl AsRef<str>>) {
        if let Err(why) = result {
            self.report(why.as_ref());
        }
    }

    /// Reports a problem at the current position. Each position counts once.
    pub fn report(&mut self, why: &str) {
        let is_reported = self.position == self.last_reported
            && (self.further_positions > 0 || !self.examples.is_empty());
        if is_reported {
            return;
        }
        self.last_reported = self.position;
        let is_new = self.examples.iter().all(|(_, known)| known != why);
        if is_new && self.examples.len() < MAX_EXAMPLES {
            self.examples.push((self.position, why.to_owned()));
        } else {
            self.further_positions += 1;
        }
    }

    /// Converts the positions that are named, such as offsets in a text to lines.
    pub(super) fn convert_positions(&mut self, convert: impl Fn(usize) -> usize) {
        for (position, _) in &mut self.examples {
            *position = convert(*position);
        }
    }

    pub fn summary(self) -> Option<String> {
        let [noun, plural] = self.nouns;
        let examples =
            self.examples.iter().map(|(position, why)| format!("{noun} {position}: {why}"));
        let more = (self.further_positions > 0).then(|| {
            count_with_noun(
                self.further_positions,
                &format!("more {noun}"),
                &format!("more {plural}"),
            )
        });
        let parts: Vec<String> = examples.chain(more).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
