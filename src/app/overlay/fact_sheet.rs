//! Facts that are only read: a name and a value a line, scrolled. The record of a dataset and one
//! exchange of the log are such sheets.

use crate::{
    app::{
        App, Overlay,
        overlay::{KeyResult, ScrollState},
    },
    input::Chord,
    message::{Lane, Request},
};
use tessera_model::{DatasetId, RecordField, SafeText};

/// The open sheet.
#[derive(Clone, Debug, Default)]
pub struct FactSheet {
    /// What it tells about.
    pub title: SafeText,
    /// Its lines: a name, perhaps empty, and a value.
    pub facts: Vec<(SafeText, SafeText)>,
    /// How far it is scrolled.
    pub scroll: ScrollState,
}

impl FactSheet {
    /// A sheet without lines.
    pub fn new(title: impl AsRef<str>) -> Self {
        Self { title: SafeText::detail(title.as_ref()), ..Self::default() }
    }

    /// Adds a line.
    #[must_use]
    pub fn fact(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.facts.push((SafeText::name(name), SafeText::caption(value.as_ref())));
        self
    }

    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        self.scroll.handle_key(chord)
    }
}

impl App {
    /// Asks for everything that the service says of the selected dataset.
    pub(in crate::app) fn request_record(&mut self) {
        if let Some(id) = self.selected_dataset().map(|dataset| dataset.id) {
            self.send(Lane::Record(id), Request::Record(id));
        }
    }

    /// The record came: every field as it was sent, also those this program does not know, and
    /// below them what was seen of the dataset meanwhile.
    pub(in crate::app) fn record_loaded(&mut self, id: DatasetId, fields: Vec<RecordField>) {
        let name = self.store.dataset(id).map_or_else(|| id.to_string(), |it| it.name.to_string());
        let mut sheet = FactSheet::new(format!("Record of {name}"));
        for RecordField { name, value } in fields {
            // The service names no zone, so none is invented.
            let zone = if name.as_str() == "created_at" { "  (zone not given)" } else { "" };
            sheet = sheet.fact(name.as_str(), format!("{value}{zone}"));
        }
        if let Some(past) = self.store.observed.get(id).filter(|past| !past.changes.is_empty()) {
            sheet = sheet.fact("", "").fact("seen by this program", "");
            for change in past.changes.iter().rev() {
                let when = crate::app::dataset_history::format_age(
                    self.now.saturating_sub(change.seen_at),
                );
                let words = format!("{} → {}", change.from.word(), change.to.word());
                sheet = sheet.fact(&when, words);
            }
        }
        if self.overlay.is_none() {
            self.overlay = Some(Overlay::Facts(sheet));
        }
    }
}
