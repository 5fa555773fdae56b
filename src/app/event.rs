//! What can happen to the program: everything that differs between two runs comes in by here.

use std::time::Duration;

use crate::{
    input::Chord,
    message::{RequestProgress, Response},
};
use tessera_model::{Failure, RequestRecord};
use tessera_picture::Protocol;

/// Time since the program started; monotonic, and set by hand in tests.
pub type Uptime = Duration;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A key was pressed.
    Key(Chord),
    /// The mouse did something at a cell.
    Mouse(Mouse),
    /// Text was pasted; raw.
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// What the terminal draws, and the size of its cells in pixels.
    Terminal(Protocol, (u16, u16)),
    /// The window of the terminal got or lost the attention of the person.
    WindowFocus(bool),
    /// The worker answered.
    Response(Response),
    /// The worker got on with a long request.
    Progress(RequestProgress),
    /// The worker's client has sent something, and this came of it.
    Exchange(RequestRecord),
    /// The time asked for by `Effect::WakeAt` has come.
    Wake,
    /// The editor was left: the text as it is now.
    Edited(Result<String, Failure>),
    /// The terminal says that it draws pixels, and no person has said so yet.
    PixelsUnconfirmed,
    /// What only the terminal's owner can do is done, or could not be: the full-size view, the way
    /// pictures are drawn.
    TerminalTaskDone(Result<(), Failure>),
}

/// What the mouse did, and where (column, row).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// Column, 0-based; may lie outside the screen.
    pub column: u16,
    /// Row, 0-based; may lie outside the screen.
    pub row: u16,
    /// What it did there.
    pub kind: MouseKind,
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// The left button went down.
    Click,
    /// The mouse moved with the left button down.
    Drag,
    /// The left button went up.
    Release,
    /// The right button went down.
    RightClick,
    /// The wheel turned away from the person.
    WheelUp,
    /// The wheel turned towards the person.
    WheelDown,
}
