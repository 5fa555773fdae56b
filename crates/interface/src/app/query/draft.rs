//! Keeps a draft of filters as a form and as JSON, and handles the keys that edit it.

use tessera_config::input::{Chord, Key};
use tessera_model::{Filter, vql::MAX_FILTERS};
use tessera_wire::vql::{self, VqlError};

use crate::app::{
    bounded_list::push_bounded,
    overlay::fields,
    pane::moved_cursor,
    query::{FilterKind, FilterRow, KnownValues, row::object_text},
};

/// The filters of a dataset while they are being edited. A draft outlives every view of its
/// dataset.
#[derive(Clone, Debug, Default)]
pub struct QueryDraft {
    pub rows: Vec<FilterRow>,
    /// The selected row. The line after the last row adds a row.
    pub cursor: usize,
    pub field: Option<usize>,
    pub json: Option<JsonEditor>,
    /// The rows before each change, newest last.
    undo_stack: Vec<Vec<FilterRow>>,
}

#[derive(Clone, Debug)]
pub struct JsonEditor {
    pub text: TextArea,
    /// Why the text cannot be read. Its filters are counted from 1.
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

    /// Returns the disabled filters that are complete. They are saved in views, but never sent.
    pub fn disabled_filters(&self) -> Vec<Filter> {
        self.rows.iter().filter(|row| !row.enabled).filter_map(|row| row.filter().ok()).collect()
    }

    pub fn selected_row(&self) -> Option<&FilterRow> {
        self.rows.get(self.cursor)
    }

    /// Returns the selected row so that it can be changed. `undo` restores the row.
    pub fn edit_row(&mut self) -> Option<&mut FilterRow> {
        self.push_undo();
        self.rows.get_mut(self.cursor)
    }

    fn push_undo(&mut self) {
        push_bounded(&mut self.undo_stack, self.rows.clone(), Self::MAX_UNDO);
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
        let row = FilterRow::new(key);
        self.field = Some(row.first_field());
        self.rows.push(row);
    }

    /// Stops editing the selected row, and removes it if nothing was typed into it.
    pub(in crate::app) fn close_row(&mut self) {
        self.field = None;
        if self.selected_row().is_some_and(FilterRow::is_blank) {
            self.delete();
        }
    }

    /// Selects a row. The row that was being edited is removed if nothing was typed into it.
    pub fn select_row(&mut self, row: usize) {
        let (left, count) = (self.cursor, self.rows.len());
        if self.field.is_some() && row != left {
            self.close_row();
        }
        let is_moved = row > left && self.rows.len() < count;
        (self.cursor, self.field) = ((row - usize::from(is_moved)).min(self.rows.len()), None);
    }

    pub fn move_cursor(&mut self, by: isize) {
        self.cursor = moved_cursor(self.cursor, by, self.rows.len() + 1);
    }

    /// Changes the choice of the row, which is its `op`, or the `mode` of an issue.
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

    /// Enables exactly the filters of an opened search. Disabled rows are kept, unless the search
    /// has the same filter.
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
        (self.cursor, self.field) = (0, None);
        // A text that is not valid yet exists only here, so it is kept.
        self.json.take_if(|json| json.problem.is_none());
    }

    pub fn replace_all(&mut self, on: &[Filter], off: &[Filter]) {
        let off =
            off.iter().map(|filter| FilterRow { enabled: false, ..FilterRow::from_filter(filter) });
        self.set_rows(on.iter().map(FilterRow::from_filter).chain(off).collect());
    }

    /// Returns the JSON of each enabled row. For an incomplete row, `Err` contains a placeholder.
    pub fn filter_lines(&self) -> impl Iterator<Item = Result<String, String>> {
        self.rows.iter().filter(|row| row.enabled).map(|row| {
            let Ok(filter) = row.filter() else {
                return Err(format!("{{\"{}\": ? }}", row.kind.keyword()));
            };
            Ok(object_text(&filter))
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

    /// Replaces the JSON by the text of an editor, and parses it.
    pub fn write_json(&mut self, text: &str) {
        self.field = None;
        self.json = Some(JsonEditor { text: TextArea::new(text), problem: None });
        self.read_json();
    }

    /// Parses the JSON as a service does. If it is valid, it replaces the rows.
    pub fn read_json(&mut self) {
        let Some(json) = &mut self.json else { return };
        match vql::read_lenient(&json.text.text()) {
            // The form counts its rows from 1.
            Err(problem) => {
                let filter = problem.filter.map(|index| index + 1);
                json.problem = Some(VqlError { filter, ..problem });
            }
            Ok(filters) => {
                json.problem = None;
                let editor = self.json.take();
                self.adopt_filters(&filters);
                self.json = editor;
            }
        }
    }
}

/// Handles the keys while the pane takes typed text.
impl QueryDraft {
    pub(in crate::app) fn handle_key(&mut self, chord: Chord, known_values: &KnownValues) {
        match chord.key {
            _ if self.json.is_some() => self.handle_json_key(chord),
            Key::Tab => self.next_field(known_values),
            Key::Enter if self.needs_more() => self.next_field(known_values),
            Key::Enter if self.has_unfinished_entry() => self.add_entry(known_values),
            Key::Enter => self.finish_field(known_values),
            Key::Esc => {
                self.finish_field(known_values);
                self.close_row();
            }
            Key::Down => self.accept_suggestion(known_values),
            _ => {
                let field = self.field.unwrap_or(0);
                if let Some(row) = self.rows.get_mut(self.cursor) {
                    row.edit(field, chord);
                }
            }
        }
    }

    /// Pastes text into the JSON or into the focused field. Returns `false` if the JSON has no room for all of it.
    pub(in crate::app) fn paste(&mut self, text: &str) -> bool {
        if let Some(json) = &mut self.json {
            // Terminals paste a line break as a carriage return.
            let is_inserted = json.text.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
            self.read_json();
            return is_inserted;
        }
        if let (Some(field), Some(row)) = (self.field, self.rows.get_mut(self.cursor))
            && let Some(input) = row.input_mut(field)
        {
            fields::paste(input, text);
        }
        true
    }

    pub(in crate::app) fn finish_field(&mut self, known_values: &KnownValues) {
        if self.has_unfinished_entry() {
            self.add_entry(known_values);
        }
        self.field = None;
    }

    fn next_field(&mut self, known_values: &KnownValues) {
        if self.has_unfinished_entry() {
            self.add_entry(known_values);
        }
        let count = self.selected_row().map_or(1, |row| row.fields().count());
        self.field = self.field.map(|field| (field + 1) % count.max(1));
    }

    fn needs_more(&self) -> bool {
        self.selected_row().is_some_and(|row| row.needs_more_after(self.field))
    }

    fn has_unfinished_entry(&self) -> bool {
        self.selected_row().is_some_and(|row| row.is_list() && !row.typed_value().is_empty())
    }

    /// Adds the typed text to the list. A tag is sent by its id.
    fn add_entry(&mut self, known_values: &KnownValues) {
        let Some(row) = self.selected_row() else { return };
        let typed = row.typed_value().to_owned();
        let is_tag = row.kind == FilterKind::Tags;
        let id = if is_tag { known_values.tag_id(&typed) } else { None };
        self.set_value(&id.map_or(typed, |id| id.to_string()));
    }

    fn accept_suggestion(&mut self, known_values: &KnownValues) {
        let Some(row) = self.selected_row().filter(|_| self.field == Some(0)) else { return };
        if let Some(suggestion) = known_values.suggest(row, 1).first() {
            self.set_value(&suggestion.value);
        }
    }

    fn set_value(&mut self, value: &str) {
        if let Some(row) = self.rows.get_mut(self.cursor) {
            row.set_value(value);
        }
    }
}

/// The maximum size of a query that the service accepts, which is 64 KiB.
const MAX_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextArea {
    lines: Vec<String>,
    /// The line of the cursor, counted from 0.
    pub line: usize,
    /// The position of the cursor in its line, in characters, counted from 0.
    pub column: usize,
}

impl TextArea {
    pub fn new(text: &str) -> Self {
        let lines = text.split('\n').map(|line| line.trim_end_matches('\r').to_owned());
        Self { lines: lines.collect(), line: 0, column: 0 }
    }

    /// Returns the lines of the text. There is at least one line.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    pub fn handle_key(&mut self, chord: Chord) {
        match chord.key {
            Key::Char(c) if !chord.ctrl && !chord.alt => {
                _ = self.insert(c.encode_utf8(&mut [0; 4]));
            }
            Key::Enter => _ = self.insert("\n"),
            Key::Backspace => {
                if self.step_back() {
                    self.delete();
                }
            }
            Key::Delete => self.delete(),
            Key::Left => _ = self.step_back(),
            Key::Right => self.step_forward(),
            Key::Up => self.set_cursor(self.line.saturating_sub(1), self.column),
            Key::Down => self.set_cursor(self.line + 1, self.column),
            Key::Home => self.column = 0,
            Key::End => self.column = self.line_len(self.line),
            Key::Char(_) | Key::Esc | Key::Tab | Key::PageUp | Key::PageDown | Key::F(_) => {}
        }
    }

    /// Inserts a text without its control characters. Returns `false` and inserts nothing if there is no room for it.
    pub fn insert(&mut self, text: &str) -> bool {
        let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        let used: usize = self.lines.iter().map(|line| line.len() + 1).sum();
        if used + text.len() > MAX_BYTES {
            return false;
        }
        let (before, after) = self.lines[self.line].split_at(self.cursor_byte());
        let (line, column) = match text.rsplit_once('\n') {
            Some((above, last)) => (self.line + above.split('\n').count(), last.chars().count()),
            None => (self.line, self.column + text.chars().count()),
        };
        let changed = [before, &text, after].concat();
        self.lines.splice(self.line..=self.line, changed.split('\n').map(str::to_owned));
        self.set_cursor(line, column);
        true
    }

    fn delete(&mut self) {
        let at = self.cursor_byte();
        if self.column < self.line_len(self.line) {
            self.lines[self.line].remove(at);
        } else if self.line + 1 < self.lines.len() {
            let next = self.lines.remove(self.line + 1);
            self.lines[self.line].push_str(&next);
        }
    }

    /// Moves the cursor back by a character. Returns `false` at the beginning.
    fn step_back(&mut self) -> bool {
        match (self.line, self.column) {
            (0, 0) => return false,
            (line, 0) => self.set_cursor(line - 1, usize::MAX),
            (line, column) => self.set_cursor(line, column - 1),
        }
        true
    }

    fn step_forward(&mut self) {
        if self.column < self.line_len(self.line) {
            self.column += 1;
        } else if self.line + 1 < self.lines.len() {
            self.set_cursor(self.line + 1, 0);
        }
    }

    fn set_cursor(&mut self, line: usize, column: usize) {
        self.line = line.min(self.lines.len().saturating_sub(1));
        self.column = column.min(self.line_len(self.line));
    }

    fn line_len(&self, line: usize) -> usize {
        self.lines.get(line).map_or(0, |line| line.chars().count())
    }

    /// Returns the position of the cursor in its line, in bytes.
    fn cursor_byte(&self) -> usize {
        let line = self.lines.get(self.line).map_or("", String::as_str);
        line.char_indices().nth(self.column).map_or(line.len(), |(at, _)| at)
    }
}
