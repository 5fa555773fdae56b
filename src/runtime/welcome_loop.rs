//! Runs the event loop of the welcome screen, while there is no deployment.

use std::{future::Future, io, path::Path, pin::Pin};

use futures_util::future::OptionFuture;
use tessera_config::{
    Destination, ThemeChoice,
    input::{Chord, Key},
};
use tessera_interface::{
    app::{
        Event, Mouse, MouseKind,
        welcome::{CandidateProfile, ConnectionAttempt, Welcome, WelcomeAction},
    },
    drawing::{
        MouseTargets,
        picture_layer::{ColorDepth, TerminalWrites},
    },
    ui::welcome_screen::WelcomeScreen,
};
use tessera_model::{Failure, FolderListing, FolderQuery};
use tessera_picture::Protocol;

use crate::{
    runtime::{
        RuntimeOptions,
        event_loop::no_shell,
        input::InputReader,
        probe::Environment,
        signals::{self, Signal, SignalReceiver},
        terminal::{self, TerminalScreen},
    },
    worker::read_folder,
};

#[derive(Debug)]
pub enum WelcomeDecision {
    Exit(i32),
    Open(Destination),
    Review(Destination),
    /// The profile is to be saved and opened. Its connection test succeeded.
    SaveAndOpen(Box<CandidateProfile>),
}

/// Connects with a new profile, and returns it with its secret and whole paths.
type ConnectionTest = Pin<Box<dyn Future<Output = Result<Box<CandidateProfile>, String>>>>;
/// Reads the entries of a folder.
type FolderRead = Pin<Box<dyn Future<Output = Result<FolderListing, Failure>>>>;

/// What runs while the screen is open.
#[derive(Default)]
struct BackgroundWork {
    connection_test: Option<ConnectionTest>,
    /// The folder whose entries are read.
    folder_read: Option<(FolderQuery, FolderRead)>,
}

impl BackgroundWork {
    /// Drops what the screen no longer waits for, and begins to read the folder that it needs.
    fn follow(&mut self, state: &Welcome, home: Option<&Path>) {
        if state.attempt != ConnectionAttempt::Connecting {
            self.connection_test = None;
        }
        let needed = state.folder_to_list(home);
        if self.folder_read.as_ref().map(|(query, _)| query) != needed.as_ref() {
            self.folder_read =
                needed.map(|query| (query.clone(), Box::pin(read_folder(query)) as FolderRead));
        }
    }
}

pub async fn run(
    options: &RuntimeOptions,
    receiver: &mut SignalReceiver,
    theme: &ThemeChoice,
    mut state: Welcome,
    test_connection: impl Fn(Box<CandidateProfile>) -> ConnectionTest,
) -> io::Result<WelcomeDecision> {
    let mut screen = TerminalScreen::enter(false)?;
    let mut input = InputReader::new()?;
    let (theme, depth) = (options.themes.resolve(theme), color_depth(options));
    // The folder that `~/` expands to.
    let home = std::env::home_dir();
    let home = home.as_deref();
    let (mut work, mut mouse) = (BackgroundWork::default(), MouseTargets::default());
    loop {
        screen.frames.draw(terminal::size()?, |buffer| {
            WelcomeScreen { state: &state, home, depth }.draw(theme, buffer, &mut mouse);
            TerminalWrites::default()
        })?;
        let mut events = Vec::new();
        let read = work.folder_read.as_mut();
        let read = read.map(|(query, read)| async move { (query.clone(), read.await) });
        tokio::select! {
            biased;
            signal = receiver.recv() => match signal {
                Some(Signal::Exit(code)) => return Ok(WelcomeDecision::Exit(code)),
                signal => handle_signal(&mut screen, signal)?,
            },
            (next, _) = input.next_events() => events = next,
            Some(tested) = OptionFuture::from(work.connection_test.as_mut()) => match tested {
                Ok(candidate) => return Ok(WelcomeDecision::SaveAndOpen(candidate)),
                Err(reason) => state.connection_failed(reason),
            },
            Some((query, listed)) = OptionFuture::from(read) => {
                state.folder_listed(query, listed, home);
            }
        }
        for event in events {
            match handle_event(&mut state, mouse.clicked(event), home) {
                WelcomeAction::Continue => {}
                WelcomeAction::Quit => return Ok(WelcomeDecision::Exit(0)),
                WelcomeAction::Suspend if signals::can_be_resumed() => {
                    screen.suspend_job(signals::suspend_job)?;
                }
                WelcomeAction::Suspend => state.show_failure(no_shell().to_string()),
                WelcomeAction::Open(choice) => return Ok(WelcomeDecision::Open(choice)),
                WelcomeAction::Review(place) => return Ok(WelcomeDecision::Review(place)),
                WelcomeAction::Connect(candidate) => {
                    work.connection_test = Some(test_connection(candidate));
                }
            }
        }
        work.follow(&state, home);
    }
}

fn handle_signal(screen: &mut TerminalScreen, signal: Option<Signal>) -> io::Result<()> {
    match signal {
        Some(Signal::Suspend) if screen.is_just_resumed() => Ok(()),
        Some(Signal::Suspend) => screen.suspend(signals::suspend_process),
        Some(Signal::Resume) => screen.reenter(),
        _ => {
            screen.frames.invalidate();
            Ok(())
        }
    }
}

/// Returns the colors for pictures, or `None` if no pictures are drawn.
fn color_depth(options: &RuntimeOptions) -> Option<ColorDepth> {
    let draws_pictures = options.initial_protocol() != Protocol::None;
    draws_pictures.then(|| Environment::read().initial_color_depth())
}

fn handle_event(state: &mut Welcome, event: Event, home: Option<&Path>) -> WelcomeAction {
    match event {
        // This screen does not enable the protocol that reports keys of other layouts.
        Event::Key(chord) | Event::LayoutKey { typed: chord, .. } => {
            return state.handle_key(chord, home);
        }
        Event::Paste(text) => state.paste(&text),
        Event::Item(index) => state.select_item(index, home),
        Event::Mouse(Mouse { kind: MouseKind::WheelUp, .. }) => {
            return state.handle_key(Chord::plain(Key::Up), home);
        }
        Event::Mouse(Mouse { kind: MouseKind::WheelDown, .. }) => {
            return state.handle_key(Chord::plain(Key::Down), home);
        }
        _ => {}
    }
    WelcomeAction::Continue
}
