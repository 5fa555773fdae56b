//! The terminal: taken once, given back once, by whoever gets there first.
//!
//! One restore serves the normal end, the panic hook and the signals. It writes to the terminal
//! and nothing else, so it works from any thread and when the terminal is half gone.

use std::{
    io::{self, Stdout, Write},
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
};

use crossterm::{
    cursor,
    event::{
        DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
        EnableFocusChange, EnableMouseCapture,
    },
    execute, queue,
    terminal::{self, EnterAlternateScreen, LeaveAlternateScreen},
};

use crate::{
    app::JobAlert,
    runtime::{alerts::AlertSupport, frames::FrameWriter},
    ui::picture_layer::delete_all_pictures,
};

const KITTY_IN_TMUX: u8 = 2;

static TERMINAL_ACTIVE: AtomicBool = AtomicBool::new(false);
/// Whether pictures must be deleted on leaving: 0 no, 1 kitty's, 2 kitty's through tmux.
static PICTURES_TO_DELETE: AtomicU8 = AtomicU8::new(0);

/// Whether the title, and the progress in the tab, must be taken back on leaving.
static TITLE_CHANGED: AtomicBool = AtomicBool::new(false);

/// The largest screen that is drawn on; what a terminal claims beyond stays empty.
const MAX_SIZE: (u16, u16) = (1000, 500);

/// Owns the terminal while it lives, and gives it back when it goes.
#[derive(Debug)]
pub struct TerminalScreen {
    /// What is drawn on it.
    pub frames: FrameWriter<Stdout>,
    mouse: bool,
    alert_support: AlertSupport,
}

/// The size of the terminal (columns, rows), as far as we draw on it.
///
/// # Errors
/// The terminal is gone.
pub fn size() -> io::Result<(u16, u16)> {
    let (columns, rows) = terminal::size()?;
    Ok((columns.min(MAX_SIZE.0), rows.min(MAX_SIZE.1)))
}

impl TerminalScreen {
    /// Takes the terminal: raw mode, the other screen, paste and mouse reports.
    ///
    /// # Errors
    /// The terminal refuses raw mode or is gone.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        // NO_COLOR chooses the plain theme; pictures are content and keep their colours, which
        // crossterm would drop.
        crossterm::style::force_color_output(true);
        let understood = AlertSupport::detect();
        let mut screen =
            Self { frames: FrameWriter::new(io::stdout()), mouse, alert_support: understood };
        screen.reenter()?;
        Ok(screen)
    }

    /// Takes the terminal again after a `restore`, and forgets what was on it.
    ///
    /// # Errors
    /// As [`Screen::take`].
    pub fn reenter(&mut self) -> io::Result<()> {
        TERMINAL_ACTIVE.store(true, Ordering::SeqCst);
        terminal::enable_raw_mode()?;
        let mut out = io::stdout();
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, cursor::Hide)?;
        if self.mouse {
            queue!(out, EnableMouseCapture)?;
        }
        self.frames.invalidate();
        out.flush()
    }

    /// Tells something through the terminal, as far as it understands that.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn send_alert(&mut self, tell: &JobAlert) -> io::Result<()> {
        let first =
            matches!(tell, JobAlert::Activity(_)) && !TITLE_CHANGED.swap(true, Ordering::SeqCst);
        self.frames.write(self.alert_support.sequence(tell, first).as_bytes())
    }

    /// Takes the mouse, or leaves it to the terminal.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn set_mouse(&mut self, ours: bool) -> io::Result<()> {
        self.mouse = ours;
        let mut out = io::stdout();
        if ours { execute!(out, EnableMouseCapture) } else { execute!(out, DisableMouseCapture) }
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        restore();
    }
}

/// Remembers that pictures must be deleted on leaving.
pub fn delete_pictures_on_exit(kitty: bool, tmux: bool) {
    PICTURES_TO_DELETE.store(u8::from(kitty) + u8::from(kitty && tmux), Ordering::SeqCst);
}

/// Gives the terminal back, once. Failures are nobody's to hear: the terminal may be gone.
pub fn restore() {
    if !TERMINAL_ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    match PICTURES_TO_DELETE.load(Ordering::SeqCst) {
        0 => {}
        kind => {
            let _ = out.write_all(delete_all_pictures(kind == KITTY_IN_TMUX).as_bytes());
        }
    }
    if TITLE_CHANGED.swap(false, Ordering::SeqCst) {
        let _ = out.write_all(AlertSupport::detect().reset_sequence().as_bytes());
    }
    let _ = execute!(
        out,
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        cursor::Show,
        LeaveAlternateScreen
    );
    let _ = terminal::disable_raw_mode();
}

/// The terminal first, the report after: otherwise nobody could read it.
fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // A decoder may panic on a broken picture; its thread answers for that itself.
            if !tessera_picture::decode::is_in_decoder() {
                restore();
                report(panic);
            }
        }));
    });
}
