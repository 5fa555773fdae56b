//! `App::update`: the flow of one event through the core.

use super::{
    App, Areas, Baskets, Datasets, Event, InputState, Jobs, Level, LoginState, Notifications,
    Outbox, Overlays, Pane, Panes, Presentation, QueryBuilder, RequestLog, Results, Screen,
    SearchHistory, Session, Setup, Store, TileGrid, Uptime, session::picked_actions,
};
use crate::{app::Effect, input::KeyContext};
use tessera_model::Timestamp;

impl App {
    pub fn new(setup: Setup) -> Self {
        Self {
            outbox: Outbox::new(Notifications::of_warnings(&setup.warnings)),
            screen: Screen::new(&setup),
            panes: Panes::new(&setup),
            input: InputState::default(),
            store: Store { pinned: setup.pinned.iter().copied().collect(), ..Store::default() },
            log: RequestLog::default(),
            login: LoginState {
                key: setup.login.as_ref().map(|login| login.key.clone()),
                ..LoginState::default()
            },
            overlays: Overlays::new(picked_actions(setup.session.as_ref())),
            viewer: None,
            datasets: Datasets::default(),
            results: Results::default(),
            query: QueryBuilder::default(),
            history: SearchHistory::default(),
            jobs: Jobs::default(),
            baskets: Baskets::default(),
            session: Session::new(setup.session.clone().unwrap_or_default()),
            setup,
        }
    }

    #[must_use]
    pub fn update(&mut self, now: Uptime, event: Event) -> Vec<Effect> {
        self.outbox.now = now;
        self.handle_event(event);
        self.hold_layout();
        self.outbox.notifications.remove_expired(now);
        self.track_jobs();
        self.apply_typed_filter();
        self.restore_cursor();
        self.save_history();
        self.save_session();
        self.continue_playback();
        self.load_missing();
        self.outbox.take_effects()
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Key(chord) => self.handle_key(chord),
            Event::Action(action) => self.perform(action),
            Event::Item(index) => self.go_to_item(index),
            Event::Mouse(mouse) => {
                self.input.hover = None;
                self.handle_mouse(mouse);
            }
            Event::Hover(text) => self.input.hover = text,
            Event::Paste(text) => self.paste(&text),
            Event::Resize(columns, rows) => self.screen.size = (columns, rows),
            Event::Terminal(protocol, cell) => {
                (self.screen.protocol, self.screen.cell_size) = (protocol, cell);
            }
            Event::SixelSide(side) => self.screen.sixel_side = side,
            Event::WindowFocus(attended) => self.screen.window_focused = attended,
            // The only place where stale responses are dropped.
            Event::Response(response) if self.outbox.tickets.close(&response.ticket) => {
                self.observe_login(&response.ticket.lane, &response.result);
                self.handle_response(response.ticket.lane, response.result);
            }
            Event::Progress(progress) if self.outbox.tickets.is_current(&progress.ticket) => {
                self.handle_progress(&progress);
            }
            Event::Exchange(exchange) => self.log.add(self.outbox.now, exchange),
            Event::TokenIssued(expires_at) if self.login.key.is_some() => {
                self.login.token_expires_at = Some(expires_at);
            }
            Event::Warning(sentence) => self.outbox.notify(Level::Warning, sentence.as_str()),
            Event::PixelsUnconfirmed if !self.overlays.is_open() => self.open_graphics_check(),
            Event::TerminalTaskDone(result) => {
                result.unwrap_or_else(|failure| self.outbox.notify_failure(&failure));
                // Another program has used the screen, or the picture protocol has changed.
                self.outbox.push(Effect::Redraw);
            }
            Event::Edited(text) => self.editor_closed(text),
            Event::Response(_)
            | Event::Progress(_)
            | Event::TokenIssued(_)
            | Event::PixelsUnconfirmed
            | Event::Wake => {}
        }
    }

    /// Whether the state is presented as text, without a drawing.
    pub fn is_text(&self) -> bool {
        self.setup.presentation == Presentation::Text
    }

    /// The time of day of the last event.
    pub fn clock(&self) -> Timestamp {
        self.setup.started_at + self.outbox.now
    }

    pub fn areas(&self) -> Areas {
        Areas::new(self)
    }

    pub fn grid(&self) -> Option<TileGrid> {
        self.areas().results.map(|area| TileGrid::new(self, area))
    }

    /// The contexts of the key bindings, innermost first.
    pub fn contexts(&self) -> [KeyContext; 2] {
        let inner = match self.panes.focus {
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
}
