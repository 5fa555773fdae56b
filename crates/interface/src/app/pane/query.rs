//! Keeps the state of the query pane, which is a draft of filters for each dataset, and handles its
//! keys.

use std::collections::HashMap;

use tessera_wire::vql;

use crate::app::prelude::*;
use crate::app::{
    Effect,
    query::{KnownValues, QueryDraft},
};

#[derive(Debug, Default)]
pub struct QueryBuilder {
    drafts: HashMap<DatasetId, QueryDraft>,
    known_values: HashMap<DatasetId, KnownValues>,
    /// The draft and values of a dataset that has no draft or loaded pages.
    empty: (QueryDraft, KnownValues),
    /// Whether the user was warned that the service finds scores above the max score.
    pub(in crate::app) max_score_warned: bool,
}

impl QueryBuilder {
    pub(in crate::app) fn record_known_values(&mut self, search: &Search, page: &Page) {
        self.known_values.entry(search.dataset).or_default().record_page(search, page);
    }

    pub fn draft(&self, results: &Results) -> &QueryDraft {
        let draft = results.view().and_then(|view| self.drafts.get(&view.search.dataset));
        draft.unwrap_or(&self.empty.0)
    }

    pub(in crate::app) fn draft_mut(&mut self, results: &Results) -> Option<&mut QueryDraft> {
        let dataset = results.view()?.search.dataset;
        Some(self.drafts.entry(dataset).or_default())
    }

    pub fn known_values(&self, results: &Results) -> &KnownValues {
        let values = results.view().and_then(|view| self.known_values.get(&view.search.dataset));
        values.unwrap_or(&self.empty.1)
    }

    /// Returns the JSON of the enabled filters as it is sent. Returns `None` if there are no
    /// filters or if one is incomplete.
    pub fn query_json(&self, results: &Results) -> Option<String> {
        let filters = self.draft(results).filters().ok()?;
        (!filters.is_empty()).then(|| vql::write(&filters))
    }

    /// Returns whether the pane takes typed text, so that letters are not actions.
    pub fn is_editing_query(&self, focus: Pane, results: &Results) -> bool {
        let draft = self.draft(results);
        focus == Pane::Query && (draft.field.is_some() || draft.json.is_some())
    }

    pub fn editing_hints(&self, focus: Pane, results: &Results) -> Option<&'static str> {
        if !self.is_editing_query(focus, results) {
            return None;
        }
        let draft = self.draft(results);
        Some(match draft.selected_row() {
            _ if draft.json.is_some() => {
                "Tab form   F5 run   F8 $EDITOR   Esc close, keep the text"
            }
            Some(row) if row.is_list() => {
                "Enter add to the list   ↓ accept the suggestion   Backspace remove   F5 run   Esc done"
            }
            _ => "Tab next field   F5 run   Enter or Esc done",
        })
    }

    /// Returns the draft so that it can be changed, with the values that it may suggest.
    pub(in crate::app) fn draft_and_values(
        &mut self,
        results: &Results,
    ) -> Option<(&mut QueryDraft, &KnownValues)> {
        let dataset = results.view()?.search.dataset;
        let QueryBuilder { drafts, known_values, empty, .. } = self;
        let known_values = known_values.get(&dataset).unwrap_or(&empty.1);
        Some((drafts.entry(dataset).or_default(), known_values))
    }

    pub(in crate::app) fn edit_draft(
        &mut self,
        change: impl FnOnce(&mut QueryDraft),
        results: &Results,
    ) {
        if let Some(draft) = self.draft_mut(results) {
            change(draft);
        }
    }

    pub(in crate::app) fn paste(&mut self, text: &str, results: &Results, outbox: &mut Outbox) {
        if self.draft_mut(results).is_some_and(|draft| !draft.paste(text)) {
            let text = "the pasted text is too long: a query has at most 64 KiB";
            outbox.notify(Level::Warning, text);
        }
    }

    pub(in crate::app) fn undo(&mut self, results: &Results, outbox: &mut Outbox) {
        let undone = self.draft_mut(results).is_some_and(QueryDraft::undo);
        if !undone {
            outbox.notify(Level::Warning, "no change to undo in this query");
        }
    }

    pub(in crate::app) fn switch_json(&mut self, results: &Results, outbox: &mut Outbox) {
        let Some(draft) = self.draft_mut(results) else { return };
        if draft.json.is_none() {
            draft.write_json(&draft.pretty_json());
        } else if let Err(problem) = draft.close_json() {
            outbox.notify(Level::Warning, format!("cannot show this as a form yet: {problem}"));
        }
    }

    pub(in crate::app) fn edit_json(&mut self, results: &Results, outbox: &mut Outbox) {
        let draft = self.draft(results);
        let text = draft.json.as_ref().map_or_else(|| draft.pretty_json(), |json| json.text.text());
        outbox.push(Effect::Edit(text + "\n"));
    }

    /// Takes the text from the closed editor. Invalid text stays as JSON, so that the user can
    /// correct it.
    pub(in crate::app) fn editor_closed(
        &mut self,
        text: Result<String, Failure>,
        results: &Results,
        outbox: &mut Outbox,
    ) {
        outbox.push(Effect::Redraw);
        match text {
            Err(failure) => outbox.notify_failure(&failure),
            Ok(text) => self.edit_draft(
                |draft| {
                    draft.write_json(text.trim_end());
                    // If the text is valid, the draft is shown as a form.
                    let _ = draft.close_json();
                },
                results,
            ),
        }
    }
}
