//! Everything that can happen to the program: all differences between two runs enter here.

use crate::{
    input::{Action, Chord},
    message::{RequestProgress, Response},
};
use tessera_model::{Failure, RequestRecord, SafeText, Timestamp};
use tessera_picture::Protocol;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Key(Chord),
    /// An action by its name, which needs no key.
    Action(Action),
    /// The item at this position of the open dialog or of the focused list, from 0.
    Item(usize),
    Mouse(Mouse),
    /// The mouse was moved over something with another text, or away from it.
    Hover(Option<SafeText>),
    /// Pasted text, unfiltered.
    Paste(String),
    Resize(u16, u16),
    /// What the terminal can draw, and the size of its cells in pixels.
    Terminal(Protocol, (u16, u16)),
    /// The largest side in pixels of a sixel picture that the terminal draws.
    SixelSide(u16),
    WindowFocus(bool),
    Response(Response),
    Progress(RequestProgress),
    /// The client has finished a request to the service.
    Exchange(RequestRecord),
    /// Requests carry a new token, which expires at this time.
    TokenIssued(Timestamp),
    /// Something in the background does not work and is not tried again, or a field of a response
    /// cannot be read.
    Warning(SafeText),
    /// The time of `Effect::WakeAt` has come.
    Wake,
    Edited(Result<String, Failure>),
    /// Whether the terminal draws pixels is contradictory, and the user has not confirmed it yet.
    PixelsUnconfirmed,
    /// The runtime has finished something that only it can do, such as saving the graphics protocol.
    TerminalTaskDone(Result<(), Failure>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// 0-based, like the row; both may be outside the screen.
    pub column: u16,
    pub row: u16,
    pub kind: MouseKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    Click,
    Drag,
    Release,
    RightClick,
    WheelUp,
    WheelDown,
}
