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
mod copy;
pub mod dataset_history;
mod display_options;
mod effect;
mod event;
mod freshness_check;
mod fuzzy;
pub mod jobs;
mod jump;
mod keys;
mod log;
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
mod selected;
mod setup;
mod store;
mod tickets;
pub mod view;
pub mod welcome;

pub use activity::{Activity, JobAlert};
pub use effect::Effect;
pub use event::{Event, Mouse, MouseKind, Uptime};
pub use jobs::{Job, JobHistory, JobState, Jobs, Transition};
pub use log::RequestLog;
pub use notifications::{Level, Notification, Notifications};
pub use outage::Outage;
pub use overlay::Overlay;
pub use pane::Pane;
pub use remote::Remote;
pub use setup::Setup;
pub use store::{PictureResult, Store};
pub use tickets::Tickets;
pub use view::{
    Combination, Computed, QueryImage, RecentImages, Tab, Tabs, Tile, View, detail_picture_view,
    full_size_link,
};

use crate::{
    app::areas::{Areas, Grid},
    config::{ThemeChoice, TileSize},
    input::{Chord, KeyContext},
    message::{Lane, Request},
};
use tessera_model::Timestamp;
use tessera_picture::Protocol;

/// The state of the program.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that stands alone")]
pub struct App {
    /// What is fixed when the program starts.
    pub setup: Setup,
    /// The time of the last event.
    pub now: Uptime,
    /// Columns, rows.
    pub size: (u16, u16),
    pub protocol: Protocol,
    /// Size of a cell in pixels.
    pub cell_size: (u16, u16),
    /// Whether the terminal window has the focus, as far as the terminal reports it.
    pub window_focused: bool,
    pub theme: ThemeChoice,
    /// What the service has sent.
    pub store: Store,
    /// The requests that wait for a response.
    pub tickets: Tickets,
    /// The pictures searched by in this run.
    pub recent_images: RecentImages,
    pub notifications: Notifications,
    pub log: RequestLog,
    pub focus: Pane,
    /// Whether the focused pane has the whole screen.
    pub zoomed: bool,
    pub tile_size: TileSize,
    /// Steps by which the panes beside the results are wider (or narrower) than usual.
    pub side_width: i16,
    pub overlay: Option<Overlay>,
    /// State of the panes.
    pub datasets: pane::Datasets,
    pub results: pane::Results,
    pub query: pane::QueryBuilder,
    pub history: view::SearchHistory,
    pub jobs: Jobs,
    pub basket_cursor: usize,
    pub pending_selection: basket::PendingSelection,
    /// Whether the key hints are shown.
    pub footer: bool,
    /// What was typed in the palette, newest first.
    palette_history: Vec<String>,
    mouse_captured: bool,
    /// Whether the datasets are polled.
    pub auto_refresh: bool,
    /// Whether the panes show jump labels, and the next key jumps.
    pub jump_mode: bool,
    /// Whether the form on top waits for the status of its dataset.
    pub submit_pending: bool,
    /// The start of a key sequence.
    pending_keys: Vec<Chord>,
    last_click: Option<(Uptime, Mouse)>,
    next_wake: Option<Uptime>,
    /// What the runtime has to do after this event; `update` returns and clears it.
    effects: Vec<Effect>,
}

impl App {
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let mut notifications = Notifications::default();
        for warning in &setup.warnings {
            notifications.push(Uptime::ZERO, Level::Warning, warning);
        }
        Self {
            now: Uptime::ZERO,
            window_focused: true,
            size: setup.size,
            protocol: setup.protocol,
            cell_size: (10, 20),
            theme: setup.theme.clone(),
            store: Store { pinned: setup.pinned.iter().copied().collect(), ..Store::default() },
            recent_images: RecentImages::default(),
            tickets: Tickets::default(),
            notifications,
            log: RequestLog::default(),
            focus: Pane::Datasets,
            zoomed: false,
            tile_size: setup.tile_size,
            side_width: 0,
            overlay: None,
            datasets: pane::Datasets::default(),
            results: pane::Results::default(),
            query: pane::QueryBuilder::default(),
            history: view::SearchHistory::default(),
            jobs: Jobs::default(),
            basket_cursor: 0,
            pending_selection: basket::PendingSelection::default(),
            footer: true,
            palette_history: Vec::new(),
            mouse_captured: setup.capture_mouse,
            auto_refresh: true,
            jump_mode: false,
            submit_pending: false,
            pending_keys: Vec::new(),
            last_click: None,
            next_wake: None,
            effects: Vec::new(),
            setup,
        }
    }

    /// Handles an event and returns what the runtime has to do.
    #[must_use]
    pub fn update(&mut self, now: Uptime, event: Event) -> Vec<Effect> {
        self.now = now;
        match event {
            Event::Key(chord) => self.handle_key(chord),
            Event::Mouse(mouse) => self.handle_mouse(mouse),
            Event::Paste(text) => self.paste(&text),
            Event::Resize(columns, rows) => self.size = (columns, rows),
            Event::Terminal(protocol, cell) => (self.protocol, self.cell_size) = (protocol, cell),
            Event::WindowFocus(attended) => self.window_focused = attended,
            // The only place where stale responses are dropped.
            Event::Response(response) if self.tickets.close(&response.ticket) => {
                self.handle_response(response.ticket.lane, response.result);
            }
            Event::Progress(progress) if self.tickets.is_current(&progress.ticket) => {
                self.handle_progress(&progress);
            }
            Event::Exchange(exchange) => self.log.add(now, exchange),
            Event::PixelsUnconfirmed if self.overlay.is_none() => self.open_picture_test(),
            Event::TerminalTaskDone(result) => self.terminal_task_done(result),
            Event::Edited(text) => self.editor_closed(text),
            Event::Response(_) | Event::Progress(_) | Event::PixelsUnconfirmed | Event::Wake => {}
        }
        self.notifications.remove_expired(now);
        self.load_missing();
        std::mem::take(&mut self.effects)
    }

    /// Another program has used the screen, or the picture protocol has changed: redraws
    /// everything.
    fn terminal_task_done(&mut self, result: Result<(), tessera_model::Failure>) {
        if let Err(failure) = result {
            self.notify_failure(&failure);
        }
        self.effects.push(Effect::Redraw);
    }

    /// Opens a ticket for a request and sends it.
    fn send(&mut self, lane: Lane, request: Request) {
        self.effects.push(Effect::Send(self.tickets.open(lane, self.now), request));
    }

    fn notify(&mut self, level: Level, text: impl AsRef<str>) {
        self.notifications.push(self.now, level, text);
    }

    fn notify_failure(&mut self, failure: &tessera_model::Failure) {
        self.notifications.push_failure(self.now, failure);
    }

    /// The time of day of the last event.
    #[must_use]
    pub fn clock(&self) -> Timestamp {
        self.setup.started_at + self.now
    }

    #[must_use]
    pub fn areas(&self) -> Areas {
        Areas::new(self)
    }

    /// The grid of the results, if they are on screen.
    #[must_use]
    pub fn grid(&self) -> Option<Grid> {
        self.areas().results.map(|area| Grid::new(self, area))
    }

    #[must_use]
    pub fn is_too_small(&self) -> bool {
        self.size.0 < areas::MIN_SCREEN.0 || self.size.1 < areas::MIN_SCREEN.1
    }

    /// The contexts of the key bindings, innermost first.
    #[must_use]
    pub fn contexts(&self) -> [KeyContext; 2] {
        let inner = match self.focus {
            Pane::Datasets => KeyContext::Datasets,
            Pane::Results => KeyContext::Results,
            Pane::Detail => KeyContext::Detail,
            Pane::Query => KeyContext::Query,
            Pane::Jobs => KeyContext::Jobs,
            Pane::Basket => KeyContext::Basket,
        };
        [inner, KeyContext::Everywhere]
    }

    /// The keys of a sequence that is not complete.
    #[must_use]
    pub fn pending_keys(&self) -> &[Chord] {
        &self.pending_keys
    }
}
