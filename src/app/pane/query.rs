//! The query pane: a draft of filters per dataset, and its keys.

use std::collections::HashMap;

use tessera_model::{DatasetId, Failure, Page, Search};
use tessera_wire::vql;

use crate::{
    app::{
        App, Effect, Level, Pane,
        overlay::{
            command_list::ListKind,
            fact_sheet::FactSheet,
            pick_list::{Command, PickItem},
        },
        query::{FilterKind, KnownValues, QueryDraft, QueryEditor, diagnostics},
    },
    input::{Chord, Key as Button},
};

#[derive(Debug, Default)]
pub struct QueryBuilder {
    drafts: HashMap<DatasetId, QueryDraft>,
    known_values: HashMap<DatasetId, KnownValues>,
    /// For a dataset without a draft or loaded pages.
    empty: (QueryDraft, KnownValues),
    /// Whether the user was warned that the service applies the max score the other way round.
    pub direction_warned: bool,
}

impl QueryBuilder {
    pub(in crate::app) fn record_known_values(&mut self, search: &Search, page: &Page) {
        self.known_values.entry(search.dataset).or_default().record_page(search, page);
    }
}

impl App {
    pub fn draft(&self) -> &QueryDraft {
        let draft = self.view().and_then(|view| self.query.drafts.get(&view.search.dataset));
        draft.unwrap_or(&self.query.empty.0)
    }

    pub(in crate::app) fn draft_mut(&mut self) -> Option<&mut QueryDraft> {
        let dataset = self.view()?.search.dataset;
        Some(self.query.drafts.entry(dataset).or_default())
    }

    pub fn known_values(&self) -> &KnownValues {
        let values = self.view().and_then(|view| self.query.known_values.get(&view.search.dataset));
        values.unwrap_or(&self.query.empty.1)
    }

    /// The JSON of the enabled filters as it is sent, if there are any and all are complete.
    pub fn query_json(&self) -> Option<String> {
        let filters = self.draft().filters().ok()?;
        (!filters.is_empty()).then(|| vql::write(&filters))
    }

    /// Whether the pane takes typed text, so that letters are not actions.
    pub fn is_editing_query(&self) -> bool {
        let draft = self.draft();
        self.panes.focus == Pane::Query && (draft.field.is_some() || draft.json.is_some())
    }

    pub fn editing_hints(&self) -> Option<&'static str> {
        if !self.is_editing_query() {
            return None;
        }
        let draft = self.draft();
        Some(match draft.selected_row().map(|row| row.kind) {
            _ if draft.json.is_some() => {
                "Tab form   F5 run   F4 $EDITOR   Esc close, keep the text"
            }
            Some(FilterKind::Labels | FilterKind::Tags) => {
                "Enter add to the list   ↓ accept the suggestion   Backspace remove   F5 run   Esc done"
            }
            _ => "Tab next field   F5 run   Enter or Esc done",
        })
    }

    /// Handles a key while the pane takes typed text. Returns `false` for keys of the keymap.
    pub(in crate::app) fn handle_query_key(&mut self, chord: Chord) -> bool {
        if matches!(chord.key, Button::F(_)) || (chord.ctrl && chord.key == Button::Char('c')) {
            return false;
        }
        let in_json = self.draft().json.is_some();
        match chord.key {
            Button::Esc if in_json => self.panes.focus = Pane::Results,
            Button::Tab if in_json => self.switch_json(),
            _ => {
                if let Some(mut editor) = self.query_editor() {
                    editor.handle_key(chord);
                }
            }
        }
        true
    }

    fn query_editor(&mut self) -> Option<QueryEditor<'_>> {
        let dataset = self.view()?.search.dataset;
        let QueryBuilder { drafts, known_values, empty, .. } = &mut self.query;
        let known_values = known_values.get(&dataset).unwrap_or(&empty.1);
        Some(QueryEditor { draft: drafts.entry(dataset).or_default(), known_values })
    }

    pub(in crate::app) fn edit_draft(&mut self, change: impl FnOnce(&mut QueryDraft)) {
        if let Some(draft) = self.draft_mut() {
            change(draft);
        }
    }

    pub(in crate::app) fn paste_in_query(&mut self, text: &str) {
        if let Some(mut editor) = self.query_editor() {
            editor.paste(text);
        }
    }

    /// Enter: edits the row, or lists the filters that can be added.
    pub(in crate::app) fn edit_selected_filter(&mut self) {
        if self.draft().selected_row().is_none() {
            return self.open_filter_picker();
        }
        self.edit_draft(|draft| {
            let _ = draft.edit_row();
            draft.field = Some(0);
        });
    }

    pub(in crate::app) fn open_filter_picker(&mut self) {
        let item = |kind: FilterKind| {
            PickItem::new(Command::AddFilter(kind), kind.keyword()).note(kind.description())
        };
        let items = FilterKind::ALL.into_iter().map(item).collect();
        self.open_list(ListKind::FilterKinds, "Add a filter", items);
    }

    pub(in crate::app) fn add_filter(&mut self, kind: FilterKind) {
        self.panes.focus = Pane::Query;
        self.edit_draft(|draft| draft.add(kind));
    }

    pub(in crate::app) fn undo_query_change(&mut self) {
        let undone = self.draft_mut().is_some_and(QueryDraft::undo);
        if !undone {
            self.outbox.notify(Level::Warning, "no change to undo in this query");
        }
    }

    pub(in crate::app) fn switch_json(&mut self) {
        let Some(draft) = self.draft_mut() else { return };
        if draft.json.is_none() {
            draft.write_json(&draft.pretty_json());
        } else if let Err(problem) = draft.close_json() {
            self.outbox
                .notify(Level::Warning, format!("cannot show this as a form yet: {problem}"));
        }
    }

    /// Runs the draft on the search on screen, whose anchor or caption stays.
    pub(in crate::app) fn run_query(&mut self) {
        if let Some(mut editor) = self.query_editor() {
            editor.finish_field();
        }
        let (Ok(filters), Some(view)) = (self.draft().filters(), self.view()) else { return };
        let search = Search { filters, page: 0, ..view.search.clone() };
        if search == view.search {
            self.refresh();
            self.panes.focus = Pane::Results;
        } else {
            self.open_search(search);
        }
    }

    /// Shows the checks as a list that scrolls.
    pub(in crate::app) fn open_query_checks(&mut self) {
        let sheet =
            diagnostics(self).iter().fold(FactSheet::new("Checks of the query"), |sheet, it| {
                let row = it.row.map_or_else(String::new, |row| format!(" in row {}", row + 1));
                sheet.fact(&format!("{}{row}", it.severity.name()), &it.text)
            });
        self.overlays.open(sheet);
    }

    pub(in crate::app) fn edit_json(&mut self) {
        let draft = self.draft();
        let text = draft.json.as_ref().map_or_else(|| draft.pretty_json(), |json| json.text.text());
        self.outbox.push(Effect::Edit(text + "\n"));
    }

    /// The editor was closed. Invalid text stays as JSON, to be corrected.
    pub(in crate::app) fn editor_closed(&mut self, text: Result<String, Failure>) {
        self.outbox.push(Effect::Redraw);
        match text {
            Err(failure) => self.outbox.notify_failure(&failure),
            Ok(text) => self.edit_draft(|draft| {
                draft.write_json(text.trim_end());
                // Valid text is shown as a form.
                let _ = draft.close_json();
            }),
        }
    }
}
