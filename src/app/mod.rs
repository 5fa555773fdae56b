//! The core: all state, with one entry (`update`) and one exit (`Effect`s).
//!
//! Pure and synchronous: the same state and event give the same state and effects. Time, the size
//! of the screen, responses and keys enter as events; nothing here knows a terminal, a network or a
//! clock. `reads` schedules reads, actions send writes.

mod actions;
mod activity;
pub mod areas;
pub mod availability;
pub mod basket;
mod collage;
mod copy;
mod cursor;
pub mod dataset_history;
mod dataset_list;
pub mod detail_layout;
mod display_options;
mod effect;
mod event;
mod fuzzy;
pub mod jobs;
mod jump;
mod keys;
mod log;
mod login;
mod mouse;
mod navigation;
mod notifications;
mod outage;
pub mod overlay;
pub mod pane;
pub mod query;
mod reads;
mod remote;
mod responses;
mod results_notice;
pub mod score_legend;
mod selected;
mod session;
mod setup;
mod store;
pub(crate) mod suggested_actions;
mod tickets;
mod tile_arrangement;
pub mod tile_grid;
mod update;
pub mod view;
pub mod viewer;
pub mod welcome;

pub use activity::{Activity, JobAlert};
pub use basket::Baskets;
pub use effect::Effect;
pub use event::{Event, Mouse, MouseKind, Uptime};
pub use jobs::{Job, JobHistory, JobState, Jobs, Transition};
pub use log::RequestLog;
pub use login::LoginState;
pub use notifications::{Level, Notification, Notifications};
pub use outage::Outage;
pub use overlay::{Dialog, Overlays};
pub use pane::Pane;
pub use remote::Remote;
use responses::LoadedState;
pub use setup::{LoginSetup, Presentation, ReopenCommand, Setup};
pub use store::{PictureCache, PictureResult, Store};
pub use tickets::Tickets;
pub use view::{
    Combination, Computed, QueryImage, RecentImages, Tab, Tabs, Tile, View, detail_picture_view,
    full_size_link,
};
pub use viewer::Viewer;

use areas::Areas;
use tile_grid::TileGrid;

use crate::{
    config::{ThemeChoice, TileSize},
    input::Chord,
};
use tessera_model::{SafeText, SavedSession};
use tessera_picture::Protocol;

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that stands alone")]
pub struct App {
    pub setup: Setup,
    /// The time of the last event.
    pub now: Uptime,
    /// Columns, rows.
    pub size: (u16, u16),
    pub protocol: Protocol,
    /// Size of a cell in pixels.
    pub cell_size: (u16, u16),
    /// The largest side in pixels of a sixel picture that the terminal draws.
    pub sixel_side: u16,
    /// Whether the terminal window has the focus, as far as the terminal reports it.
    pub window_focused: bool,
    pub theme: ThemeChoice,
    pub store: Store,
    pub tickets: Tickets,
    pub recent_images: RecentImages,
    pub notifications: Notifications,
    pub log: RequestLog,
    pub login: LoginState,
    pub focus: Pane,
    pub zoomed: bool,
    pub tile_size: TileSize,
    /// Steps by which the panes beside the results are wider (or narrower) than usual.
    pub side_width: i16,
    overlays: Overlays,
    /// What the panes had to show when the overlay was opened, so that they keep their sizes.
    contents_before_overlay: Option<areas::PaneContents>,
    /// The picture at full size, in place of the panes.
    pub viewer: Option<Viewer>,
    pub datasets: pane::Datasets,
    pub results: pane::Results,
    pub query: pane::QueryBuilder,
    pub history: view::SearchHistory,
    pub jobs: Jobs,
    pub baskets: Baskets,
    pub footer: bool,
    mouse_captured: bool,
    saved_session: SavedSession,
    session_saved_at: Option<Uptime>,
    /// When the session is saved, if that was put off.
    session_due: Option<Uptime>,
    pub auto_refresh: bool,
    /// Whether the panes show jump labels, and the next key jumps.
    pub jump_mode: bool,
    /// How many unsent additions the user quits nevertheless.
    quit_warned_about: usize,
    pending_keys: Vec<Chord>,
    /// The full text of what is under the mouse, as far as the screen cuts or abbreviates it.
    pub hover: Option<SafeText>,
    last_click: Option<(Uptime, Mouse)>,
    next_wake: Option<Uptime>,
    /// What the runtime has to do after this event; `update` returns and clears it.
    effects: Vec<Effect>,
}

impl App {
    pub fn overlays(&self) -> &Overlays {
        &self.overlays
    }

    pub fn overlay(&self) -> Option<&dyn Dialog> {
        self.overlays.current()
    }

    /// The open dialog, if it is one of this type.
    pub fn dialog<D: Dialog>(&self) -> Option<&D> {
        self.overlays.dialog()
    }
}
