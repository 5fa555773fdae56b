//! Tests the accessible interface without a terminal. Typed lines go in and announced lines come out, on the same core
//! that is drawn elsewhere.
#![expect(clippy::panic, reason = "a test fails by panicking")]

mod actions;
mod sessions;

use std::fmt::Write as _;

use tessera::accessible::{Announcement, Announcements, TypedLine};
use tessera_interface::app::{Effect, Event};
use tessera_picture::Protocol;

use crate::support::app_harness::AppHarness;

/// A user who types lines, and the lines that were announced.
struct TextSession {
    harness: AppHarness,
    announcements: Announcements,
    log: String,
}

impl TextSession {
    /// Starts in a state of the drawn interface, and reads it once.
    fn start(mut harness: AppHarness) -> Self {
        harness.app.setup_mut().is_text = true;
        harness.happen(Event::Terminal(Protocol::None, harness.app.screen().cell_size));
        harness.happen(Event::Resize(200, 250));
        harness.other.clear();
        let mut session =
            Self { harness, announcements: Announcements::default(), log: String::new() };
        session.announcements.notifications(&session.harness.app);
        session.announce();
        session
    }

    /// Types a line. Returns what was announced, and texts that leave the program.
    fn type_line(&mut self, line: &str) -> Vec<String> {
        writeln!(self.log, "> {line}").unwrap();
        match TypedLine::parse(&self.harness.app, line) {
            TypedLine::Events(events) => events.into_iter().for_each(|it| self.harness.happen(it)),
            TypedLine::Read => {
                let lines = self.announcements.everything(&self.harness.app);
                return self.write(lines);
            }
            TypedLine::More => {
                let lines = self.announcements.more();
                return self.write(lines);
            }
            TypedLine::Wait => panic!("nothing runs here"),
            TypedLine::Unknown(reason) => return self.write(vec![Announcement::Error(reason)]),
        }
        self.announce()
    }

    /// Types a line, and then `more` until everything is read.
    fn type_and_read_all(&mut self, line: &str) -> Vec<String> {
        let mut lines = self.type_line(line);
        while lines.last().is_some_and(|line| line.ends_with("type more to read them")) {
            lines.pop();
            lines.extend(self.type_line("more"));
        }
        lines
    }

    fn announce(&mut self) -> Vec<String> {
        let effects = std::mem::take(&mut self.harness.other).into_iter().filter_map(|effect| {
            Some(Announcement::Item(match effect {
                Effect::Copy(text) => format!("printed: {}", text.as_str()),
                Effect::Quit => "left".to_owned(),
                Effect::Edit(_) => "opens the editor".to_owned(),
                _ => return None,
            }))
        });
        let mut lines: Vec<Announcement> = effects.collect();
        lines.extend(self.announcements.notifications(&self.harness.app));
        lines.extend(self.announcements.changes(&self.harness.app));
        self.write(lines)
    }

    fn write(&mut self, lines: Vec<Announcement>) -> Vec<String> {
        let lines = lines.into_iter().map(|line| match line {
            Announcement::Status(text) => format!("status: {text}"),
            Announcement::Item(text) => format!("item: {text}"),
            Announcement::Error(text) => format!("error: {text}"),
        });
        let lines: Vec<String> = lines.collect();
        for line in &lines {
            writeln!(self.log, "{line}").unwrap();
        }
        lines
    }
}
