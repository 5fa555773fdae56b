//! Layered settings; `assets/config.toml` contains and documents the defaults.

pub mod edit;
pub mod key;
mod key_file;
pub mod layers;
mod notify;
mod paths;
pub mod profile;
pub mod schema;
mod settings;
pub mod settings_file;
mod theme;
mod tile;

pub use key_file::load_keymap;
pub use layers::{Layers, Sources};
pub use notify::{DesktopProtocol, NotificationMethod};
pub use paths::{
    UNKNOWN_CONFIG_FILE, config_dir, expand_home, keymap_file, local_data_dir, models_dir,
    state_dir, state_dirs, terminal_graphics_file, themes_dir, thumbnails_dir, user_config_file,
};
pub use profile::{DeploymentConfig, DeploymentKind, Destination, Profile, ProfileOptions, is_storage_uri};
pub use settings::{ExportDefaults, GraphicsChoice, SearchDefaults, Settings};
pub use settings_file::SettingOrigin;
pub use theme::ThemeChoice;
pub use tile::TileSize;

const DEFAULT_CONFIG: &str = include_str!("../../assets/config.toml");
