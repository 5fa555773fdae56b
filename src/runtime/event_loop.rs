//! Runs the event loop around the core. The first frame is drawn before the network or the terminal
//! has replied.

use std::{
    collections::VecDeque,
    io,
    time::{Duration, Instant},
};

use tessera_config::Destination;
use tessera_interface::{
    app::{App, CopyOutcome, Effect, Event, Setup},
    drawing::{MouseTargets, PictureLayer, picture_layer::GraphicsSettings, theme::Themes},
    printable_text::PrintableText,
    ui,
};
use tessera_model::Failure;
use tessera_picture::Protocol;

use crate::{
    runtime::{
        RunningApp, RuntimeOptions, clipboard,
        input::{InputReader, sleep_until},
        options,
        probe::{self, Environment},
        signals::{self, Signal, SignalReceiver},
        terminal::{self, TerminalScreen},
    },
    subprocess,
    worker::Worker,
};

/// The minimum interval between frames that responses cause. Keys are drawn immediately.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(12);
/// The maximum number of events per frame, so that a flood of responses cannot starve the screen.
const MAX_EVENTS_PER_FRAME: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// The program ends with this exit code.
    Exit(i32),
    /// Another deployment is to be opened.
    Switch(Destination),
}

impl RunOutcome {
    /// Makes the end of the program a failure if something was not saved.
    pub fn with_unsaved(self, unsaved: &[String]) -> Self {
        match self {
            Self::Exit(0) if !unsaved.is_empty() => Self::Exit(1),
            outcome => outcome,
        }
    }
}

/// Runs the interface until the user quits or opens another deployment. What was not saved is in `unsaved` then, also
/// if the terminal cannot be used any more.
pub async fn run(
    mut setup: Setup,
    options: RuntimeOptions,
    worker: Worker,
    signals: &mut SignalReceiver,
    unsaved: &mut Vec<String>,
) -> io::Result<RunOutcome> {
    let screen = TerminalScreen::enter(setup.settings.ui.mouse)?;
    setup.size = terminal::size()?;
    let environment = Environment::read();
    let settings = GraphicsSettings {
        in_tmux: environment.in_tmux,
        color_depth: environment.initial_color_depth(),
    };
    let confirmed_protocol =
        options.forced_protocol.or_else(|| options::load_graphics_result(&environment));
    // A confirmed result without pixels always applies. A result with pixels also needs the
    // terminal's replies, because another terminal may have the same name.
    let graphics =
        options.forced_protocol.or(confirmed_protocol.filter(|protocol| !draws_pixels(*protocol)));
    let mut event_loop = EventLoop {
        session: RunningApp::new(App::new(setup), worker, options.trace),
        screen,
        layer: PictureLayer::new(settings),
        hover_texts: MouseTargets::default(),
        themes: options.themes,
        start: Instant::now(),
        last_drawn: None,
        needs_redraw: true,
        input: InputReader::new()?,
        signals,
        capabilities: None,
        confirmed_protocol,
    };
    if let Some(outcome) = event_loop.apply(Event::Wake).await? {
        return Ok(outcome);
    }
    event_loop.draw()?;
    // The probe starts only now, so that the first frame waits for nothing.
    event_loop.input.start_probe(environment, graphics);
    let outcome = event_loop.run().await;
    *unsaved = event_loop.session.finish_writes(event_loop.start).await;
    outcome.map(|outcome| outcome.with_unsaved(unsaved))
}

struct EventLoop<'a> {
    session: RunningApp,
    screen: TerminalScreen,
    layer: PictureLayer,
    hover_texts: MouseTargets,
    themes: Themes,
    start: Instant,
    last_drawn: Option<Instant>,
    needs_redraw: bool,
    input: InputReader,
    signals: &'a mut SignalReceiver,
    capabilities: Option<probe::Capabilities>,
    /// The graphics protocol from the settings, or the one that the user confirmed by the test
    /// picture.
    confirmed_protocol: Option<Protocol>,
}

enum LoopEvent {
    Signal(Option<Signal>),
    Input(Vec<Event>, Option<probe::Capabilities>),
    Reply(io::Result<Event>),
    Timer,
    Frame,
}

impl EventLoop<'_> {
    async fn run(&mut self) -> io::Result<RunOutcome> {
        loop {
            let outcome = match self.next_event().await {
                LoopEvent::Signal(signal) => self.handle_signal(signal).await?,
                LoopEvent::Input(events, capabilities) => {
                    self.handle_input(events, capabilities).await?
                }
                LoopEvent::Reply(event) => self.handle_replies(event?).await?,
                LoopEvent::Timer => {
                    self.session.next_wake = None;
                    self.apply(Event::Wake).await?
                }
                LoopEvent::Frame => None,
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
            let is_frame_due =
                self.last_drawn.is_none_or(|drawn| drawn.elapsed() >= MIN_FRAME_INTERVAL);
            if self.needs_redraw && is_frame_due {
                self.draw()?;
            }
        }
    }

    /// Waits for the next event. Signals come before keys and keys before responses, so that the
    /// user stays in control under load.
    async fn next_event(&mut self) -> LoopEvent {
        let timer = self.session.next_wake.map(|moment| self.start + moment);
        let frame =
            self.last_drawn.filter(|_| self.needs_redraw).map(|drawn| drawn + MIN_FRAME_INTERVAL);
        tokio::select! {
            biased;
            signal = self.signals.recv() => LoopEvent::Signal(signal),
            (events, capabilities) = self.input.next_events() => LoopEvent::Input(events, capabilities),
            reply = self.session.next_worker_event() => LoopEvent::Reply(reply),
            () = sleep_until(timer) => LoopEvent::Timer,
            () = sleep_until(frame) => LoopEvent::Frame,
        }
    }

    async fn handle_input(
        &mut self,
        events: Vec<Event>,
        capabilities: Option<probe::Capabilities>,
    ) -> io::Result<Option<RunOutcome>> {
        let mut first = Vec::new();
        if let Some(capabilities) = capabilities {
            terminal::delete_pictures_on_exit(capabilities.replies.kitty, capabilities.in_tmux);
            // The replies may have changed what was decided before all of them had arrived.
            self.delete_pictures()?;
            // A terminal that does not know the query of the version may have printed another one, or scrolled.
            if capabilities.replies.version.is_none() {
                self.screen.frames.invalidate();
            }
            self.screen.set_keyboard(capabilities.keyboard)?;
            let settings = GraphicsSettings {
                in_tmux: capabilities.in_tmux,
                color_depth: capabilities.color_depth,
            };
            self.layer = PictureLayer::new(settings);
            self.themes.auto = capabilities.theme;
            self.themes.color_depth = capabilities.color_depth;
            self.themes.is_background_known = capabilities.replies.background.is_some();
            let is_unconfirmed = capabilities.is_contradictory
                && draws_pixels(capabilities.protocol)
                && self.confirmed_protocol != Some(capabilities.protocol);
            first = vec![
                Event::SixelSide(capabilities.sixel_side),
                Event::Terminal(capabilities.protocol, capabilities.cell),
            ];
            first.extend(is_unconfirmed.then_some(Event::PixelsUnconfirmed));
            self.capabilities = Some(capabilities);
        }
        let hovered = self.input.motion.take();
        let shown = self.session.app.hover();
        let hovered = hovered.and_then(|cell| self.hover_texts.change(shown, cell));
        let events = events.into_iter().map(|event| self.hover_texts.clicked(event));
        let events: Vec<Event> = first.into_iter().chain(events).chain(hovered).collect();
        // The mouse was moved, but the text under it is still the same.
        if events.is_empty() && !self.needs_redraw {
            return Ok(None);
        }
        for event in events {
            if let Some(outcome) = self.apply(event).await? {
                return Ok(Some(outcome));
            }
        }
        // Keys are drawn immediately, regardless of the last frame.
        self.draw()?;
        Ok(None)
    }

    async fn handle_replies(&mut self, first: Event) -> io::Result<Option<RunOutcome>> {
        let mut next = Some(first);
        for _ in 0..MAX_EVENTS_PER_FRAME {
            let Some(event) = next else { break };
            if let Some(outcome) = self.apply(event).await? {
                return Ok(Some(outcome));
            }
            next = self.session.try_worker_event();
        }
        Ok(None)
    }

    /// Passes one event to the core, and executes the effects that need the terminal. `Some` ends
    /// the loop.
    async fn apply(&mut self, event: Event) -> io::Result<Option<RunOutcome>> {
        self.needs_redraw = true;
        let mut effects = VecDeque::from(self.session.apply(self.start.elapsed(), event));
        while let Some(effect) = effects.pop_front() {
            let mut done = None;
            match effect {
                Effect::Quit => return Ok(Some(RunOutcome::Exit(0))),
                Effect::OpenDeployment(choice) => return Ok(Some(RunOutcome::Switch(choice))),
                Effect::Redraw => self.redraw()?,
                Effect::Alert(alert) => self.screen.send_alert(&alert)?,
                Effect::Suspend if signals::can_be_resumed() => {
                    self.delete_pictures()?;
                    self.screen.suspend_job(signals::suspend_job)?;
                }
                Effect::Suspend => done = Some(Event::TerminalTaskDone(Err(no_shell()))),
                Effect::CaptureMouse(capture) => self.screen.set_mouse(capture)?,
                Effect::Copy(text) => {
                    done = Some(Event::Copied(self.copy_to_clipboard(text).await?));
                }
                Effect::SaveProtocol(protocol) => {
                    done = Some(Event::TerminalTaskDone(self.save_graphics_result(protocol)));
                }
                Effect::RunInTerminal(command) => {
                    let run = move || subprocess::run_in_terminal(&command);
                    done = Some(Event::TerminalTaskDone(self.lend_terminal(run).await?));
                }
                Effect::Edit(text) => {
                    let edit = move || subprocess::edit_text(&text);
                    done = Some(Event::Edited(self.lend_terminal(edit).await?));
                }
                Effect::Send(..) | Effect::Cancel(_) | Effect::WakeAt(_) => {}
            }
            if let Some(event) = done {
                effects.extend(self.session.apply(self.start.elapsed(), event));
            }
        }
        Ok(None)
    }

    async fn handle_signal(&mut self, signal: Option<Signal>) -> io::Result<Option<RunOutcome>> {
        match signal {
            Some(Signal::Exit(code)) => return Ok(Some(RunOutcome::Exit(code))),
            // The signal that stopped the whole job may also arrive here.
            Some(Signal::Suspend) if self.screen.is_just_resumed() => {}
            Some(Signal::Suspend) => {
                self.delete_pictures()?;
                // `Signal::Resume` handles what else has changed meanwhile.
                self.screen.suspend(signals::suspend_process)?;
            }
            Some(Signal::Resume) => {
                self.screen.reenter()?;
                return self.handle_resize().await;
            }
            Some(Signal::Resized) => return self.handle_resize().await,
            None => {}
        }
        Ok(None)
    }

    /// Handles a resize. The size of the screen or of its cells may have changed.
    async fn handle_resize(&mut self) -> io::Result<Option<RunOutcome>> {
        self.redraw()?;
        if let Some(capabilities) = &mut self.capabilities {
            capabilities.cell = probe::cell_size().unwrap_or(capabilities.cell);
            let event = Event::Terminal(capabilities.protocol, capabilities.cell);
            if let Some(outcome) = self.apply(event).await? {
                return Ok(Some(outcome));
            }
        }
        let (columns, rows) = terminal::size()?;
        self.apply(Event::Resize(columns, rows)).await
    }

    fn redraw(&mut self) -> io::Result<()> {
        self.delete_pictures()?;
        self.screen.frames.invalidate();
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let started = Instant::now();
        let (app, layer, texts) = (&self.session.app, &mut self.layer, &mut self.hover_texts);
        let theme = self.themes.resolve(&app.panes().theme);
        let cost = self.screen.frames.draw(app.screen().size, |buffer| {
            ui::draw_with_texts(app, theme, buffer, layer, texts);
            layer.end_frame(buffer)
        })?;
        self.session.trace.write_frame(started.elapsed(), cost, self.layer.placed());
        self.last_drawn = Some(Instant::now());
        self.needs_redraw = false;
        Ok(())
    }

    fn delete_pictures(&mut self) -> io::Result<()> {
        let forget = self.layer.forget_all();
        self.screen.frames.write(forget.as_bytes())
    }
}

fn draws_pixels(protocol: Protocol) -> bool {
    !matches!(protocol, Protocol::HalfBlock | Protocol::None)
}

impl EventLoop<'_> {
    /// Gives the terminal to another program until `run` returns.
    async fn lend_terminal<T: Send + 'static>(
        &mut self,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        self.delete_pictures()?;
        terminal::restore();
        let settings = terminal::LineSettings::read();
        let result = tokio::task::spawn_blocking(run).await;
        // A program that was killed leaves its own line settings behind.
        settings.restore();
        self.screen.reenter()?;
        result.map_err(io::Error::other)
    }

    fn save_graphics_result(&mut self, protocol: Protocol) -> Result<(), Failure> {
        if let Some(capabilities) = &mut self.capabilities {
            capabilities.protocol = protocol;
        }
        self.confirmed_protocol = Some(protocol);
        options::save_graphics_result(&Environment::read(), protocol)
    }

    async fn copy_to_clipboard(&mut self, text: PrintableText) -> io::Result<CopyOutcome> {
        let sequence = clipboard::terminal_sequence(&text, Environment::read().in_tmux);
        let copying = tokio::task::spawn_blocking(move || clipboard::copy(&text));
        let outcome = copying.await.map_err(io::Error::other)?;
        if outcome == CopyOutcome::SentToTerminal {
            self.screen.frames.write(sequence.as_bytes())?;
        }
        Ok(outcome)
    }
}

pub(super) fn no_shell() -> Failure {
    let message = "cannot suspend: no shell with job control could resume this program";
    Failure::local(message).with_remedy("Open another terminal")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_fails_if_something_was_not_saved() {
        let unsaved = ["the state".to_owned()];
        for (code, unsaved, expected) in [(0, &unsaved[..], 1), (0, &[], 0), (130, &unsaved, 130)] {
            assert_eq!(RunOutcome::Exit(code).with_unsaved(unsaved), RunOutcome::Exit(expected));
        }
    }
}
