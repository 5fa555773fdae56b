//! What is fixed when the program starts: everything the core is told by settings, command line
//! and terminal.

use std::path::PathBuf;

use crate::{
    app::Pane,
    config::{ExportDefaults, NotificationMethod, Profile, SearchDefaults, ThemeChoice, TileSize},
    input::Keymap,
};
use tessera_model::{
    DatasetId, EntityType, ExportFormat, Granularity, SafeText, Timestamp,
    polling::PollingIntervals,
};
use tessera_picture::Protocol;

/// What is fixed when the program starts.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The deployment in a word or two, for the header: `local`, `lab.example`.
    pub deployment_name: SafeText,
    /// The profile that is open, if it is one.
    pub profile: Option<String>,
    /// The profiles that can be opened.
    pub profiles: Vec<Profile>,
    /// Whether the deployment has no login and a pipeline that adds media by path.
    pub on_premises: bool,
    /// The dataset that is opened first, by id or name; else the first one of the list.
    pub initial_dataset: Option<String>,
    /// The pane that takes the keys first, when a dataset is open.
    pub initial_pane: Option<Pane>,
    /// The saved view that is opened first.
    pub initial_view: Option<SafeText>,
    /// Datasets that the service does not list.
    pub pinned: Vec<DatasetId>,
    /// What a dataset opens with.
    pub search_defaults: SearchDefaults,
    /// What the export form offers.
    pub export_defaults: ExportDefaults,
    /// The bindings.
    pub keymap: Keymap,
    /// Whether datasets must stay as they are. An export changes none.
    pub read_only: bool,
    /// What a person should know at once, of their settings.
    pub warnings: Vec<String>,
    /// Folder that downloads go to unless another is typed.
    pub download_dir: SafeText,
    /// The command that opens this deployment again.
    pub reopen_command: String,
    /// What `~/` means.
    pub home_dir: Option<PathBuf>,
    /// The time of day when the program starts.
    pub started_at: Timestamp,
    /// Size of the screen (columns, rows).
    pub size: (u16, u16),
    /// How pictures are drawn until the terminal has answered.
    pub protocol: Protocol,
    /// The theme that the settings ask for.
    pub theme: ThemeChoice,
    /// How large the tiles are at first.
    pub tile_size: TileSize,
    /// Whether the mouse is ours at first.
    pub capture_mouse: bool,
    /// How often is asked for what changes by itself.
    pub cadence: PollingIntervals,
    /// How the end of a job is told.
    pub notify: Vec<NotificationMethod>,
}

impl Setup {
    /// What a program starts with that knows nothing yet.
    #[must_use]
    pub fn new(deployment_name: SafeText, keymap: Keymap) -> Self {
        Self {
            deployment_name,
            profile: None,
            profiles: Vec::new(),
            on_premises: false,
            initial_dataset: None,
            initial_pane: None,
            initial_view: None,
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
            reopen_command: "tessera".to_owned(),
            home_dir: None,
            started_at: Timestamp::ZERO,
            size: (80, 24),
            protocol: Protocol::HalfBlock,
            theme: ThemeChoice::Auto,
            tile_size: TileSize::default(),
            capture_mouse: true,
            cadence: PollingIntervals::default(),
            notify: NotificationMethod::ALL.to_vec(),
        }
    }
}
