//! The form that adds media. It checks the source before anything is uploaded. Input for other kinds
//! of source is kept and not sent.

use std::{mem, path::Path};

use tessera_model::{
    DatasetId, Failure, MediaAddition, MediaSource, Operation, Preflight, SafeText,
    vql::InvalidField,
};
use tui_input::Input;

use super::{
    Dialog, KeyResult, Overlay, form,
    text_field::{edit, expand_path, split_words},
};
use crate::{
    app::{App, pane::cycle},
    config::DeploymentKind,
    input::{Chord, Key},
    message::{JobId, Lane, Request},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceTab {
    /// A folder or manifest in object storage.
    Storage,
    /// Files and folders on this machine.
    Files,
    Archive,
    /// A folder on the machine of the service.
    Server,
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

/// The fields of the form, in the order of the Tab key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddMediaField {
    Source,
    /// The path or address of the source.
    Location,
    Reindex,
    /// The role to assume in the storage account.
    Role,
    /// Expected videos per batch.
    Videos,
    Images,
    Objects,
    SpotInstances,
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
    /// Only the service can read it.
    NotPossible(MediaSource),
}

#[derive(Clone, Debug)]
pub struct AddMediaForm {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
    pub deployment: DeploymentKind,
    pub tabs: &'static [SourceTab],
    pub tab: SourceTab,
    pub field: AddMediaField,
    /// The location for each kind of source.
    pub locations: [Input; 4],
    pub auto_reindex: bool,
    pub role: Input,
    /// Expected videos, images and objects per batch.
    pub counts: [Input; 3],
    /// Whether spot instances are allowed; `None` is not sent.
    pub spot: Option<bool>,
    pub check: SourceCheck,
    /// The invalid field, and the reason.
    pub error: Option<(AddMediaField, SafeText)>,
}

impl AddMediaForm {
    fn new(dataset: DatasetId, dataset_name: SafeText, deployment: DeploymentKind) -> Self {
        let tabs = SourceTab::of_deployment(deployment);
        Self {
            dataset,
            dataset_name,
            deployment,
            tabs,
            tab: tabs[0],
            field: AddMediaField::Location,
            locations: Default::default(),
            auto_reindex: false,
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

    fn key_in_field(&mut self, chord: Chord) {
        let by = match chord.key {
            Key::Left => -1,
            Key::Right | Key::Char(' ') => 1,
            _ => 0,
        };
        match self.field {
            AddMediaField::Source => self.tab = cycle(self.tabs, self.tab, by),
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
            SourceTab::Server => MediaSource::ServerPath(typed.to_owned()),
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

    /// Checks files and archives; what only the service can read is shown without a check.
    fn check_source(mut self, source: MediaSource, app: &mut App) {
        let is_local = matches!(source, MediaSource::Files(_) | MediaSource::Archive(_));
        if is_local {
            app.outbox.send(Lane::Preflight, Request::Preflight(source.clone()));
        }
        let check = if is_local { SourceCheck::Running } else { SourceCheck::NotPossible };
        self.check = check(source);
        app.overlays.open(Overlay::AddMedia(Box::new(self)));
    }

    fn keep_open_with_error(mut self, error: (AddMediaField, SafeText), app: &mut App) {
        (self.field, self.error) = (error.0, Some(error));
        app.overlays.open(Overlay::AddMedia(Box::new(self)));
    }
}

impl Dialog for AddMediaForm {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        let fields = self.fields();
        form::handle_key(&mut self.field, &fields, chord).unwrap_or_else(|| {
            self.error = None;
            let before = (self.tab, self.location().value().to_owned());
            self.key_in_field(chord);
            if before != (self.tab, self.location().value().to_owned()) {
                self.check = SourceCheck::None;
            }
            KeyResult::Stay
        })
    }

    /// With two rows for each file that cannot be added, and more on a narrow screen, where texts are wrapped.
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
        "Tab next field   ← → change   Enter check the source, then add   Esc close"
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

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::AddMedia))
    }

    /// The first time shows what will be added, the second time adds it.
    fn accept(self, app: &mut App) {
        let addition = match self.parse(app.setup.home_dir.as_deref()) {
            Ok(addition) => addition,
            Err(error) => return self.keep_open_with_error(error, app),
        };
        let folders = match &self.check {
            SourceCheck::Done(source, found) if *source == addition.source => {
                if found.is_empty() {
                    let reason = SafeText::detail("contains nothing that can be added");
                    return self.keep_open_with_error((AddMediaField::Location, reason), app);
                }
                found.folders.clone()
            }
            SourceCheck::NotPossible(source) if *source == addition.source => Vec::new(),
            SourceCheck::Running(source) if *source == addition.source => {
                return app.overlays.open(Overlay::AddMedia(Box::new(self)));
            }
            _ => return self.check_source(addition.source, app),
        };
        let dataset = (self.dataset, self.dataset_name.clone());
        let id = app.start_add_media(dataset, addition, &folders);
        app.jobs.submitted_form = Some((id, Box::new(self)));
    }
}

impl App {
    pub(in crate::app) fn open_add_media_form(&mut self) {
        if let Some(dataset) = self.target_dataset() {
            let (id, name) = (dataset.id, dataset.name.clone());
            let form = AddMediaForm::new(id, name, self.setup.deployment);
            self.overlays.open(Overlay::AddMedia(Box::new(form)));
        }
    }

    pub(in crate::app) fn preflight_loaded(&mut self, result: Result<Preflight, Failure>) {
        let Some(Overlay::AddMedia(form)) = self.overlays.current_mut() else { return };
        let SourceCheck::Running(source) = mem::replace(&mut form.check, SourceCheck::None) else {
            return;
        };
        match result {
            Ok(found) => form.check = SourceCheck::Done(source, found),
            Err(failure) => {
                let reason = SafeText::detail(&failure.to_string());
                form.error = Some((AddMediaField::Location, reason));
            }
        }
    }

    /// Opens the form again with the reason of the rejection, unless another overlay is open.
    pub(in crate::app) fn reopen_add_media_form(&mut self, id: JobId, failure: &Failure) {
        let sent = self.jobs.submitted_form.take();
        if let Some((_, form)) = sent.filter(|(sent, _)| *sent == id)
            && !self.overlays.is_open()
        {
            let reason = SafeText::detail(&failure.to_string());
            form.keep_open_with_error((AddMediaField::Location, reason), self);
        }
    }

    pub fn add_media_blocked(&self, dataset: DatasetId) -> Option<&str> {
        let status = &self.store.dataset(dataset)?.status;
        status.allows(Operation::AddMedia).denial_reason().map(|_| status.as_str())
    }
}
