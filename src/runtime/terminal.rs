//! The terminal: taken once, given back once, by whoever gets there first.
//!
//! One restore serves the normal end, the panic hook and the signals. It writes to the terminal
//! and nothing else, so it works from any thread and when the terminal is half gone.

use std::{
    io::{self, BufWriter, Stdout, Write},
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
};

use crossterm::{
    cursor,
    event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture},
    execute, queue,
    terminal::{self, EnterAlternateScreen, LeaveAlternateScreen},
};
use ratatui::{Terminal, backend::CrosstermBackend, layout::Rect};

use crate::ui::layer::forget_blindly;

/// The terminal as ratatui sees it: buffered, one flush a frame.
pub type Tty = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

const IN_TMUX: u8 = 2;

static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether pictures must be deleted on leaving: 0 no, 1 kitty's, 2 kitty's through tmux.
static PICTURES: AtomicU8 = AtomicU8::new(0);

/// Owns the terminal while it lives, and gives it back when it goes.
#[derive(Debug)]
pub struct Screen {
    /// Where frames are drawn.
    pub tty: Tty,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal: raw mode, the other screen, paste and mouse reports.
    ///
    /// # Errors
    /// The terminal refuses raw mode or is gone.
    pub fn take(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        // NO_COLOR chooses the plain theme; pictures are content and keep their colours, which
        // crossterm would drop.
        crossterm::style::force_color_output(true);
        let writer = BufWriter::with_capacity(1 << 16, io::stdout());
        let mut screen = Self { tty: Terminal::new(CrosstermBackend::new(writer))?, mouse };
        screen.claim()?;
        Ok(screen)
    }

    /// Takes the terminal again after a `restore`, and forgets what was on it.
    ///
    /// # Errors
    /// As [`Screen::take`].
    pub fn claim(&mut self) -> io::Result<()> {
        TAKEN.store(true, Ordering::SeqCst);
        terminal::enable_raw_mode()?;
        let out = self.tty.backend_mut();
        queue!(out, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        if self.mouse {
            queue!(out, EnableMouseCapture)?;
        }
        out.flush()?;
        self.repaint()
    }

    /// Forgets what was drawn, so that the next frame is drawn whole. (`Terminal::clear` would
    /// ask for the cursor and read the answer from under the event stream.)
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn repaint(&mut self) -> io::Result<()> {
        let (columns, rows) = terminal::size()?;
        self.tty.resize(Rect::new(0, 0, columns, rows))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Remembers that pictures must be deleted on leaving.
pub fn pictures_in_use(kitty: bool, tmux: bool) {
    PICTURES.store(u8::from(kitty) + u8::from(kitty && tmux), Ordering::SeqCst);
}

/// Gives the terminal back, once. Failures are nobody's to hear: the terminal may be gone.
pub fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    match PICTURES.load(Ordering::SeqCst) {
        0 => {}
        kind => {
            let _ = out.write_all(forget_blindly(kind == IN_TMUX).as_bytes());
        }
    }
    let _ = execute!(
        out,
        DisableMouseCapture,
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
            if !crate::picture::decode::is_guarded() {
                restore();
                report(panic);
            }
        }));
    });
}
