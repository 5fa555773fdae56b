//! What the terminal can draw: asked once, before any input reader exists, with a hard deadline.
//!
//! A terminal answers in the order it was asked, and nearly every one answers the last question
//! (its primary attributes), so that answer ends the wait. One that stays silent costs 300 ms
//! (more over SSH) and gets half-blocks. Answers that come later are kept from becoming keys by
//! [`Stragglers`].

mod capabilities;
mod late_replies;
mod replies;

use std::{
    io::{self, IsTerminal, Write},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::tcgetwinsize,
};

use crate::ui::{picture_layer::ColorDepth, theme::ThemeName};
pub use capabilities::Environment;
pub use late_replies::LateReplyFilter;
use replies::TerminalReplies;
use tessera_picture::Protocol;

/// Kitty graphics, name and version, size of a cell, the background, and at last the primary
/// attributes.
const QUERIES: &str =
    "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[>q\x1b[16t\x1b]11;?\x1b\\\x1b[c";
/// The shape most cells have, for terminals that do not tell theirs.
const DEFAULT_CELL: (u16, u16) = (10, 20);

/// What the terminal can draw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a terminal")]
pub struct Capabilities {
    /// How the drawing layer should draw.
    pub protocol: Protocol,
    /// Size of one cell in pixels (width, height); changes with the font, so ask
    /// [`cell_size`] again after a resize.
    pub cell: (u16, u16),
    /// Inside tmux, which passes graphics on only when wrapped.
    pub in_tmux: bool,
    /// The colours that arrive.
    pub color_depth: ColorDepth,
    /// What `auto` means: the theme for this background.
    pub theme: ThemeName,
    /// The colour behind its text (red, green, blue), where it says so.
    pub background: Option<[u8; 3]>,
    /// Whether the terminal answered in time: the condition for asking it anything later.
    pub has_replied: bool,
    /// Kitty graphics, if only without placeholders.
    pub kitty: bool,
    /// iTerm2 inline pictures.
    pub iterm: bool,
    /// Sixel graphics.
    pub sixel: bool,
    /// Bytes that came meanwhile and are no answers: keys of the person.
    pub typed_bytes: Vec<u8>,
}

impl Capabilities {
    /// What `viuer` may use, the best first: it asks again and waits for the answer for ever, so only
    /// what has been answered here, and only without a multiplexer between us and the screen.
    #[must_use]
    pub fn viewer_protocols(&self) -> Vec<Protocol> {
        let may_ask = self.has_replied && !self.in_tmux;
        let draws = [
            (may_ask && self.kitty, Protocol::Kitty),
            (self.iterm, Protocol::Iterm),
            (may_ask && self.sixel, Protocol::Sixel),
            (true, Protocol::HalfBlock),
        ];
        draws.into_iter().filter_map(|(draws, protocol)| draws.then_some(protocol)).collect()
    }

    /// The best of them.
    #[must_use]
    pub fn viewer_protocol(&self) -> Protocol {
        self.viewer_protocols().first().copied().unwrap_or_default()
    }
}

/// As [`probe`], for a command that has no terminal of its own: it is in raw mode only while it is
/// asked.
///
/// # Errors
/// The terminal is gone.
pub fn probe_for_command(environment: &Environment) -> io::Result<Capabilities> {
    let can_query =
        io::stdin().is_terminal() && io::stdout().is_terminal() && environment.can_be_queried();
    if can_query {
        crossterm::terminal::enable_raw_mode()?;
    }
    let capabilities = probe(environment, None);
    if can_query {
        crossterm::terminal::disable_raw_mode()?;
    }
    Ok(capabilities)
}

/// Finds out what the terminal can draw. `forced` is the person's setting, which wins for the
/// grid. The terminal must be in raw mode; nothing is asked without one, or inside a multiplexer.
#[must_use]
pub fn probe(environment: &Environment, forced: Option<Protocol>) -> Capabilities {
    let (input, output) = (io::stdin(), io::stdout());
    let is_terminal = input.is_terminal() && output.is_terminal();
    let mut replies = TerminalReplies::default();
    if is_terminal && environment.can_be_queried() {
        let deadline = environment.reply_timeout();
        // A terminal that cannot be written to or read from is a silent one.
        let _ = query_terminal(input.as_fd(), output, deadline, &mut replies);
    }
    replies.finish();
    let cell = cell_size().or(replies.cell).unwrap_or(DEFAULT_CELL);
    capabilities::decide_capabilities(environment, replies, cell, forced)
}

/// The size of a cell in pixels, as far as the terminal tells the system.
#[must_use]
pub fn cell_size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    let width = size.ws_xpixel.checked_div(size.ws_col)?;
    let height = size.ws_ypixel.checked_div(size.ws_row)?;
    (width > 0 && height > 0).then_some((width, height))
}

fn query_terminal(
    input: BorrowedFd<'_>,
    mut output: impl Write,
    deadline: Duration,
    replies: &mut TerminalReplies,
) -> io::Result<()> {
    let started = Instant::now();
    output.write_all(QUERIES.as_bytes())?;
    output.flush()?;
    let mut bytes = [0; 1024];
    while !replies.is_complete() {
        let left = deadline.saturating_sub(started.elapsed());
        match poll_input(input, left)? {
            PollOutcome::Readable => {}
            PollOutcome::Interrupted => continue,
            PollOutcome::TimedOut => break,
        }
        // Not through `Stdin`, whose buffer would keep bytes from the input reader.
        let count = rustix::io::read(input, &mut bytes)?;
        if count == 0 {
            break;
        }
        replies.feed(&bytes[..count]);
    }
    Ok(())
}

enum PollOutcome {
    Readable,
    Interrupted,
    TimedOut,
}

fn poll_input(input: BorrowedFd<'_>, at_most: Duration) -> io::Result<PollOutcome> {
    let timeout = Timespec::try_from(at_most).map_err(io::Error::other)?;
    let mut polled = [PollFd::from_borrowed_fd(input, PollFlags::IN)];
    match poll(&mut polled, Some(&timeout)) {
        Ok(0) => Ok(PollOutcome::TimedOut),
        Ok(_) => Ok(PollOutcome::Readable),
        Err(rustix::io::Errno::INTR) => Ok(PollOutcome::Interrupted),
        Err(error) => Err(error.into()),
    }
}
