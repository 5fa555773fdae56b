//! Guides the user through the first run: choosing what to open, entering its address, testing the connection, and
//! creating a profile. Nothing is saved if the connection test fails or if the user quits.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use secrecy::SecretString;
use tessera_config::{
    DeploymentConfig, Destination, Profile,
    input::{Chord, Key},
    profile::check_name,
    text_enum,
};
use tessera_model::{Failure, FolderListing, FolderQuery, Place, RecentPlace};
use tui_input::Input;

use crate::{
    app::{
        overlay::{
            fields::{Completion, PathField, PathKind, edit, expand_path, paste, paste_path},
            path_picker::{PathPicker, PickerKey},
        },
        pane::cycle,
        service_data::KnownFolder,
    },
    remote::{Remote, Uptime},
};

/// The maximum number of places that the screen offers to open again.
const MAX_RECENT: usize = 4;

text_enum! {
    /// What can be opened, in the order of the numbers.
    pub enum WelcomeOption: title, description {
        Sample = "A generated sample dataset",
            "240 images with captions, labels and objects; no account, no network";
        Folder = "A folder of images on this machine",
            "indexed on this machine; no account, no network, your files are not changed";
        Hosted = "A hosted service", "needs its address, an api_key and an api_secret";
        OnPrem = "An on-premises service", "needs its address; no login";
    }
}

impl WelcomeOption {
    fn fields(self, secret: SecretInput) -> &'static [WelcomeField] {
        use WelcomeField::{
            ApiKey, ApiSecret, BaseUrl, CaFile, Folder, Name, PipelineUrl, Secret, SecretFile,
            Store,
        };
        match (self, secret) {
            (Self::Sample, _) => &[],
            (Self::Folder, _) => &[Folder, Name],
            (Self::Hosted, SecretInput::Typed) => {
                &[BaseUrl, ApiKey, Secret, ApiSecret, Name, CaFile, Store]
            }
            (Self::Hosted, SecretInput::File) => {
                &[BaseUrl, ApiKey, Secret, SecretFile, Name, CaFile, Store]
            }
            (Self::Hosted, SecretInput::Existing) => &[BaseUrl, ApiKey, Secret, Name, CaFile],
            (Self::OnPrem, _) => &[BaseUrl, PipelineUrl, Name, CaFile],
        }
    }
}

text_enum! {
    /// Where the secret of a new hosted profile comes from.
    #[derive(Default)]
    pub enum SecretInput: title {
        #[default]
        Typed = "this form",
        File = "a file",
        /// The environment, the keyring or the secrets file already has the secret.
        Existing = "the environment or the stored secrets",
    }
}

/// Where the form stores a secret.
#[derive(Clone, Debug, Default)]
pub struct SecretPlace {
    pub name: String,
    /// Whether this is a plain file, which needs the user's consent.
    pub needs_consent: bool,
}

text_enum! {
    pub enum WelcomeField:
        label,
        /// Returns what an empty field shows.
        placeholder
    {
        Folder = "folder", "~/photos";
        BaseUrl = "base URL", "https://…";
        /// The address of the pipeline, which may stay empty.
        PipelineUrl = "pipeline URL", "optional: needed to add media";
        ApiKey = "api_key", "";
        Secret = "secret from", "";
        ApiSecret = "api_secret", "";
        SecretFile = "secret file", "a file that only you can read";
        Name = "profile name", "default: from the address";
        /// The file of certificate authorities, which may stay empty.
        CaFile = "certificates", "optional: a PEM file, in addition to those of the system";
        Store = "store secret", "";
    }
}

impl WelcomeField {
    /// Returns what a path in the field has to be.
    fn path_kind(self) -> Option<PathKind> {
        match self {
            Self::Folder => Some(PathKind::Folder),
            Self::SecretFile | Self::CaFile => Some(PathKind::File),
            _ => None,
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
    /// The secret of a hosted deployment, if it was typed or read.
    pub secret: Option<SecretString>,
    /// The file to read the secret from.
    pub secret_file: Option<PathBuf>,
    pub store_secret: bool,
}

#[derive(Debug)]
pub enum WelcomeAction {
    Continue,
    Quit,
    /// Stops the program, as Ctrl-Z does elsewhere.
    Suspend,
    /// Opens a deployment that needs no new profile.
    Open(Destination),
    /// Opens a place and reviews its duplicates.
    Review(Destination),
    Connect(Box<CandidateProfile>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConnectionAttempt {
    #[default]
    None,
    Connecting,
    Failed(String),
}

#[derive(Clone, Debug, Default)]
pub struct Welcome {
    /// What was opened before, with the time since then.
    pub recent: Vec<(RecentPlace, Duration)>,
    /// The index of the selected line: a place that was opened before, or an option after all places.
    pub cursor: usize,
    pub option: Option<WelcomeOption>,
    pub field: usize,
    /// The typed texts of each form, so that what was typed into one is not used by another. They are boxed so that the
    /// future of the screen stays small.
    typed: Box<[[RedactedInput; WelcomeField::ALL.len()]; WelcomeOption::ALL.len()]>,
    pub secret: SecretInput,
    pub secret_place: SecretPlace,
    /// Whether to store the secret. `None` until the user has decided.
    store: Option<bool>,
    pub attempt: ConnectionAttempt,
    /// The picker of the focused path, while it is open.
    pub picker: Option<PathPicker>,
    /// The typed path whose completion waits for the folder around it.
    completion: Option<PathField>,
    folder: KnownFolder,
}

impl Welcome {
    /// Creates the first step. `failure` is the reason why the user is here again.
    pub fn new(failure: Option<String>) -> Self {
        let attempt = failure.map_or(ConnectionAttempt::None, ConnectionAttempt::Failed);
        Self { attempt, ..Self::default() }
    }

    /// Offers what was opened before. `now` is in seconds since 1970.
    pub fn with_recent(self, places: Vec<RecentPlace>, now: u64) -> Self {
        let places = places.into_iter().take(MAX_RECENT);
        let age = |place: &RecentPlace| Duration::from_secs(now.saturating_sub(place.opened_at));
        Self { recent: places.map(|place| (place.clone(), age(&place))).collect(), ..self }
    }

    pub fn fields(&self) -> &'static [WelcomeField] {
        self.option.map_or(&[], |option| option.fields(self.secret))
    }

    pub fn text(&self, field: WelcomeField) -> &Input {
        &self.typed[self.form()][field as usize].0
    }

    fn text_mut(&mut self, field: WelcomeField) -> &mut Input {
        &mut self.typed[self.form()][field as usize].0
    }

    /// Returns the position of the open form.
    fn form(&self) -> usize {
        self.option.unwrap_or(WelcomeOption::Sample) as usize
    }

    /// Returns what an empty field shows.
    pub fn placeholder(&self, field: WelcomeField) -> &'static str {
        match (field, self.option) {
            (WelcomeField::ApiKey, _) if self.secret == SecretInput::Existing => {
                "default: TESSERA_API_KEY of the environment"
            }
            (WelcomeField::Name, Some(WelcomeOption::Folder)) => "default: the name of the folder",
            _ => field.placeholder(),
        }
    }

    /// Returns whether the secret is stored. A plain file needs the user's consent, which the keyring does not need.
    pub fn stores(&self) -> bool {
        self.store.unwrap_or(!self.secret_place.needs_consent)
    }

    /// Handles a key. `home` is the folder that `~/` expands to.
    pub fn handle_key(&mut self, chord: Chord, home: Option<&Path>) -> WelcomeAction {
        if chord.ctrl && chord.key == Key::Char('c') {
            return WelcomeAction::Quit;
        }
        if chord.ctrl && chord.key == Key::Char('z') {
            return WelcomeAction::Suspend;
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
            Some(option) => match self.focused_path() {
                Some(path) => self.handle_path_key(option, path, chord, home),
                None => self.handle_field_key(option, chord, home),
            },
        }
    }

    /// Returns whether the focused field is a choice.
    pub fn has_focused_choice(&self) -> bool {
        let field = self.fields().get(self.field);
        matches!(field, Some(WelcomeField::Secret | WelcomeField::Store))
    }

    /// Returns the focused field if it takes a path, with what the path has to be.
    pub fn focused_path(&self) -> Option<(WelcomeField, PathKind)> {
        let field = *self.fields().get(self.field)?;
        Some((field, field.path_kind()?))
    }

    /// Selects a row of the first step or of the picker, or focuses a field of the form. The mouse chooses this way.
    pub fn select_item(&mut self, index: usize, home: Option<&Path>) {
        self.completion = None;
        let Self { picker, folder, .. } = self;
        if let Some(picker) = picker {
            picker.select(index, folder.listing_of(&picker.path.query(home)));
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
        let fields = self.fields();
        let count = fields.len();
        match chord.key {
            Key::Esc => (self.option, self.attempt) = (None, ConnectionAttempt::None),
            Key::Tab if chord.shift => self.field = (self.field + count - 1) % count,
            Key::Up => self.field = (self.field + count - 1) % count,
            Key::Tab | Key::Down => self.field = (self.field + 1) % count,
            Key::Enter if self.field + 1 < count => self.field += 1,
            Key::Enter => return self.connect(option, home),
            _ => self.edit_field(fields[self.field], chord),
        }
        WelcomeAction::Continue
    }

    /// Handles a key in a field with a path, which can be completed and picked.
    fn handle_path_key(
        &mut self,
        option: WelcomeOption,
        (field, kind): (WelcomeField, PathKind),
        chord: Chord,
        home: Option<&Path>,
    ) -> WelcomeAction {
        let path = PathField { text: self.text(field).clone(), kind };
        match chord.key {
            Key::Char('f') if chord.ctrl => self.open_picker(path, home),
            Key::Tab if !chord.shift && !path.name().is_empty() => {
                (self.folder, self.completion) = (KnownFolder::default(), Some(path));
            }
            _ => return self.handle_field_key(option, chord, home),
        }
        WelcomeAction::Continue
    }

    fn open_picker(&mut self, field: PathField, home: Option<&Path>) {
        self.folder = KnownFolder::default();
        self.picker = Some(PathPicker::begin_with(field, home.is_some()));
    }

    fn handle_picker_key(&mut self, chord: Chord, home: Option<&Path>) -> WelcomeAction {
        let (path, form) = (self.focused_path(), self.form());
        let (Self { picker: Some(picker), folder, .. }, Some((field, _))) = (&mut *self, path)
        else {
            return WelcomeAction::Continue;
        };
        let listing = folder.listing_of(&picker.path.query(home));
        match picker.handle_key(chord, listing) {
            PickerKey::Close => self.picker = None,
            PickerKey::Choose => {
                let chosen = picker.chosen_text(listing);
                self.typed[form][field as usize].0 = chosen.into();
                (self.picker, self.attempt) = (None, ConnectionAttempt::None);
            }
            PickerKey::Stay | PickerKey::TabOnFile => {}
        }
        WelcomeAction::Continue
    }

    /// Returns the folder that the picker or a completion waits for.
    pub fn folder_to_list(&self, home: Option<&Path>) -> Option<FolderQuery> {
        let picked = self.picker.as_ref().map(|picker| &picker.path);
        let query = picked.or(self.completion.as_ref())?.query(home);
        self.folder.listing_of(&query).is_none().then_some(query)
    }

    pub fn listing(&self, home: Option<&Path>) -> Option<&Remote<FolderListing>> {
        self.folder.listing_of(&self.picker.as_ref()?.path.query(home))
    }

    /// Takes the entries of a folder, and completes the path that waited for them.
    pub fn folder_listed(
        &mut self,
        query: FolderQuery,
        result: Result<FolderListing, Failure>,
        home: Option<&Path>,
    ) {
        let waiting = self.completion.take_if(|path| path.query(home) == query);
        let mut known = KnownFolder::default();
        let listing = known.entry(query);
        listing.finish(Uptime::ZERO, result);
        if let (Some(mut path), Some((field, _))) = (waiting, self.focused_path()) {
            let folder = listing.value();
            match folder.map_or(Completion::Complete, |folder| path.complete_in(folder)) {
                Completion::Extended => *self.text_mut(field) = path.text,
                Completion::Ambiguous => self.open_picker(path, home),
                Completion::Complete => self.field = (self.field + 1) % self.fields().len(),
            }
        }
        self.folder = known;
    }

    fn edit_field(&mut self, field: WelcomeField, chord: Chord) {
        self.attempt = ConnectionAttempt::None;
        let changes = matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right);
        match field {
            WelcomeField::Store if changes => self.store = Some(!self.stores()),
            WelcomeField::Secret if changes => {
                let by = if chord.key == Key::Left { -1 } else { 1 };
                self.secret = cycle(&SecretInput::ALL, self.secret, by);
            }
            WelcomeField::Store | WelcomeField::Secret => {}
            _ => _ = edit(self.text_mut(field), chord),
        }
    }

    pub fn paste(&mut self, text: &str) {
        self.completion = None;
        if let Some(picker) = &mut self.picker {
            return picker.paste(text);
        }
        match self.fields().get(self.field) {
            None | Some(WelcomeField::Store | WelcomeField::Secret) => {}
            Some(&field) if field.path_kind().is_some() => {
                paste_path(self.text_mut(field), text);
            }
            Some(&field) => paste(self.text_mut(field), text),
        }
    }

    fn connect(&mut self, option: WelcomeOption, home: Option<&Path>) -> WelcomeAction {
        match self.candidate_profile(option, home) {
            Ok(candidate) => {
                self.attempt = ConnectionAttempt::Connecting;
                WelcomeAction::Connect(Box::new(candidate))
            }
            Err((field, reason)) => {
                let wrong = self.fields().iter().position(|each| *each == field);
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
        let path = |text: String| (!text.is_empty()).then(|| expand_path(&text, home));
        let (mut secret, mut secret_file) = (None, None);
        let deployment = match option {
            WelcomeOption::Sample | WelcomeOption::Folder => DeploymentConfig::Local {
                folder: expand_path(&required(WelcomeField::Folder)?, home),
                model: None,
            },
            WelcomeOption::Hosted => {
                let base_url = required(WelcomeField::BaseUrl)?;
                let api_key = match self.secret {
                    SecretInput::Existing => typed(WelcomeField::ApiKey),
                    SecretInput::Typed | SecretInput::File => required(WelcomeField::ApiKey)?,
                };
                match self.secret {
                    SecretInput::Typed => {
                        secret = Some(SecretString::from(required(WelcomeField::ApiSecret)?));
                    }
                    SecretInput::File => secret_file = path(required(WelcomeField::SecretFile)?),
                    SecretInput::Existing => {}
                }
                DeploymentConfig::Hosted { base_url, api_key }
            }
            WelcomeOption::OnPrem => DeploymentConfig::OnPrem {
                base_url: required(WelcomeField::BaseUrl)?,
                pipeline_url: Some(typed(WelcomeField::PipelineUrl)).filter(|url| !url.is_empty()),
            },
        };
        let mut profile = Profile::named(Some(typed(WelcomeField::Name)), deployment);
        check_name(&profile.name).map_err(|reason| (WelcomeField::Name, reason))?;
        if self.fields().contains(&WelcomeField::CaFile) {
            profile.options.ca_file = path(typed(WelcomeField::CaFile));
        }
        Ok(CandidateProfile { profile, secret, secret_file, store_secret: self.stores() })
    }

    /// Shows why something else than the connection failed. A running attempt continues, and keeps its line.
    pub fn show_failure(&mut self, reason: String) {
        if self.attempt != ConnectionAttempt::Connecting {
            self.attempt = ConnectionAttempt::Failed(reason);
        }
    }

    /// Shows why the connection failed. Without a login and certificates, only the folder or the address can be wrong.
    pub fn connection_failed(&mut self, reason: String) {
        let has_certificates = !self.text(WelcomeField::CaFile).value().is_empty();
        if self.option != Some(WelcomeOption::Hosted) && !has_certificates {
            self.field = 0;
        }
        self.attempt = ConnectionAttempt::Failed(reason);
    }
}
