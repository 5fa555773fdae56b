//! The loop of the first run: keys in, a try at the side. It draws a screen of its own, before
//! there is a deployment to ask.

use std::{future::Future, io, path::PathBuf, pin::Pin};

use crate::{
    app::{
        Event,
        welcome::{Candidate, Outcome, Step, Welcome},
    },
    config::{Destination, ThemeChoice},
    runtime::{
        Options,
        input::Input,
        signals::{Received, Signal},
        terminal::{self, Screen},
    },
    ui::{self, layer::Writes},
};

/// What the person decided.
#[derive(Debug)]
pub enum Decided {
    /// Leave, with this exit code.
    Leave(i32),
    /// Open this.
    Open(Destination),
    /// Open this, which has just been reached, and remember it.
    Keep(Candidate),
}

/// What the first run works with.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Why the person is here again, if something could not be opened.
    pub trouble: Option<String>,
    /// What `~/` means.
    pub home: Option<PathBuf>,
    /// How it looks.
    pub theme: ThemeChoice,
    /// The file that a stored secret goes to, for people.
    pub secrets: String,
}

/// A try under way.
type Reaching = Pin<Box<dyn Future<Output = Result<(), String>>>>;

/// Runs the first run until the person has decided. `reach` tries a candidate.
///
/// # Errors
/// The terminal cannot be used.
pub async fn welcome(
    options: &Options,
    signals: &mut Received,
    around: Surroundings,
    reach: impl Fn(Candidate) -> Reaching,
) -> io::Result<Decided> {
    let mut screen = Screen::take(false)?;
    let mut input = Input::new()?;
    let theme = options.themes.of(&around.theme);
    let mut state = Welcome::new(around.trouble);
    let mut under_way: Option<(Candidate, Reaching)> = None;
    loop {
        screen.frames.draw(terminal::size()?, |buffer| {
            ui::welcome::draw(&state, theme, &around.secrets, buffer);
            Writes::default()
        })?;
        let events = tokio::select! {
            biased;
            signal = signals.recv() => {
                match signal {
                    Some(Signal::End(code)) => return Ok(Decided::Leave(code)),
                    _ => screen.frames.forget(),
                }
                Vec::new()
            }
            (events, _) = input.next() => events,
            reached = reached(&mut under_way) => match reached {
                Ok(candidate) => return Ok(Decided::Keep(candidate)),
                Err(reason) => {
                    state.failed(reason);
                    Vec::new()
                }
            },
        };
        for event in events {
            match take(&mut state, event, around.home.as_deref()) {
                Step::Stay => {}
                Step::Leave => return Ok(Decided::Leave(0)),
                Step::Open(choice) => return Ok(Decided::Open(choice)),
                Step::Try(candidate) => {
                    under_way = Some((candidate.clone(), reach(candidate)));
                }
            }
        }
        if state.outcome != Outcome::Asking {
            under_way = None;
        }
    }
}

fn take(state: &mut Welcome, event: Event, home: Option<&std::path::Path>) -> Step {
    match event {
        Event::Key(chord) => return state.key(chord, home),
        Event::Paste(text) => state.paste(&text),
        _ => {}
    }
    Step::Stay
}

/// The end of the try; never, without one.
async fn reached(under_way: &mut Option<(Candidate, Reaching)>) -> Result<Candidate, String> {
    match under_way {
        Some((candidate, reaching)) => reaching.as_mut().await.map(|()| candidate.clone()),
        None => std::future::pending().await,
    }
}
