//! The export form: name, folder, format, with or without images, when to download.

use std::path::{Path, PathBuf};

use tui_input::Input;

use crate::{
    app::{
        App, Effect, Level, Setup,
        basket::clusters,
        gate,
        overlay::{
            Overlay, Press,
            field::{edit, path},
        },
    },
    input::{Action, Chord, Key},
    message::Request,
};
use tessera_model::{
    ArchiveName, DatasetId, Export, ExportFormat, ExportSpec, Mark, Marked, SafeText, Selection,
    Work, shell::quote,
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
    /// What is exported when it is not the whole dataset.
    pub selection: Option<Selection>,
    /// How far the list of what is exported is scrolled.
    pub top: usize,
}

impl ExportForm {
    /// A form with what the settings say.
    #[must_use]
    pub fn new(dataset: DatasetId, dataset_name: SafeText, setup: &Setup) -> Self {
        let name = ArchiveName::new(dataset_name.as_str());
        Self {
            dataset,
            dataset_name,
            field: Field::Name,
            name: name.as_str().into(),
            folder: setup.downloads.as_str().into(),
            format: setup.export.format,
            images: setup.export.include_images,
            fetch: setup.export.auto_download,
            selection: None,
            top: 0,
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
            Key::PageUp => self.top = self.top.saturating_sub(1),
            Key::PageDown => self.top += 1,
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

    /// The cells it would like to have on a screen (columns, rows).
    pub(super) fn size(&self, screen: (u16, u16)) -> (u16, u16) {
        match self.selection {
            None => (66, 11),
            Some(_) => (86, screen.1.saturating_sub(2).min(30)),
        }
    }

    /// What its keys do.
    pub(super) fn hints(&self) -> &'static str {
        match self.selection {
            None => "Tab next field   Space change   Enter start the export   Esc leave",
            Some(_) => {
                "Tab next field   Space change   PgUp PgDn the list   Enter start   Esc leave"
            }
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

    /// The command line that does the same.
    #[must_use]
    pub fn command(&self) -> String {
        let spec = self.spec();
        let what = self.selection.as_ref().map_or_else(String::new, options);
        let images = if spec.include_images { " --images" } else { "" };
        let (format, name) = (spec.format.word(), quote(spec.file_name.as_str()));
        let dataset = self.dataset;
        format!("tessera export start {dataset}{what} --format {format}{images} --name {name}")
    }

    /// Where the archive goes.
    #[must_use]
    pub fn target_folder(&self, home: Option<&Path>) -> PathBuf {
        path(self.folder.value(), home)
    }
}

/// Marks that a command line can carry; more come from a file that `w` in the basket saves.
const OPTIONS: usize = 4;

/// What is exported, as options of the command line.
fn options(selection: &Selection) -> String {
    if selection.len() > OPTIONS {
        return " --selection-file FILE".to_owned();
    }
    let option = |mark: &Mark| match &mark.what {
        Marked::Medium(id, _) => format!(" --media {id}"),
        Marked::Cluster(cluster) if cluster.exclude.is_empty() => {
            format!(" --cluster {}", cluster.id)
        }
        Marked::Cluster(cluster) => {
            let out: Vec<String> = cluster.exclude.iter().map(ToString::to_string).collect();
            format!(" --cluster {}^{}", cluster.id, out.join(","))
        }
    };
    selection.rows().into_iter().map(option).collect()
}

impl App {
    /// Opens the form for the open dataset.
    pub(in crate::app) fn ask_for_export(&mut self) {
        if let Some(dataset) = self.dataset() {
            let form = ExportForm::new(dataset.id, dataset.name.clone(), &self.setup);
            self.overlay = Some(Overlay::Export(form));
        }
    }

    /// Opens the form for what is marked in the open dataset.
    pub(in crate::app) fn ask_for_basket_export(&mut self) {
        let (Some(dataset), Some(selection)) = (self.dataset(), self.selection()) else { return };
        let form = ExportForm::new(dataset.id, dataset.name.clone(), &self.setup);
        let name = ArchiveName::new(&format!("{} selection", dataset.name));
        let selection = Some(selection.clone());
        let form = ExportForm { name: name.as_str().into(), selection, ..form };
        self.overlay = Some(Overlay::Export(form));
    }

    /// Starts what a form asks for, unless it cannot be done: then the form stays.
    pub(in crate::app) fn confirm_export(&mut self, form: ExportForm, effects: &mut Vec<Effect>) {
        let action = match &form.selection {
            Some(_) => Action::ExportBasket,
            None => Action::Export,
        };
        let stale = form.selection.as_ref().map_or(0, |selection| selection.totals().stale);
        let refusal = gate::refusal(self, action).or_else(|| {
            (stale > 0).then(|| {
                format!("{} may be gone: recheck or drop them in the basket (5)", clusters(stale))
            })
        });
        match refusal {
            Some(reason) => {
                self.notices.add(self.now, Level::Warning, reason);
                self.overlay = Some(Overlay::Export(form));
            }
            None => self.start_export(&form, effects),
        }
    }

    /// Starts what a form asks for.
    fn start_export(&mut self, form: &ExportForm, effects: &mut Vec<Effect>) {
        let spec = form.spec();
        let request = match &form.selection {
            None => Request::StartExport(form.dataset, spec.clone()),
            Some(selection) => Request::StartSelection {
                dataset: form.dataset,
                format: spec.format,
                images: spec.include_images,
                items: selection.items(),
            },
        };
        let export = Export {
            spec,
            selection: form.selection.as_ref().map(|selection| selection.totals().contents()),
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
        let setup = Setup::new(SafeText::name("x"), crate::input::Keymap::shipped().unwrap());
        let mut form =
            ExportForm::new(DatasetId(Uuid::nil()), SafeText::name("../my photos"), &setup);
        assert_eq!(form.spec().file_name.as_str(), "my photos.zip");
        form.field = Field::Format;
        form.key(Chord::plain(Key::Char(' ')));
        assert_eq!(form.spec().format, ExportFormat::Json);
        form.step(4);
        assert_eq!(form.field, Field::Folder);
    }
}
