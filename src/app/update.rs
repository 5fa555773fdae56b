//! `App::update`: the flow of one event through the core.

use super::{
    App, Areas, Baskets, Effect, Event, Jobs, Level, LoginState, Notifications, Overlays, Pane,
    Presentation, RecentImages, RequestLog, Setup, Store, Tickets, TileGrid, areas, pane, view,
};
use crate::{
    app::{
        Uptime,
        session::{initial_tile_size, picked_actions},
    },
    input::{Chord, KeyContext},
    message::{Lane, Request},
};
use tessera_model::{Failure, Timestamp};
use tessera_picture::fit::DEFAULT_SIXEL_SIDE;

impl App {
    pub fn new(setup: Setup) -> Self {
        Self {
            now: Uptime::ZERO,
            window_focused: true,
            size: setup.size,
            protocol: setup.protocol,
            cell_size: (10, 20),
            sixel_side: DEFAULT_SIXEL_SIDE,
            theme: setup.theme.clone(),
            store: Store { pinned: setup.pinned.iter().copied().collect(), ..Store::default() },
            recent_images: RecentImages::default(),
            tickets: Tickets::default(),
            notifications: Notifications::of_warnings(&setup.warnings),
            log: RequestLog::default(),
            login: LoginState {
                key: setup.login.as_ref().map(|login| login.key.clone()),
                ..LoginState::default()
            },
            focus: Pane::Datasets,
            zoomed: false,
            tile_size: initial_tile_size(setup.session.as_ref(), setup.tile_size),
            side_width: 0,
            overlays: Overlays::new(picked_actions(setup.session.as_ref())),
            contents_before_overlay: None,
            viewer: None,
            datasets: pane::Datasets::default(),
            results: pane::Results::default(),
            query: pane::QueryBuilder::default(),
            history: view::SearchHistory::default(),
            jobs: Jobs::default(),
            baskets: Baskets::default(),
            footer: true,
            mouse_captured: setup.capture_mouse,
            saved_session: setup.session.clone().unwrap_or_default(),
            session_saved_at: None,
            session_due: None,
            hover: None,
            auto_refresh: true,
            jump_mode: false,
            quit_warned_about: 0,
            pending_keys: Vec::new(),
            last_click: None,
            next_wake: None,
            effects: Vec::new(),
            setup,
        }
    }

    #[must_use]
    pub fn update(&mut self, now: Uptime, event: Event) -> Vec<Effect> {
        self.now = now;
        self.handle_event(event);
        self.hold_layout();
        self.notifications.remove_expired(now);
        self.track_jobs();
        self.apply_typed_filter();
        self.restore_cursor();
        self.save_history();
        self.save_session();
        self.continue_playback();
        self.load_missing();
        std::mem::take(&mut self.effects)
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Key(chord) => self.handle_key(chord),
            Event::Action(action) => self.perform(action),
            Event::Item(index) => self.go_to_item(index),
            Event::Mouse(mouse) => {
                self.hover = None;
                self.handle_mouse(mouse);
            }
            Event::Hover(text) => self.hover = text,
            Event::Paste(text) => self.paste(&text),
            Event::Resize(columns, rows) => self.size = (columns, rows),
            Event::Terminal(protocol, cell) => (self.protocol, self.cell_size) = (protocol, cell),
            Event::SixelSide(side) => self.sixel_side = side,
            Event::WindowFocus(attended) => self.window_focused = attended,
            // The only place where stale responses are dropped.
            Event::Response(response) if self.tickets.close(&response.ticket) => {
                self.observe_login(&response.ticket.lane, &response.result);
                self.handle_response(response.ticket.lane, response.result);
            }
            Event::Progress(progress) if self.tickets.is_current(&progress.ticket) => {
                self.handle_progress(&progress);
            }
            Event::Exchange(exchange) => self.log.add(self.now, exchange),
            Event::TokenIssued(expires_at) if self.login.key.is_some() => {
                self.login.token_expires_at = Some(expires_at);
            }
            Event::Warning(sentence) => self.notify(Level::Warning, sentence.as_str()),
            Event::PixelsUnconfirmed if !self.overlays.is_open() => self.open_graphics_check(),
            Event::TerminalTaskDone(result) => {
                result.unwrap_or_else(|failure| self.notify_failure(&failure));
                // Another program has used the screen, or the picture protocol has changed.
                self.effects.push(Effect::Redraw);
            }
            Event::Edited(text) => self.editor_closed(text),
            Event::Response(_)
            | Event::Progress(_)
            | Event::TokenIssued(_)
            | Event::PixelsUnconfirmed
            | Event::Wake => {}
        }
    }

    pub(super) fn send(&mut self, lane: Lane, request: Request) {
        self.effects.push(Effect::Send(self.tickets.open(lane, self.now), request));
    }

    pub(super) fn cancel(&mut self, lane: Lane) {
        if self.tickets.cancel(&lane) {
            self.effects.push(Effect::Cancel(lane));
        }
    }

    pub(super) fn notify(&mut self, level: Level, text: impl AsRef<str>) {
        self.notifications.push(self.now, level, text);
    }

    pub(super) fn notify_failure(&mut self, failure: &Failure) {
        self.notify(Level::Error, failure.to_string());
    }

    /// Whether the state is presented as text, without a drawing.
    pub fn is_text(&self) -> bool {
        self.setup.presentation == Presentation::Text
    }

    /// The time of day of the last event.
    pub fn clock(&self) -> Timestamp {
        self.setup.started_at + self.now
    }

    pub fn areas(&self) -> Areas {
        Areas::new(self)
    }

    pub fn grid(&self) -> Option<TileGrid> {
        self.areas().results.map(|area| TileGrid::new(self, area))
    }

    pub fn is_too_small(&self) -> bool {
        self.size.0 < areas::MIN_SCREEN.0 || self.size.1 < areas::MIN_SCREEN.1
    }

    /// The contexts of the key bindings, innermost first.
    pub fn contexts(&self) -> [KeyContext; 2] {
        let inner = match self.focus {
            _ if self.viewer.is_some() => KeyContext::Viewer,
            Pane::Datasets => KeyContext::Datasets,
            Pane::Results => KeyContext::Results,
            Pane::Detail => KeyContext::Detail,
            Pane::Query => KeyContext::Query,
            Pane::Jobs => KeyContext::Jobs,
            Pane::Basket => KeyContext::Basket,
        };
        [inner, KeyContext::Everywhere]
    }

    pub fn pending_keys(&self) -> &[Chord] {
        &self.pending_keys
    }
}
