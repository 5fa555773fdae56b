//! The core: all state, one door in (`update`), one door out (`Effect`s).
//!
//! Pure and synchronous: the same state and event give the same state and effects. Time, the
//! size of the screen, answers and keys come in as events; nothing here knows a terminal, a
//! network or a clock. Reads are asked for by `demand`, writes by actions.

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
    /// Size of the screen (columns, rows).
    pub size: (u16, u16),
    /// How pictures are drawn.
    pub protocol: Protocol,
    /// Size of a cell in pixels.
    pub cell_size: (u16, u16),
    /// Whether the window has the attention of the person, as far as the terminal tells.
    pub window_focused: bool,
    /// How everything looks.
    pub theme: ThemeChoice,
    /// What the service told us.
    pub store: Store,
    /// The answers that are awaited.
    pub tickets: Tickets,
    /// The pictures searched by in this run.
    pub recent_images: RecentImages,
    /// What just happened.
    pub notifications: Notifications,
    /// What went to the service, and what came of it.
    pub log: RequestLog,
    /// The pane that takes the keys.
    pub focus: Pane,
    /// Whether it has the whole screen.
    pub zoomed: bool,
    /// How large the tiles are.
    pub tile_size: TileSize,
    /// Steps by which the panes beside the results are wider (or narrower) than usual.
    pub side_width: i16,
    /// The layer on top of the panes.
    pub overlay: Option<Overlay>,
    /// State of the datasets pane.
    pub datasets: pane::Datasets,
    /// State of the results pane.
    pub results: pane::Results,
    /// State of the query pane.
    pub query: pane::QueryBuilder,
    /// The searches of the past.
    pub history: view::SearchHistory,
    pub jobs: Jobs,
    /// The selected row of the basket pane.
    pub basket_cursor: usize,
    /// Marking that takes more than one key.
    pub pending_selection: basket::PendingSelection,
    /// Whether the line of keys is shown.
    pub footer: bool,
    /// What was typed in the palette, newest first.
    palette_history: Vec<String>,
    /// Whether the mouse is ours.
    mouse_captured: bool,
    /// Whether the service is asked by itself how the datasets stand.
    pub auto_refresh: bool,
    /// Whether the parts of the screen show letters, and the next key jumps.
    pub jump_mode: bool,
    /// Whether the form on top waits until it is known how its dataset stands.
    pub submit_pending: bool,
    /// The beginning of a key sequence.
    pending_keys: Vec<Chord>,
    last_click: Option<(Uptime, Mouse)>,
    next_wake: Option<Uptime>,
    /// What the runtime has to do after this event; `update` returns and clears it.
    effects: Vec<Effect>,
}

impl App {
    /// The state before anything has happened.
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

    /// Takes one event in and gives back what is to be done outside.
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
            // The one place where stale answers are dropped.
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

    /// The screen was somebody else's, or pictures are drawn in another way: it is drawn anew.
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

    /// Shows a notification.
    fn notify(&mut self, level: Level, text: impl AsRef<str>) {
        self.notifications.push(self.now, level, text);
    }

    /// Shows a failure as an error.
    fn notify_failure(&mut self, failure: &tessera_model::Failure) {
        self.notifications.push_failure(self.now, failure);
    }

    /// The time of day of the last event.
    #[must_use]
    pub fn clock(&self) -> Timestamp {
        self.setup.started_at + self.now
    }

    /// Where everything is on the screen.
    #[must_use]
    pub fn areas(&self) -> Areas {
        Areas::new(self)
    }

    /// The grid of the results, if they are on screen.
    #[must_use]
    pub fn grid(&self) -> Option<Grid> {
        self.areas().results.map(|area| Grid::new(self, area))
    }

    /// Whether the screen is too small to show anything.
    #[must_use]
    pub fn is_too_small(&self) -> bool {
        self.size.0 < areas::MIN_SCREEN.0 || self.size.1 < areas::MIN_SCREEN.1
    }

    /// The contexts whose bindings hold, innermost first.
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

    /// The keys pressed so far of a sequence that is not complete.
    #[must_use]
    pub fn pending_keys(&self) -> &[Chord] {
        &self.pending_keys
    }
}
