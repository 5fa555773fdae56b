//! Writes messages to standard error: information, warnings and progress.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use tessera_config::{DesktopProtocol, shows_progress};
use tessera_interface::printable_text::PrintableText;
use tessera_model::{SafeText, Status, text::truncate};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::terminal_changes::TerminalChange;

pub use tessera_model::text::format_bytes;

/// The minimum interval between two progress lines if there is no terminal: the first if the progress has grown by a
/// tenth or more, and the second otherwise.
const LINE_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];
/// The shortest time between two updates of a progress bar in a terminal.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
const BAR_CELLS: usize = 24;
/// The width of the shortest bar. A narrower terminal shows no bar.
const MIN_BAR_CELLS: usize = 4;
/// The width to assume if the terminal does not know its width.
const DEFAULT_WIDTH: usize = 80;

#[derive(Clone, Copy, Debug)]
pub struct Messages {
    quiet: bool,
    /// Whether standard error is a terminal, in which lines can be overwritten.
    terminal: bool,
}

/// Whether the terminal understands more than lines of text. An empty variable counts as unset.
pub fn is_capable_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

impl Messages {
    pub fn new(quiet: bool) -> Self {
        Self { quiet, terminal: io::stderr().is_terminal() && is_capable_terminal() }
    }

    /// Returns messages that print only warnings.
    pub fn quiet() -> Self {
        Self::new(true)
    }

    pub fn info(self, message: impl AsRef<str>) {
        if !self.quiet {
            self.write_line(message.as_ref());
        }
    }

    /// Prints a warning, even with `--quiet`.
    pub fn warn(self, message: impl AsRef<str>) {
        self.write_line(&format!("warning: {}", message.as_ref()));
    }

    pub fn is_terminal(self) -> bool {
        self.terminal
    }

    /// Rings the bell, and shows a desktop notification if the terminal supports it.
    pub fn notify(self, text: &SafeText) {
        if self.terminal {
            let desktop = DesktopProtocol::detect(|name| std::env::var(name).ok());
            let desktop = desktop.map(|desktop| desktop.sequence(text)).unwrap_or_default();
            // The error is ignored, because standard error may be closed.
            let _ = write!(io::stderr(), "\x07{desktop}");
        }
    }

    fn write_line(self, message: &str) {
        if self.terminal {
            // This clears a progress bar, which is drawn again below the message. The error is
            // ignored, because standard error may be closed.
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
        write_message(message);
    }

    pub fn progress_bar(self, label: impl AsRef<str>) -> ProgressBar {
        let now = Instant::now();
        ProgressBar {
            messages: self,
            label: SafeText::name(label.as_ref()),
            started: now,
            last_report: (now, 0),
            drawn: None,
            shown_in_tab: self.terminal && shows_progress(|name| std::env::var(name).ok()),
        }
    }
}

/// Writes a message without options, for what happens before or outside of a command.
pub fn write_message(message: &str) {
    let message = SafeText::caption(message);
    write_stderr(&PrintableText::line(format_args!("tessera: {message}")));
}

/// Shows progress: as a bar in a terminal, otherwise as a line per tenth, and at most one line a
/// second.
#[derive(Debug)]
pub struct ProgressBar {
    messages: Messages,
    label: SafeText,
    started: Instant,
    /// The time and the tenth of the last report, or of the start.
    last_report: (Instant, u64),
    drawn: Option<TerminalChange>,
    /// Whether the tab of the terminal shows progress (OSC 9;4).
    shown_in_tab: bool,
}

impl ProgressBar {
    pub fn set_bytes(&mut self, done: u64, all: Option<u64>) {
        let elapsed = self.started.elapsed().as_millis();
        let bytes_per_second = match u128::from(done) * 1000 / elapsed.max(1) {
            rate if elapsed > 500 => u64::try_from(rate).unwrap_or(u64::MAX),
            _ => 0,
        };
        let total = all.map_or_else(String::new, |all| format!(" of {}", format_bytes(all)));
        let mut text = format!("{}{total}", format_bytes(done));
        if bytes_per_second > 0 {
            text = format!("{text}, {}/s", format_bytes(bytes_per_second));
            if let Some(left) = all.map(|all| all.saturating_sub(done)).filter(|left| *left > 0) {
                text = format!("{text}, {} s left", left / bytes_per_second);
            }
        }
        self.update(done, all, &text);
    }

    /// Shows a text without a bar, because the size of the work is unknown.
    pub fn set_text(&mut self, text: &str) {
        self.update(0, None, text);
    }

    /// Shows how far a dataset is in its status.
    pub fn set_status(&mut self, status: &Status, percent: u8) {
        self.set_count(percent.into(), 100, &format!("{} {percent}%", status.as_str()));
    }

    pub fn set_count(&mut self, done: u64, all: u64, text: &str) {
        self.update(done, Some(all), text);
    }

    fn update(&mut self, done: u64, all: Option<u64>, text: &str) {
        if self.messages.quiet {
            return;
        }
        let tenth = all.map_or(0, |all| done.saturating_mul(10) / all.max(1));
        let (at, before) = self.last_report;
        let is_due = if self.messages.terminal {
            self.drawn.is_none() || at.elapsed() >= REDRAW_INTERVAL || all == Some(done)
        } else {
            is_line_due(at.elapsed(), tenth != before)
        };
        if !is_due {
            return;
        }
        self.last_report = (Instant::now(), tenth);
        if self.messages.terminal {
            self.draw(done, all, text);
        } else {
            self.messages.write_line(&format!("{}: {text}", self.label));
        }
    }

    fn draw(&mut self, done: u64, all: Option<u64>, text: &str) {
        let (label, text) = (self.label.as_str(), SafeText::name(text));
        // The last column stays empty, because some terminals wrap the line there.
        let line =
            progress_line(label, all.map(|all| (done, all)), text.as_str(), line_width() - 1);
        let percent = all.map(|all| done.saturating_mul(100) / all.max(1));
        let tab = percent.filter(|_| self.shown_in_tab);
        let tab = tab.map_or_else(String::new, |percent| format!("\u{1b}]9;4;1;{percent}\u{7}"));
        let show = move || {
            let mut err = io::stderr().lock();
            write!(err, "\r\u{1b}[K{line}{tab}").and_then(|()| err.flush())
        };
        if let Some(drawn) = &self.drawn {
            return drawn.replace(show);
        }
        let tab = if self.shown_in_tab { "\u{1b}]9;4;0;\u{7}" } else { "" };
        let clear = move || write!(io::stderr(), "\r\u{1b}[K{tab}");
        // The error is ignored, because standard error may be closed.
        self.drawn = TerminalChange::new(show, clear).ok();
    }
}

/// Returns the label, the bar if the size is known, and the text, in at most `width` cells. In a narrow terminal, the
/// bar is shorter or missing.
fn progress_line(label: &str, done: Option<(u64, u64)>, text: &str, width: usize) -> String {
    const GAP: usize = 2;
    let texts = label.width() + text.width() + 2 * GAP;
    let cells = width.saturating_sub(texts).min(BAR_CELLS);
    let bar = done.filter(|_| cells >= MIN_BAR_CELLS).map_or_else(String::new, |(done, all)| {
        let cells = cells as u64;
        let filled = done.saturating_mul(cells) / all.max(1);
        let bar: String = (0..cells).map(|cell| if cell < filled { '█' } else { '░' }).collect();
        format!("{bar}  ")
    });
    truncate(&format!("{label}  {bar}{text}"), width)
}

/// Returns the width of the terminal, which is at least 1.
fn line_width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).map(|size| usize::from(size.ws_col));
    let named = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let known = size.ok().filter(|cells| *cells > 0).or_else(named);
    known.filter(|cells| *cells > 0).unwrap_or(DEFAULT_WIDTH)
}

fn is_line_due(since_last: Duration, has_new_tenth: bool) -> bool {
    let [shortest, longest] = LINE_INTERVALS;
    since_last >= if has_new_tenth { shortest } else { longest }
}

/// Writes text to standard error. All messages are written here.
pub fn write_stderr(text: &PrintableText) {
    // The error is ignored, because standard error may be closed.
    let _ = write!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_never_wider_than_the_terminal() {
        let line =
            |width| progress_line("downloading 写真.zip", Some((1, 2)), "5 MiB of 10 MiB", width);
        assert_eq!(
            line(79),
            format!("downloading 写真.zip  {}{}  5 MiB of 10 MiB", "█".repeat(12), "░".repeat(12))
        );
        assert_eq!(line(44), "downloading 写真.zip  ██░░░  5 MiB of 10 MiB");
        assert_eq!(line(42), "downloading 写真.zip  5 MiB of 10 MiB");
        for width in 0..120 {
            assert!(line(width).width() <= width, "{width}: {}", line(width));
        }
    }

    #[test]
    fn without_a_terminal_progress_is_a_line_a_second_at_most() {
        let due = |millis, has_new_tenth| is_line_due(Duration::from_millis(millis), has_new_tenth);
        assert!(!due(999, true) && due(1_000, true));
        assert!(!due(29_999, false) && due(30_000, false));
    }
}
