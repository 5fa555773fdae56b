//! The form that adds media: one source, what happens afterwards, and what was found in the source
//! before anything is sent. What is typed for another source is kept and not sent.

use std::path::Path;

use tui_input::Input;

use crate::{
    app::{
        App, Overlay,
        overlay::{
            KeyResult,
            text_field::{edit, expand_path, shell_words},
        },
    },
    input::{Chord, Key},
    message::{JobId, Lane, Request},
};
use tessera_model::{
    DatasetId, Failure, MediaAddition, MediaSource, Operation, Preflight, SafeText,
    vql::InvalidField,
};

/// Where the media come from; a tab each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceTab {
    /// A folder or manifest in object storage.
    Storage,
    /// Files and folders of this machine.
    Files,
    /// An archive of this machine.
    Archive,
    /// A folder that the pipeline can read.
    Server,
}

impl SourceTab {
    /// The tabs of a deployment: one on premises reads folders of its own machine.
    #[must_use]
    pub fn for_deployment(on_premises: bool) -> &'static [Self] {
        if on_premises { &[Self::Server] } else { &[Self::Files, Self::Archive, Self::Storage] }
    }
}

/// The fields of the form, in the order of the Tab key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddMediaField {
    /// The kind of source.
    Source,
    /// The source itself.
    Location,
    /// What happens after the addition.
    Reindex,
    /// The role to assume.
    Role,
    /// Videos to make room for.
    Videos,
    /// Images to make room for.
    Images,
    /// Objects to make room for.
    Objects,
    /// Whether spot instances may do it.
    SpotInstances,
}

impl AddMediaField {
    /// The fields that can be filled with this source: a path at the service is sent alone, a role
    /// is for storage only.
    #[must_use]
    pub fn for_source(tab: SourceTab) -> &'static [Self] {
        use AddMediaField as F;
        match tab {
            SourceTab::Server => &[F::Source, F::Location],
            SourceTab::Storage => &[
                F::Source,
                F::Location,
                F::Reindex,
                F::Role,
                F::Videos,
                F::Images,
                F::Objects,
                F::SpotInstances,
            ],
            SourceTab::Files | SourceTab::Archive => &[
                F::Source,
                F::Location,
                F::Reindex,
                F::Videos,
                F::Images,
                F::Objects,
                F::SpotInstances,
            ],
        }
    }

    /// The field of a name on the wire.
    fn from_wire_name(name: &str) -> Self {
        match name {
            "assume_role" => Self::Role,
            _ => Self::Location,
        }
    }
}

/// What is known of the source before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceCheck {
    /// Nobody has looked.
    None,
    /// Somebody is looking.
    Running(MediaSource),
    /// This was found.
    Done(MediaSource, Preflight),
}

/// A half-filled form.
#[derive(Clone, Debug)]
pub struct AddMediaForm {
    /// The dataset that media come into.
    pub dataset: DatasetId,
    /// Its name.
    pub dataset_name: SafeText,
    /// The kinds of source there are.
    pub tabs: &'static [SourceTab],
    /// The kind of source that is sent.
    pub tab: SourceTab,
    /// The field that takes the keys.
    pub field: AddMediaField,
    /// What is typed for each kind of source.
    pub locations: [Input; 4],
    /// Whether a reindex follows by itself.
    pub auto_reindex: bool,
    /// The role to assume.
    pub role: Input,
    /// Videos, images and objects to make room for.
    pub counts: [Input; 3],
    /// Whether spot instances may do it; unset is not sent.
    pub spot: Option<bool>,
    /// What is known of the source.
    pub check: SourceCheck,
    /// What is wrong, and with which field.
    pub error: Option<(AddMediaField, SafeText)>,
}

impl AddMediaForm {
    /// An empty form.
    #[must_use]
    pub fn new(dataset: DatasetId, dataset_name: SafeText, on_premises: bool) -> Self {
        let tabs = SourceTab::for_deployment(on_premises);
        Self {
            dataset,
            dataset_name,
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

    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Esc => return KeyResult::Close,
            Key::Enter => return KeyResult::Accept,
            Key::Tab if chord.shift => self.move_field(-1),
            Key::Up => self.move_field(-1),
            Key::Tab | Key::Down => self.move_field(1),
            _ => {
                self.error = None;
                self.key_in_field(chord);
            }
        }
        KeyResult::Stay
    }

    fn move_field(&mut self, by: isize) {
        let fields = AddMediaField::for_source(self.tab);
        let place = fields.iter().position(|field| *field == self.field).unwrap_or(0);
        let next = place.cast_signed() + by;
        self.field = fields[next.rem_euclid(fields.len().cast_signed()).cast_unsigned()];
    }

    fn key_in_field(&mut self, chord: Chord) {
        let by = match chord.key {
            Key::Left => -1,
            Key::Right | Key::Char(' ') => 1,
            _ => 0,
        };
        match self.field {
            AddMediaField::Source => self.change_source(by),
            AddMediaField::Reindex => self.auto_reindex ^= by != 0,
            AddMediaField::SpotInstances if by != 0 => {
                self.spot = match self.spot {
                    None => Some(true),
                    Some(true) => Some(false),
                    Some(false) => None,
                };
            }
            AddMediaField::SpotInstances => {}
            _ => {
                if let Some(input) = self.text_input() {
                    edit(input, chord);
                }
            }
        }
    }

    fn change_source(&mut self, by: isize) {
        let place = self.tabs.iter().position(|tab| *tab == self.tab).unwrap_or(0);
        let next = (place.cast_signed() + by).rem_euclid(self.tabs.len().cast_signed());
        self.tab = self.tabs[next.cast_unsigned()];
    }

    /// The text field that takes the keys, if it is one.
    pub fn text_input(&mut self) -> Option<&mut Input> {
        match self.field {
            AddMediaField::Location => Some(&mut self.locations[self.tab as usize]),
            AddMediaField::Role => Some(&mut self.role),
            AddMediaField::Videos => Some(&mut self.counts[0]),
            AddMediaField::Images => Some(&mut self.counts[1]),
            AddMediaField::Objects => Some(&mut self.counts[2]),
            AddMediaField::Source | AddMediaField::Reindex | AddMediaField::SpotInstances => None,
        }
    }

    /// What is typed for the source that is sent.
    #[must_use]
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
                shell_words(typed).iter().map(|word| expand_path(word, home)).collect(),
            ),
        })
    }

    /// What the form asks for.
    ///
    /// # Errors
    /// The field that is wrong, and why.
    pub fn parse(&self, home: Option<&Path>) -> Result<MediaAddition, (AddMediaField, SafeText)> {
        let source = self.source(home)?;
        let alone = self.tab == SourceTab::Server;
        let count = |field, input: &Input| match input.value().trim() {
            _ if alone => Ok(None),
            "" => Ok(None),
            typed => match typed.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err((field, SafeText::detail("must be a whole number, or empty"))),
            },
        };
        let role = self.role.value().trim();
        let addition = MediaAddition {
            source,
            auto_reindex: self.auto_reindex && !alone,
            assume_role: (self.tab == SourceTab::Storage && !role.is_empty())
                .then(|| role.to_owned()),
            batch_videos: count(AddMediaField::Videos, &self.counts[0])?,
            batch_images: count(AddMediaField::Images, &self.counts[1])?,
            batch_objects: count(AddMediaField::Objects, &self.counts[2])?,
            spot: self.spot.filter(|_| !alone),
            force: false,
        };
        let wrong = |invalid: InvalidField| {
            (AddMediaField::from_wire_name(invalid.field), SafeText::detail(&invalid.reason))
        };
        addition.validate().map(|()| addition).map_err(wrong)
    }
}

impl App {
    /// Opens the form for the dataset that is meant.
    pub(in crate::app) fn open_add_media_form(&mut self) {
        if let Some(dataset) = self.target_dataset() {
            let (id, name) = (dataset.id, dataset.name.clone());
            let form = AddMediaForm::new(id, name, self.setup.on_premises);
            self.overlay = Some(Overlay::AddMedia(Box::new(form)));
        }
    }

    /// Enter: first the source is looked at, then it is sent.
    pub(in crate::app) fn submit_add_media(&mut self, mut form: Box<AddMediaForm>) {
        let addition = match form.parse(self.setup.home_dir.as_deref()) {
            Ok(addition) => addition,
            Err((field, reason)) => {
                (form.field, form.error) = (field, Some((field, reason)));
                self.overlay = Some(Overlay::AddMedia(form));
                return;
            }
        };
        let here = matches!(form.tab, SourceTab::Files | SourceTab::Archive);
        match &form.check {
            SourceCheck::Done(source, found) if *source == addition.source && found.is_empty() => {
                let reason = SafeText::detail("holds nothing that can be added");
                form.error = Some((AddMediaField::Location, reason));
                self.overlay = Some(Overlay::AddMedia(form));
                return;
            }
            SourceCheck::Done(source, _) if *source == addition.source => {}
            SourceCheck::Running(source) if *source == addition.source => {
                self.overlay = Some(Overlay::AddMedia(form));
                return;
            }
            _ if here => {
                let request = Request::Preflight(addition.source.clone());
                form.check = SourceCheck::Running(addition.source);
                self.overlay = Some(Overlay::AddMedia(form));
                self.send(Lane::Preflight, request);
                return;
            }
            _ => {}
        }
        let dataset = (form.dataset, form.dataset_name.clone());
        let folders = match &form.check {
            SourceCheck::Done(_, found) => found.folders.as_slice(),
            _ => &[],
        };
        let id = self.start_add_media(dataset, addition, folders);
        self.jobs.submitted_form = Some((id, form));
    }

    /// Somebody has looked at the source.
    pub(in crate::app) fn preflight_loaded(&mut self, answer: Result<Preflight, Failure>) {
        let Some(Overlay::AddMedia(form)) = &mut self.overlay else { return };
        let SourceCheck::Running(source) = std::mem::replace(&mut form.check, SourceCheck::None)
        else {
            return;
        };
        match answer {
            Ok(found) => form.check = SourceCheck::Done(source, found),
            Err(failure) => {
                form.error =
                    Some((AddMediaField::Location, SafeText::detail(&failure.to_string())));
            }
        }
    }

    /// The service refused what the form asked for: the form comes back as it was sent, with the
    /// reason at the source. A layer that was opened since is not covered.
    pub(in crate::app) fn reopen_add_media_form(&mut self, id: JobId, failure: &Failure) {
        let sent = self.jobs.submitted_form.take();
        if let Some((_, mut form)) = sent.filter(|(sent, _)| *sent == id)
            && self.overlay.is_none()
        {
            let reason = SafeText::detail(&failure.to_string());
            (form.field, form.error) =
                (AddMediaField::Location, Some((AddMediaField::Location, reason)));
            self.overlay = Some(Overlay::AddMedia(form));
        }
    }

    /// Why an addition would have to wait, if it would.
    #[must_use]
    pub fn add_media_blocked(&self, dataset: DatasetId) -> Option<&'static str> {
        self.store.dataset(dataset)?.status.allows(Operation::AddMedia).denial_reason()
    }
}
