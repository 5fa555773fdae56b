//! Runs the loop of the accessible interface, which reads a typed line, passes its events to the core, and announces
//! what has changed.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal as _},
    time::{Duration, Instant},
};

use tessera_client::Trace;
use tessera_interface::{
    app::{App, CopyOutcome, Effect, Event, Setup},
    message::Lane,
};
use tessera_model::Failure;
use tokio::time::timeout;

use crate::{
    accessible::{
        Announcement, Announcements, Announcer, TypedLine,
        announcements::{self, ProgressStatus},
    },
    runtime::{RunOutcome, RunningApp, edit_text, run_in_terminal, sleep_until},
    worker::Worker,
};

/// How long to wait for a response before the next line can be typed.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Runs until the user quits or the input ends.
///
/// # Errors
/// Input or output fails.
pub async fn run(
    setup: Setup,
    trace: Trace,
    worker: Worker,
    announcer: Announcer,
) -> io::Result<RunOutcome> {
    let reason = setup.settings.accessible.unwrap_or("it was chosen");
    let deployment = setup.deployment_name.clone();
    let mut session = AccessibleSession {
        session: RunningApp::new(App::new(super::text_setup(setup)), worker, trace),
        announcer,
        announcements: Announcements::default(),
        start: Instant::now(),
        outcome: None,
    };
    session.announcer.status(format!("accessible mode is on, because {reason}"))?;
    session.announcer.status(format!("deployment {deployment}"))?;
    session.announcer.status(
        "type the name or key of an action, or the number of an item; menu lists the actions, help \
         explains them, read repeats, more reads further items, wait waits for tasks, quit ends",
    )?;
    let outcome = session.run().await;
    let unsaved = session.session.finish_writes(session.start).await;
    let outcome = outcome.map(|outcome| outcome.with_unsaved(&unsaved));
    for line in unsaved {
        session.announcer.error(line)?;
    }
    outcome
}

/// A local service ends with this program, so that its tasks continue only when its folder is opened again.
const EXIT_MESSAGE: &str =
    "left; exports continue at the service, or when the local folder is opened again";

struct AccessibleSession {
    session: RunningApp,
    announcer: Announcer,
    announcements: Announcements,
    start: Instant,
    /// Set by the event that ends the session.
    outcome: Option<RunOutcome>,
}

impl AccessibleSession {
    async fn run(&mut self) -> io::Result<RunOutcome> {
        self.apply(Event::Wake).await?;
        self.settle().await?;
        self.announce_changes()?;
        loop {
            if let Some(outcome) = self.outcome.take() {
                return Ok(outcome);
            }
            let line = self.next_line().await?;
            if self.outcome.is_some() {
                continue;
            }
            let Some(line) = line else {
                self.announcer.status(EXIT_MESSAGE)?;
                return Ok(RunOutcome::Exit(0));
            };
            self.handle_line(&line).await?;
        }
    }

    async fn handle_line(&mut self, line: &str) -> io::Result<()> {
        match TypedLine::parse(&self.session.app, line) {
            TypedLine::Unknown(reason) => self.announcer.error(reason),
            TypedLine::Wait => self.wait().await,
            TypedLine::More => {
                let lines = self.announcements.more();
                self.announce(lines)
            }
            TypedLine::Read => {
                let lines = self.announcements.everything(&self.session.app);
                self.announce(lines)
            }
            TypedLine::Events(events) => {
                for event in events {
                    self.apply(event).await?;
                }
                self.settle().await?;
                let count = self.announce_notifications()? + self.announce_changes()?;
                if count == 0 && self.outcome.is_none() {
                    self.announcer.status("nothing changed")?;
                }
                Ok(())
            }
        }
    }

    /// Reads a line, or `None` at the end of the input. Notifications are announced meanwhile.
    async fn next_line(&mut self) -> io::Result<Option<String>> {
        let mut line = self.announcer.prompt("What now?")?;
        loop {
            tokio::select! {
                biased;
                read = &mut line => match read.map_err(io::Error::other)? {
                    Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                        self.announcer.error("this line is not UTF-8 text; type it again")?;
                        line = self.announcer.prompt("What now?")?;
                    }
                    read => return read,
                },
                event = next_event(&mut self.session, self.start) => self.apply(event?).await?,
            }
            self.announce_notifications()?;
            if self.outcome.is_some() {
                return Ok(None);
            }
        }
    }

    /// Waits for the responses that the state depends on, for at most `MAX_WAIT`.
    async fn settle(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + MAX_WAIT;
        while self.outcome.is_none() && self.session.app.tickets().lanes().any(is_awaited) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(event) = timeout(left, next_event(&mut self.session, self.start)).await else {
                let slow = "no response yet; an empty line reads what there is";
                return self.announcer.status(slow);
            };
            self.apply(event?).await?;
        }
        Ok(())
    }

    /// Waits until no task is running, and announces progress meanwhile.
    async fn wait(&mut self) -> io::Result<()> {
        let mut progress = ProgressStatus::new(self.start.elapsed());
        loop {
            let running = announcements::running(&self.session.app);
            self.announce_notifications()?;
            let pending = self.session.app.tickets().outstanding() > 0;
            if running.is_empty() && !pending {
                break;
            }
            let now = self.start.elapsed();
            let line = Some(running.join(", ")).filter(|line| !line.is_empty());
            if let Some(line) = line.and_then(|line| progress.next_line(line, now)) {
                self.announcer.status(line)?;
            }
            let left = progress.next_heartbeat().saturating_sub(now);
            if let Ok(event) = timeout(left, next_event(&mut self.session, self.start)).await {
                self.apply(event?).await?;
            }
            if self.outcome.is_some() {
                return Ok(());
            }
        }
        self.announcer.status("no task is running")?;
        self.announce_changes().map(|_| ())
    }

    /// Passes an event to the core, and executes the effects that are not for the worker.
    async fn apply(&mut self, event: Event) -> io::Result<()> {
        let mut effects = VecDeque::from(self.session.apply(self.start.elapsed(), event));
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Quit => {
                    self.announcer.status(EXIT_MESSAGE)?;
                    self.outcome = Some(RunOutcome::Exit(0));
                }
                Effect::OpenDeployment(choice) => self.outcome = Some(RunOutcome::Switch(choice)),
                // The text is printed instead, because a clipboard cannot be relied on.
                Effect::Copy(text) => {
                    for line in text.as_str().lines() {
                        self.announcer.item(line)?;
                    }
                    let printed = Event::Copied(CopyOutcome::Printed);
                    effects.extend(self.session.apply(self.start.elapsed(), printed));
                }
                Effect::Edit(text) => {
                    let edited = Event::Edited(edit(text).await?);
                    effects.extend(self.session.apply(self.start.elapsed(), edited));
                }
                Effect::RunInTerminal(command) => {
                    let run = move || run_in_terminal(&command);
                    let run = tokio::task::spawn_blocking(run).await.map_err(io::Error::other)?;
                    let done = Event::TerminalTaskDone(run);
                    effects.extend(self.session.apply(self.start.elapsed(), done));
                }
                // Notifications announce jobs, so alerts are not needed.
                Effect::Alert(_)
                | Effect::Redraw
                | Effect::Suspend
                | Effect::CaptureMouse(_)
                | Effect::SaveProtocol(_)
                | Effect::Send(..)
                | Effect::Cancel(_)
                | Effect::WakeAt(_) => {}
            }
        }
        Ok(())
    }

    fn announce_notifications(&mut self) -> io::Result<usize> {
        let lines = self.announcements.notifications(&self.session.app);
        let count = lines.len();
        self.announce(lines).map(|()| count)
    }

    fn announce_changes(&mut self) -> io::Result<usize> {
        let mut lines = self.announcements.notifications(&self.session.app);
        lines.extend(self.announcements.changes(&self.session.app));
        let count = lines.len();
        self.announce(lines).map(|()| count)
    }

    fn announce(&mut self, lines: Vec<Announcement>) -> io::Result<()> {
        for line in lines {
            match line {
                Announcement::Status(text) => self.announcer.status(text)?,
                Announcement::Item(text) => self.announcer.item(text)?,
                Announcement::Error(text) => self.announcer.error(text)?,
            }
        }
        Ok(())
    }
}

/// Returns whether the next line waits for the response. Transfers of files take long, so they continue in the
/// background.
fn is_awaited(lane: &Lane) -> bool {
    !matches!(lane, Lane::Upload(_) | Lane::Download(_))
}

/// Returns the next event of the worker or of the clock. Cancel-safe.
async fn next_event(session: &mut RunningApp, start: Instant) -> io::Result<Event> {
    let timer = session.next_wake.map(|moment| start + moment);
    tokio::select! {
        biased;
        event = session.next_worker_event() => event,
        () = sleep_until(timer) => {
            session.next_wake = None;
            Ok(Event::Wake)
        }
    }
}

/// Edits a text in the user's editor, which needs a terminal.
async fn edit(text: String) -> io::Result<Result<String, Failure>> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let failure = Failure::local("an editor needs a terminal");
        return Ok(Err(failure.with_remedy("Switch to JSON in the query, and type it")));
    }
    tokio::task::spawn_blocking(move || edit_text(&text)).await.map_err(io::Error::other)
}
