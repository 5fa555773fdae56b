//! Detects what the terminal can draw. The terminal is queried once, before any input reader exists, with a hard
//! timeout.
//!
//! Terminals reply in order, and nearly all reply to the last query (the primary attributes), so that reply ends the
//! wait. A silent terminal costs 300 ms (more over SSH) and gets half-blocks. [`LateReplyFilter`] keeps later replies
//! from becoming keys.

use std::{
    io::{self, IsTerminal, Write},
    os::fd::{AsFd, BorrowedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::retry_on_intr,
    termios::tcgetwinsize,
};
use tessera_picture::Protocol;

use crate::runtime::probe::{capabilities::decide_capabilities, replies::TerminalReplies};

mod capabilities;
mod replies;

pub use capabilities::{Capabilities, Environment};
pub use replies::LateReplyFilter;

/// Queries kitty graphics, name and version, cell size, background, the present and the largest size of sixel pictures,
/// and finally the primary attributes. The input reader drops a late sixel size because the attributes follow it.
const QUERIES: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[>q\x1b[16t\x1b]11;?\x1b\\\
                       \x1b[?2;1;0S\x1b[?2;4;0S\x1b[c";
/// The usual cell size, which is used for terminals that do not report theirs.
const DEFAULT_CELL: (u16, u16) = (10, 20);

/// Runs [`probe`] for a command. The terminal is in raw mode only during the query.
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

/// Detects what the terminal can draw. `forced` is the user's setting for the grid. The terminal
/// must be in raw mode. Nothing is queried if there is no terminal, or inside a multiplexer.
pub fn probe(environment: &Environment, forced: Option<Protocol>) -> Capabilities {
    let (input, output) = (io::stdin(), io::stdout());
    let is_terminal = input.is_terminal() && output.is_terminal();
    let mut replies = TerminalReplies::default();
    if is_terminal && environment.can_be_queried() {
        let deadline = environment.reply_timeout();
        // A terminal that cannot be written to or read from counts as silent.
        let _ = query_terminal(input.as_fd(), output, deadline, &mut replies);
    }
    replies.finish();
    let cell = cell_size().or(replies.cell).unwrap_or(DEFAULT_CELL);
    decide_capabilities(environment, replies, cell, forced)
}

/// Returns the cell size in pixels, as the system reports it.
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
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut polled = [PollFd::from_borrowed_fd(input, PollFlags::IN)];
        if retry_on_intr(|| poll(&mut polled, Some(&timeout)))? == 0 {
            break;
        }
        // This does not read through `Stdin`, whose buffer would keep bytes from the input reader.
        let count = rustix::io::read(input, &mut bytes)?;
        if count == 0 {
            break;
        }
        replies.feed(&bytes[..count]);
    }
    Ok(())
}
