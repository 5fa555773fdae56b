//! The export form: name, folder, format, with or without images, and when to download.

use tessera_model::{
    ArchiveName, Dataset, DatasetId, EntryContent, ExportFormat, ExportJob, ExportSpec, JobKind,
    Operation, SafeText, Selection, SelectionEntry, ShellCommand,
};
use tui_input::Input;

use super::{
    Dialog, KeyResult, Overlay, ScrollState, form,
    text_field::{edit, expand_path},
};
use crate::{
    app::{App, Level, Setup, availability, basket::cluster_count, pane::cycle},
    command_lines::export_options,
    input::{Action, Chord, Key},
    message::Request,
};

/// The fields of the export form, in the order of the Tab key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportField {
    Name,
    Folder,
    Format,
    Images,
    Download,
}

impl ExportField {
    pub const ALL: [Self; 5] =
        [Self::Name, Self::Folder, Self::Format, Self::Images, Self::Download];
}

#[derive(Clone, Debug)]
pub struct ExportForm {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
    pub field: ExportField,
    pub name: Input,
    pub folder: Input,
    pub format: ExportFormat,
    pub include_images: bool,
    pub auto_download: bool,
    /// The items to export; `None` for the whole dataset.
    pub selection: Option<Selection>,
    pub scroll: ScrollState,
}

impl ExportForm {
    fn new(dataset: &Dataset, selection: Option<Selection>, setup: &Setup) -> Self {
        let name = match selection {
            None => ArchiveName::new(dataset.name.as_str()),
            Some(_) => ArchiveName::new(&format!("{} selection", dataset.name)),
        };
        Self {
            dataset: dataset.id,
            dataset_name: dataset.name.clone(),
            field: ExportField::Name,
            name: name.as_str().into(),
            folder: setup.download_dir.as_str().into(),
            format: setup.export_defaults.format,
            include_images: setup.export_defaults.include_images,
            auto_download: setup.export_defaults.auto_download,
            selection,
            scroll: ScrollState::default(),
        }
    }

    fn key_in_field(&mut self, chord: Chord) {
        let toggle = matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right);
        match self.field {
            ExportField::Name => _ = edit(&mut self.name, chord),
            ExportField::Folder => _ = edit(&mut self.folder, chord),
            ExportField::Format if toggle => {
                self.format = cycle(&[ExportFormat::Json, ExportFormat::Parquet], self.format, 1);
            }
            ExportField::Images if toggle => self.include_images = !self.include_images,
            ExportField::Download if toggle => self.auto_download = !self.auto_download,
            ExportField::Format | ExportField::Images | ExportField::Download => {}
        }
    }

    fn spec(&self) -> ExportSpec {
        ExportSpec {
            file_name: ArchiveName::new(self.name.value()),
            format: self.format,
            include_images: self.include_images,
        }
    }

    pub fn command(&self) -> ShellCommand {
        let start = ShellCommand::new("tessera export start").word(self.dataset.to_string());
        let what = self.selection.as_ref().map(selection_options).unwrap_or_default();
        export_options(start.followed_by(&what), &self.spec())
    }
}

impl Dialog for ExportForm {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        match chord.key {
            Key::PageUp => self.scroll.scroll(-1),
            Key::PageDown => self.scroll.scroll(1),
            _ => match form::handle_key(&mut self.field, &ExportField::ALL, chord) {
                Some(result) => return result,
                None => self.key_in_field(chord),
            },
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        match self.selection {
            None => (66, if screen.0 < 66 { 14 } else { 11 }),
            Some(_) => (86, screen.1.saturating_sub(2).min(30)),
        }
    }

    fn hints(&self) -> &'static str {
        match self.selection {
            None => "Tab next field   Space change   Enter start the export   Esc close",
            Some(_) => {
                "Tab next field   Space change   PgUp PgDn scroll the list   Enter start   Esc close"
            }
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        match self.field {
            ExportField::Name => Some(&mut self.name),
            ExportField::Folder => Some(&mut self.folder),
            ExportField::Format | ExportField::Images | ExportField::Download => None,
        }
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::Export))
    }

    fn accept(self, app: &mut App) {
        let (action, stale) = match &self.selection {
            Some(selection) => (Action::ExportBasket, selection.totals().stale),
            None => (Action::Export, 0),
        };
        let stale = (stale > 0).then(|| {
            let clusters = cluster_count(stale);
            format!("{clusters} may be gone: recheck or remove them in the basket (5)")
        });
        match availability::unavailable_reason(app, action).or(stale) {
            Some(reason) => {
                app.outbox.notify(Level::Warning, reason);
                app.overlays.open(Overlay::Export(self));
            }
            None => app.start_export(self),
        }
    }
}

/// Most entries that the command names; more come from a file that `w` in the basket saves.
const MAX_ENTRIES_IN_COMMAND: usize = 4;

fn selection_options(selection: &Selection) -> ShellCommand {
    if selection.len() > MAX_ENTRIES_IN_COMMAND {
        return "--selection-file FILE".into();
    }
    let add = |command: ShellCommand, entry: &SelectionEntry| match &entry.content {
        EntryContent::MediaItem(id, _) => command.option("--media", id.to_string()),
        EntryContent::Cluster(cluster) if cluster.excluded.is_empty() => {
            command.option("--cluster", cluster.id.to_string())
        }
        EntryContent::Cluster(cluster) => {
            let excluded: Vec<String> = cluster.excluded.iter().map(ToString::to_string).collect();
            command.option("--cluster", format!("{}^{}", cluster.id, excluded.join(",")))
        }
    };
    selection.ordered_entries().into_iter().fold(ShellCommand::default(), add)
}

impl App {
    pub(in crate::app) fn open_export_form(&mut self) {
        if let Some(dataset) = self.dataset() {
            self.overlays.open(Overlay::Export(ExportForm::new(dataset, None, &self.setup)));
        }
    }

    pub(in crate::app) fn open_basket_export_form(&mut self) {
        let (Some(dataset), Some(selection)) = (self.dataset(), self.selection()) else { return };
        let form = ExportForm::new(dataset, Some(selection.clone()), &self.setup);
        self.overlays.open(Overlay::Export(form));
    }

    fn start_export(&mut self, form: ExportForm) {
        let (dataset, spec) = (form.dataset, form.spec());
        let request = match &form.selection {
            None => Request::StartExport(dataset, spec.clone()),
            Some(selection) => Request::StartSelectionExport {
                dataset,
                format: spec.format,
                images: spec.include_images,
                items: selection.items(),
            },
        };
        let export = ExportJob {
            spec,
            selection: form.selection.map(|selection| selection.totals().summary()),
            folder: expand_path(form.folder.value(), self.setup.home_dir.as_deref()),
            auto_download: form.auto_download,
        };
        self.start_job((dataset, form.dataset_name), JobKind::Export(export), request);
    }
}
