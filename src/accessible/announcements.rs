//! Decides what to announce after an event: notifications, the lines that have changed since they were read, and the
//! progress of tasks. Each line is printed after its kind, and no printed line is changed later.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Display,
    io::{self, BufRead, Write},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tessera_interface::app::{App, Job, Level, Uptime};
use tessera_model::SafeText;
use tokio::task::JoinHandle;

use crate::accessible::{Reading, reading::ReadLine};

/// A line to print, with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announcement {
    Status(String),
    Item(String),
    Error(String),
}

/// What has been read already.
#[derive(Debug, Default)]
pub struct Announcements {
    last: Reading,
    /// The panes as they were last read. A closed dialog is forgotten.
    panes: BTreeMap<String, Reading>,
    /// The open dialog or pane as it was last read with these keys, because some dialogs have several stages.
    stages: BTreeMap<String, Reading>,
    /// The items that are read when the user asks for more.
    unread: VecDeque<String>,
    notifications: usize,
}

/// The number of items of a list that are read at once.
const ITEMS_AT_ONCE: usize = 10;

impl Announcements {
    /// Returns the notifications that have arrived since the last call.
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

    /// Returns the lines that are new in the open dialog or pane, and the current field. If another dialog or pane is
    /// open now, its title comes first. If only the cursor has moved, the line below the cursor is returned.
    pub fn changes(&mut self, app: &App) -> Vec<Announcement> {
        let reading = Reading::of(app);
        let is_new_place = !reading.continues(&self.last);
        let known = match reading.dialog {
            _ if !is_new_place => Some(&self.last),
            Some(_) => None,
            None => self.panes.get(&reading.title),
        };
        let known = known.cloned().unwrap_or_default();
        let field = reading.field.clone().filter(|_| is_new_place || reading.field != known.field);
        let mut lines = Vec::new();
        if is_new_place || reading.title != known.title {
            lines.push(Announcement::Status(reading.title.clone()));
        }
        let (last, dialog) = (&self.last.keys, self.last.dialog);
        if !reading.keys.is_empty() && (&reading.keys, reading.dialog) != (last, dialog) {
            lines.push(Announcement::Item(hints(&reading.keys)));
        }
        let count = lines.len();
        if is_new_place {
            self.stages.clear();
        }
        let earlier = self.stages.get(&reading.keys).filter(|_| reading.keys != known.keys);
        let earlier = earlier.map_or(&[][..], |earlier| &earlier.lines);
        let read = [known.lines.as_slice(), earlier].concat();
        lines.extend(self.new_lines(&reading, &read, is_new_place));
        if lines.len() == count && !is_new_place && field.is_none() {
            let gone =
                known.lines_beyond(&reading.lines).into_iter().map(|index| known.text(index));
            lines.extend(gone.map(|line| Announcement::Item(format!("no longer: {line}"))));
        }
        let moved = reading.current != known.current || is_new_place;
        if lines.len() == count && moved && field.is_none() {
            let current = reading.current.map(|current| reading.text(current));
            lines.extend(current.map(Announcement::Item));
        }
        lines.extend(field.map(Announcement::Item));
        self.remember(reading);
        lines
    }

    /// Returns the lines that were not read yet. Of a long list, only the first items are returned. The item under the
    /// cursor is always included.
    fn new_lines(
        &mut self,
        reading: &Reading,
        read: &[ReadLine],
        is_new_place: bool,
    ) -> Vec<Announcement> {
        let (mut lines, mut unread, mut items) = (Vec::new(), VecDeque::new(), 0);
        // The current field is read after all lines.
        let field = reading.current.filter(|_| reading.field.is_some() && reading.count == 0);
        let new = reading.lines_beyond(read).into_iter().filter(|index| field != Some(*index));
        for index in new {
            let is_item = reading.lines[index].item.is_some() || reading.is_long_text();
            items += usize::from(is_item);
            if is_item && items > ITEMS_AT_ONCE {
                unread.push_back(reading.text(index));
            }
            if items <= ITEMS_AT_ONCE || !is_item || reading.current == Some(index) {
                lines.push(Announcement::Item(reading.text(index)));
            }
        }
        if is_new_place || !unread.is_empty() {
            self.unread = unread;
            lines.extend(self.unread_hint());
        }
        lines
    }

    /// Returns the next items of a long list.
    pub fn more(&mut self) -> Vec<Announcement> {
        let count = self.unread.len().min(ITEMS_AT_ONCE);
        if count == 0 {
            return vec![Announcement::Status("all items are read".to_owned())];
        }
        let mut lines: Vec<_> = self.unread.drain(..count).map(Announcement::Item).collect();
        lines.extend(self.unread_hint());
        lines
    }

    fn unread_hint(&self) -> Option<Announcement> {
        let count = self.unread.len();
        (count > 0).then(|| Announcement::Status(format!("{count} more; type more to read them")))
    }

    /// Returns everything in the open dialog or pane.
    pub fn everything(&mut self, app: &App) -> Vec<Announcement> {
        let notifications = self.notifications;
        *self = Self { notifications, ..Self::default() };
        self.changes(app)
    }

    fn remember(&mut self, reading: Reading) {
        if reading.dialog.is_none() {
            self.panes.insert(reading.title.clone(), reading.clone());
        }
        self.stages.insert(reading.keys.clone(), reading.clone());
        self.last = reading;
    }
}

/// Describes keys, with words for arrows.
fn hints(keys: &str) -> String {
    let words = [("↑", "up"), ("↓", "down"), ("←", "left"), ("→", "right")];
    let hints = words.iter().fold(keys.to_owned(), |text, (arrow, word)| text.replace(arrow, word));
    let parts = hints.split("  ").map(str::trim).filter(|part| !part.is_empty());
    format!("keys: {}", parts.collect::<Vec<_>>().join(", "))
}

/// A line that is being read from the input.
pub type PromptedLine = JoinHandle<io::Result<Option<String>>>;

pub struct Announcer {
    input: Arc<Mutex<dyn BufRead + Send>>,
    output: Box<dyn Write + Send>,
}

impl Announcer {
    pub fn new(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> Self {
        Self { input: Arc::new(Mutex::new(input)), output: Box::new(output) }
    }

    pub fn status(&mut self, text: impl Display) -> io::Result<()> {
        self.line("status", &text)
    }

    pub fn error(&mut self, text: impl Display) -> io::Result<()> {
        self.line("error", &text)
    }

    pub fn item(&mut self, text: impl Display) -> io::Result<()> {
        self.line("item", &text)
    }

    /// Prints a question and reads one line, or `None` at the end of the input. A blocking thread reads the line, so
    /// that responses are handled meanwhile.
    pub fn prompt(&mut self, question: impl Display) -> io::Result<PromptedLine> {
        self.line("question", &question)?;
        let input = Arc::clone(&self.input);
        Ok(tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            let mut input = input.lock();
            let count = input.read_line(&mut line)?;
            Ok((count > 0).then(|| line.trim().to_owned()))
        }))
    }

    fn line(&mut self, kind: &str, text: &dyn Display) -> io::Result<()> {
        // The text is always a single line, because a line break would start a line without a kind.
        let text = SafeText::new(&text.to_string(), usize::MAX);
        writeln!(self.output, "{kind}: {text}")?;
        self.output.flush()
    }
}

const HEARTBEAT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct ProgressStatus {
    last_line: String,
    announced_at: Uptime,
}

impl ProgressStatus {
    pub fn new(now: Uptime) -> Self {
        Self { last_line: String::new(), announced_at: now }
    }

    /// Returns when the next heartbeat is due.
    pub fn next_heartbeat(&self) -> Uptime {
        self.announced_at + HEARTBEAT
    }

    /// Returns the line to announce at this time, if there is one.
    pub fn next_line(&mut self, line: String, now: Uptime) -> Option<String> {
        if line != self.last_line {
            (self.last_line, self.announced_at) = (line.clone(), now);
            return Some(line);
        }
        (now >= self.next_heartbeat()).then(|| {
            self.announced_at = now;
            format!("still {line}")
        })
    }
}

/// Describes the tasks that are running: busy datasets and active jobs.
pub(super) fn running(app: &App) -> Vec<String> {
    let datasets =
        app.service_data().dataset_list().iter().filter(|dataset| dataset.status.is_busy());
    let datasets = datasets.map(|it| {
        let percent = it.progress.map(u64::from).map_or_else(String::new, percent_text);
        format!("{} is {}{percent}", it.name, it.status.as_str())
    });
    datasets.chain(app.jobs().iter().filter(|job| job.is_active()).map(job_text)).collect()
}

pub(super) fn job_text(job: &Job) -> String {
    let percent = job.progress().map(|(done, total)| done.saturating_mul(100) / total.max(1));
    let percent = percent.map_or_else(String::new, percent_text);
    format!("{} of {} {}{percent}", job.kind.label(), job.dataset_name, job.label())
}

/// Rounds the percentage down to tens, because every change is announced.
fn percent_text(percent: u64) -> String {
    format!(" {} percent", percent / 10 * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_and_heartbeat_is_announced() {
        let mut progress = ProgressStatus::new(Duration::ZERO);
        let mut lines = Vec::new();
        for at in 0..95 {
            let line = if at < 10 { "export RUNNING" } else { "export PACKING" };
            let now = Duration::from_secs(at);
            lines.extend(progress.next_line(line.to_owned(), now).map(|line| (at, line)));
        }
        let lines: Vec<(u64, &str)> = lines.iter().map(|(at, line)| (*at, line.as_str())).collect();
        let still = "still export PACKING";
        let expected = [(0, "export RUNNING"), (10, "export PACKING"), (40, still), (70, still)];
        assert_eq!(lines, expected);
    }
}
