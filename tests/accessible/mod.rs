//! Tests the accessible interface without a terminal. Typed lines go in and announced lines come out, on the same core
//! that is drawn elsewhere.
#![expect(clippy::panic, reason = "a test fails by panicking")]

mod actions;
mod sessions;

use std::fmt::Write as _;

use tessera::accessible::{Announcement, Announcements, TypedLine};
use tessera_interface::app::{Effect, Event};
use tessera_picture::Protocol;

use crate::support::desk::Desk;

/// A user who types lines, and the lines that were announced.
struct TextSession {
    desk: Desk,
    announcements: Announcements,
    log: String,
}

impl TextSession {
    /// Starts in a state of the drawn interface, and reads it once.
    fn start(mut desk: Desk) -> Self {
        desk.app.setup_mut().is_text = true;
        desk.happen(Event::Terminal(Protocol::None, desk.app.screen().cell_size));
        desk.happen(Event::Resize(200, 250));
        desk.other.clear();
        let mut session =
            Self { desk, announcements: Announcements::default(), log: String::new() };
        session.announcements.notifications(&session.desk.app);
        session.announce();
        session
    }

    /// Types a line. Returns what was announced, and texts that leave the program.
    fn type_line(&mut self, line: &str) -> Vec<String> {
        writeln!(self.log, "> {line}").unwrap();
        match TypedLine::parse(&self.desk.app, line) {
            TypedLine::Events(events) => events.into_iter().for_each(|it| self.desk.happen(it)),
            TypedLine::Read => {
                let lines = self.announcements.everything(&self.desk.app);
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
        let effects = std::mem::take(&mut self.desk.other).into_iter().filter_map(|effect| {
            Some(Announcement::Item(match effect {
                Effect::Copy(text) => format!("printed: {}", text.as_str()),
                Effect::Quit => "left".to_owned(),
                Effect::Edit(_) => "opens the editor".to_owned(),
                _ => return None,
            }))
        });
        let mut lines: Vec<Announcement> = effects.collect();
        lines.extend(self.announcements.notifications(&self.desk.app));
        lines.extend(self.announcements.changes(&self.desk.app));
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
