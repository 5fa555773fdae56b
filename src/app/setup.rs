//! What is fixed when the program starts: from settings, command line and terminal.

use std::path::PathBuf;

use crate::{
    app::Pane,
    config::{
        DeploymentKind, ExportDefaults, NotificationMethod, Profile, SearchDefaults, ThemeChoice,
        TileSize,
    },
    input::Keymap,
};
use tessera_model::{
    DatasetId, EntityType, ExportFormat, Granularity, SafeText, SavedSession, ShellCommand,
    Timestamp, polling::PollingIntervals,
};
use tessera_picture::Protocol;

/// The login of a hosted deployment when the program starts.
#[derive(Clone, Debug)]
pub struct LoginSetup {
    /// The address of the service.
    pub service: SafeText,
    /// The API key, or the variable that contains a token.
    pub key: SafeText,
    /// Why no other key pair can be used here.
    pub fixed: Option<SafeText>,
}

/// How the state is presented. The actions are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presentation {
    #[default]
    Drawn,
    /// As lines of text, for screen readers and pipes: nothing is drawn.
    Text,
}

#[derive(Clone, Debug)]
pub struct Setup {
    pub presentation: Presentation,
    /// Short name of the deployment for the header: `local`, `lab.example`.
    pub deployment_name: SafeText,
    pub profile: Option<String>,
    /// `None`: the deployment has no login, or is part of this program.
    pub login: Option<LoginSetup>,
    pub profiles: Vec<Profile>,
    pub deployment: DeploymentKind,
    /// The dataset to open first, by id or name; by default the first of the list.
    pub initial_dataset: Option<String>,
    pub initial_pane: Option<Pane>,
    pub initial_view: Option<SafeText>,
    /// Where the interface was when it ended, to continue there.
    pub session: Option<SavedSession>,
    /// Datasets that the service does not list.
    pub pinned: Vec<DatasetId>,
    pub search_defaults: SearchDefaults,
    pub export_defaults: ExportDefaults,
    pub keymap: Keymap,
    /// Whether datasets must not be changed. Exports are allowed.
    pub read_only: bool,
    /// Warnings about the settings, shown at start.
    pub warnings: Vec<String>,
    pub download_dir: SafeText,
    pub reopen_command: ReopenCommand,
    /// What `~/` expands to.
    pub home_dir: Option<PathBuf>,
    pub started_at: Timestamp,
    pub size: (u16, u16),
    /// How pictures are drawn until the terminal's capabilities are known.
    pub protocol: Protocol,
    pub theme: ThemeChoice,
    pub tile_size: TileSize,
    pub capture_mouse: bool,
    pub polling: PollingIntervals,
    pub notify: Vec<NotificationMethod>,
}

/// The command that opens a deployment again.
#[derive(Clone, Debug)]
pub enum ReopenCommand {
    /// The deployment ends with it, as that of `tessera open`.
    Whole(ShellCommand),
    /// A subcommand can follow it, such as `search`.
    Prefix(ShellCommand),
}

impl Default for ReopenCommand {
    fn default() -> Self {
        Self::Whole("tessera".into())
    }
}

impl Setup {
    pub fn new(deployment_name: SafeText, keymap: Keymap) -> Self {
        Self {
            presentation: Presentation::default(),
            deployment_name,
            profile: None,
            login: None,
            profiles: Vec::new(),
            deployment: DeploymentKind::Hosted,
            initial_dataset: None,
            initial_pane: None,
            initial_view: None,
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
            read_only: false,
            warnings: Vec::new(),
            download_dir: SafeText::file_name("."),
            reopen_command: ReopenCommand::default(),
            home_dir: None,
            started_at: Timestamp::ZERO,
            size: (80, 24),
            protocol: Protocol::HalfBlock,
            theme: ThemeChoice::Auto,
            tile_size: TileSize::default(),
            capture_mouse: true,
            polling: PollingIntervals::default(),
            notify: NotificationMethod::ALL.to_vec(),
        }
    }
}
