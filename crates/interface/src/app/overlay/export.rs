//! Shows the export form for a dataset, a selection, or everything but the selection. For a selection, the form lists
//! the entries that are not on the screen, and the command that starts the same export.

use tessera_config::{input::Action, text_enum};
use tessera_model::{
    ArchiveName, Dataset, EntryContent, ExportFormat, ExportJob, ExportPart, ExportPreview,
    ExportSelection, ExportSpec, Failure, JobKind, Operation, Query, Search, Selection,
    SelectionEntry, ShellCommand,
    text::{group_digits, grouped_with_noun},
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Setup, availability,
        basket::{SelectedEntries, cluster_count},
        overlay::{
            fields::{self, PathField, PathKind, expand_path, paste_path},
            selection_rows::{draw_entry, previews_seen_text, totals_text},
        },
        pane::cycle,
    },
    command_lines::{export_command_line, export_options, rest_of_search_options},
    drawing::{FormOptions, FormRows, Prefilled},
    job::JobDataset,
};

text_enum! {
    /// The fields of the export form, in the order of the Tab key.
    pub enum ExportField: label {
        /// The selection or everything else.
        Part = "media",
        Name = "file name",
        Folder = "folder",
        Format = "format",
        Images = "images",
        Download = "download",
    }
}

/// Whether the archive can be saved in the folder. A change of the form withdraws the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetCheck {
    None,
    Running,
    Failed(SafeText),
}

#[derive(Clone, Debug)]
pub struct ExportForm {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
    pub field: ExportField,
    pub name: Prefilled,
    pub folder: Prefilled,
    pub format: ExportFormat,
    pub include_images: bool,
    pub auto_download: bool,
    /// The items to export, or those that are omitted. `None` exports the whole dataset.
    pub selection: Option<Selection>,
    pub part: ExportPart,
    /// The search on screen, whose rest can be exported.
    search: Option<Search>,
    /// Whether the service only has the formats of the API document.
    only_api_formats: bool,
    /// The lane of the last preview, and what the format omits from the part, or why this is unknown.
    preview: Option<(Lane, Result<ExportPreview, SafeText>)>,
    pub check: TargetCheck,
    pub scroll: ScrollState,
}

impl ExportForm {
    fn new(dataset: &Dataset, selection: Option<Selection>, app: &App) -> Self {
        let setup = &app.setup;
        let part = ExportPart::Selection;
        let name = match selection {
            None => ArchiveName::new(dataset.name.as_str()),
            Some(_) => archive_name(&dataset.name, part),
        };
        Self {
            dataset: dataset.id,
            dataset_name: dataset.name.clone(),
            field: ExportField::Name,
            name: Prefilled::new(name.as_str()),
            folder: Prefilled::new(setup.download_dir().as_str()),
            format: setup.settings.export.format,
            include_images: setup.settings.export.include_images,
            auto_download: setup.settings.export.auto_download,
            selection,
            part,
            search: None,
            only_api_formats: !app.has_local_service(),
            preview: None,
            check: TargetCheck::None,
            scroll: ScrollState::default(),
        }
    }

    fn preview_lane(&self) -> Lane {
        let ExportSpec { format, include_images, .. } = self.spec();
        Lane::ExportPreview(format, include_images, self.part)
    }

    /// Returns the preview of what the form shows, if it is known.
    fn preview(&self) -> Option<&Result<ExportPreview, SafeText>> {
        let lane = self.preview_lane();
        self.preview.as_ref().filter(|(of, _)| *of == lane).map(|(_, preview)| preview)
    }

    /// Returns the request for what the format of the open form omits, and for the size of a rest, unless it is
    /// known.
    pub(in crate::app) fn preview_request(overlays: &Overlays) -> Option<(Lane, Request)> {
        let form = overlays.dialog::<Self>()?;
        let ExportSpec { format, include_images: images, .. } = form.spec();
        let is_needed = !format.is_in_api() || form.part != ExportPart::Selection;
        if form.preview().is_some() || !is_needed || form.only_api_formats {
            return None;
        }
        let selection = form.export_selection();
        let request = Request::ExportPreview { dataset: form.dataset, format, images, selection };
        Some((form.preview_lane(), request))
    }

    pub(in crate::app) fn preview_loaded(
        app: &mut App,
        lane: Lane,
        result: Result<ExportPreview, Failure>,
    ) {
        if let Some(form) = app.overlays.dialog_mut::<Self>() {
            form.preview = Some((lane, result.map_err(|failure| failure.to_safe_text())));
        }
    }

    /// Returns what the format omits, one line for each.
    pub fn omissions(&self) -> Vec<&str> {
        match self.preview() {
            _ if self.format.is_in_api() => Vec::new(),
            Some(Ok(preview)) => {
                preview.omissions.iter().map(|omission| omission.text.as_str()).collect()
            }
            Some(Err(why)) => vec![why.as_str()],
            None => vec!["checking what this format omits …"],
        }
    }

    /// Returns the fields of the form. Only local services export everything else.
    pub fn fields(&self) -> &'static [ExportField] {
        let has_part = self.selection.is_some() && !self.only_api_formats;
        if has_part { &ExportField::ALL } else { &ExportField::ALL[1..] }
    }

    fn parts(&self) -> &'static [ExportPart] {
        use ExportPart::{RestOfDataset, RestOfSearch, Selection};
        if self.search.is_some() {
            &[Selection, RestOfSearch, RestOfDataset]
        } else {
            &[Selection, RestOfDataset]
        }
    }

    /// Sets the part, and the name of the archive unless the user has changed it.
    fn set_part(&mut self, part: ExportPart) {
        if self.name.value() == archive_name(&self.dataset_name, self.part).as_str() {
            self.name = Prefilled::new(archive_name(&self.dataset_name, part).as_str());
        }
        self.part = part;
    }

    /// Says how many media items a rest has, as the start of a sentence that ends with the selection.
    pub fn rest_text(&self) -> Option<String> {
        let scope = match self.part {
            ExportPart::Selection => return None,
            ExportPart::RestOfSearch => "everything that the search on screen finds",
            ExportPart::RestOfDataset => "everything in the dataset",
        };
        let count = match self.preview() {
            Some(Ok(it)) => grouped_with_noun(it.media_count, "media item", "media items"),
            Some(Err(why)) => {
                return Some(format!("{scope} (it cannot be counted: {why}), except"));
            }
            None => "counting".to_owned(),
        };
        Some(format!("{count}: {scope}, except"))
    }

    fn export_selection(&self) -> Option<ExportSelection> {
        let selection = self.selection.as_ref()?;
        let rest_of = match self.part {
            ExportPart::Selection => None,
            ExportPart::RestOfSearch => self.search.clone(),
            ExportPart::RestOfDataset => Some(Search::browse(self.dataset)),
        };
        Some(ExportSelection { items: selection.items(), rest_of })
    }

    fn key_in_field(&mut self, chord: Chord) {
        // The change may be of what is being checked.
        self.check = TargetCheck::None;
        let toggle = matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right);
        let step = if chord.key == Key::Left { -1 } else { 1 };
        match self.field {
            ExportField::Part if toggle => self.set_part(cycle(self.parts(), self.part, step)),
            ExportField::Format if toggle => {
                let offered = |format: &ExportFormat| !self.only_api_formats || format.is_in_api();
                let formats: Vec<_> = ExportFormat::ALL.into_iter().filter(offered).collect();
                self.format = cycle(&formats, self.format, step);
            }
            ExportField::Images if toggle => self.include_images = !self.include_images,
            ExportField::Download if toggle => self.auto_download = !self.auto_download,
            ExportField::Name => _ = self.name.edit(chord),
            ExportField::Folder => _ = self.folder.edit(chord),
            ExportField::Part
            | ExportField::Format
            | ExportField::Images
            | ExportField::Download => {}
        }
    }

    fn spec(&self) -> ExportSpec {
        ExportSpec {
            file_name: ArchiveName::new(self.name.value()),
            format: self.format,
            include_images: self.include_images || self.format.requires_images(),
        }
    }

    pub fn command(&self, setup: &Setup) -> ShellCommand {
        let what = self.selection.as_ref().map(selection_options).unwrap_or_default();
        let what = match (self.part, &self.search) {
            (ExportPart::RestOfSearch, Some(search)) => rest_of_search_options(what, search),
            (ExportPart::RestOfDataset, _) => what.text("--rest"),
            _ => what,
        };
        let options = export_options(what, &self.spec());
        export_command_line(&setup.command_target(self.dataset), &options)
    }

    pub(in crate::app) fn open(app: &mut App) {
        if let Some(dataset) = app.dataset() {
            app.overlays.open(ExportForm::new(dataset, None, app));
        }
    }

    /// Opens the form for the selection, or for everything but the selection.
    pub(in crate::app) fn open_for_basket(app: &mut App, part: ExportPart) {
        let (Some(dataset), Some(selection)) = (app.dataset(), app.baskets.selection(&app.results))
        else {
            return;
        };
        let mut form = ExportForm::new(dataset, Some(selection.clone()), app);
        form.search = app.results.view().map(|view| view.search.clone()).filter(|search| {
            search.dataset == dataset.id
                && (search.query != Query::Browse || !search.filters.is_empty())
        });
        form.field = form.fields()[0];
        form.set_part(part);
        app.overlays.open(form);
    }

    /// Starts the export if its archive can be saved, or says in the form why not.
    pub(in crate::app) fn target_checked(app: &mut App, result: Result<(), Failure>) {
        // The form may be below its help. A form that the user has closed exports nothing.
        let form = app.overlays.dialog_mut::<Self>();
        let Some(form) = form.filter(|it| it.check == TargetCheck::Running) else { return };
        if let Err(failure) = result {
            form.check = TargetCheck::Failed(failure.to_safe_text());
            form.field = ExportField::Folder;
            return;
        }
        let form = form.clone();
        app.overlays.close();
        form.start(app);
    }

    fn export_job(&self, setup: &Setup) -> ExportJob {
        ExportJob {
            spec: self.spec(),
            selection: self.selection.as_ref().map(|selection| selection.totals().summary()),
            part: self.part,
            folder: expand_path(self.folder.value(), setup.home_dir.as_deref()),
            auto_download: self.auto_download,
            shortfall: None,
        }
    }

    fn start(self, app: &mut App) {
        let (dataset, export) = (self.dataset, self.export_job(&app.setup));
        let spec = &export.spec;
        let request = match self.export_selection() {
            None => Request::StartExport(dataset, spec.clone()),
            Some(selection) => Request::StartSelectionExport {
                dataset,
                format: spec.format,
                images: spec.include_images,
                selection,
            },
        };
        let dataset = JobDataset { id: dataset, name: self.dataset_name };
        app.jobs.start(dataset, JobKind::Export(export), request, &mut app.outbox);
    }
}

impl Dialog for ExportForm {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        match chord.key {
            Key::PageUp => self.scroll.scroll(-1),
            Key::PageDown => self.scroll.scroll(1),
            _ => {
                let fields = self.fields();
                match fields::handle_form_key(&mut self.field, fields, chord) {
                    Some(result) => return result,
                    None => self.key_in_field(chord),
                }
            }
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        match self.selection {
            None => {
                let omissions = u16::try_from(self.omissions().len()).unwrap_or(u16::MAX);
                let rows = if screen.0 < 66 { 14 } else { 11 };
                (66, rows + if omissions > 0 { omissions.saturating_mul(2) + 1 } else { 0 })
            }
            Some(_) => (86, screen.1.saturating_sub(2).min(30)),
        }
    }

    fn path_field(&self) -> Option<PathField> {
        let is_focused = self.field == ExportField::Folder;
        is_focused.then(|| PathField::new(self.folder.value(), PathKind::Folder))
    }

    fn set_path(&mut self, path: &str) {
        self.check = TargetCheck::None;
        self.folder = Prefilled::of_choice(path);
    }

    fn select_item(&mut self, index: usize, _: &App) {
        self.field = self.fields().get(index).copied().unwrap_or(self.field);
    }

    fn hints(&self) -> &'static str {
        match self.selection {
            _ if self.field == ExportField::Folder => {
                "Tab complete   Ctrl-F browse   Enter start the export   Esc close"
            }
            None => "Tab next field   Space change   Enter start the export   Esc close",
            Some(_) => {
                "Tab next field   Space change   PgUp PgDn scroll the list   Enter start   Esc close"
            }
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        match self.field {
            ExportField::Name => Some(self.name.replaced()),
            ExportField::Folder => Some(self.folder.replaced()),
            _ => None,
        }
    }

    fn field_text(&self) -> Option<String> {
        match self.field {
            ExportField::Name => Some(self.name.value().to_owned()),
            ExportField::Folder => Some(self.folder.value().to_owned()),
            _ => None,
        }
    }

    fn paste(&mut self, text: &str) {
        self.check = TargetCheck::None;
        let paste = if self.field == ExportField::Folder { paste_path } else { fields::paste };
        if let Some(input) = self.text_input() {
            paste(input, text);
        }
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::Export))
    }

    fn accept(mut self: Box<Self>, app: &mut App) {
        let (action, stale) = match &self.selection {
            Some(selection) => (Action::ExportBasket, selection.totals().stale),
            None => (Action::Export, 0),
        };
        let stale = (stale > 0).then(|| {
            let clusters = cluster_count(stale);
            let key = app.setup.sign(" (5)", "");
            format!("{clusters} may be gone: recheck or remove them in the basket{key}")
        });
        let format = (self.only_api_formats && !self.format.is_in_api()).then(|| {
            let format = self.format.as_str();
            format!("only local services write {format}; choose json or parquet")
        });
        if let Some(reason) = availability::unavailable_reason(app, action).or(stale).or(format) {
            app.outbox.notify(Level::Warning, reason);
        } else {
            self.check = TargetCheck::Running;
            let target = self.export_job(&app.setup).target();
            app.outbox.send(Lane::CheckTarget, Request::CheckTarget(target));
        }
        app.overlays.open(*self);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let what = match self.part {
            _ if self.selection.is_none() => "",
            ExportPart::Selection => "the selection in ",
            ExportPart::RestOfSearch | ExportPart::RestOfDataset => "the rest of ",
        };
        let inside = ctx.dialog(area, &format!("Export {what}{}", self.dataset_name));
        let command = Span::styled(self.command(ctx.app.setup()).to_string(), ctx.theme.dim);
        let command = Line::from(vec![Span::raw(" "), command]);
        let footer: Vec<Line> = self.selection.iter().map(|_| command.clone()).collect();
        let focused = fields::position(self.fields(), &self.field);
        let options = FormOptions::new(FIELD_COLUMN, &footer, focused);
        let options = FormOptions { scroll: self.scroll, ..options };
        ctx.form(inside, &options, |rows| {
            match &self.selection {
                None => draw_dataset(rows, self),
                Some(selection) => {
                    if let Some(text) = self.rest_text() {
                        rows.text(&text, rows.ctx.theme.text);
                    }
                    draw_totals(rows, selection);
                }
            }
            rows.blank();
            for field in self.fields() {
                draw_field(rows, self, *field);
            }
            draw_omissions(rows, self);
            if let Some(selection) = &self.selection {
                rows.blank();
                draw_hidden_entries(rows, selection);
            }
        });
    }
}

/// The maximum number of entries that the command names. With more entries, or with a cluster of which only the members
/// that pass filters are selected, the command reads a file, which `w` in the basket saves.
const MAX_ENTRIES_IN_COMMAND: usize = 4;

fn selection_options(selection: &Selection) -> ShellCommand {
    let is_filtered = |entry: &SelectionEntry| matches!(&entry.content, EntryContent::Cluster(cluster) if !cluster.filters.is_empty());
    let has_filters = selection.ordered_entries().into_iter().any(is_filtered);
    if has_filters || selection.len() > MAX_ENTRIES_IN_COMMAND {
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

fn archive_name(dataset: &SafeText, part: ExportPart) -> ArchiveName {
    let part = if part == ExportPart::Selection { "selection" } else { "rest" };
    ArchiveName::new(&format!("{dataset} {part}"))
}

const FIELD_COLUMN: u16 = 14;
/// The maximum number of entries that are listed.
const MAX_ENTRIES: usize = 150;

fn draw_dataset(rows: &mut FormRows<App>, form: &ExportForm) {
    let dataset = rows.ctx.app.service_data.dataset(form.dataset);
    let count =
        dataset.and_then(Dataset::media_text).unwrap_or_else(|| "the whole dataset".to_owned());
    rows.text(&count, rows.ctx.theme.dim);
}

fn draw_omissions(rows: &mut FormRows<App>, form: &ExportForm) {
    let omissions = form.omissions();
    if !omissions.is_empty() {
        rows.blank();
    }
    for omission in omissions {
        rows.text(omission, rows.ctx.theme.attention);
    }
}

fn draw_totals(rows: &mut FormRows<App>, selection: &Selection) {
    let theme = rows.ctx.theme;
    let totals = selection.totals();
    let app = rows.ctx.app;
    let SelectedEntries { on_page, hidden } = app.baskets().selected_entries(app.results());
    for (text, style) in [
        (totals_text(&totals), theme.text),
        (previews_seen_text(&totals), theme.dim),
        (format!("{on_page} on this page, {hidden} not shown on it"), theme.dim),
    ] {
        if !text.is_empty() {
            rows.text(&text, style);
        }
    }
}

/// Draws the entries that are stale or not on the page, so that the user does not export a forgotten entry.
fn draw_hidden_entries(rows: &mut FormRows<App>, selection: &Selection) {
    let app = rows.ctx.app;
    let stale = |entry: &SelectionEntry| entry.cluster().is_some_and(|cluster| cluster.stale);
    let mut entries = selection.ordered_entries();
    entries.retain(|entry| stale(entry) || app.results.tile_of_entry(entry).is_none());
    entries.sort_by_key(|entry| !stale(entry));
    if !entries.is_empty() {
        rows.text("selected, but not on this page:", rows.ctx.theme.dim);
    }
    for entry in entries.iter().take(MAX_ENTRIES) {
        let row = rows.reserve(1);
        draw_entry(&mut rows.ctx, row, entry);
    }
    let rest = entries.len().saturating_sub(MAX_ENTRIES);
    if rest > 0 {
        let rest = group_digits(rest as u64);
        rows.text(&format!("and {rest} more, which the basket lists"), rows.ctx.theme.dim);
    }
}

fn draw_field(rows: &mut FormRows<App>, form: &ExportForm, field: ExportField) {
    let choice = match field {
        ExportField::Part => match form.part {
            ExportPart::Selection => "the selection",
            ExportPart::RestOfSearch => "everything else in this search",
            ExportPart::RestOfDataset => "everything else in the dataset",
        },
        ExportField::Name | ExportField::Folder => {
            let input = if field == ExportField::Name { &form.name } else { &form.folder };
            rows.prefilled(field.label(), input);
            if let (ExportField::Folder, TargetCheck::Failed(reason)) = (field, &form.check) {
                rows.note(&format!("! {reason}"), rows.ctx.theme.failure);
            }
            return;
        }
        ExportField::Format => form.format.as_str(),
        ExportField::Images if form.spec().include_images => "in the archive",
        ExportField::Images => "metadata only: pictures are not included",
        ExportField::Download if form.auto_download => "as soon as it is ready",
        ExportField::Download => "later, with d",
    };
    rows.choices(field.label(), choice);
}
