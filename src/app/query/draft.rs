//! A draft of filters, as a form and as JSON.

use super::{FilterKind, FilterRow, TextArea};
use crate::{app::pane::moved_cursor, input::Chord};
use tessera_model::{Filter, vql::MAX_FILTERS};
use tessera_wire::vql::{self, VqlError};

/// The filters of a dataset while they are edited. It outlives every view of the dataset.
#[derive(Clone, Debug, Default)]
pub struct QueryDraft {
    pub rows: Vec<FilterRow>,
    /// The selected row; the line after the last row adds one.
    pub cursor: usize,
    pub field: Option<usize>,
    pub json: Option<JsonEditor>,
    /// The rows before each change, newest last.
    undo_stack: Vec<Vec<FilterRow>>,
}

#[derive(Clone, Debug)]
pub struct JsonEditor {
    pub text: TextArea,
    pub problem: Option<VqlError>,
}

impl QueryDraft {
    const MAX_UNDO: usize = 50;

    pub fn filters(&self) -> Result<Vec<Filter>, String> {
        if let Some(problem) = self.json.as_ref().and_then(|json| json.problem.as_ref()) {
            return Err(format!("the JSON: {problem}"));
        }
        let enabled = (1..).zip(&self.rows).filter(|(_, row)| row.enabled);
        let filter = |(number, row): (usize, &FilterRow)| {
            let keyword = row.kind.keyword();
            row.filter().map_err(|invalid| format!("row {number}: {keyword}.{invalid}"))
        };
        let filters: Vec<Filter> = enabled.map(filter).collect::<Result<_, _>>()?;
        match filters.len() {
            0..=MAX_FILTERS => Ok(filters),
            count => Err(format!("{count} filters are enabled; at most {MAX_FILTERS} are allowed")),
        }
    }

    /// The disabled filters that are complete: kept in saved views, never sent.
    pub fn disabled_filters(&self) -> Vec<Filter> {
        self.rows.iter().filter(|row| !row.enabled).filter_map(|row| row.filter().ok()).collect()
    }

    pub fn selected_row(&self) -> Option<&FilterRow> {
        self.rows.get(self.cursor)
    }

    /// The selected row, to change it; `undo` restores it.
    pub fn edit_row(&mut self) -> Option<&mut FilterRow> {
        self.push_undo();
        self.rows.get_mut(self.cursor)
    }

    fn push_undo(&mut self) {
        if self.undo_stack.len() == Self::MAX_UNDO {
            self.undo_stack.remove(0);
        }
        self.undo_stack.push(self.rows.clone());
    }

    /// Undoes the last change. Returns `false` when there is none.
    pub fn undo(&mut self) -> bool {
        let Some(rows) = self.undo_stack.pop() else { return false };
        self.rows = rows;
        self.cursor = self.cursor.min(self.rows.len());
        self.field = None;
        true
    }

    pub fn add(&mut self, key: FilterKind) {
        self.push_undo();
        self.cursor = self.rows.len();
        self.rows.push(FilterRow::new(key));
        self.field = Some(0);
    }

    /// Stops editing the selected row, and removes it if nothing was typed into it.
    pub(super) fn close_row(&mut self) {
        self.field = None;
        if self.selected_row().is_some_and(FilterRow::is_blank) {
            self.delete();
        }
    }

    pub fn select_row(&mut self, row: usize) {
        (self.cursor, self.field) = (row.min(self.rows.len()), None);
    }

    pub fn move_cursor(&mut self, by: isize) {
        self.cursor = moved_cursor(self.cursor, by, self.rows.len() + 1);
    }

    /// Changes the choice of the row: its `op`, or the `mode` of an issue.
    pub fn cycle_choice(&mut self, by: isize) {
        if let Some(row) = self.edit_row() {
            row.cycle_choice(by);
        }
    }

    pub fn toggle(&mut self) {
        if let Some(row) = self.edit_row() {
            row.enabled = !row.enabled;
        }
    }

    pub fn delete(&mut self) {
        if self.cursor < self.rows.len() {
            self.push_undo();
            self.rows.remove(self.cursor);
        }
    }

    /// Enables exactly the filters of an opened search. Disabled rows stay, unless it has them.
    pub fn adopt_filters(&mut self, filters: &[Filter]) {
        if self.filters().as_deref() == Ok(filters) {
            return;
        }
        let mut off = self.rows.clone();
        off.retain(|row| {
            !row.enabled && row.filter().is_ok_and(|filter| !filters.contains(&filter))
        });
        self.set_rows(filters.iter().map(FilterRow::from_filter).chain(off).collect());
    }

    fn set_rows(&mut self, rows: Vec<FilterRow>) {
        self.push_undo();
        self.rows = rows;
        (self.cursor, self.field, self.json) = (0, None, None);
    }

    pub fn replace_all(&mut self, on: &[Filter], off: &[Filter]) {
        let off =
            off.iter().map(|filter| FilterRow { enabled: false, ..FilterRow::from_filter(filter) });
        self.set_rows(on.iter().map(FilterRow::from_filter).chain(off).collect());
    }

    /// The JSON of each enabled row; `Err` has a placeholder for an incomplete row.
    pub fn filter_lines(&self) -> impl Iterator<Item = Result<String, String>> {
        self.rows.iter().filter(|row| row.enabled).map(|row| {
            let Ok(filter) = row.filter() else {
                return Err(format!("{{\"{}\": ? }}", row.kind.keyword()));
            };
            let array = vql::write(std::slice::from_ref(&filter));
            Ok(array.trim_start_matches('[').trim_end_matches(']').to_owned())
        })
    }

    pub fn pretty_json(&self) -> String {
        let lines: Vec<String> =
            self.filter_lines().map(|line| line.unwrap_or_else(|half| half)).collect();
        format!("[{}]", lines.join(",\n "))
    }

    /// Closes the JSON editor, unless its text is invalid.
    pub fn close_json(&mut self) -> Result<(), VqlError> {
        if let Some(problem) = self.json.as_ref().and_then(|json| json.problem.clone()) {
            return Err(problem);
        }
        self.json = None;
        Ok(())
    }

    pub fn handle_json_key(&mut self, chord: Chord) {
        if let Some(json) = &mut self.json {
            json.text.handle_key(chord);
            self.read_json();
        }
    }

    /// Replaces the JSON, as an editor does, and parses it.
    pub fn write_json(&mut self, text: &str) {
        self.field = None;
        self.json = Some(JsonEditor { text: TextArea::new(text), problem: None });
        self.read_json();
    }

    /// Parses the JSON as a service does, and replaces the rows.
    pub fn read_json(&mut self) {
        let Some(json) = &mut self.json else { return };
        match vql::read_lenient(&json.text.text()) {
            Err(problem) => json.problem = Some(problem),
            Ok(filters) => {
                json.problem = None;
                let editor = self.json.take();
                self.adopt_filters(&filters);
                self.json = editor;
            }
        }
    }
}
