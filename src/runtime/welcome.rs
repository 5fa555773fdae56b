//! Runs the event loop of the welcome screen, while there is no deployment.

use std::{future::Future, io, path::PathBuf, pin::Pin, time::SystemTime};

use tessera_model::RecentPlace;
use tessera_picture::Protocol;

use crate::{
    app::{
        Event,
        welcome::{CandidateProfile, ConnectionAttempt, Welcome, WelcomeAction},
    },
    config::{Destination, ThemeChoice},
    drawing::picture_layer::TerminalWrites,
    runtime::{
        RuntimeOptions,
        input::InputReader,
        probe::Environment,
        signals::{Signal, SignalReceiver},
        terminal::{self, TerminalScreen},
    },
    ui,
};

#[derive(Debug)]
pub enum WelcomeDecision {
    Exit(i32),
    Open(Destination),
    Review(Destination),
    /// The profile is to be saved and opened. Its connection test succeeded.
    SaveAndOpen(CandidateProfile),
}

#[derive(Clone, Debug)]
pub struct WelcomeOptions {
    /// Why nothing could be opened.
    pub error: Option<String>,
    /// The folder that `~/` expands to.
    pub home: Option<PathBuf>,
    pub theme: ThemeChoice,
    /// The path of the file that stores secrets, for display.
    pub secret_store: String,
    /// What was opened before, most recent first.
    pub recent: Vec<RecentPlace>,
}

type ConnectionTest = Pin<Box<dyn Future<Output = Result<(), String>>>>;

pub async fn run(
    options: &RuntimeOptions,
    signals: &mut SignalReceiver,
    welcome_options: WelcomeOptions,
    test_connection: impl Fn(CandidateProfile) -> ConnectionTest,
) -> io::Result<WelcomeDecision> {
    let mut screen = TerminalScreen::enter(false)?;
    let mut input = InputReader::new()?;
    let theme = options.themes.resolve(&welcome_options.theme);
    let draws_pictures = options.initial_protocol() != Protocol::None;
    let depth = draws_pictures.then(|| Environment::read().initial_color_depth());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut state =
        Welcome::new(welcome_options.error).with_recent(welcome_options.recent, now.as_secs());
    let mut running_test: Option<(CandidateProfile, ConnectionTest)> = None;
    loop {
        screen.frames.draw(terminal::size()?, |buffer| {
            ui::welcome::draw(&state, theme, &welcome_options.secret_store, depth, buffer);
            TerminalWrites::default()
        })?;
        let events = tokio::select! {
            biased;
            signal = signals.recv() => {
                match signal {
                    Some(Signal::Exit(code)) => return Ok(WelcomeDecision::Exit(code)),
                    _ => screen.frames.invalidate(),
                }
                Vec::new()
            }
            (events, _) = input.next_events() => events,
            outcome = tested_candidate(&mut running_test) => match outcome {
                Ok(candidate) => return Ok(WelcomeDecision::SaveAndOpen(candidate)),
                Err(reason) => {
                    state.connection_failed(reason);
                    Vec::new()
                }
            },
        };
        for event in events {
            match handle_event(&mut state, event, welcome_options.home.as_deref()) {
                WelcomeAction::Continue => {}
                WelcomeAction::Quit => return Ok(WelcomeDecision::Exit(0)),
                WelcomeAction::Open(choice) => return Ok(WelcomeDecision::Open(choice)),
                WelcomeAction::Review(place) => return Ok(WelcomeDecision::Review(place)),
                WelcomeAction::Connect(candidate) => {
                    running_test = Some((candidate.clone(), test_connection(candidate)));
                }
            }
        }
        if state.attempt != ConnectionAttempt::Connecting {
            running_test = None;
        }
    }
}

fn handle_event(
    state: &mut Welcome,
    event: Event,
    home: Option<&std::path::Path>,
) -> WelcomeAction {
    match event {
        // This screen does not enable the protocol that reports keys of other layouts.
        Event::Key(chord) | Event::LayoutKey { typed: chord, .. } => {
            return state.handle_key(chord, home);
        }
        Event::Paste(text) => state.paste(&text),
        _ => {}
    }
    WelcomeAction::Continue
}

/// Waits for the running connection test, or forever if none is running.
async fn tested_candidate(
    running_test: &mut Option<(CandidateProfile, ConnectionTest)>,
) -> Result<CandidateProfile, String> {
    match running_test {
        Some((candidate, test)) => test.as_mut().await.map(|()| candidate.clone()),
        None => std::future::pending().await,
    }
}
