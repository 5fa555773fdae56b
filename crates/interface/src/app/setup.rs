//! Defines what the interface starts with: values from the settings, the command line and the terminal.

use std::{collections::BTreeMap, path::PathBuf};

use tessera_config::{DeploymentKind, Settings, ThemeChoice, input::Keymap};
use tessera_model::{DatasetId, SafeText, SavedSession, ShellCommand, Timestamp};
use tessera_picture::Protocol;

use crate::{app::Pane, command_lines::CommandTarget};

/// The login of a hosted deployment when the program starts.
#[derive(Clone, Debug)]
pub struct LoginSetup {
    /// The address of the service.
    pub service: SafeText,
    /// The API key, or the variable that contains a token.
    pub key: SafeText,
    /// Why the key pair cannot be replaced here, if so.
    pub fixed: Option<SafeText>,
}

/// Where to start.
#[derive(Clone, Debug, Default)]
pub struct StartView {
    /// The ID or the name of the dataset to open first. `None` opens the first of the list.
    pub dataset: Option<String>,
    pub pane: Option<Pane>,
    pub view: Option<SafeText>,
    /// Whether to review near-duplicates as soon as the dataset allows it.
    pub review: bool,
}

#[derive(Clone, Debug)]
pub struct Setup {
    /// Whether the state is presented as lines of text, for screen readers and pipes. Nothing is drawn then.
    pub is_text: bool,
    /// The short name of the deployment for the header, such as `local` or `lab.example`.
    pub deployment_name: SafeText,
    pub profile: Option<String>,
    /// The login. `None` if the deployment has no login or is part of this program.
    pub login: Option<LoginSetup>,
    pub deployment: DeploymentKind,
    /// The folders of local datasets, which no service sends.
    pub dataset_folders: BTreeMap<DatasetId, SafeText>,
    pub start: StartView,
    /// The last session, which is continued.
    pub session: Option<SavedSession>,
    /// Datasets that the service does not list.
    pub pinned: Vec<DatasetId>,
    /// The settings, with all warnings that are shown at the start.
    pub settings: Settings,
    pub keymap: Keymap,
    /// Whether changes of datasets are refused. Exports are allowed.
    pub read_only: bool,
    pub reopen_command: ReopenCommand,
    /// The folder that `~/` expands to.
    pub home_dir: Option<PathBuf>,
    pub started_at: Timestamp,
    pub size: (u16, u16),
    /// How pictures are drawn until the terminal's capabilities are known.
    pub protocol: Protocol,
    /// The user's own themes.
    pub user_themes: Vec<ThemeChoice>,
    /// The built-in theme that cannot be read on the background of the terminal.
    pub unreadable_theme: Option<ThemeChoice>,
}

/// The command that opens a deployment again.
#[derive(Clone, Debug)]
pub enum ReopenCommand {
    /// A whole command, such as `tessera open`, whose deployment ends with the command.
    Whole(ShellCommand),
    /// The beginning of a command, which a subcommand such as `search` can follow.
    Prefix(ShellCommand),
}

impl Default for ReopenCommand {
    fn default() -> Self {
        Self::Whole("tessera".into())
    }
}

impl Setup {
    /// Returns how a command reaches a dataset: by its folder, if that is on this machine, or by its ID. The selections
    /// and jobs of a profile are saved under its name, so a command for a profile keeps it.
    pub(crate) fn command_target(&self, dataset: DatasetId) -> CommandTarget {
        let folder = self.dataset_folders.get(&dataset).filter(|_| self.profile.is_none());
        let tessera = match (&self.reopen_command, folder) {
            (ReopenCommand::Prefix(tessera), None) => tessera.clone(),
            _ => "tessera".into(),
        };
        let id = || dataset.to_string();
        let dataset = folder.map(SafeText::received).map_or_else(id, ToOwned::to_owned);
        CommandTarget { tessera, dataset }
    }

    /// Returns a sign, or the words for it if the state is read aloud.
    pub(crate) fn sign<'t>(&self, sign: &'t str, words: &'t str) -> &'t str {
        if self.is_text { words } else { sign }
    }

    /// Returns the keys that can be typed. Where the state is read aloud, a number picks an item.
    pub(crate) fn typed_keys(&self, mut keys: Vec<String>) -> Vec<String> {
        keys.retain(|key| !self.is_text || key.parse::<usize>().is_err());
        keys
    }

    /// Returns the folder of downloads, as it is shown.
    pub(crate) fn download_dir(&self) -> SafeText {
        SafeText::file_name(&self.settings.export.download_dir)
    }

    pub fn new(deployment_name: SafeText, settings: Settings, keymap: Keymap) -> Self {
        Self {
            is_text: false,
            deployment_name,
            profile: None,
            login: None,
            deployment: DeploymentKind::Hosted,
            dataset_folders: BTreeMap::new(),
            start: StartView::default(),
            session: None,
            pinned: Vec::new(),
            settings,
            keymap,
            read_only: false,
            reopen_command: ReopenCommand::default(),
            home_dir: None,
            started_at: Timestamp::ZERO,
            size: (80, 24),
            protocol: Protocol::HalfBlock,
            user_themes: Vec::new(),
            unreadable_theme: None,
        }
    }
}
