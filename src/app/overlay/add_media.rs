//! The form that adds media: one source, what happens afterwards, and what was found in the source
//! before anything is sent. What is typed for another source is kept and not sent.

use std::path::Path;

use tui_input::Input;

use crate::{
    app::{
        App, Effect, Overlay,
        overlay::{
            Press,
            field::{edit, path, words},
        },
    },
    input::{Chord, Key},
    message::{JobId, Lane, Request},
};
use tessera_model::{
    AddMedia, DatasetId, Failure, MediaSource, Operation, Preflight, SafeText, vql::Invalid,
};

/// Where the media come from; a tab each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// A folder or manifest in object storage.
    Storage,
    /// Files and folders of this machine.
    Files,
    /// An archive of this machine.
    Archive,
    /// A folder that the pipeline can read.
    Server,
}

impl Tab {
    /// The tabs of a deployment: one on premises reads folders of its own machine (M40).
    #[must_use]
    pub fn of(on_premises: bool) -> &'static [Self] {
        if on_premises { &[Self::Server] } else { &[Self::Files, Self::Archive, Self::Storage] }
    }
}

/// The fields of the form, in the order of the Tab key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddField {
    /// The kind of source.
    Source,
    /// The source itself.
    Place,
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
    Spot,
}

impl AddField {
    /// The fields that can be filled with this source: a path at the service is sent alone, a role
    /// is for storage only.
    #[must_use]
    pub fn of(tab: Tab) -> &'static [Self] {
        use AddField as F;
        match tab {
            Tab::Server => &[F::Source, F::Place],
            Tab::Storage => &[
                F::Source,
                F::Place,
                F::Reindex,
                F::Role,
                F::Videos,
                F::Images,
                F::Objects,
                F::Spot,
            ],
            Tab::Files | Tab::Archive => {
                &[F::Source, F::Place, F::Reindex, F::Videos, F::Images, F::Objects, F::Spot]
            }
        }
    }

    /// The field of a name on the wire.
    fn by_wire(name: &str) -> Self {
        match name {
            "assume_role" => Self::Role,
            _ => Self::Place,
        }
    }
}

/// What is known of the source before it is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// Nobody has looked.
    None,
    /// Somebody is looking.
    Looking(MediaSource),
    /// This was found.
    Found(MediaSource, Preflight),
}

/// A half-filled form.
#[derive(Clone, Debug)]
pub struct AddMediaForm {
    /// The dataset that media come into.
    pub dataset: DatasetId,
    /// Its name.
    pub dataset_name: SafeText,
    /// The kinds of source there are.
    pub tabs: &'static [Tab],
    /// The kind of source that is sent.
    pub tab: Tab,
    /// The field that takes the keys.
    pub field: AddField,
    /// What is typed for each kind of source.
    pub places: [Input; 4],
    /// Whether a reindex follows by itself.
    pub auto_reindex: bool,
    /// The role to assume.
    pub role: Input,
    /// Videos, images and objects to make room for.
    pub counts: [Input; 3],
    /// Whether spot instances may do it; unset is not sent.
    pub spot: Option<bool>,
    /// What is known of the source.
    pub check: Check,
    /// What is wrong, and with which field.
    pub trouble: Option<(AddField, SafeText)>,
}

impl AddMediaForm {
    /// An empty form.
    #[must_use]
    pub fn new(dataset: DatasetId, dataset_name: SafeText, on_premises: bool) -> Self {
        let tabs = Tab::of(on_premises);
        Self {
            dataset,
            dataset_name,
            tabs,
            tab: tabs[0],
            field: AddField::Place,
            places: Default::default(),
            auto_reindex: false,
            role: Input::default(),
            counts: Default::default(),
            spot: None,
            check: Check::None,
            trouble: None,
        }
    }

    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Esc => return Press::Leave,
            Key::Enter => return Press::Accept,
            Key::Tab if chord.shift => self.step(-1),
            Key::Up => self.step(-1),
            Key::Tab | Key::Down => self.step(1),
            _ => {
                self.trouble = None;
                self.key_in_field(chord);
            }
        }
        Press::Stay
    }

    fn step(&mut self, by: isize) {
        let fields = AddField::of(self.tab);
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
            AddField::Source => self.turn(by),
            AddField::Reindex => self.auto_reindex ^= by != 0,
            AddField::Spot if by != 0 => {
                self.spot = match self.spot {
                    None => Some(true),
                    Some(true) => Some(false),
                    Some(false) => None,
                };
            }
            AddField::Spot => {}
            _ => {
                if let Some(input) = self.text() {
                    edit(input, chord);
                }
            }
        }
    }

    fn turn(&mut self, by: isize) {
        let place = self.tabs.iter().position(|tab| *tab == self.tab).unwrap_or(0);
        let next = (place.cast_signed() + by).rem_euclid(self.tabs.len().cast_signed());
        self.tab = self.tabs[next.cast_unsigned()];
    }

    /// The text field that takes the keys, if it is one.
    pub fn text(&mut self) -> Option<&mut Input> {
        match self.field {
            AddField::Place => Some(&mut self.places[self.tab as usize]),
            AddField::Role => Some(&mut self.role),
            AddField::Videos => Some(&mut self.counts[0]),
            AddField::Images => Some(&mut self.counts[1]),
            AddField::Objects => Some(&mut self.counts[2]),
            AddField::Source | AddField::Reindex | AddField::Spot => None,
        }
    }

    /// What is typed for the source that is sent.
    #[must_use]
    pub fn place(&self) -> &Input {
        &self.places[self.tab as usize]
    }

    fn source(&self, home: Option<&Path>) -> Result<MediaSource, (AddField, SafeText)> {
        let typed = self.place().value().trim();
        if typed.is_empty() {
            return Err((AddField::Place, SafeText::detail("is empty")));
        }
        Ok(match self.tab {
            Tab::Storage => MediaSource::Storage(typed.to_owned()),
            Tab::Server => MediaSource::ServerPath(typed.to_owned()),
            Tab::Archive => MediaSource::Archive(path(typed, home)),
            Tab::Files => {
                MediaSource::Files(words(typed).iter().map(|word| path(word, home)).collect())
            }
        })
    }

    /// What the form asks for.
    ///
    /// # Errors
    /// The field that is wrong, and why.
    pub fn addition(&self, home: Option<&Path>) -> Result<AddMedia, (AddField, SafeText)> {
        let source = self.source(home)?;
        let alone = self.tab == Tab::Server;
        let count = |field, input: &Input| match input.value().trim() {
            _ if alone => Ok(None),
            "" => Ok(None),
            typed => match typed.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err((field, SafeText::detail("must be a whole number, or empty"))),
            },
        };
        let role = self.role.value().trim();
        let addition = AddMedia {
            source,
            auto_reindex: self.auto_reindex && !alone,
            assume_role: (self.tab == Tab::Storage && !role.is_empty()).then(|| role.to_owned()),
            batch_videos: count(AddField::Videos, &self.counts[0])?,
            batch_images: count(AddField::Images, &self.counts[1])?,
            batch_objects: count(AddField::Objects, &self.counts[2])?,
            spot: self.spot.filter(|_| !alone),
            force: false,
        };
        let wrong = |invalid: Invalid| {
            (AddField::by_wire(invalid.field), SafeText::detail(&invalid.reason))
        };
        addition.check().map(|()| addition).map_err(wrong)
    }
}

impl App {
    /// Opens the form for the dataset that is meant.
    pub(in crate::app) fn ask_for_media(&mut self) {
        if let Some(dataset) = self.target() {
            let (id, name) = (dataset.id, dataset.name.clone());
            let form = AddMediaForm::new(id, name, self.setup.on_premises);
            self.overlay = Some(Overlay::AddMedia(Box::new(form)));
        }
    }

    /// Enter: first the source is looked at, then it is sent.
    pub(in crate::app) fn add_media(
        &mut self,
        mut form: Box<AddMediaForm>,
        effects: &mut Vec<Effect>,
    ) {
        let addition = match form.addition(self.setup.home.as_deref()) {
            Ok(addition) => addition,
            Err((field, reason)) => {
                (form.field, form.trouble) = (field, Some((field, reason)));
                self.overlay = Some(Overlay::AddMedia(form));
                return;
            }
        };
        let here = matches!(form.tab, Tab::Files | Tab::Archive);
        match &form.check {
            Check::Found(source, found) if *source == addition.source && found.is_empty() => {
                let reason = SafeText::detail("holds nothing that can be added");
                form.trouble = Some((AddField::Place, reason));
                self.overlay = Some(Overlay::AddMedia(form));
                return;
            }
            Check::Found(source, _) if *source == addition.source => {}
            Check::Looking(source) if *source == addition.source => {
                self.overlay = Some(Overlay::AddMedia(form));
                return;
            }
            _ if here => {
                let request = Request::Preflight(addition.source.clone());
                form.check = Check::Looking(addition.source);
                self.overlay = Some(Overlay::AddMedia(form));
                self.send(Lane::Preflight, request, effects);
                return;
            }
            _ => {}
        }
        let dataset = (form.dataset, form.dataset_name.clone());
        let folders = match &form.check {
            Check::Found(_, found) => found.folders.as_slice(),
            _ => &[],
        };
        let id = self.start_addition(dataset, addition, folders, effects);
        self.jobs.sent_form = Some((id, form));
    }

    /// Somebody has looked at the source.
    pub(in crate::app) fn preflight_came(&mut self, answer: Result<Preflight, Failure>) {
        let Some(Overlay::AddMedia(form)) = &mut self.overlay else { return };
        let Check::Looking(source) = std::mem::replace(&mut form.check, Check::None) else {
            return;
        };
        match answer {
            Ok(found) => form.check = Check::Found(source, found),
            Err(failure) => {
                form.trouble = Some((AddField::Place, SafeText::detail(&failure.to_string())));
            }
        }
    }

    /// The service refused what the form asked for: the form comes back as it was sent, with the
    /// reason at the source. A layer that was opened since is not covered.
    pub(in crate::app) fn reopen_addition(&mut self, id: JobId, failure: &Failure) {
        let sent = self.jobs.sent_form.take();
        if let Some((_, mut form)) = sent.filter(|(sent, _)| *sent == id)
            && self.overlay.is_none()
        {
            let reason = SafeText::detail(&failure.to_string());
            (form.field, form.trouble) = (AddField::Place, Some((AddField::Place, reason)));
            self.overlay = Some(Overlay::AddMedia(form));
        }
    }

    /// Why an addition would have to wait, if it would.
    #[must_use]
    pub fn busy(&self, dataset: DatasetId) -> Option<&'static str> {
        self.store.dataset(dataset)?.status.allows(Operation::AddMedia).refusal()
    }
}
