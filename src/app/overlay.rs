//! What lies over the panes and takes the keys: the help, the export form, the file line.

use std::path::{Path, PathBuf};

use tui_input::{Input, InputRequest};

use crate::{
    input::{Chord, Key},
    model::{ArchiveName, DatasetId, ExportFormat, ExportSpec, SafeText},
};

/// The layer on top, if any.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The help, scrolled by this many lines.
    Help(u16),
    /// The form that starts an export.
    Export(ExportForm),
    /// The line that asks for a query image.
    File(Input),
}

/// The fields of the export form, in the order of the Tab key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Name of the archive.
    Name,
    /// Folder it is downloaded to.
    Folder,
    /// Format of the metadata.
    Format,
    /// With pictures or without.
    Images,
    /// Download as soon as it is ready, or on demand.
    Fetch,
}

impl Field {
    /// All fields in order.
    pub const ALL: [Self; 5] = [Self::Name, Self::Folder, Self::Format, Self::Images, Self::Fetch];
}

/// A half-filled export form.
#[derive(Clone, Debug)]
pub struct ExportForm {
    /// The dataset it exports.
    pub dataset: DatasetId,
    /// Its name.
    pub dataset_name: SafeText,
    /// The field that takes the keys.
    pub field: Field,
    /// Name of the archive, as typed.
    pub name: Input,
    /// Folder of the archive, as typed.
    pub folder: Input,
    /// Format of the metadata.
    pub format: ExportFormat,
    /// With pictures or without.
    pub images: bool,
    /// Download as soon as it is ready, or on demand.
    pub fetch: bool,
}

impl ExportForm {
    /// A form with what most people want.
    #[must_use]
    pub fn new(dataset: DatasetId, dataset_name: SafeText, folder: &str) -> Self {
        let name = ArchiveName::new(dataset_name.as_str());
        Self {
            dataset,
            dataset_name,
            field: Field::Name,
            name: name.as_str().into(),
            folder: folder.into(),
            format: ExportFormat::default(),
            images: true,
            fetch: true,
        }
    }

    /// Moves to the field `by` places further, around the ends.
    pub fn step(&mut self, by: usize) {
        let place = Field::ALL.iter().position(|field| *field == self.field).unwrap_or(0);
        self.field = Field::ALL[(place + by) % Field::ALL.len()];
    }

    /// Gives a key to the field.
    pub fn key(&mut self, chord: Chord) {
        let toggle = matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right);
        match self.field {
            Field::Name => edit(&mut self.name, chord),
            Field::Folder => edit(&mut self.folder, chord),
            Field::Format if toggle => {
                self.format = match self.format {
                    ExportFormat::Json => ExportFormat::Parquet,
                    ExportFormat::Parquet => ExportFormat::Json,
                };
            }
            Field::Images if toggle => self.images = !self.images,
            Field::Fetch if toggle => self.fetch = !self.fetch,
            Field::Format | Field::Images | Field::Fetch => {}
        }
    }

    /// The text field that takes the keys, if it is one.
    pub fn text(&mut self) -> Option<&mut Input> {
        match self.field {
            Field::Name => Some(&mut self.name),
            Field::Folder => Some(&mut self.folder),
            Field::Format | Field::Images | Field::Fetch => None,
        }
    }

    /// What the form asks for.
    #[must_use]
    pub fn spec(&self) -> ExportSpec {
        ExportSpec {
            file_name: ArchiveName::new(self.name.value()),
            format: self.format,
            include_images: self.images,
        }
    }

    /// Where the archive goes.
    #[must_use]
    pub fn target_folder(&self, home: Option<&Path>) -> PathBuf {
        path(self.folder.value(), home)
    }
}

/// A typed path; `~/` is `home`, and an empty one is here.
#[must_use]
pub fn path(typed: &str, home: Option<&Path>) -> PathBuf {
    let typed = typed.trim();
    match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if typed.is_empty() => PathBuf::from("."),
        _ => PathBuf::from(typed),
    }
}

/// Gives a key to a text field.
pub fn edit(input: &mut Input, chord: Chord) {
    let request = match (chord.key, chord.ctrl) {
        (Key::Char(c), false) if !chord.alt => InputRequest::InsertChar(c),
        (Key::Char('u'), true) => InputRequest::DeleteLine,
        (Key::Char('w'), true) => InputRequest::DeletePrevWord,
        (Key::Char('a'), true) | (Key::Home, _) => InputRequest::GoToStart,
        (Key::Char('e'), true) | (Key::End, _) => InputRequest::GoToEnd,
        (Key::Left, true) => InputRequest::GoToPrevWord,
        (Key::Right, true) => InputRequest::GoToNextWord,
        (Key::Left, false) => InputRequest::GoToPrevChar,
        (Key::Right, false) => InputRequest::GoToNextChar,
        (Key::Backspace, _) => InputRequest::DeletePrevChar,
        (Key::Delete, _) => InputRequest::DeleteNextChar,
        _ => return,
    };
    let _ = input.handle(request);
}

/// Most characters taken from one paste (T21).
const PASTE: usize = 4_096;

/// Pastes into a text field: one line, without control characters, never executed as keys.
pub fn paste(input: &mut Input, raw: &str) {
    for c in raw.trim().chars().filter(|c| !c.is_control()).take(PASTE) {
        let _ = input.handle(InputRequest::InsertChar(c));
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn m19_the_form_gives_a_safe_name() {
        let mut form = ExportForm::new(DatasetId(Uuid::nil()), SafeText::name("../my photos"), ".");
        assert_eq!(form.spec().file_name.as_str(), "my photos.zip");
        form.field = Field::Format;
        form.key(Chord::plain(Key::Char(' ')));
        assert_eq!(form.spec().format, ExportFormat::Json);
        form.step(4);
        assert_eq!(form.field, Field::Folder);
    }

    #[test]
    fn t21_a_paste_is_one_clean_line() {
        let mut input = Input::default();
        paste(&mut input, "/tmp/a\u{1b}[201~b\n");
        assert_eq!(input.value(), "/tmp/a[201~b");
        paste(&mut input, &"x".repeat(100_000));
        assert!(input.value().chars().count() <= PASTE + 20);
    }
}
