//! The query builder's model: a draft of filters, as a form and as the JSON that is sent.
//!
//! The form and the JSON are two views of one list of rows. JSON that cannot be read is kept as it
//! was typed, and the rows stay what they were until it can.

mod check;
mod chips;
mod loosen;
mod row;
mod text;
mod values;

pub use check::{Remark, Severity, remarks, unmet};
pub use chips::{Chip, Standing, chips, places};
pub use loosen::Looser;
pub use row::{Field, Key, Row};
pub use text::Text;
pub use values::{Suggestion, Values};

use crate::input::Chord;
use tessera_model::{Filter, vql::MOST_FILTERS};
use tessera_wire::vql::{self, VqlProblem};

/// The filters of a dataset as they are being written. It outlives every view of the dataset.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The rows, also those that are off.
    pub rows: Vec<Row>,
    /// The row under the cursor; behind the last one it is the line that adds.
    pub cursor: usize,
    /// The field of that row that takes the keys, if one does.
    pub field: Option<usize>,
    /// The JSON side, while it takes the keys.
    pub json: Option<Json>,
    /// What the rows were before each change, the newest last.
    past: Vec<Vec<Row>>,
}

/// The JSON side of a draft.
#[derive(Clone, Debug)]
pub struct Json {
    /// What is typed.
    pub text: Text,
    /// Why it cannot be read, if it cannot.
    pub problem: Option<VqlProblem>,
}

impl Draft {
    /// Changes that can be undone.
    const PAST: usize = 50;

    /// The filters that are on.
    ///
    /// # Errors
    /// The first thing that is wrong, in a sentence.
    pub fn filters(&self) -> Result<Vec<Filter>, String> {
        if let Some(problem) = self.json.as_ref().and_then(|json| json.problem.as_ref()) {
            return Err(format!("the JSON: {problem}"));
        }
        let on = self.rows.iter().enumerate().filter(|(_, row)| row.on);
        let filters: Vec<Filter> = on
            .map(|(place, row)| {
                let wrong = |why| format!("row {}: {}.{why}", place + 1, row.key.word());
                row.filter().map_err(wrong)
            })
            .collect::<Result<_, _>>()?;
        if filters.len() > MOST_FILTERS {
            return Err(format!("{} filters are on; at most {MOST_FILTERS} may be", filters.len()));
        }
        Ok(filters)
    }

    /// The filters that are off and complete: kept in saved views, never sent.
    #[must_use]
    pub fn off(&self) -> Vec<Filter> {
        self.rows.iter().filter(|row| !row.on).filter_map(|row| row.filter().ok()).collect()
    }

    /// The row under the cursor.
    #[must_use]
    pub fn row(&self) -> Option<&Row> {
        self.rows.get(self.cursor)
    }

    /// The row under the cursor, to change it; what it was can be had back.
    pub fn change(&mut self) -> Option<&mut Row> {
        self.remember();
        self.rows.get_mut(self.cursor)
    }

    /// Remembers the rows as they are, for `undo`.
    fn remember(&mut self) {
        if self.past.len() == Self::PAST {
            self.past.remove(0);
        }
        self.past.push(self.rows.clone());
    }

    /// Takes the last change back. `false` when there is none.
    pub fn undo(&mut self) -> bool {
        let Some(rows) = self.past.pop() else { return false };
        self.rows = rows;
        self.cursor = self.cursor.min(self.rows.len());
        self.field = None;
        true
    }

    /// Adds an empty row at the end and begins to write it.
    pub fn add(&mut self, key: Key) {
        self.remember();
        self.cursor = self.rows.len();
        self.rows.push(Row::new(key));
        self.field = Some(0);
    }

    /// Puts the cursor on a row; the form has the keys then.
    pub fn point_at(&mut self, row: usize) {
        (self.cursor, self.field) = (row.min(self.rows.len()), None);
    }

    /// Deletes the row under the cursor.
    pub fn delete(&mut self) {
        if self.cursor < self.rows.len() {
            self.remember();
            self.rows.remove(self.cursor);
        }
    }

    /// Makes these the filters that are on, as a search that was opened has them. Rows that are off
    /// stay, those of the search again excepted.
    pub fn adopt(&mut self, filters: &[Filter]) {
        if self.filters().as_deref() == Ok(filters) {
            return;
        }
        let mut off: Vec<Row> = self.rows.iter().filter(|row| !row.on).cloned().collect();
        off.retain(|row| row.filter().is_ok_and(|filter| !filters.contains(&filter)));
        self.remember();
        self.rows = filters.iter().map(Row::of).chain(off).collect();
        (self.cursor, self.field, self.json) = (0, None, None);
    }

    /// Replaces every row, as a saved view does.
    pub fn replace(&mut self, on: &[Filter], off: &[Filter]) {
        self.remember();
        let off = off.iter().map(|filter| Row { on: false, ..Row::of(filter) });
        self.rows = on.iter().map(Row::of).chain(off).collect();
        (self.cursor, self.field, self.json) = (0, None, None);
    }

    /// What is sent, a line per row that is on; `Err` holds the line of a row that is not complete.
    pub fn lines(&self) -> impl Iterator<Item = Result<String, String>> {
        self.rows.iter().filter(|row| row.on).map(|row| {
            let Ok(filter) = row.filter() else {
                return Err(format!("{{\"{}\": ? }}", row.key.word()));
            };
            let array = vql::write(std::slice::from_ref(&filter));
            Ok(array.trim_start_matches('[').trim_end_matches(']').to_owned())
        })
    }

    /// The JSON of what is on, a filter a line.
    #[must_use]
    pub fn pretty(&self) -> String {
        let lines: Vec<String> =
            self.lines().map(|line| line.unwrap_or_else(|half| half)).collect();
        match lines.as_slice() {
            [] => "[]".to_owned(),
            lines => format!("[{}]", lines.join(",\n ")),
        }
    }

    /// Gives the keys to the JSON.
    pub fn open_json(&mut self) {
        self.field = None;
        let text = Text::new(&self.pretty());
        self.json = Some(Json { text, problem: None });
        self.read_json();
    }

    /// Gives the keys back to the form, if the JSON can be shown as one.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn close_json(&mut self) -> Result<(), VqlProblem> {
        if let Some(problem) = self.json.as_ref().and_then(|json| json.problem.clone()) {
            return Err(problem);
        }
        self.json = None;
        Ok(())
    }

    /// A key of the JSON side.
    pub fn key_in_json(&mut self, chord: Chord) {
        if let Some(json) = &mut self.json {
            json.text.key(chord);
            self.read_json();
        }
    }

    /// Replaces the JSON, as an editor or a paste does, and reads it.
    pub fn write_json(&mut self, text: &str) {
        self.field = None;
        self.json = Some(Json { text: Text::new(text), problem: None });
        self.read_json();
    }

    /// Reads the JSON by the reader that a service reads it by, and takes its rows over.
    pub fn read_json(&mut self) {
        let Some(json) = &mut self.json else { return };
        match vql::read_open(&json.text.text()) {
            Err(problem) => json.problem = Some(problem),
            Ok(filters) => {
                json.problem = None;
                let kept = self.json.take();
                self.adopt(&filters);
                self.json = kept;
            }
        }
    }
}
