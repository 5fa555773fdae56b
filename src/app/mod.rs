//! The core: all state, with one entry (`update`) and one exit (`Effect`s).
//!
//! The core is pure and synchronous: the same state and event give the same state and effects.
//! Time, the size of the screen, responses and keys enter as events. Nothing here knows about a
//! terminal, a network or a clock. `reads` schedules reads, and actions send writes.

mod actions;
pub mod areas;
pub mod availability;
pub mod basket;
mod copy;
mod event;
mod fuzzy;
mod input;
pub mod jobs;
mod login;
mod navigation;
mod notifications;
mod outbox;
pub mod overlay;
pub mod pane;
pub mod query;
mod reads;
mod responses;
pub mod results_header;
mod screen;
mod search;
mod service_data;
mod session;
mod setup;
pub(crate) mod suggested_actions;
pub mod tile_grid;
mod update;
pub mod view;
pub mod viewer;
pub mod welcome;

pub use crate::{
    job::{Job, JobHistory, JobState, Transition},
    remote::{Remote, Uptime},
};
pub use basket::Baskets;
pub use event::{Event, Mouse, MouseKind};
pub use jobs::{Activity, JobAlert, Jobs};
pub use login::LoginState;
pub use notifications::{Level, Notification, Notifications, RequestLog};
pub use outbox::{Effect, Outbox, Tickets};
pub use overlay::{Dialog, Overlays};
pub use pane::{Datasets, Pane, Panes, QueryBuilder, Results};
pub use reads::Outage;
pub use screen::Screen;
pub use search::{Combination, RelaxedSearch};
pub use service_data::{PictureCache, PictureResult, ServiceData};
pub use setup::{LoginSetup, Presentation, ReopenCommand, Setup};
pub use view::{
    Computed, PageCache, QueryImage, RecentImages, SearchHistory, Tab, Tabs, Tile, View,
    detail_picture_view, full_size_link,
};
pub use viewer::Viewer;

use input::InputState;
use responses::LoadedState;
use session::SessionState;
use tessera_model::{SafeText, Timestamp};

use crate::input::Chord;

/// The core. Each field is a part that owns its state.
#[derive(Debug)]
pub struct App {
    setup: Setup,
    outbox: Outbox,
    screen: Screen,
    panes: Panes,
    input: InputState,
    service_data: ServiceData,
    log: RequestLog,
    login: LoginState,
    overlays: Overlays,
    /// The picture at full size, which replaces the panes.
    viewer: Option<Viewer>,
    datasets: Datasets,
    results: Results,
    query: QueryBuilder,
    history: SearchHistory,
    jobs: Jobs,
    baskets: Baskets,
    session: SessionState,
}

/// Access to the parts for code that draws or reads them.
impl App {
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns the settings, so that tests can change them between two events.
    pub fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    /// The time of the last event.
    pub fn now(&self) -> Uptime {
        self.outbox.now
    }

    /// The time of day of the last event.
    pub fn clock(&self) -> Timestamp {
        self.outbox.clock()
    }

    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub fn tickets(&self) -> &Tickets {
        &self.outbox.tickets
    }

    pub fn notifications(&self) -> &Notifications {
        &self.outbox.notifications
    }

    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    pub fn panes(&self) -> &Panes {
        &self.panes
    }

    pub fn pending_keys(&self) -> &[Chord] {
        &self.input.pending_keys
    }

    pub fn jump_mode(&self) -> bool {
        self.input.jump_mode
    }

    pub fn hover(&self) -> Option<&SafeText> {
        self.input.hover.as_ref()
    }

    pub fn service_data(&self) -> &ServiceData {
        &self.service_data
    }

    pub fn log(&self) -> &RequestLog {
        &self.log
    }

    pub fn login(&self) -> &LoginState {
        &self.login
    }

    pub fn overlays(&self) -> &Overlays {
        &self.overlays
    }

    pub fn overlay(&self) -> Option<&dyn Dialog> {
        self.overlays.current()
    }

    /// Returns the open dialog, if it is of this type.
    pub fn dialog<D: Dialog>(&self) -> Option<&D> {
        self.overlays.dialog()
    }

    pub fn viewer(&self) -> Option<&Viewer> {
        self.viewer.as_ref()
    }

    pub fn datasets(&self) -> &Datasets {
        &self.datasets
    }

    pub fn results(&self) -> &Results {
        &self.results
    }

    pub fn query(&self) -> &QueryBuilder {
        &self.query
    }

    pub fn history(&self) -> &SearchHistory {
        &self.history
    }

    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub fn baskets(&self) -> &Baskets {
        &self.baskets
    }
}
