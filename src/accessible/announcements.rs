//! What to announce after an event: notifications, and the lines that have changed since they were read.

use std::collections::BTreeMap;

use super::Reading;
use crate::app::{App, Dialog, Level};

/// A line to print, by its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announcement {
    Status(String),
    Item(String),
    Error(String),
}

/// What was read already.
#[derive(Debug, Default)]
pub struct Announcements {
    last: Reading,
    /// The panes as they were read last. A dialog is forgotten when it is closed.
    panes: BTreeMap<String, Reading>,
    notifications: usize,
}

impl Announcements {
    /// The notifications since the last call.
    pub fn notifications(&mut self, app: &App) -> Vec<Announcement> {
        let new = app.notifications().pushed() - self.notifications;
        self.notifications = app.notifications().pushed();
        let mut lines: Vec<Announcement> = app
            .notifications()
            .history()
            .take(new)
            .map(|(_, notification)| match notification.level {
                Level::Success | Level::Warning => {
                    Announcement::Status(notification.text.to_string())
                }
                Level::Error => Announcement::Error(notification.text.to_string()),
            })
            .collect();
        lines.reverse();
        lines
    }

    /// The lines that are new in the place on screen; in a new place its title first. If only the cursor
    /// has moved, the line below it.
    pub fn changes(&mut self, app: &App) -> Vec<Announcement> {
        let reading = Reading::of(app);
        let is_new_place =
            (&reading.title, reading.is_dialog) != (&self.last.title, self.last.is_dialog);
        let before = if is_new_place { self.panes.get(&reading.title) } else { Some(&self.last) };
        let before = before.filter(|_| !(is_new_place && reading.is_dialog)).cloned();
        let known = before.unwrap_or_default();
        let mut lines = Vec::new();
        if is_new_place {
            lines.push(Announcement::Status(reading.title.clone()));
            lines.extend(app.overlay().map(|overlay| Announcement::Item(hints(overlay))));
        }
        let count = lines.len();
        let new = reading.lines.iter().filter(|line| !known.lines.contains(line));
        lines.extend(new.cloned().map(Announcement::Item));
        let gone = known.lines.iter().filter(|line| !reading.lines.contains(line));
        if lines.len() == count && !is_new_place {
            lines.extend(gone.map(|line| Announcement::Item(format!("no longer: {line}"))));
        }
        let moved = reading.current != known.current || is_new_place;
        if lines.len() == count && moved {
            let current = reading.current.and_then(|current| reading.lines.get(current));
            lines.extend(current.cloned().map(Announcement::Item));
        }
        self.remember(reading);
        lines
    }

    /// Everything in the place on screen.
    pub fn everything(&mut self, app: &App) -> Vec<Announcement> {
        (self.last, self.panes) = (Reading::default(), BTreeMap::new());
        self.changes(app)
    }

    fn remember(&mut self, reading: Reading) {
        if !reading.is_dialog {
            self.panes.insert(reading.title.clone(), reading.clone());
        }
        self.last = reading;
    }
}

/// The keys of a dialog, with words for arrows.
fn hints(overlay: &dyn Dialog) -> String {
    let words = [("↑", "up"), ("↓", "down"), ("←", "left"), ("→", "right")];
    let hints = words
        .iter()
        .fold(overlay.hints().to_owned(), |text, (arrow, word)| text.replace(arrow, word));
    let parts = hints.split("  ").map(str::trim).filter(|part| !part.is_empty());
    format!("keys: {}", parts.collect::<Vec<_>>().join(", "))
}
