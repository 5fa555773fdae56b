//! Defines what the interface starts with: values from the settings, the command line and the terminal.

use std::{collections::BTreeMap, path::PathBuf};

use tessera_config::{
    DeploymentKind, ExportDefaults, NotificationMethod, Profile, SearchDefaults, ThemeChoice,
    TileLayout, TileSize, custom_command::CustomCommand, input::Keymap,
};
use tessera_model::{
    DatasetId, EntityType, ExportFormat, Granularity, SafeText, SavedSession, ShellCommand,
    Timestamp, polling::PollingIntervals,
};
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

/// How the state is presented. The actions are the same for each presentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presentation {
    #[default]
    Drawn,
    /// Lines of text, for screen readers and pipes. Nothing is drawn.
    Text,
}

#[derive(Clone, Debug)]
pub struct Setup {
    pub presentation: Presentation,
    /// The short name of the deployment for the header, such as `local` or `lab.example`.
    pub deployment_name: SafeText,
    pub profile: Option<String>,
    /// The login. `None` if the deployment has no login or is part of this program.
    pub login: Option<LoginSetup>,
    pub profiles: Vec<Profile>,
    pub deployment: DeploymentKind,
    /// The folders of local datasets, which no service sends.
    pub dataset_folders: BTreeMap<DatasetId, SafeText>,
    /// The id or name of the dataset to open first. `None` opens the first of the list.
    pub initial_dataset: Option<String>,
    pub initial_pane: Option<Pane>,
    pub initial_view: Option<SafeText>,
    /// Whether to review near-duplicates as soon as the dataset allows it.
    pub opens_review: bool,
    /// The last session, which is continued.
    pub session: Option<SavedSession>,
    /// Datasets that the service does not list.
    pub pinned: Vec<DatasetId>,
    pub search_defaults: SearchDefaults,
    pub export_defaults: ExportDefaults,
    pub keymap: Keymap,
    /// The user's own commands.
    pub commands: Vec<CustomCommand>,
    /// Whether changes of datasets are refused. Exports are allowed.
    pub read_only: bool,
    /// Warnings about the settings, which are shown at the start.
    pub warnings: Vec<String>,
    pub download_dir: SafeText,
    pub reopen_command: ReopenCommand,
    /// The folder that `~/` expands to.
    pub home_dir: Option<PathBuf>,
    pub started_at: Timestamp,
    pub size: (u16, u16),
    /// How pictures are drawn until the terminal's capabilities are known.
    pub protocol: Protocol,
    pub theme: ThemeChoice,
    /// The user's own themes.
    pub user_themes: Vec<ThemeChoice>,
    pub tile_size: TileSize,
    pub tile_layout: TileLayout,
    pub capture_mouse: bool,
    pub polling: PollingIntervals,
    pub notify: Vec<NotificationMethod>,
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

    pub fn new(deployment_name: SafeText, keymap: Keymap) -> Self {
        Self {
            presentation: Presentation::default(),
            deployment_name,
            profile: None,
            login: None,
            profiles: Vec::new(),
            deployment: DeploymentKind::Hosted,
            dataset_folders: BTreeMap::new(),
            initial_dataset: None,
            initial_pane: None,
            initial_view: None,
            opens_review: false,
            session: None,
            pinned: Vec::new(),
            search_defaults: SearchDefaults {
                entity: EntityType::default(),
                granularity: Granularity::DEFAULT,
                text_search_path: None,
            },
            export_defaults: ExportDefaults {
                format: ExportFormat::default(),
                include_images: true,
                download_dir: ".".to_owned(),
                auto_download: true,
            },
            keymap,
            commands: Vec::new(),
            read_only: false,
            warnings: Vec::new(),
            download_dir: SafeText::file_name("."),
            reopen_command: ReopenCommand::default(),
            home_dir: None,
            started_at: Timestamp::ZERO,
            size: (80, 24),
            protocol: Protocol::HalfBlock,
            theme: ThemeChoice::Auto,
            user_themes: Vec::new(),
            tile_size: TileSize::default(),
            tile_layout: TileLayout::default(),
            capture_mouse: true,
            polling: PollingIntervals::default(),
            notify: NotificationMethod::ALL.to_vec(),
        }
    }
}
