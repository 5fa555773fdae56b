//! Implements `App::update`, the flow of one event through the core. Come here to see what happens
//! after every event.

use tessera_config::input::KeyContext;
use tessera_model::FailureKind;

use crate::app::prelude::*;
use crate::{
    app::{
        Baskets, Datasets, Effect, Event, InputState, Jobs, LoginState, ModelOffer, Overlays,
        Panes, QueryBuilder, RequestLog, Screen, SearchHistory, ServiceData, SessionState, Tagging,
        jobs::responses::track_jobs,
        outage,
        overlay::{graphics_check::GraphicsCheck, sort_filter::FilterInput},
        session::current_session,
        tagging::with_tag_name,
    },
    message::{Payload, Response, WorkerEvent},
};

impl App {
    pub fn new(setup: Setup) -> Self {
        let session = setup.session.clone().unwrap_or_default();
        Self {
            outbox: Outbox::new(&setup),
            screen: Screen::new(&setup),
            panes: Panes::new(&setup),
            input: InputState::default(),
            service_data: ServiceData {
                pinned: setup.pinned.iter().copied().collect(),
                ..ServiceData::default()
            },
            log: RequestLog::default(),
            login: LoginState {
                key: setup.login.as_ref().map(|login| login.key.clone()),
                ..LoginState::default()
            },
            overlays: Overlays::new(session.picked_actions.clone()),
            viewer: None,
            datasets: Datasets::default(),
            results: Results::default(),
            query: QueryBuilder::default(),
            history: SearchHistory::default(),
            jobs: Jobs::default(),
            model_offer: ModelOffer::default(),
            baskets: Baskets::default(),
            tagging: Tagging::default(),
            session: SessionState::new(session),
            setup,
        }
    }

    #[must_use]
    pub fn update(&mut self, now: Uptime, event: Event) -> Vec<Effect> {
        self.outbox.now = now;
        let showed_open_cluster = self.shows_open_cluster();
        self.handle_event(event);
        if !showed_open_cluster && self.shows_open_cluster() {
            self.results.select_cluster_at_cursor();
        }
        self.open_requested_review();
        self.hold_layout();
        self.outbox.notifications.remove_expired(now);
        track_jobs(self);
        FilterInput::apply_typed(self);
        self.restore_cursor();
        self.baskets.drop_lost_range(&self.results);
        self.history.save(&mut self.outbox);
        if let Some(session) = current_session(self) {
            self.session.save(session, &mut self.outbox);
        }
        self.continue_playback();
        self.load_missing();
        self.outbox.take_effects()
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Key(chord) => self.handle_key(chord),
            Event::LayoutKey { typed, latin } => {
                let chord = if self.takes_key(typed) { typed } else { latin };
                self.handle_key(chord);
            }
            Event::Action(action) => self.perform(action),
            Event::Item(index) => self.go_to_item(index),
            Event::Mouse(mouse) => {
                self.input.hover = None;
                self.handle_mouse(mouse);
            }
            Event::Hover(text) => self.input.hover = text,
            Event::Paste(text) => self.paste(&text),
            Event::Resize(columns, rows) => self.change_screen(|it| it.size = (columns, rows)),
            Event::Terminal(protocol, cell) => {
                self.change_screen(|it| (it.protocol, it.cell_size) = (protocol, cell));
            }
            Event::SixelSide(side) => self.screen.sixel_side = side,
            Event::WindowFocus(attended) => self.screen.window_focused = attended,
            Event::Worker(event) => self.handle_worker_event(event),
            Event::PixelsUnconfirmed if !self.overlays.is_open() => GraphicsCheck::open(self),
            Event::TerminalTaskDone(result) => {
                result.unwrap_or_else(|failure| self.outbox.notify_failure(&failure));
                // Another program has used the screen, or the graphics protocol has changed.
                self.outbox.push(Effect::Redraw);
            }
            Event::Copied(outcome) => self.outbox.copied(&outcome),
            Event::Edited(text) => self.query.editor_closed(text, &self.results, &mut self.outbox),
            Event::PixelsUnconfirmed | Event::Wake => {}
        }
    }

    fn handle_worker_event(&mut self, event: WorkerEvent) {
        match event {
            // This is the only place where stale responses are dropped.
            WorkerEvent::Response(Response { ticket, result }) => {
                if self.outbox.tickets.close(&ticket) {
                    self.observe_login(&ticket.lane, &result);
                    let result = result.map_err(|failure| with_tag_name(self, failure));
                    self.follow_response(ticket.lane, result);
                }
            }
            WorkerEvent::Progress(progress) => {
                if self.outbox.tickets.is_current(&progress.ticket) {
                    self.handle_progress(&progress);
                }
            }
            WorkerEvent::Exchange(exchange) => self.log.add(self.outbox.now, exchange),
            WorkerEvent::TokenIssued(expires_at) => {
                if self.login.key.is_some() {
                    self.login.token_expires_at = Some(expires_at);
                }
            }
            WorkerEvent::Warning(sentence) => self.outbox.notify(Level::Warning, sentence.as_str()),
        }
    }

    /// Returns the contexts of the key bindings, innermost first.
    pub fn contexts(&self) -> [KeyContext; 2] {
        let inner = match self.panes.focus {
            _ if self.viewer.is_some() => KeyContext::Viewer,
            Pane::Results | Pane::Detail if self.tagging.is_on => KeyContext::Tagging,
            Pane::Datasets => KeyContext::Datasets,
            Pane::Results => KeyContext::Results,
            Pane::Detail => KeyContext::Detail,
            Pane::Query => KeyContext::Query,
            Pane::Jobs => KeyContext::Jobs,
            Pane::Basket => KeyContext::Basket,
        };
        [inner, KeyContext::Everywhere]
    }

    /// Handles a response. If the service cannot be reached, loading the datasets shows at once whether it is down. A
    /// success removes the reports of earlier failures of the same action.
    fn follow_response(&mut self, lane: Lane, result: Result<Payload, Failure>) {
        let is_unreachable = |failure: &Failure| failure.kind == FailureKind::Unreachable;
        if result.as_ref().is_err_and(is_unreachable) && outage(self).is_none() {
            self.service_data.datasets.invalidate();
        }
        let noted = Some(lane.clone()).filter(Lane::is_of_one_action);
        let (has_failed, count) = (result.is_err(), self.outbox.notifications.pushed());
        self.handle_response(lane, result);
        match noted {
            Some(lane) if has_failed => self.outbox.notifications.note_failure(&lane, count),
            Some(lane) => self.outbox.notifications.remove_failures(&lane),
            None => {}
        }
    }

    /// Returns the labels of the keys that perform an action here.
    pub fn keys_of(&self, action: Action) -> Vec<String> {
        self.setup.typed_keys(self.setup.keymap.active_keys_of(&self.contexts(), action))
    }
}
