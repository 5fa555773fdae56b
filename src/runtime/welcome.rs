//! The loop of the first run: keys in, a try at the side. It draws a screen of its own, before
//! there is a deployment to ask.

use std::{future::Future, io, path::PathBuf, pin::Pin};

use crate::{
    app::{
        Event,
        welcome::{CandidateProfile, ConnectionAttempt, Welcome, WelcomeAction},
    },
    config::{Destination, ThemeChoice},
    runtime::{
        RuntimeOptions,
        input::InputReader,
        signals::{Signal, SignalReceiver},
        terminal::{self, TerminalScreen},
    },
    ui::{self, picture_layer::TerminalWrites},
};

/// What the person decided.
#[derive(Debug)]
pub enum WelcomeDecision {
    /// Leave, with this exit code.
    Exit(i32),
    /// Open this.
    Open(Destination),
    /// Open this, which has just been reached, and remember it.
    SaveAndOpen(CandidateProfile),
}

/// What the first run works with.
#[derive(Clone, Debug)]
pub struct WelcomeOptions {
    /// Why the person is here again, if something could not be opened.
    pub error: Option<String>,
    /// What `~/` means.
    pub home: Option<PathBuf>,
    /// How it looks.
    pub theme: ThemeChoice,
    /// The file that a stored secret goes to, for people.
    pub secret_store: String,
}

/// A try under way.
type ConnectionTest = Pin<Box<dyn Future<Output = Result<(), String>>>>;

/// Runs the first run until the person has decided. `reach` tries a candidate.
///
/// # Errors
/// The terminal cannot be used.
pub async fn run(
    options: &RuntimeOptions,
    signals: &mut SignalReceiver,
    around: WelcomeOptions,
    reach: impl Fn(CandidateProfile) -> ConnectionTest,
) -> io::Result<WelcomeDecision> {
    let mut screen = TerminalScreen::enter(false)?;
    let mut input = InputReader::new()?;
    let theme = options.themes.resolve(&around.theme);
    let mut state = Welcome::new(around.error);
    let mut under_way: Option<(CandidateProfile, ConnectionTest)> = None;
    loop {
        screen.frames.draw(terminal::size()?, |buffer| {
            ui::welcome::draw(&state, theme, &around.secret_store, buffer);
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
            reached = tested_candidate(&mut under_way) => match reached {
                Ok(candidate) => return Ok(WelcomeDecision::SaveAndOpen(candidate)),
                Err(reason) => {
                    state.connection_failed(reason);
                    Vec::new()
                }
            },
        };
        for event in events {
            match handle_event(&mut state, event, around.home.as_deref()) {
                WelcomeAction::Continue => {}
                WelcomeAction::Quit => return Ok(WelcomeDecision::Exit(0)),
                WelcomeAction::Open(choice) => return Ok(WelcomeDecision::Open(choice)),
                WelcomeAction::Connect(candidate) => {
                    under_way = Some((candidate.clone(), reach(candidate)));
                }
            }
        }
        if state.attempt != ConnectionAttempt::Connecting {
            under_way = None;
        }
    }
}

fn handle_event(
    state: &mut Welcome,
    event: Event,
    home: Option<&std::path::Path>,
) -> WelcomeAction {
    match event {
        Event::Key(chord) => return state.handle_key(chord, home),
        Event::Paste(text) => state.paste(&text),
        _ => {}
    }
    WelcomeAction::Continue
}

/// The end of the try; never, without one.
async fn tested_candidate(
    under_way: &mut Option<(CandidateProfile, ConnectionTest)>,
) -> Result<CandidateProfile, String> {
    match under_way {
        Some((candidate, reaching)) => reaching.as_mut().await.map(|()| candidate.clone()),
        None => std::future::pending().await,
    }
}
