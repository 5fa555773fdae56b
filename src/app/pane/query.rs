//! The query pane: a draft of filters for each dataset, and what the keys do to the one of the open
//! dataset.

use std::collections::HashMap;

use crate::{
    app::{
        App, Effect, Level, Overlay, Pane,
        overlay::{Choice, Pick, field},
        pane::moved,
        query::{Draft, Key, Values},
    },
    input::{Chord, Key as Button},
};
use tessera_model::{DatasetId, Failure, Page, Search};
use tessera_wire::vql;

/// State of the pane.
#[derive(Debug, Default)]
pub struct Query {
    drafts: HashMap<DatasetId, Draft>,
    values: HashMap<DatasetId, Values>,
    /// What there is of a dataset of which nothing is known.
    empty: (Draft, Values),
    /// Whether it was told that the service reads the max score the other way.
    pub direction_told: bool,
}

impl App {
    /// The draft of the open dataset.
    #[must_use]
    pub fn draft(&self) -> &Draft {
        let draft = self.view().and_then(|view| self.query.drafts.get(&view.search.dataset));
        draft.unwrap_or(&self.query.empty.0)
    }

    /// The draft of the open dataset, to change it; `None` while none is open.
    pub(in crate::app) fn draft_mut(&mut self) -> Option<&mut Draft> {
        let dataset = self.view()?.search.dataset;
        Some(self.query.drafts.entry(dataset).or_default())
    }

    /// What was seen of the open dataset.
    #[must_use]
    pub fn values(&self) -> &Values {
        let values = self.view().and_then(|view| self.query.values.get(&view.search.dataset));
        values.unwrap_or(&self.query.empty.1)
    }

    /// Takes note of what a page shows.
    pub(in crate::app) fn note_values(&mut self, search: &Search, page: &Page) {
        self.query.values.entry(search.dataset).or_default().note(search, page);
    }

    /// The JSON of the filters that are on, as it is sent; `None` when there are none, or when one
    /// is not complete.
    #[must_use]
    pub fn query_json(&self) -> Option<String> {
        let filters = self.draft().filters().ok()?;
        (!filters.is_empty()).then(|| vql::write(&filters))
    }

    /// Whether the pane takes typed text, so that letters are no actions.
    #[must_use]
    pub fn is_writing_query(&self) -> bool {
        let draft = self.draft();
        self.focus == Pane::Query && (draft.field.is_some() || draft.json.is_some())
    }

    /// What the keys do while the pane takes typed text, for the hint line.
    #[must_use]
    pub fn writing_hints(&self) -> Option<&'static str> {
        if !self.is_writing_query() {
            return None;
        }
        let draft = self.draft();
        Some(match draft.row().map(|row| row.key) {
            _ if draft.json.is_some() => {
                "Tab form   F5 run   F4 $EDITOR   Esc leave, kept as typed"
            }
            Some(Key::Labels | Key::Tags) => {
                "Enter add to the list   ↓ take what was seen   Backspace take back   F5 run   Esc done"
            }
            _ => "Tab next field   F5 run   Enter or Esc done",
        })
    }

    /// A key while the pane takes typed text. `false`: it is not text, the keymap has it.
    pub(in crate::app) fn key_in_query(&mut self, chord: Chord) -> bool {
        if matches!(chord.key, Button::F(_)) || (chord.ctrl && chord.key == Button::Char('c')) {
            return false;
        }
        let in_json = self.draft().json.is_some();
        match chord.key {
            Button::Esc if in_json => self.focus = Pane::Results,
            Button::Tab if in_json => self.switch_json(),
            _ if in_json => self.with_draft(|draft| draft.key_in_json(chord)),
            Button::Esc => self.end_field(),
            Button::Tab => self.next_field(),
            Button::Enter => self.enter_in_field(),
            Button::Down => self.take_suggestion(),
            _ => self.with_draft(|draft| {
                let field = draft.field.unwrap_or(0);
                if let Some(row) = draft.rows.get_mut(draft.cursor) {
                    row.edit(field, chord);
                }
            }),
        }
        true
    }

    fn with_draft(&mut self, change: impl FnOnce(&mut Draft)) {
        if let Some(draft) = self.draft_mut() {
            change(draft);
        }
    }

    /// What is pasted goes into the field or the JSON that takes the keys.
    pub(in crate::app) fn paste_in_query(&mut self, text: &str) {
        self.with_draft(|draft| {
            if let Some(json) = &mut draft.json {
                text.chars().for_each(|c| json.text.insert(c));
                draft.read_json();
            } else if let (Some(at), Some(row)) = (draft.field, draft.rows.get_mut(draft.cursor))
                && let Some(input) = row.input(at)
            {
                field::paste(input, text);
            }
        });
    }

    /// Enter in a field: an entry of a list is added, everything else is complete.
    fn enter_in_field(&mut self) {
        if self.is_half_entry() { self.add_entry() } else { self.end_field() }
    }

    fn is_half_entry(&self) -> bool {
        let row = self.draft().row();
        row.is_some_and(|row| row.key.is_list() && !row.typed(0).trim().is_empty())
    }

    /// What is typed becomes an entry of the list; a tag is sent by its id.
    fn add_entry(&mut self) {
        let Some(row) = self.draft().row() else { return };
        let typed = row.typed(0).trim().to_owned();
        let id = if row.key == Key::Tags { self.values().tag_id(&typed) } else { None };
        let entry = id.map_or(typed, |id| id.to_string());
        self.fill(&entry);
    }

    /// The value of the row under the cursor.
    fn fill(&mut self, value: &str) {
        self.with_draft(|draft| {
            let field = draft.field.unwrap_or(0);
            if let Some(row) = draft.rows.get_mut(draft.cursor) {
                row.fill(field, value);
            }
        });
    }

    fn end_field(&mut self) {
        if self.is_half_entry() {
            self.add_entry();
        }
        self.with_draft(|draft| draft.field = None);
    }

    fn next_field(&mut self) {
        if self.is_half_entry() {
            self.add_entry();
        }
        self.with_draft(|draft| {
            let count = draft.row().map_or(1, |row| row.fields().count());
            draft.field = draft.field.map(|field| (field + 1) % count.max(1));
        });
    }

    /// The first value that was seen and fits what is typed.
    fn take_suggestion(&mut self) {
        let draft = self.draft();
        let Some(row) = draft.row().filter(|_| draft.field == Some(0)) else { return };
        if let Some(first) = self.values().suggest(row, 1).first() {
            let value = first.value.clone();
            self.fill(&value);
        }
    }

    /// Moves the cursor by some rows; behind the last one is the line that adds.
    pub(in crate::app) fn move_in_query(&mut self, by: isize) {
        self.with_draft(|draft| draft.cursor = moved(draft.cursor, by, draft.rows.len() + 1));
    }

    /// Changes the choice of the row: its `op`, or the `mode` of an issue.
    pub(in crate::app) fn turn_in_query(&mut self, by: isize) {
        self.with_draft(|draft| {
            if let Some(row) = draft.change() {
                row.turn(by);
            }
        });
    }

    /// Enter: writes the row, or offers what can be added.
    pub(in crate::app) fn open_in_query(&mut self) {
        if self.draft().row().is_none() {
            return self.offer_filters();
        }
        self.with_draft(|draft| {
            let _ = draft.change();
            draft.field = Some(0);
        });
    }

    /// Offers the kinds of filters.
    pub(in crate::app) fn offer_filters(&mut self) {
        let kind = |key: Key| Choice::new(key, key.word()).note(key.about());
        let pick = Pick::new(Key::ALL.into_iter().map(kind).collect());
        self.overlay = Some(Overlay::Kinds(pick));
    }

    /// Adds a filter and begins to write it.
    pub(in crate::app) fn add_filter(&mut self, key: Key) {
        self.focus = Pane::Query;
        self.with_draft(|draft| draft.add(key));
    }

    /// Switches the row on or off.
    pub(in crate::app) fn toggle_filter(&mut self) {
        self.with_draft(|draft| {
            if let Some(row) = draft.change() {
                row.on = !row.on;
            }
        });
    }

    /// Deletes the row.
    pub(in crate::app) fn delete_filter(&mut self) {
        self.with_draft(Draft::delete);
    }

    /// Takes the last change of the draft back.
    pub(in crate::app) fn undo_in_query(&mut self) {
        let undone = self.draft_mut().is_some_and(Draft::undo);
        if !undone {
            self.notices.add(self.now, Level::Warning, "nothing to undo in this query");
        }
    }

    /// From the form to the JSON and back.
    pub(in crate::app) fn switch_json(&mut self) {
        let Some(draft) = self.draft_mut() else { return };
        if draft.json.is_none() {
            draft.open_json();
        } else if let Err(problem) = draft.close_json() {
            let text = format!("this cannot be shown as a form yet: {problem}");
            self.notices.add(self.now, Level::Warning, text);
        }
    }

    /// Runs the draft on what is on screen: its anchor or caption stays.
    pub(in crate::app) fn run_query(&mut self) {
        self.end_field();
        let (Ok(filters), Some(view)) = (self.draft().filters(), self.view()) else { return };
        let search = Search { filters, page: 0, ..view.search.clone() };
        if search == view.search {
            self.refresh();
            self.focus = Pane::Results;
        } else {
            self.open_search(search);
        }
    }

    /// Opens the JSON in the person's editor.
    pub(in crate::app) fn edit_json(&mut self, effects: &mut Vec<Effect>) {
        let draft = self.draft();
        let text = draft.json.as_ref().map_or_else(|| draft.pretty(), |json| json.text.text());
        effects.push(Effect::Edit(text + "\n"));
    }

    /// What the editor left. One that cannot be read stays as JSON, to be mended.
    pub(in crate::app) fn edited(
        &mut self,
        text: Result<String, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(Effect::Redraw);
        match text {
            Err(failure) => self.notices.fail(self.now, &failure),
            Ok(text) => self.with_draft(|draft| {
                draft.write_json(text.trim_end());
                // One that can be read is shown as a form; the others stay open.
                let _ = draft.close_json();
            }),
        }
    }
}
