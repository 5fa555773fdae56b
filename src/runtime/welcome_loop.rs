//! Runs the event loop of the welcome screen, while there is no deployment.

use std::{
    future::Future,
    io,
    path::{Path, PathBuf},
    pin::Pin,
    time::SystemTime,
};

use futures_util::future::OptionFuture;
use tessera_config::{
    Destination, ThemeChoice,
    input::{Chord, Key},
};
use tessera_interface::{
    app::{
        Event, Mouse, MouseKind,
        welcome::{CandidateProfile, ConnectionAttempt, SecretPlace, Welcome, WelcomeAction},
    },
    drawing::{
        MouseTargets,
        picture_layer::{ColorDepth, TerminalWrites},
    },
    ui::welcome_screen::WelcomeScreen,
};
use tessera_model::{Failure, FolderListing, RecentPlace};
use tessera_picture::Protocol;

use crate::{
    runtime::{
        RuntimeOptions,
        input::InputReader,
        probe::Environment,
        signals::{Signal, SignalReceiver},
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

#[derive(Clone, Debug)]
pub struct WelcomeOptions {
    /// Why nothing could be opened.
    pub error: Option<String>,
    /// The folder that `~/` expands to.
    pub home: Option<PathBuf>,
    pub theme: ThemeChoice,
    pub secret_place: SecretPlace,
    /// What was opened before, most recent first.
    pub recent: Vec<RecentPlace>,
}

/// Connects with a new profile, and returns it with its secret and whole paths.
type ConnectionTest = Pin<Box<dyn Future<Output = Result<Box<CandidateProfile>, String>>>>;
/// Reads the entries of a folder, and returns them with its path.
type FolderRead = Pin<Box<dyn Future<Output = (PathBuf, Result<FolderListing, Failure>)>>>;

/// What runs while the screen is open.
#[derive(Default)]
struct BackgroundWork {
    connection_test: Option<ConnectionTest>,
    /// The folder whose entries are read.
    folder_read: Option<(PathBuf, FolderRead)>,
}

impl BackgroundWork {
    /// Drops what the screen no longer waits for, and begins to read the folder that it needs.
    fn follow(&mut self, state: &Welcome, home: Option<&Path>) {
        if state.attempt != ConnectionAttempt::Connecting {
            self.connection_test = None;
        }
        let needed = state.folder_to_list(home);
        if self.folder_read.as_ref().map(|(folder, _)| folder) != needed.as_ref() {
            self.folder_read = needed.map(|folder| {
                let read = folder.clone();
                (folder, Box::pin(async { (read.clone(), read_folder(read).await) }) as FolderRead)
            });
        }
    }
}

pub async fn run(
    options: &RuntimeOptions,
    signals: &mut SignalReceiver,
    welcome_options: WelcomeOptions,
    test_connection: impl Fn(Box<CandidateProfile>) -> ConnectionTest,
) -> io::Result<WelcomeDecision> {
    let mut screen = TerminalScreen::enter(false)?;
    let mut input = InputReader::new()?;
    let theme = options.themes.resolve(&welcome_options.theme);
    let WelcomeOptions { error, home, secret_place, recent, .. } = &welcome_options;
    let (home, depth) = (home.as_deref(), color_depth(options));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut state = Welcome::new(error.clone()).with_recent(recent.clone(), now.as_secs());
    state.secret_place = secret_place.clone();
    let (mut work, mut mouse) = (BackgroundWork::default(), MouseTargets::default());
    loop {
        screen.frames.draw(terminal::size()?, |buffer| {
            WelcomeScreen { state: &state, home, depth }.draw(theme, buffer, &mut mouse);
            TerminalWrites::default()
        })?;
        let mut events = Vec::new();
        let folder_read = work.folder_read.as_mut().map(|(_, read)| read);
        tokio::select! {
            biased;
            signal = signals.recv() => match signal {
                Some(Signal::Exit(code)) => return Ok(WelcomeDecision::Exit(code)),
                _ => screen.frames.invalidate(),
            },
            (read, _) = input.next_events() => events = read,
            Some(tested) = OptionFuture::from(work.connection_test.as_mut()) => match tested {
                Ok(candidate) => return Ok(WelcomeDecision::SaveAndOpen(candidate)),
                Err(reason) => state.connection_failed(reason),
            },
            Some((folder, listed)) = OptionFuture::from(folder_read) => {
                state.folder_listed(folder, listed, home);
            }
        }
        for event in events {
            match handle_event(&mut state, mouse.clicked(event), home) {
                WelcomeAction::Continue => {}
                WelcomeAction::Quit => return Ok(WelcomeDecision::Exit(0)),
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
