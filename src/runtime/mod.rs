//! The imperative shell: one loop that waits for whatever comes first, takes it through the
//! core, and draws once when nothing more waits.
//!
//! The first frame is drawn before anything has answered: not the network, and not the terminal
//! either, which is asked what it can draw only afterwards.

mod editor;
pub mod frames;
pub mod fullsize;
mod input;
mod options;
pub mod probe;
mod session;
mod signals;
mod tell;
pub mod terminal;
pub mod trace;
mod verdicts;
pub mod welcome;

use std::{
    io,
    time::{Duration, Instant},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
pub use options::Options;
pub use session::Session;
pub use signals::{Received, watch as watch_signals};
use tokio::sync::mpsc;

use crate::{
    app::{App, Effect, Event, Setup},
    config::Destination,
    runtime::{input::Input, probe::Environment, signals::Signal, terminal::Screen},
    ui::{self, Layer, layer::Surface, theme::Themes},
    worker::{Reply, Worker},
};
use tessera_model::{Failure, FailureKind};
use tessera_picture::Protocol;

/// Frames caused by answers come at most this often; a key is answered at once.
const FRAME: Duration = Duration::from_millis(12);
/// Events taken before a frame is drawn, so that a flood of answers cannot starve the screen.
const BATCH: usize = 256;

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program ends with this exit code.
    Code(i32),
    /// Another deployment is to be opened.
    Switch(Destination),
}

/// Runs the program in the terminal until it ends.
///
/// # Errors
/// The terminal cannot be used.
pub async fn run(
    mut setup: Setup,
    options: Options,
    worker: (Worker, mpsc::UnboundedReceiver<Reply>),
    signals: &mut Received,
) -> io::Result<Ending> {
    let screen = Screen::take(options.mouse)?;
    setup.size = terminal::size()?;
    let environment = Environment::read();
    let surface = Surface { in_tmux: environment.in_tmux, colours: environment.colours() };
    let proved = options.graphics.or_else(|| verdicts::recall(&environment));
    // What was seen to fail is believed; what was seen to work, only while the terminal says it, too:
    // another one may go by the same name.
    let graphics = options.graphics.or(proved.filter(|seen| !draws_pixels(*seen)));
    let mut shell = Shell {
        session: Session::new(App::new(setup), worker).traced(options.trace),
        screen,
        layer: Layer::new(surface),
        themes: options.themes,
        start: Instant::now(),
        drawn: None,
        dirty: true,
        input: Input::new()?,
        signals,
        held: None,
        capabilities: None,
        proved,
    };
    if let Some(code) = shell.apply(Event::Wake).await? {
        return Ok(code);
    }
    shell.draw()?;
    // Only now: nothing must wait for the terminal, and nobody else writes while it is asked.
    shell.input.probe(environment, graphics);
    shell.run().await
}

/// Everything the loop owns.
struct Shell<'a> {
    session: Session,
    screen: Screen,
    layer: Layer,
    themes: Themes,
    start: Instant,
    /// When the last frame was drawn.
    drawn: Option<Instant>,
    /// Whether something has changed since.
    dirty: bool,
    input: Input,
    signals: &'a mut Received,
    /// A signal that came during the full-size view.
    held: Option<Signal>,
    capabilities: Option<probe::Capabilities>,
    /// How pictures are drawn as a person has said or seen it.
    proved: Option<Protocol>,
}

/// What the loop waited for.
#[expect(clippy::large_enum_variant, reason = "one at a time, and never kept")]
enum Woken {
    Signal(Option<Signal>),
    Input(Vec<Event>, Option<probe::Capabilities>),
    Reply(Option<Event>),
    Timer,
    Frame,
}

impl Shell<'_> {
    async fn run(mut self) -> io::Result<Ending> {
        loop {
            let code = match self.next().await {
                Woken::Signal(signal) => self.signal(signal).await?,
                Woken::Input(events, capabilities) => self.input(events, capabilities).await?,
                Woken::Reply(Some(event)) => self.replies(event).await?,
                // The worker lives as long as its handle, which is ours.
                Woken::Reply(None) => Some(Ending::Code(1)),
                Woken::Timer => {
                    self.session.woken();
                    self.apply(Event::Wake).await?
                }
                Woken::Frame => None,
            };
            if let Some(code) = code {
                return Ok(code);
            }
            let rested = self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME);
            if self.dirty && rested {
                self.draw()?;
            }
        }
    }

    /// Waits for whatever comes first. Signals before keys, keys before answers: a person must
    /// get through whatever the service sends.
    async fn next(&mut self) -> Woken {
        if let Some(signal) = self.held.take() {
            return Woken::Signal(Some(signal));
        }
        let timer = self.session.wake().map(|moment| self.start + moment);
        let frame = self.drawn.filter(|_| self.dirty).map(|drawn| drawn + FRAME);
        tokio::select! {
            biased;
            signal = self.signals.recv() => Woken::Signal(signal),
            (events, capabilities) = self.input.next() => Woken::Input(events, capabilities),
            reply = self.session.reply() => Woken::Reply(reply),
            () = at(timer) => Woken::Timer,
            () = at(frame) => Woken::Frame,
        }
    }

    async fn input(
        &mut self,
        events: Vec<Event>,
        capabilities: Option<probe::Capabilities>,
    ) -> io::Result<Option<Ending>> {
        if let Some(found) = capabilities {
            terminal::pictures_in_use(found.kitty, found.in_tmux);
            let surface = Surface { in_tmux: found.in_tmux, colours: found.colours };
            self.layer = Layer::new(surface);
            self.themes.auto = found.theme;
            let unproved = draws_pixels(found.protocol) && self.proved != Some(found.protocol);
            let event = Event::Terminal(found.protocol, found.cell);
            self.capabilities = Some(found);
            let unproved = unproved.then_some(Event::Unproved);
            for event in [Some(event), unproved].into_iter().flatten() {
                if let Some(code) = self.apply(event).await? {
                    return Ok(Some(code));
                }
            }
        }
        for event in events {
            if let Some(code) = self.apply(event).await? {
                return Ok(Some(code));
            }
        }
        // A key is answered at once, whatever the last frame was drawn for.
        self.draw()?;
        Ok(None)
    }

    async fn replies(&mut self, first: Event) -> io::Result<Option<Ending>> {
        let mut next = Some(first);
        for _ in 0..BATCH {
            let Some(event) = next else { break };
            if let Some(code) = self.apply(event).await? {
                return Ok(Some(code));
            }
            next = self.session.ready_reply();
        }
        Ok(None)
    }

    /// Takes one event through the core, and does what only a terminal can do. `Some` ends the
    /// program with that exit code.
    async fn apply(&mut self, event: Event) -> io::Result<Option<Ending>> {
        self.dirty = true;
        let mut effects = self.session.apply(self.start.elapsed(), event);
        while let Some(effect) = effects.pop() {
            match effect {
                Effect::Quit => return Ok(Some(Ending::Code(0))),
                Effect::Switch(choice) => return Ok(Some(Ending::Switch(choice))),
                Effect::Redraw => self.redraw()?,
                Effect::Tell(tell) => self.screen.tell(&tell)?,
                Effect::Suspend => self.suspend()?,
                Effect::Mouse(ours) => self.screen.set_mouse(ours)?,
                Effect::Copy(text) => self.copy(&text)?,
                Effect::Graphics(protocol) => {
                    let done = self.keep_verdict(protocol);
                    effects.extend(self.session.apply(self.start.elapsed(), Event::Done(done)));
                }
                Effect::FullSize(bytes) => {
                    let done = self.full_size(bytes).await?;
                    effects.extend(self.session.apply(self.start.elapsed(), Event::Done(done)));
                }
                Effect::Edit(text) => {
                    let edited = self.edit(text).await?;
                    effects.extend(self.session.apply(self.start.elapsed(), Event::Edited(edited)));
                }
                Effect::Send(..) | Effect::Cancel(_) | Effect::WakeAt(_) => {}
            }
        }
        Ok(None)
    }

    async fn signal(&mut self, signal: Option<Signal>) -> io::Result<Option<Ending>> {
        match signal {
            Some(Signal::End(code)) => return Ok(Some(Ending::Code(code))),
            Some(Signal::Suspend) => self.suspend()?,
            Some(Signal::Resume) => {
                self.screen.claim()?;
                return self.resized().await;
            }
            Some(Signal::Resized) => return self.resized().await,
            None => {}
        }
        Ok(None)
    }

    /// Gives the terminal back and stops; takes it again when it goes on.
    fn suspend(&mut self) -> io::Result<()> {
        self.forget_pictures()?;
        terminal::restore();
        // The input reader stops with the process, and goes on with it.
        signals::stop()?;
        // At once, so that no frame is drawn to a terminal that is not ours; what else may have
        // changed meanwhile is looked at in `Signal::Resume`.
        self.screen.claim()
    }

    /// Draws one picture as large as it goes, and waits for a key. A signal ends the view, too, and
    /// is looked at after it.
    async fn full_size(&mut self, bytes: std::sync::Arc<[u8]>) -> io::Result<Result<(), Failure>> {
        let Some(capabilities) = self.capabilities.clone() else {
            let sentence = "the terminal has not said yet what it can draw";
            return Ok(Err(Failure::new(FailureKind::Local, sentence).remedy("Try again")));
        };
        self.forget_pictures()?;
        let on_screen = capabilities.clone();
        let shown = tokio::task::spawn_blocking(move || fullsize::show(&bytes, &on_screen)).await;
        if let Err(error) = shown.map_err(io::Error::other)? {
            return Ok(Err(Failure::new(FailureKind::Local, error.to_string())));
        }
        tokio::select! {
            biased;
            signal = self.signals.recv() => self.held = signal,
            () = self.input.key() => {}
        }
        fullsize::dismiss(&capabilities)?;
        Ok(Ok(()))
    }

    /// Gives the terminal to the person's editor, and takes it again when that is left.
    async fn edit(&mut self, text: String) -> io::Result<Result<String, Failure>> {
        self.forget_pictures()?;
        terminal::restore();
        let edited = tokio::task::spawn_blocking(move || editor::edit(&text)).await;
        self.screen.claim()?;
        edited.map_err(io::Error::other)
    }

    /// The size of the screen or of its cells may have changed.
    async fn resized(&mut self) -> io::Result<Option<Ending>> {
        self.redraw()?;
        if let Some(capabilities) = &mut self.capabilities {
            capabilities.cell = probe::cell_size().unwrap_or(capabilities.cell);
            let event = Event::Terminal(capabilities.protocol, capabilities.cell);
            if let Some(code) = self.apply(event).await? {
                return Ok(Some(code));
            }
        }
        let (columns, rows) = terminal::size()?;
        self.apply(Event::Resize(columns, rows)).await
    }

    fn redraw(&mut self) -> io::Result<()> {
        self.forget_pictures()?;
        self.screen.frames.forget();
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let started = Instant::now();
        let (app, layer) = (&self.session.app, &mut self.layer);
        let theme = self.themes.of(&app.theme);
        let cost = self.screen.frames.draw(app.size, |buffer| {
            ui::draw(app, theme, buffer, layer);
            layer.end_frame()
        })?;
        self.session.trace.frame(started.elapsed(), cost, self.layer.placed());
        self.drawn = Some(Instant::now());
        self.dirty = false;
        Ok(())
    }

    /// Draws pictures as the person has seen them, and keeps it.
    fn keep_verdict(&mut self, protocol: Protocol) -> Result<(), Failure> {
        if let Some(capabilities) = &mut self.capabilities {
            capabilities.protocol = protocol;
        }
        self.proved = Some(protocol);
        verdicts::keep(&Environment::read(), protocol)
    }

    /// Puts a text into the clipboard of the terminal (OSC 52).
    fn copy(&mut self, text: &str) -> io::Result<()> {
        self.screen.frames.write(clipboard(text, Environment::read().in_tmux).as_bytes())
    }

    /// Makes the terminal forget every picture.
    fn forget_pictures(&mut self) -> io::Result<()> {
        let forget = self.layer.forget_all();
        self.screen.frames.write(forget.as_bytes())
    }
}

/// The sequence that sets the clipboard. Through tmux it is sent twice: tmux takes one for its own
/// buffer, and passes the wrapped one on to the terminal around it.
fn clipboard(text: &str, in_tmux: bool) -> String {
    let plain = format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text));
    if in_tmux { format!("{plain}\x1bPtmux;\x1b{plain}\x1b\\") } else { plain }
}

fn draws_pixels(protocol: Protocol) -> bool {
    !matches!(protocol, Protocol::HalfBlock | Protocol::None)
}

/// Waits until `instant`, or for ever without one.
async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant.into()).await,
        None => std::future::pending().await,
    }
}
