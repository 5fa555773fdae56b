//! Detects what the terminal can draw. The first frame does not wait for the terminal: it is queried after that frame,
//! and its replies arrive among the keys.
//!
//! Terminals reply in order, and nearly all reply to the last query (the primary attributes). A silent terminal gets
//! half-blocks after `REPLY_LIMIT`, and a reply that comes even later still counts. No reply reaches the program that
//! uses the terminal next: see `unanswered`.

mod capabilities;
mod explanation;
mod replies;
pub(in crate::runtime) mod unanswered;

use std::{
    io::{self, IsTerminal, Write as _},
    os::fd::AsFd as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
    termios::tcgetwinsize,
};
use signal_hook::{consts::SIGINT, flag};
use tessera_config::input::{Chord, Key, Sequence, SequenceSplitter, TerminalInput, decode};
use tessera_picture::Protocol;

use crate::{
    process_signals::{self, TERMINATION_SIGNALS},
    runtime::probe::{
        capabilities::{decide_capabilities, wrap_for_screen, wrap_for_tmux},
        replies::is_attributes,
        unanswered::{ATTRIBUTES_QUERY, REPLY_LIMIT, note_queries, note_reply},
    },
};

pub use capabilities::{Capabilities, Environment, OuterTerminal};
pub use explanation::Explanation;
pub use replies::TerminalReplies;

/// Queries name and version, and cell size.
const IDENTITY_QUERIES: &str = "\x1b[>q\x1b[16t";
/// Queries what only the interface uses: the present and the largest size of sixel pictures, and the keyboard protocol.
/// Some terminals scroll the screen or move the cursor instead, which the interface repairs by drawing a whole frame.
pub(in crate::runtime) const INTERFACE_QUERIES: &str = "\x1b[?2;1;0S\x1b[?2;4;0S\x1b[?u";
const KITTY_QUERY: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// Queries the background color. The bell ends the query, because `ESC \` would end what screen passes on.
const BACKGROUND_QUERY: &str = "\x1b]11;?\x07";
/// Draws an ambiguous character, and queries the column of the cursor.
const WIDTH_QUERY: &str = "\r\u{2502}\x1b[6n\r";
/// Clears the line of the width query, and the kitty query where an old terminal has printed it.
const CLEAR_LINE: &str = "\r\x1b[K";
/// The usual cell size, which is used for terminals that do not report theirs.
const DEFAULT_CELL: (u16, u16) = (10, 20);

/// What is known about the terminal while its replies arrive.
#[derive(Debug)]
pub(in crate::runtime) struct Probe {
    environment: Environment,
    /// The protocol that the user has chosen.
    forced: Option<Protocol>,
    outer: Option<OuterTerminal>,
    replies: TerminalReplies,
    /// How many replies with attributes are missing.
    missing: usize,
    started: Instant,
    /// Whether the capabilities were decided without a reply.
    timed_out: bool,
}

impl Probe {
    /// Creates a probe that has not queried the terminal yet. In tmux, this blocks until tmux has described the outer
    /// terminal.
    pub fn new(environment: Environment, forced: Option<Protocol>) -> Self {
        let outer = environment.in_tmux.then(OuterTerminal::of_tmux).flatten();
        let (replies, started) = (TerminalReplies::default(), Instant::now());
        Self { environment, forced, outer, replies, missing: 0, started, timed_out: false }
    }

    /// Sends the queries that are safe for the terminal, and `own_queries`, which only its caller needs.
    pub fn send_queries(&mut self, own_queries: &str) -> io::Result<()> {
        let queries = queries(&self.environment, self.outer.as_ref(), own_queries);
        let mut out = io::stdout();
        out.write_all(queries.as_bytes())?;
        out.flush()?;
        self.missing = queries.matches(ATTRIBUTES_QUERY).count();
        self.started = Instant::now();
        note_queries(self.missing);
        Ok(())
    }

    /// Reads a reply. Returns the capabilities once they can be decided, and again when a reply changes them.
    pub fn read(&mut self, reply: &[u8]) -> Option<Capabilities> {
        let before = self.replies.clone();
        self.replies.read(reply);
        if is_attributes(reply) {
            note_reply();
            self.missing = self.missing.saturating_sub(1);
        }
        let is_decided = self.replies.has_ended() || self.timed_out;
        (is_decided && self.replies != before).then(|| self.capabilities())
    }

    /// Returns when a silent terminal is given up, or `None` if the terminal has replied or was given up.
    pub fn deadline(&self) -> Option<Instant> {
        let is_awaited = !self.replies.has_ended() && !self.timed_out;
        is_awaited.then(|| {
            self.started + if self.missing == 0 { std::time::Duration::ZERO } else { REPLY_LIMIT }
        })
    }

    /// Decides without the terminal.
    pub fn give_up(&mut self) -> Capabilities {
        self.timed_out = true;
        self.capabilities()
    }

    fn capabilities(&self) -> Capabilities {
        let cell = cell_size().or(self.replies.cell).unwrap_or(DEFAULT_CELL);
        let outer = self.outer.clone();
        decide_capabilities(&self.environment, &self.replies, cell, self.forced, outer)
    }
}

/// Returns the queries for this terminal. A multiplexer replies to the attributes itself, and its outer terminal
/// replies later, if at all.
fn queries(environment: &Environment, outer: Option<&OuterTerminal>, own_queries: &str) -> String {
    if !environment.can_be_queried() {
        return String::new();
    }
    if !environment.is_multiplexed() {
        // rxvt would print the kitty query.
        let kitty = if environment.term.starts_with("rxvt") { "" } else { KITTY_QUERY };
        return format!(
            "{kitty}{IDENTITY_QUERIES}{own_queries}{BACKGROUND_QUERY}{ATTRIBUTES_QUERY}"
        );
    }
    let passed_on = match outer {
        Some(outer) if outer.passes_sequences => {
            [KITTY_QUERY, BACKGROUND_QUERY, ATTRIBUTES_QUERY].map(wrap_for_tmux).concat()
        }
        _ if environment.in_screen => {
            [BACKGROUND_QUERY, ATTRIBUTES_QUERY].map(wrap_for_screen).concat()
        }
        _ => String::new(),
    };
    format!("{BACKGROUND_QUERY}{ATTRIBUTES_QUERY}{passed_on}")
}

/// Detects what the terminal can draw, for a command. The terminal is in raw mode meanwhile, so Ctrl-C is read here and
/// ends the program afterwards, as a signal does. The replies are awaited in any case, because the shell would take them
/// for typed text. Nothing is queried without a terminal.
pub fn probe_for_command(environment: &Environment) -> io::Result<Capabilities> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if !is_terminal {
        let silent = Environment { term: "dumb".to_owned(), ..environment.clone() };
        return Ok(Probe::new(silent, None).give_up());
    }
    let signals = EndingSignals::hold_back()?;
    let probed = crossterm::terminal::enable_raw_mode().and_then(|()| {
        let replies = read_replies(environment.clone());
        crossterm::terminal::disable_raw_mode()?;
        replies
    });
    signals.release();
    let (capabilities, is_interrupted) = probed?;
    if is_interrupted {
        std::process::exit(128 + SIGINT);
    }
    Ok(capabilities)
}

/// Waits for all replies, and returns whether the user pressed Ctrl-C meanwhile.
fn read_replies(environment: Environment) -> io::Result<(Capabilities, bool)> {
    let input = io::stdin();
    let (width_query, clear_line) =
        if environment.can_be_queried() { (WIDTH_QUERY, CLEAR_LINE) } else { ("", "") };
    io::stdout().write_all(width_query.as_bytes())?;
    let mut probe = Probe::new(environment, None);
    probe.send_queries("")?;
    io::stdout().write_all(clear_line.as_bytes())?;
    io::stdout().flush()?;
    let (mut splitter, mut bytes, mut is_interrupted) =
        (SequenceSplitter::default(), [0; 1024], false);
    let interrupt = Chord { ctrl: true, ..Chord::plain(Key::Char('c')) };
    while probe.missing > 0 {
        let left = REPLY_LIMIT.saturating_sub(probe.started.elapsed());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut polled = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
        if retry_on_intr(|| poll(&mut polled, Some(&timeout)))? == 0 {
            break;
        }
        // This does not read through `Stdin`, whose buffer would keep bytes from the next reader.
        let count = rustix::io::read(input.as_fd(), &mut bytes)?;
        if count == 0 {
            break;
        }
        for sequence in splitter.feed(&bytes[..count]) {
            // The position of a cursor in the first row has the form of F3 with modifiers.
            if let Sequence::Control(position) = &sequence
                && position.ends_with(b"R")
            {
                probe.read(position);
            }
            for input in decode(sequence) {
                match input {
                    TerminalInput::Reply(reply) => drop(probe.read(&reply)),
                    TerminalInput::Key(key) => is_interrupted |= key == interrupt,
                    _ => {}
                }
            }
        }
    }
    Ok((probe.give_up(), is_interrupted))
}

/// Returns the cell size in pixels, as the system reports it.
pub fn cell_size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    let width = size.ws_xpixel.checked_div(size.ws_col)?;
    let height = size.ws_ypixel.checked_div(size.ws_row)?;
    (width > 0 && height > 0).then_some((width, height))
}

/// Notes signals that would end the program, instead of letting them act.
struct EndingSignals {
    /// The last signal, or 0.
    last_signal: Arc<AtomicUsize>,
    /// Whether signals end the program again. Their handlers stay, because the library cannot remove them.
    act: Arc<AtomicBool>,
}

impl EndingSignals {
    fn hold_back() -> io::Result<Self> {
        let (last_signal, act) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        for signal in process_signals::not_ignored(TERMINATION_SIGNALS.iter().copied()) {
            // The commands handle an interrupt themselves when the terminal is restored.
            if signal != SIGINT {
                flag::register_conditional_default(signal, Arc::clone(&act))?;
            }
            let number = signal.unsigned_abs() as usize;
            flag::register_usize(signal, Arc::clone(&last_signal), number)?;
        }
        Ok(Self { last_signal, act })
    }

    /// Lets the signals act again, and ends the program if one came meanwhile. The terminal must have been restored.
    fn release(self) {
        self.act.store(true, Ordering::SeqCst);
        match i32::try_from(self.last_signal.load(Ordering::SeqCst)) {
            Ok(0) | Err(_) => {}
            Ok(signal) => std::process::exit(128 + signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_query_that_it_is_known_to_print() {
        let queries = |term: &str| {
            let environment = Environment { term: term.to_owned(), ..Environment::default() };
            queries(&environment, None, INTERFACE_QUERIES)
        };
        assert_eq!(queries("linux"), "");
        assert!(queries("xterm-256color").contains(KITTY_QUERY));
        for term in ["rxvt-unicode-256color", "screen"] {
            assert!(!queries(term).contains(KITTY_QUERY), "{term}");
        }
    }
}
