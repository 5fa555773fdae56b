//! Guides the user through the first run: choosing what to open, entering its address, testing the connection, and
//! creating a profile. Nothing is saved if the connection test fails or if the user quits.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use secrecy::SecretString;
use tessera_model::{Failure, FolderListing, Place, RecentPlace};
use tui_input::Input;

use crate::{
    app::overlay::{
        fields::{
            Completion, PathField, PathInput, PathKind, edit, expand_path, paste, paste_path,
        },
        path_picker::{PathPicker, PickerKey},
    },
    config::{DeploymentConfig, Destination, Profile, profile::check_name},
    input::{Chord, Key},
    remote::{Remote, Uptime},
};

/// The maximum number of places that the screen offers to open again.
const MAX_RECENT: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WelcomeOption {
    Sample,
    Folder,
    Hosted,
    OnPrem,
}

impl WelcomeOption {
    /// The options in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Sample, Self::Folder, Self::Hosted, Self::OnPrem];

    pub fn title(self) -> &'static str {
        match self {
            Self::Sample => "A generated sample dataset",
            Self::Folder => "A folder of images on this machine",
            Self::Hosted => "A hosted service",
            Self::OnPrem => "An on-premises service",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Sample => "240 images with captions, labels and objects; no account, no network",
            Self::Folder => {
                "indexed on this machine; no account, no network, your files are not changed"
            }
            Self::Hosted => "needs its address, an api_key and an api_secret",
            Self::OnPrem => "needs its address; no login",
        }
    }

    fn fields(self) -> &'static [WelcomeField] {
        match self {
            Self::Sample => &[],
            Self::Folder => &[WelcomeField::Folder, WelcomeField::Name],
            Self::Hosted => &[
                WelcomeField::BaseUrl,
                WelcomeField::ApiKey,
                WelcomeField::ApiSecret,
                WelcomeField::Name,
                WelcomeField::Store,
            ],
            Self::OnPrem => &[WelcomeField::BaseUrl, WelcomeField::PipelineUrl, WelcomeField::Name],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WelcomeField {
    Folder,
    BaseUrl,
    /// The address of the pipeline, which may stay empty.
    PipelineUrl,
    ApiKey,
    ApiSecret,
    Name,
    Store,
}

impl WelcomeField {
    pub fn label(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::BaseUrl => "base URL",
            Self::PipelineUrl => "pipeline URL",
            Self::ApiKey => "api_key",
            Self::ApiSecret => "api_secret",
            Self::Name => "profile name",
            Self::Store => "store secret",
        }
    }
}

/// Typed text that `Debug` does not show.
#[derive(Clone, Default)]
pub struct RedactedInput(pub Input);

impl fmt::Debug for RedactedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed")
    }
}

#[derive(Clone, Debug)]
pub struct CandidateProfile {
    pub profile: Profile,
    /// The secret of a hosted deployment.
    pub secret: Option<SecretString>,
    pub store_secret: bool,
}

#[derive(Debug)]
pub enum WelcomeAction {
    Continue,
    Quit,
    /// Opens a deployment that needs no new profile.
    Open(Destination),
    /// Opens a place and reviews its duplicates.
    Review(Destination),
    Connect(CandidateProfile),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionAttempt {
    None,
    Connecting,
    Failed(String),
}

#[derive(Clone, Debug)]
pub struct Welcome {
    /// What was opened before, with the time since then.
    pub recent: Vec<(RecentPlace, Duration)>,
    /// The index of the selected line: a place that was opened before, or an option after all places.
    pub cursor: usize,
    pub option: Option<WelcomeOption>,
    pub field: usize,
    typed: [RedactedInput; 7],
    pub store: bool,
    pub attempt: ConnectionAttempt,
    /// The picker of the folder, while it is open.
    pub picker: Option<PathPicker>,
    /// The typed folder whose completion waits for the folder around it.
    completion: Option<PathInput>,
    /// The folder that was listed last.
    listing: Option<(PathBuf, Remote<FolderListing>)>,
}

impl Welcome {
    /// Creates the first step. `failure` is the reason why the user is here again.
    pub fn new(failure: Option<String>) -> Self {
        let attempt = failure.map_or(ConnectionAttempt::None, ConnectionAttempt::Failed);
        Self {
            recent: Vec::new(),
            cursor: 0,
            option: None,
            field: 0,
            typed: Default::default(),
            store: false,
            attempt,
            picker: None,
            completion: None,
            listing: None,
        }
    }

    /// Offers what was opened before. `now` is in seconds since 1970.
    pub fn with_recent(self, places: Vec<RecentPlace>, now: u64) -> Self {
        let places = places.into_iter().take(MAX_RECENT);
        let age = |place: &RecentPlace| Duration::from_secs(now.saturating_sub(place.opened_at));
        Self { recent: places.map(|place| (place.clone(), age(&place))).collect(), ..self }
    }

    pub fn fields(&self) -> &'static [WelcomeField] {
        self.option.map_or(&[], WelcomeOption::fields)
    }

    pub fn text(&self, field: WelcomeField) -> &Input {
        &self.typed[field as usize].0
    }

    /// Handles a key. `home` is the folder that `~/` expands to.
    pub fn handle_key(&mut self, chord: Chord, home: Option<&Path>) -> WelcomeAction {
        if chord.ctrl && chord.key == Key::Char('c') {
            return WelcomeAction::Quit;
        }
        if self.attempt == ConnectionAttempt::Connecting {
            // Esc cancels the attempt, and the runtime drops it.
            if chord.key == Key::Esc {
                self.attempt = ConnectionAttempt::None;
            }
            return WelcomeAction::Continue;
        }
        self.completion = None;
        match self.option {
            None => self.handle_option_key(chord),
            Some(_) if self.picker.is_some() => self.handle_picker_key(chord, home),
            Some(option) if self.focused_field() == Some(WelcomeField::Folder) => {
                self.handle_folder_key(option, chord, home)
            }
            Some(option) => self.handle_field_key(option, chord, home),
        }
    }

    fn focused_field(&self) -> Option<WelcomeField> {
        self.fields().get(self.field).copied()
    }

    /// Selects a row of the first step or of the picker, or focuses a field of the form. The mouse chooses this way.
    pub fn select_item(&mut self, index: usize, home: Option<&Path>) {
        self.completion = None;
        let Self { picker, listing, .. } = self;
        if let Some(picker) = picker {
            let folder = picker.path.folder(home);
            picker.select(index, listing_of(listing.as_ref(), &folder));
        } else if self.option.is_none() {
            self.cursor = index.min(self.recent.len() + WelcomeOption::ALL.len() - 1);
        } else if index < self.fields().len() {
            self.field = index;
        }
    }

    fn handle_option_key(&mut self, chord: Chord) -> WelcomeAction {
        let last = self.recent.len() + WelcomeOption::ALL.len() - 1;
        match chord.key {
            Key::Esc | Key::Char('q') => return WelcomeAction::Quit,
            Key::Up | Key::Char('k') => self.cursor = self.cursor.saturating_sub(1),
            Key::Down | Key::Char('j') | Key::Tab => self.cursor = (self.cursor + 1).min(last),
            Key::Char(digit @ '1'..='4') => {
                self.cursor = self.recent.len() + digit as usize - '1' as usize;
                return self.choose();
            }
            Key::Enter => return self.choose(),
            Key::Char('d') => {
                let place = self.selected_place();
                return place.map_or(WelcomeAction::Continue, WelcomeAction::Review);
            }
            _ => {}
        }
        WelcomeAction::Continue
    }

    fn selected_place(&self) -> Option<Destination> {
        let (recent, _) = self.recent.get(self.cursor)?;
        Some(match recent.place.clone() {
            Place::Folder(folder) => Destination::Folder(folder),
            Place::Profile(name) => Destination::Profile(name),
        })
    }

    fn choose(&mut self) -> WelcomeAction {
        if let Some(place) = self.selected_place() {
            return WelcomeAction::Open(place);
        }
        let option = WelcomeOption::ALL[self.cursor - self.recent.len()];
        self.attempt = ConnectionAttempt::None;
        if option == WelcomeOption::Sample {
            return WelcomeAction::Open(Destination::Sample);
        }
        (self.option, self.field) = (Some(option), 0);
        WelcomeAction::Continue
    }

    fn handle_field_key(
        &mut self,
        option: WelcomeOption,
        chord: Chord,
        home: Option<&Path>,
    ) -> WelcomeAction {
        let count = option.fields().len();
        match chord.key {
            Key::Esc => (self.option, self.attempt) = (None, ConnectionAttempt::None),
            Key::Tab if chord.shift => self.field = (self.field + count - 1) % count,
            Key::Up => self.field = (self.field + count - 1) % count,
            Key::Tab | Key::Down => self.field = (self.field + 1) % count,
            Key::Enter if self.field + 1 < count => self.field += 1,
            Key::Enter => return self.connect(option, home),
            _ => self.edit_field(option.fields()[self.field], chord),
        }
        WelcomeAction::Continue
    }

    /// Handles a key in the field of the folder, which can be completed and picked.
    fn handle_folder_key(
        &mut self,
        option: WelcomeOption,
        chord: Chord,
        home: Option<&Path>,
    ) -> WelcomeAction {
        let path = PathInput { text: self.text(WelcomeField::Folder).clone() };
        match chord.key {
            Key::Char('f') if chord.ctrl => self.open_picker(path, home),
            Key::Tab if !chord.shift && !path.name().is_empty() => {
                (self.listing, self.completion) = (None, Some(path));
            }
            _ => return self.handle_field_key(option, chord, home),
        }
        WelcomeAction::Continue
    }

    fn open_picker(&mut self, path: PathInput, home: Option<&Path>) {
        self.listing = None;
        let field = PathField { path, kind: PathKind::Folder };
        self.picker = Some(PathPicker::begin_with(field, home.is_some()));
    }

    fn handle_picker_key(&mut self, chord: Chord, home: Option<&Path>) -> WelcomeAction {
        let Self { picker: Some(picker), listing, .. } = self else {
            return WelcomeAction::Continue;
        };
        let listing = listing_of(listing.as_ref(), &picker.path.folder(home));
        match picker.handle_key(chord, listing) {
            PickerKey::Close => self.picker = None,
            PickerKey::Choose => {
                let chosen = picker.chosen_text(listing);
                self.typed[WelcomeField::Folder as usize].0 = chosen.into();
                (self.picker, self.attempt) = (None, ConnectionAttempt::None);
            }
            PickerKey::Stay | PickerKey::TabOnFile => {}
        }
        WelcomeAction::Continue
    }

    /// Returns the folder that the picker or a completion waits for.
    pub fn folder_to_list(&self, home: Option<&Path>) -> Option<PathBuf> {
        let picked = self.picker.as_ref().map(|picker| &picker.path);
        let folder = picked.or(self.completion.as_ref())?.folder(home);
        listing_of(self.listing.as_ref(), &folder).is_none().then_some(folder)
    }

    pub fn listing(&self, home: Option<&Path>) -> Option<&Remote<FolderListing>> {
        listing_of(self.listing.as_ref(), &self.picker.as_ref()?.path.folder(home))
    }

    /// Takes the entries of a folder, and completes the path that waited for them.
    pub fn folder_listed(
        &mut self,
        folder: PathBuf,
        result: Result<FolderListing, Failure>,
        home: Option<&Path>,
    ) {
        let mut listing = Remote::default();
        listing.finish(Uptime::ZERO, result);
        let waiting = self.completion.take_if(|path| path.folder(home) == folder);
        if let Some(mut path) = waiting {
            let completion = listing
                .value()
                .map_or(Completion::Complete, |folder| path.complete_in(folder, PathKind::Folder));
            match completion {
                Completion::Extended => self.typed[WelcomeField::Folder as usize].0 = path.text,
                Completion::Ambiguous => self.open_picker(path, home),
                Completion::Complete => self.field = (self.field + 1) % self.fields().len(),
            }
        }
        self.listing = Some((folder, listing));
    }

    fn edit_field(&mut self, field: WelcomeField, chord: Chord) {
        self.attempt = ConnectionAttempt::None;
        if field != WelcomeField::Store {
            edit(&mut self.typed[field as usize].0, chord);
        } else if matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right) {
            self.store = !self.store;
        }
    }

    pub fn paste(&mut self, text: &str) {
        self.completion = None;
        if let Some(picker) = &mut self.picker {
            return picker.paste(text);
        }
        match self.fields().get(self.field) {
            None | Some(WelcomeField::Store) => {}
            Some(&field @ WelcomeField::Folder) => {
                paste_path(&mut self.typed[field as usize].0, text);
            }
            Some(&field) => paste(&mut self.typed[field as usize].0, text),
        }
    }

    fn connect(&mut self, option: WelcomeOption, home: Option<&Path>) -> WelcomeAction {
        match self.candidate_profile(option, home) {
            Ok(candidate) => {
                self.attempt = ConnectionAttempt::Connecting;
                WelcomeAction::Connect(candidate)
            }
            Err((field, reason)) => {
                let wrong = option.fields().iter().position(|each| *each == field);
                self.field = wrong.unwrap_or(self.field);
                self.attempt = ConnectionAttempt::Failed(reason);
                WelcomeAction::Continue
            }
        }
    }

    fn candidate_profile(
        &self,
        option: WelcomeOption,
        home: Option<&Path>,
    ) -> Result<CandidateProfile, (WelcomeField, String)> {
        let typed = |field| self.text(field).value().trim().to_owned();
        let required = |field: WelcomeField| match typed(field) {
            text if text.is_empty() => Err((field, format!("{} is required", field.label()))),
            text => Ok(text),
        };
        let mut secret = None;
        let deployment = match option {
            WelcomeOption::Sample | WelcomeOption::Folder => DeploymentConfig::Local {
                folder: expand_path(&required(WelcomeField::Folder)?, home),
                model: None,
            },
            WelcomeOption::Hosted => {
                let (base_url, api_key) =
                    (required(WelcomeField::BaseUrl)?, required(WelcomeField::ApiKey)?);
                secret = Some(SecretString::from(required(WelcomeField::ApiSecret)?));
                DeploymentConfig::Hosted { base_url, api_key }
            }
            WelcomeOption::OnPrem => DeploymentConfig::OnPrem {
                base_url: required(WelcomeField::BaseUrl)?,
                pipeline_url: Some(typed(WelcomeField::PipelineUrl)).filter(|url| !url.is_empty()),
            },
        };
        let profile = Profile::named(Some(typed(WelcomeField::Name)), deployment);
        check_name(&profile.name).map_err(|reason| (WelcomeField::Name, reason))?;
        Ok(CandidateProfile { profile, secret, store_secret: self.store })
    }

    /// Shows why the connection failed. In a form without a login, only the folder or the address can be wrong.
    pub fn connection_failed(&mut self, reason: String) {
        if self.option != Some(WelcomeOption::Hosted) {
            self.field = 0;
        }
        self.attempt = ConnectionAttempt::Failed(reason);
    }
}

fn listing_of<'a>(
    listing: Option<&'a (PathBuf, Remote<FolderListing>)>,
    folder: &Path,
) -> Option<&'a Remote<FolderListing>> {
    listing.filter(|(known, _)| known == folder).map(|(_, listing)| listing)
}
