//! Shows the form that adds media to a dataset. The form checks the source before anything is uploaded. What was typed
//! for another kind of source is kept and not sent.

use std::{mem, path::Path};

use ratatui::style::Style;
use tessera_config::text_enum;
use tessera_model::{
    MediaAddition, MediaSource, Operation, Preflight,
    ingest::StorageKind,
    text::{format_bytes, grouped_with_noun},
    vql::InvalidField,
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        ServiceData,
        jobs::start_add_media,
        overlay::fields::{
            self, PathField, PathKind, edit, expand_path, last_path, paste_path, paste_paths,
            replace_last_path, split_words,
        },
        pane::cycle,
    },
    drawing::{FormOptions, FormRows, display_width},
    file_uri::path_of_file_uri,
    job::JobDataset,
    message::JobId,
};

text_enum! {
    pub enum SourceTab:
        title,
        /// Returns the label of the field with the location.
        location_label
    {
        /// A folder or manifest in object storage.
        Storage = "storage", "address";
        /// Files and folders on this machine.
        Files = "files and folders", "paths";
        Archive = "archive", "archive";
        /// A folder on the machine of the service.
        Server = "path on the server", "path";
    }
}

impl SourceTab {
    /// An on-premises deployment only reads folders of its own machine.
    fn of_deployment(deployment: DeploymentKind) -> &'static [Self] {
        match deployment {
            DeploymentKind::Onprem => &[Self::Server],
            DeploymentKind::Hosted | DeploymentKind::Local => {
                &[Self::Files, Self::Archive, Self::Storage]
            }
        }
    }
}

text_enum! {
    /// The fields of the form, in the order of the Tab key.
    pub enum AddMediaField: label {
        Source = "from",
        /// The path or address of the source. The label says which of them.
        Location = "",
        Reindex = "then",
        /// The role to assume in the storage account.
        Role = "role",
        /// Expected videos per batch.
        Videos = "videos",
        Images = "images",
        Objects = "objects",
        SpotInstances = "spot",
    }
}

impl AddMediaField {
    /// The options of the cluster that indexes the media, which a local deployment does not have.
    pub const CLUSTER_OPTIONS: [Self; 4] =
        [Self::Videos, Self::Images, Self::Objects, Self::SpotInstances];

    fn of_tab(tab: SourceTab, deployment: DeploymentKind) -> Vec<Self> {
        let mut fields = vec![Self::Source, Self::Location];
        if tab != SourceTab::Server {
            fields.push(Self::Reindex);
        }
        if tab == SourceTab::Storage {
            fields.push(Self::Role);
        }
        if tab != SourceTab::Server && deployment == DeploymentKind::Hosted {
            fields.extend(Self::CLUSTER_OPTIONS);
        }
        fields
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum SourceCheck {
    None,
    Running(MediaSource),
    Done(MediaSource, Preflight),
    /// Only the service can read the source.
    NotPossible(MediaSource),
}

#[derive(Clone, Debug)]
pub struct AddMediaForm {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
    pub deployment: DeploymentKind,
    pub tab: SourceTab,
    pub field: AddMediaField,
    /// The location for each kind of source.
    pub locations: [Input; 4],
    pub auto_reindex: bool,
    pub role: Input,
    /// Expected videos, images and objects per batch.
    pub counts: [Input; 3],
    /// Whether spot instances are allowed. `None` leaves the choice to the service.
    pub spot: Option<bool>,
    pub check: SourceCheck,
    /// The invalid field with the reason.
    pub error: Option<(AddMediaField, SafeText)>,
}

impl AddMediaForm {
    fn new(dataset: DatasetId, dataset_name: SafeText, deployment: DeploymentKind) -> Self {
        Self {
            dataset,
            dataset_name,
            deployment,
            tab: SourceTab::of_deployment(deployment)[0],
            field: AddMediaField::Location,
            locations: Default::default(),
            auto_reindex: true,
            role: Input::default(),
            counts: Default::default(),
            spot: None,
            check: SourceCheck::None,
            error: None,
        }
    }

    pub fn fields(&self) -> Vec<AddMediaField> {
        AddMediaField::of_tab(self.tab, self.deployment)
    }

    fn applies(&self, field: AddMediaField) -> bool {
        self.fields().contains(&field)
    }

    fn key_in_field(&mut self, chord: Chord) {
        let by = match chord.key {
            Key::Left => -1,
            Key::Right | Key::Char(' ') => 1,
            _ => 0,
        };
        match self.field {
            AddMediaField::Source => {
                self.tab = cycle(SourceTab::of_deployment(self.deployment), self.tab, by);
            }
            AddMediaField::Reindex => self.auto_reindex ^= by != 0,
            AddMediaField::SpotInstances => {
                self.spot = cycle(&[None, Some(true), Some(false)], self.spot, by.abs());
            }
            _ => {
                if let Some(input) = self.text_input() {
                    edit(input, chord);
                }
            }
        }
    }

    pub fn location(&self) -> &Input {
        &self.locations[self.tab as usize]
    }

    fn source(&self, home: Option<&Path>) -> Result<MediaSource, (AddMediaField, SafeText)> {
        let typed = self.location().value().trim();
        if typed.is_empty() {
            return Err((AddMediaField::Location, SafeText::detail("is empty")));
        }
        Ok(match self.tab {
            SourceTab::Storage => MediaSource::Storage(typed.to_owned()),
            SourceTab::Server => {
                MediaSource::ServerPath(path_of_file_uri(typed).unwrap_or_else(|| typed.to_owned()))
            }
            SourceTab::Archive => MediaSource::Archive(expand_path(typed, home)),
            SourceTab::Files => MediaSource::Files(
                split_words(typed).iter().map(|word| expand_path(word, home)).collect(),
            ),
        })
    }

    fn parse(&self, home: Option<&Path>) -> Result<MediaAddition, (AddMediaField, SafeText)> {
        let source = self.source(home)?;
        let location_only = self.tab == SourceTab::Server;
        let count = |field, input: &Input| match input.value().trim() {
            typed if location_only || typed.is_empty() => Ok(None),
            typed => {
                let wrong = |_| (field, SafeText::detail("must be a whole number, or empty"));
                typed.parse().map(Some).map_err(wrong)
            }
        };
        let role = self.role.value().trim();
        let addition = MediaAddition {
            source,
            auto_reindex: self.auto_reindex && !location_only,
            assume_role: (self.tab == SourceTab::Storage && !role.is_empty()).then(|| role.into()),
            batch_videos: count(AddMediaField::Videos, &self.counts[0])?,
            batch_images: count(AddMediaField::Images, &self.counts[1])?,
            batch_objects: count(AddMediaField::Objects, &self.counts[2])?,
            spot: self.spot.filter(|_| !location_only),
            force: false,
        };
        let wrong = |InvalidField { field, reason }| match field {
            "assume_role" => (AddMediaField::Role, SafeText::detail(&reason)),
            _ => (AddMediaField::Location, SafeText::detail(&reason)),
        };
        addition.validate().map(|()| addition).map_err(wrong)
    }

    /// Starts the check of files and archives. A source that only the service can read is not checked.
    fn check_source(mut self, source: MediaSource, overlays: &mut Overlays, outbox: &mut Outbox) {
        let is_local = matches!(source, MediaSource::Files(_) | MediaSource::Archive(_));
        if is_local {
            outbox.send(Lane::Preflight, Request::Preflight(source.clone()));
        }
        let check = if is_local { SourceCheck::Running } else { SourceCheck::NotPossible };
        self.check = check(source);
        overlays.open(self);
    }

    fn keep_open_with_error(mut self, error: (AddMediaField, SafeText), overlays: &mut Overlays) {
        (self.field, self.error) = (error.0, Some(error));
        overlays.open(self);
    }

    pub(in crate::app) fn open(app: &mut App) {
        if let Some(dataset) = app.target_dataset() {
            let (id, name) = (dataset.id, dataset.name.clone());
            // A local service indexes by itself, so it has no options of a cluster. This is also true of a service at
            // an address.
            let deployment = match app.setup.deployment {
                DeploymentKind::Hosted if app.has_local_service() => DeploymentKind::Local,
                deployment => deployment,
            };
            let form = AddMediaForm::new(id, name, deployment);
            app.overlays.open(form);
        }
    }

    pub(in crate::app) fn preflight_loaded(
        overlays: &mut Overlays,
        result: Result<Preflight, Failure>,
    ) {
        let Some(form) = overlays.dialog_mut::<AddMediaForm>() else { return };
        let SourceCheck::Running(source) = mem::replace(&mut form.check, SourceCheck::None) else {
            return;
        };
        match result {
            Ok(found) => form.check = SourceCheck::Done(source, found),
            Err(failure) => {
                let reason = failure.to_safe_text();
                form.error = Some((AddMediaField::Location, reason));
            }
        }
    }

    /// Opens the form again with the reason of the rejection, unless another dialog is open.
    pub(in crate::app) fn reopen(overlays: &mut Overlays, id: JobId, failure: &Failure) {
        if overlays.reopen_sent_form(id)
            && let Some(form) = overlays.dialog_mut::<AddMediaForm>()
        {
            form.error = Some((AddMediaField::Location, failure.to_safe_text()));
        }
    }
}

impl Dialog for AddMediaForm {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        let fields = self.fields();
        fields::handle_form_key(&mut self.field, &fields, chord).unwrap_or_else(|| {
            self.error = None;
            let checked = (self.tab, self.location().value().to_owned());
            self.key_in_field(chord);
            if checked != (self.tab, self.location().value().to_owned()) {
                self.check = SourceCheck::None;
            }
            KeyResult::Stay
        })
    }

    /// A file that cannot be added needs two rows. A narrow screen needs more rows, because texts are wrapped there.
    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        const COLUMNS: u16 = 86;
        let problems = match &self.check {
            SourceCheck::Done(_, found) => found.warnings.len() + found.unreadable_files.len(),
            SourceCheck::None | SourceCheck::Running(_) | SourceCheck::NotPossible(_) => 0,
        };
        let problems = u16::try_from(2 * problems).unwrap_or(u16::MAX);
        let wrapped = if screen.0 < COLUMNS { 8 } else { 0 };
        (COLUMNS, problems.saturating_add(20 + wrapped))
    }

    fn hints(&self) -> &'static str {
        if self.path_field().is_some() {
            "Tab complete   Ctrl-F browse   Enter check the source, then add   Esc close"
        } else {
            "Tab next field   ← → change   Enter check the source, then add   Esc close"
        }
    }

    fn path_field(&self) -> Option<PathField> {
        let typed = self.location().value();
        match (self.field, self.tab) {
            (AddMediaField::Location, SourceTab::Files) => {
                Some(PathField::new(&last_path(typed), PathKind::FileOrFolder))
            }
            (AddMediaField::Location, SourceTab::Archive) => {
                Some(PathField::new(typed, PathKind::File))
            }
            _ => None,
        }
    }

    fn set_path(&mut self, path: &str) {
        let input = &mut self.locations[self.tab as usize];
        *input = match self.tab {
            SourceTab::Files => replace_last_path(input.value(), path).into(),
            _ => path.into(),
        };
        (self.error, self.check) = (None, SourceCheck::None);
    }

    fn select_item(&mut self, index: usize, _: &App) {
        self.field = self.fields().get(index).copied().unwrap_or(self.field);
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        match self.field {
            AddMediaField::Location => Some(&mut self.locations[self.tab as usize]),
            AddMediaField::Role => Some(&mut self.role),
            AddMediaField::Videos => Some(&mut self.counts[0]),
            AddMediaField::Images => Some(&mut self.counts[1]),
            AddMediaField::Objects => Some(&mut self.counts[2]),
            AddMediaField::Source | AddMediaField::Reindex | AddMediaField::SpotInstances => None,
        }
    }

    fn paste(&mut self, text: &str) {
        let paste = match (self.field, self.tab) {
            (AddMediaField::Location, SourceTab::Files) => paste_paths,
            (AddMediaField::Location, SourceTab::Archive | SourceTab::Server) => paste_path,
            _ => fields::paste,
        };
        let Some(input) = self.text_input() else { return };
        paste(input, text);
        (self.error, self.check) = (None, SourceCheck::None);
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::AddMedia))
    }

    /// Shows what will be added the first time, and adds it the second time.
    fn accept(self: Box<Self>, app: &mut App) {
        let addition = match self.parse(app.setup.home_dir.as_deref()) {
            Ok(addition) => addition,
            Err(error) => return self.keep_open_with_error(error, &mut app.overlays),
        };
        let folders = match &self.check {
            SourceCheck::Done(source, found) if *source == addition.source => {
                if found.is_empty() {
                    let reason = SafeText::detail("contains nothing that can be added");
                    return self.keep_open_with_error(
                        (AddMediaField::Location, reason),
                        &mut app.overlays,
                    );
                }
                found.folders.clone()
            }
            SourceCheck::NotPossible(source) if *source == addition.source => Vec::new(),
            SourceCheck::Running(source) if *source == addition.source => {
                return app.overlays.open(*self);
            }
            _ => return self.check_source(addition.source, &mut app.overlays, &mut app.outbox),
        };
        let dataset = JobDataset { id: self.dataset, name: self.dataset_name.clone() };
        let id = start_add_media(app, dataset, addition, &folders);
        app.overlays.sent_form = Some((id, self as Box<dyn Dialog>));
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Add media to {}", self.dataset_name));
        let footer = check_lines(ctx, self);
        let focused = fields::position(&self.fields(), &self.field);
        ctx.form(inside, &FormOptions::new(FIELD_COLUMN, &footer, focused), |rows| {
            draw_source(rows, self);
            rows.blank();
            draw_reindex_choice(rows, self);
            rows.blank();
            draw_options(rows, self);
        });
    }
}

impl ServiceData {
    pub fn add_media_blocked(&self, dataset: DatasetId) -> Option<&str> {
        let status = &self.dataset(dataset)?.status;
        status.allows(Operation::AddMedia).denial_reason().map(|_| status.as_str())
    }
}

const FIELD_COLUMN: u16 = 12;
/// Columns of a number. Its default or its error is shown beside them.
const NUMBER_COLUMNS: u16 = 24;
/// The column of a note beside a choice.
const NOTE_COLUMN: u16 = 29;

/// Draws a label. Returns the area of its field.
fn draw_label(rows: &mut FormRows<App>, form: &AddMediaForm, name: AddMediaField) -> Rect {
    let label = label(rows, form, name);
    if !form.applies(name) {
        return rows.label(&label);
    }
    let field = rows.field(&label);
    let is_choice = matches!(name, AddMediaField::Source | AddMediaField::SpotInstances);
    rows.clickable(field, is_choice);
    field
}

fn label(rows: &FormRows<App>, form: &AddMediaForm, name: AddMediaField) -> Span<'static> {
    let style = if form.applies(name) { rows.ctx.theme.text } else { rows.ctx.theme.dim };
    Span::styled(label_text(form, name), style)
}

fn label_text(form: &AddMediaForm, name: AddMediaField) -> &'static str {
    match name {
        AddMediaField::Location => form.tab.location_label(),
        field => field.label(),
    }
}

fn draw_source(rows: &mut FormRows<App>, form: &AddMediaForm) {
    let theme = rows.ctx.theme;
    let field = draw_label(rows, form, AddMediaField::Source);
    let tabs = |is_shown: fn(bool) -> bool| -> Vec<(String, Style)> {
        let tabs = SourceTab::of_deployment(form.deployment).iter();
        let tabs = tabs.map(|&tab| (tab, tab == form.tab));
        let text = |(tab, selected): (SourceTab, bool)| {
            if selected {
                (format!("‹ {} ›  ", tab.title()), theme.accent)
            } else {
                (format!("  {}    ", tab.title()), theme.dim)
            }
        };
        tabs.filter(|(_, selected)| is_shown(*selected)).map(text).collect()
    };
    let all = tabs(|_| true);
    let width: usize = all.iter().map(|(text, _)| display_width(text)).sum();
    let shows_all = width <= usize::from(field.width) && !rows.ctx.app.setup.is_text;
    let shown = if shows_all { all } else { tabs(|selected| selected) };
    rows.ctx.put(field, 0, &shown);
    let field = draw_label(rows, form, AddMediaField::Location);
    rows.ctx.text_field(field, form.location(), form.field == AddMediaField::Location);
    let (text, style) = error_or_hint(rows, form, AddMediaField::Location, location_hint(form));
    rows.note(&text, style);
}

/// Returns the error of a field, or the hint if the field has no error.
fn error_or_hint(
    rows: &FormRows<App>,
    form: &AddMediaForm,
    name: AddMediaField,
    hint: &str,
) -> (String, Style) {
    match &form.error {
        Some((field, reason)) if *field == name => (format!("! {reason}"), rows.ctx.theme.failure),
        _ => (hint.to_owned(), rows.ctx.theme.dim),
    }
}

fn location_hint(form: &AddMediaForm) -> &'static str {
    match (form.tab, StorageKind::parse(form.location().value().trim())) {
        (SourceTab::Files, _) => "one or more files or folders; 'quote' paths that contain spaces",
        (SourceTab::Archive, _) if form.deployment == DeploymentKind::Local => {
            "one .zip, .tar, .tar.gz, .tar.xz or .tar.zst on this machine"
        }
        (SourceTab::Archive, _) => "one .zip, .tar or .tar.gz on this machine",
        (SourceTab::Server, _) => "as the service's container sees it; not checked here",
        (SourceTab::Storage, Ok(StorageKind::Folder)) => {
            "a folder: all media in it and its subfolders"
        }
        (SourceTab::Storage, Ok(StorageKind::Manifest)) => "a manifest that lists media",
        (SourceTab::Storage, Ok(StorageKind::Object)) => {
            "the name is not that of a manifest (.csv, .parquet, .txt)"
        }
        (SourceTab::Storage, Err(_)) => "s3://bucket/folder/, or a manifest .csv, .parquet or .txt",
    }
}

fn draw_reindex_choice(rows: &mut FormRows<App>, form: &AddMediaForm) {
    let theme = rows.ctx.theme;
    let choices = [
        (true, "reindex the whole dataset", "slower; exports work afterwards"),
        (false, "only index the new media", "no exports until a reindex (R)"),
    ];
    let first = draw_label(rows, form, AddMediaField::Reindex);
    let is_text = rows.ctx.app.setup.is_text;
    for (reindex, text, note) in choices {
        let selected = form.auto_reindex == reindex && form.tab != SourceTab::Server;
        if is_text && !selected {
            continue;
        }
        let (mark, style) = if selected { ("● ", theme.text) } else { ("○ ", theme.dim) };
        let row = if reindex || is_text { first } else { rows.below(first) };
        if form.applies(AddMediaField::Reindex) {
            rows.clickable(row, !selected);
        }
        let mark = rows.ctx.app.setup.sign(mark, "");
        rows.value(row, &format!("{mark}{text}"), style);
        rows.note_beside(row, NOTE_COLUMN, note, theme.dim);
    }
}

fn draw_options(rows: &mut FormRows<App>, form: &AddMediaForm) {
    let account = "arn:…:role/…, for storage in another account";
    draw_optional_field(rows, form, AddMediaField::Role, &form.role, account);
    if form.deployment == DeploymentKind::Local {
        return;
    }
    let counts = [AddMediaField::Videos, AddMediaField::Images, AddMediaField::Objects];
    for (name, input) in counts.into_iter().zip(&form.counts) {
        draw_optional_field(rows, form, name, input, "computed");
    }
    let text = match form.spot {
        _ if form.tab == SourceTab::Server => "hosted deployments only",
        None => "default of the service",
        Some(true) => "allow spot instances",
        Some(false) => "no spot instances",
    };
    let field = draw_label(rows, form, AddMediaField::SpotInstances);
    let is_focused = form.field == AddMediaField::SpotInstances;
    let style = if is_focused { rows.ctx.theme.accent } else { rows.ctx.theme.dim };
    rows.value(field, text, style);
}

fn draw_optional_field(
    rows: &mut FormRows<App>,
    form: &AddMediaForm,
    name: AddMediaField,
    input: &Input,
    default: &str,
) {
    let theme = rows.ctx.theme;
    if !form.applies(name) {
        let reason = if name == AddMediaField::Role {
            "for storage only"
        } else {
            "not for a path on the server"
        };
        rows.fact(&label(rows, form, name), &Span::styled(reason, theme.dim));
        return;
    }
    let field = draw_label(rows, form, name);
    rows.ctx.text_field(field, input, form.field == name);
    let hint = if input.value().is_empty() { default } else { "" };
    let (text, style) = error_or_hint(rows, form, name, hint);
    rows.note_beside(field, NUMBER_COLUMNS, &text, style);
}

/// Says what the source contains, and what Enter does.
fn check_lines(ctx: &DrawContext, form: &AddMediaForm) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let mut lines: Vec<(String, Style)> = Vec::new();
    if let Some(status) = ctx.app.service_data().add_media_blocked(form.dataset) {
        let text = format!("the dataset is {status}; Enter adds the media as soon as possible");
        lines.push((text, theme.attention));
    }
    match &form.check {
        SourceCheck::None if matches!(form.tab, SourceTab::Files | SourceTab::Archive) => {
            lines.push(("Enter checks the files; nothing is uploaded yet".to_owned(), theme.dim));
        }
        SourceCheck::None => {
            lines.push(("Enter shows what will be added".to_owned(), theme.dim));
        }
        SourceCheck::NotPossible(_) => {
            let text = "only the service can read this source; Enter adds all media in it";
            lines.push((text.to_owned(), theme.success));
        }
        SourceCheck::Running(_) => lines.push(("checking the files…".to_owned(), theme.attention)),
        SourceCheck::Done(_, preflight) => {
            // If there is nothing to add, only the warnings and the unreadable files say why.
            if !preflight.is_empty() {
                lines.extend(preflight_summary(preflight).map(|text| (text, theme.success)));
            }
            let unreadable = preflight.unreadable_files.iter();
            let unreadable = unreadable.map(|file| format!("  {}: {}", file.name, file.reason));
            let warnings = preflight.warnings.iter().map(ToString::to_string).chain(unreadable);
            lines.extend(warnings.map(|text| (text, theme.attention)));
        }
    }
    let line = |(text, style)| Line::from(vec![Span::raw(" "), Span::styled(text, style)]);
    lines.into_iter().map(line).collect()
}

fn preflight_summary(preflight: &Preflight) -> impl Iterator<Item = String> {
    let count = |count: u64, one: &str, many: &str| {
        (count > 0).then(|| grouped_with_noun(count, one, many))
    };
    let added = [
        Some(grouped_with_noun(preflight.images, "image", "images")),
        count(preflight.videos, "video", "videos"),
        Some(format_bytes(preflight.bytes)),
    ];
    let added: Vec<String> = added.into_iter().flatten().collect();
    let skipped = [
        count(preflight.skipped, "other file", "other files"),
        count(preflight.unreadable, "unreadable file", "unreadable files"),
    ];
    let skipped: Vec<String> = skipped.into_iter().flatten().collect();
    let skipped = (!skipped.is_empty()).then(|| format!("skipped: {}", skipped.join(", ")));
    [Some(format!("{}; Enter adds them", added.join(", "))), skipped].into_iter().flatten()
}
