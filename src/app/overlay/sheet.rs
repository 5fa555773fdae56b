//! Facts that are only read: a name and a value a line, scrolled. The record of a dataset and one
//! exchange of the log are such sheets.

use crate::{
    app::{
        App, Effect, Overlay,
        overlay::{Press, Scroll},
    },
    input::Chord,
    message::{Lane, Request},
};
use tessera_model::{DatasetId, Field, SafeText};

/// The open sheet.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// What it tells about.
    pub title: SafeText,
    /// Its lines: a name, perhaps empty, and a value.
    pub lines: Vec<(SafeText, SafeText)>,
    /// How far it is scrolled.
    pub scroll: Scroll,
}

impl Sheet {
    /// A sheet without lines.
    pub fn about(title: impl AsRef<str>) -> Self {
        Self { title: SafeText::detail(title.as_ref()), ..Self::default() }
    }

    /// Adds a line.
    #[must_use]
    pub fn line(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.lines.push((SafeText::name(name), SafeText::caption(value.as_ref())));
        self
    }

    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        self.scroll.key(chord)
    }
}

impl App {
    /// Asks for everything that the service says of the selected dataset.
    pub(in crate::app) fn ask_for_record(&mut self, effects: &mut Vec<Effect>) {
        if let Some(id) = self.selected_dataset().map(|dataset| dataset.id) {
            self.send(Lane::Record(id), Request::Record(id), effects);
        }
    }

    /// The record came: every field as it was sent, also those this program does not know, and
    /// below them what was seen of the dataset meanwhile.
    pub(in crate::app) fn record_came(&mut self, id: DatasetId, fields: Vec<Field>) {
        let name = self.store.dataset(id).map_or_else(|| id.to_string(), |it| it.name.to_string());
        let mut sheet = Sheet::about(format!("Record of {name}"));
        for Field { name, value } in fields {
            // The service names no zone, so none is invented (M11).
            let zone = if name.as_str() == "created_at" { "  (zone not given)" } else { "" };
            sheet = sheet.line(name.as_str(), format!("{value}{zone}"));
        }
        if let Some(past) = self.store.seen.of(id).filter(|past| !past.changes.is_empty()) {
            sheet = sheet.line("", "").line("seen by this program", "");
            for change in past.changes.iter().rev() {
                let when = crate::app::seen::ago(self.now.saturating_sub(change.at));
                let words = format!("{} → {}", change.from.word(), change.to.word());
                sheet = sheet.line(&when, words);
            }
        }
        if self.overlay.is_none() {
            self.overlay = Some(Overlay::Sheet(sheet));
        }
    }
}
