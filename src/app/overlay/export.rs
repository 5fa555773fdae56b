//! The export form: name, folder, format, with or without images, when to download.

use std::path::{Path, PathBuf};

use tui_input::Input;

use crate::{
    app::{
        App, Effect,
        overlay::{
            Overlay, Press,
            field::{edit, path},
        },
    },
    input::{Chord, Key},
    message::Request,
    model::{ArchiveName, DatasetId, Export, ExportFormat, ExportSpec, SafeText, Work},
};

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

    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Esc => return Press::Leave,
            Key::Enter => return Press::Accept,
            Key::Tab if chord.shift => self.step(Field::ALL.len() - 1),
            Key::Up => self.step(Field::ALL.len() - 1),
            Key::Tab | Key::Down => self.step(1),
            _ => self.key_in_field(chord),
        }
        Press::Stay
    }

    fn key_in_field(&mut self, chord: Chord) {
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

impl App {
    /// Opens the form for the open dataset.
    pub(in crate::app) fn ask_for_export(&mut self) {
        if let Some(dataset) = self.dataset() {
            let folder = self.setup.downloads.as_str();
            let form = ExportForm::new(dataset.id, dataset.name.clone(), folder);
            self.overlay = Some(Overlay::Export(form));
        }
    }

    /// Starts what a form asks for.
    pub(in crate::app) fn start_export(&mut self, form: &ExportForm, effects: &mut Vec<Effect>) {
        let spec = form.spec();
        let request = Request::StartExport(form.dataset, spec.clone());
        let export = Export {
            spec,
            selection: None,
            folder: form.target_folder(self.setup.home.as_deref()),
            fetch: form.fetch,
        };
        let dataset = (form.dataset, form.dataset_name.clone());
        self.start_job(dataset, Work::Export(export), request, effects);
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
}
