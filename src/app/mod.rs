//! The core: all state, one door in (`update`), one door out (`Effect`s).
//!
//! Pure and synchronous: the same state and event give the same state and effects. Time, the
//! size of the screen, answers and keys come in as events; nothing here knows a terminal, a
//! network or a clock. Reads are asked for by `demand`, writes by actions.

mod act;
mod answer;
pub mod areas;
pub mod basket;
mod copy;
mod current;
mod demand;
mod effect;
mod event;
mod fresh;
mod fuzzy;
pub mod gate;
mod job;
mod jump;
mod keys;
mod log;
mod look;
mod mouse;
mod moving;
mod notice;
pub mod overlay;
pub mod pane;
pub mod query;
mod remote;
pub mod seen;
mod setup;
mod store;
mod tell;
mod tickets;
pub mod view;
mod waiting;
pub mod welcome;

pub use effect::Effect;
pub use event::{Event, Moment, Mouse, MouseKind};
pub use job::{Course, Job, Stage, Step, Timeline};
pub use log::Log;
pub use notice::{Level, Notice, Notices};
pub use overlay::Overlay;
pub use pane::Pane;
pub use remote::Remote;
pub use setup::Setup;
pub use store::{Picture, Store};
pub use tell::{Activity, Tell};
pub use tickets::Tickets;
pub use view::{
    Combination, Computed, QueryImage, Recent, Tab, Tabs, Tile, View, detail_sight, wanted_original,
};
pub use waiting::Outage;

use crate::{
    app::areas::{Areas, Grid},
    config::{ThemeChoice, TileSize},
    input::{Chord, Context},
    message::{Lane, Request},
};
use tessera_model::Stamp;
use tessera_picture::Protocol;

/// The state of the program.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that stands alone")]
pub struct App {
    /// What is fixed when the program starts.
    pub setup: Setup,
    /// The time of the last event.
    pub now: Moment,
    /// Size of the screen (columns, rows).
    pub size: (u16, u16),
    /// How pictures are drawn.
    pub protocol: Protocol,
    /// Size of a cell in pixels.
    pub cell: (u16, u16),
    /// Whether the window has the attention of the person, as far as the terminal tells.
    pub attended: bool,
    /// How everything looks.
    pub theme: ThemeChoice,
    /// What the service told us.
    pub store: Store,
    /// The answers that are awaited.
    pub tickets: Tickets,
    /// The pictures searched by in this run.
    pub recent: Recent,
    /// What just happened.
    pub notices: Notices,
    /// What went to the service, and what came of it.
    pub log: Log,
    /// The pane that takes the keys.
    pub focus: Pane,
    /// Whether it has the whole screen.
    pub zoomed: bool,
    /// How large the tiles are.
    pub tile: TileSize,
    /// Steps by which the panes beside the results are wider (or narrower) than usual.
    pub sides: i16,
    /// The layer on top of the panes.
    pub overlay: Option<Overlay>,
    /// State of the datasets pane.
    pub datasets: pane::Datasets,
    /// State of the results pane.
    pub results: pane::Results,
    /// State of the query pane.
    pub query: pane::Query,
    /// The searches of the past.
    pub history: view::History,
    /// State of the jobs pane.
    pub jobs: pane::Jobs,
    /// The selected row of the basket pane.
    pub basket_row: usize,
    /// Marking that takes more than one key.
    pub marking: basket::Marking,
    /// Whether the line of keys is shown.
    pub footer: bool,
    /// What was typed in the palette, newest first.
    typed_commands: Vec<String>,
    /// Whether the mouse is ours.
    mouse: bool,
    /// Whether the service is asked by itself how the datasets stand.
    pub watching: bool,
    /// Whether the parts of the screen show letters, and the next key jumps.
    pub jumping: bool,
    /// Whether the form on top waits until it is known how its dataset stands.
    pub held: bool,
    /// The beginning of a key sequence.
    keys: Vec<Chord>,
    last_click: Option<(Moment, Mouse)>,
    wake: Option<Moment>,
}

impl App {
    /// The state before anything has happened.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let mut notices = Notices::default();
        for warning in &setup.warnings {
            notices.add(Moment::ZERO, Level::Warning, warning);
        }
        Self {
            now: Moment::ZERO,
            attended: true,
            size: setup.size,
            protocol: setup.protocol,
            cell: (10, 20),
            theme: setup.theme.clone(),
            store: Store { pinned: setup.pinned.iter().copied().collect(), ..Store::default() },
            recent: Recent::default(),
            tickets: Tickets::default(),
            notices,
            log: Log::default(),
            focus: Pane::Datasets,
            zoomed: false,
            tile: setup.tile,
            sides: 0,
            overlay: None,
            datasets: pane::Datasets::default(),
            results: pane::Results::default(),
            query: pane::Query::default(),
            history: view::History::default(),
            jobs: pane::Jobs::default(),
            basket_row: 0,
            marking: basket::Marking::default(),
            footer: true,
            typed_commands: Vec::new(),
            mouse: setup.mouse,
            watching: true,
            jumping: false,
            held: false,
            keys: Vec::new(),
            last_click: None,
            wake: None,
            setup,
        }
    }

    /// Takes one event in and gives back what is to be done outside.
    #[must_use]
    pub fn update(&mut self, now: Moment, event: Event) -> Vec<Effect> {
        self.now = now;
        let mut effects = Vec::new();
        match event {
            Event::Key(chord) => self.key(chord, &mut effects),
            Event::Mouse(mouse) => self.mouse(mouse, &mut effects),
            Event::Paste(text) => self.paste(&text),
            Event::Resize(columns, rows) => self.size = (columns, rows),
            Event::Terminal(protocol, cell) => (self.protocol, self.cell) = (protocol, cell),
            Event::Focused(attended) => self.attended = attended,
            // The one place where stale answers are dropped.
            Event::Response(response) if self.tickets.close(&response.ticket) => {
                self.answer(response.ticket.lane, response.result, &mut effects);
            }
            Event::Progress(progress) if self.tickets.is_current(&progress.ticket) => {
                self.progress(&progress);
            }
            Event::Exchange(exchange) => self.log.add(now, exchange),
            Event::Unproved if self.overlay.is_none() => self.test_pictures(),
            Event::Done(result) => self.done(result, &mut effects),
            Event::Edited(text) => self.edited(text, &mut effects),
            Event::Response(_) | Event::Progress(_) | Event::Unproved | Event::Wake => {}
        }
        self.notices.expire(now);
        self.settle(&mut effects);
        effects
    }

    /// The screen was somebody else's, or pictures are drawn in another way: it is drawn anew.
    fn done(&mut self, result: Result<(), tessera_model::Failure>, effects: &mut Vec<Effect>) {
        if let Err(failure) = result {
            self.notices.fail(self.now, &failure);
        }
        effects.push(Effect::Redraw);
    }

    /// Opens a ticket for a request and sends it.
    fn send(&mut self, lane: Lane, request: Request, effects: &mut Vec<Effect>) {
        effects.push(Effect::Send(self.tickets.open(lane, self.now), request));
    }

    /// The time of day of the last event.
    #[must_use]
    pub fn clock(&self) -> Stamp {
        self.setup.clock + self.now
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
        self.size.0 < areas::SMALLEST.0 || self.size.1 < areas::SMALLEST.1
    }

    /// The contexts whose bindings hold, innermost first.
    #[must_use]
    pub fn contexts(&self) -> [Context; 2] {
        let inner = match self.focus {
            Pane::Datasets => Context::Datasets,
            Pane::Results => Context::Results,
            Pane::Detail => Context::Detail,
            Pane::Query => Context::Query,
            Pane::Jobs => Context::Jobs,
            Pane::Basket => Context::Basket,
        };
        [inner, Context::Everywhere]
    }

    /// The keys pressed so far of a sequence that is not complete.
    #[must_use]
    pub fn pending_keys(&self) -> &[Chord] {
        &self.keys
    }
}
