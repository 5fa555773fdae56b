//! A read-only list of names and values: the record of a dataset, or one entry of the log.

use tessera_model::{DatasetId, RecordField, SafeText, text::format_age};

use super::{Dialog, KeyResult, Overlay, ScrollState};
use crate::{
    app::App,
    input::Chord,
    message::{Lane, Request},
};

#[derive(Clone, Debug, Default)]
pub struct FactSheet {
    pub title: SafeText,
    /// Names (may be empty) with values.
    pub facts: Vec<(SafeText, SafeText)>,
    pub scroll: ScrollState,
}

impl FactSheet {
    pub(in crate::app) fn new(title: impl AsRef<str>) -> Self {
        Self { title: SafeText::detail(title.as_ref()), ..Self::default() }
    }

    pub(in crate::app) fn fact(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.facts.push((SafeText::name(name), SafeText::caption(value.as_ref())));
        self
    }
}

impl Dialog for FactSheet {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        self.scroll.handle_key(chord)
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let rows = u16::try_from(self.facts.len()).unwrap_or(u16::MAX).saturating_add(6);
        (100, rows.min(screen.1.saturating_sub(4)))
    }

    fn hints(&self) -> &'static str {
        "j k scroll   Esc close"
    }
}

impl App {
    pub(in crate::app) fn request_record(&mut self) {
        if let Some(id) = self.selected_dataset().map(|dataset| dataset.id) {
            self.outbox.send(Lane::Record(id), Request::Record(id));
        }
    }

    /// Shows all fields that the service sent, also unknown ones, and the observed status changes.
    pub(in crate::app) fn record_loaded(&mut self, id: DatasetId, fields: Vec<RecordField>) {
        let name = self.store.dataset(id).map_or_else(|| id.to_string(), |it| it.name.to_string());
        let mut sheet = FactSheet::new(format!("Record of {name}"));
        for RecordField { name, value } in fields {
            let zone = if name.as_str() == "created_at" { "  (zone not given)" } else { "" };
            sheet = sheet.fact(name.as_str(), format!("{value}{zone}"));
        }
        if let Some(past) = self.store.observed.get(id).filter(|past| !past.changes.is_empty()) {
            sheet = sheet.fact("", "").fact("seen by this program", "");
            for change in past.changes.iter().rev() {
                let age = format_age(self.outbox.now.saturating_sub(change.seen_at));
                let statuses = format!("{} → {}", change.from.as_str(), change.to.as_str());
                sheet = sheet.fact(&age, statuses);
            }
        }
        if !self.overlays.is_open() {
            self.overlays.open(Overlay::Facts(sheet));
        }
    }
}
