//! Reads and edits the settings, which come from several layers. `assets/config.toml` contains and documents the
//! defaults. The keys that call actions, and the user's own commands, are settings, too.

pub mod custom_command;
pub mod edit;
pub mod input;
pub mod key;
pub mod layers;
mod paths;
pub mod profile;
mod settings;
pub mod settings_file;
pub mod tables;
mod terminal_alerts;

pub use key::ThemeChoice;
pub use layers::{Layers, Sources};
pub use paths::{
    UNKNOWN_CONFIG_FILE, UNKNOWN_HOME, config_dir, expand_home, file_actions_dir, keymap_file,
    load_keymap, local_data_dir, local_state_dir, models_dir, recent_file, sample_state_dir,
    state_dir, state_dirs, state_root_dir, terminal_graphics_file, themes_dir, thumbnails_dir,
    user_config_file,
};
pub use profile::{
    DeploymentConfig, DeploymentKind, Destination, Profile, ProfileOptions, is_storage_uri,
};
pub use settings::{
    ExportDefaults, GraphicsChoice, NotificationMethod, SearchDefaults, Settings, TileLayout,
    TileSize,
};
pub use settings_file::{ConfigError, SettingOrigin};
pub use terminal_alerts::{DesktopProtocol, shows_progress};
pub use tessera_model::text_enum;

/// The JSON Schema of the settings, which is generated from their table and their comments.
pub const SETTINGS_SCHEMA: &str = include_str!("../../../assets/config.schema.json");

const DEFAULT_CONFIG: &str = include_str!("../../../assets/config.toml");
