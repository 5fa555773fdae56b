//! Editing a draft with keys: its fields, list entries, suggestions and JSON.

use super::{FilterKind, KnownValues, QueryDraft};
use crate::{
    app::overlay::fields,
    input::{Chord, Key},
};

pub(in crate::app) struct QueryEditor<'a> {
    pub draft: &'a mut QueryDraft,
    pub known_values: &'a KnownValues,
}

impl QueryEditor<'_> {
    pub fn handle_key(&mut self, chord: Chord) {
        match chord.key {
            _ if self.draft.json.is_some() => self.draft.handle_json_key(chord),
            Key::Tab => self.next_field(),
            Key::Enter if self.has_unfinished_entry() => self.add_entry(),
            Key::Enter => self.finish_field(),
            Key::Esc => {
                self.finish_field();
                self.draft.close_row();
            }
            Key::Down => self.accept_suggestion(),
            _ => {
                let field = self.draft.field.unwrap_or(0);
                if let Some(row) = self.draft.rows.get_mut(self.draft.cursor) {
                    row.edit(field, chord);
                }
            }
        }
    }

    /// Pasted text goes into the JSON or the focused field.
    pub fn paste(&mut self, text: &str) {
        let draft = &mut *self.draft;
        if let Some(json) = &mut draft.json {
            text.chars().for_each(|c| json.text.insert(c));
            draft.read_json();
        } else if let (Some(field), Some(row)) = (draft.field, draft.rows.get_mut(draft.cursor))
            && let Some(input) = row.input_mut(field)
        {
            fields::paste(input, text);
        }
    }

    pub fn finish_field(&mut self) {
        if self.has_unfinished_entry() {
            self.add_entry();
        }
        self.draft.field = None;
    }

    fn next_field(&mut self) {
        if self.has_unfinished_entry() {
            self.add_entry();
        }
        let count = self.draft.selected_row().map_or(1, |row| row.fields().count());
        self.draft.field = self.draft.field.map(|field| (field + 1) % count.max(1));
    }

    fn has_unfinished_entry(&self) -> bool {
        let row = self.draft.selected_row();
        row.is_some_and(|row| row.kind.is_list() && !row.text(0).trim().is_empty())
    }

    /// Adds the typed text to the list; a tag is sent by its id.
    fn add_entry(&mut self) {
        let Some(row) = self.draft.selected_row() else { return };
        let typed = row.text(0).trim().to_owned();
        let is_tag = row.kind == FilterKind::Tags;
        let id = if is_tag { self.known_values.tag_id(&typed) } else { None };
        self.set_value(&id.map_or(typed, |id| id.to_string()));
    }

    fn accept_suggestion(&mut self) {
        let row = self.draft.selected_row().filter(|_| self.draft.field == Some(0));
        let Some(row) = row else { return };
        if let Some(suggestion) = self.known_values.suggest(row, 1).first() {
            self.set_value(&suggestion.value);
        }
    }

    fn set_value(&mut self, value: &str) {
        let field = self.draft.field.unwrap_or(0);
        if let Some(row) = self.draft.rows.get_mut(self.draft.cursor) {
            row.set_value(field, value);
        }
    }
}
