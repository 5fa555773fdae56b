//! Defines everything that can happen to the program. Two runs differ only by their events, because
//! every input enters here. Come here to add a kind of input.

pub use tessera_config::input::{Mouse, MouseKind};
use tessera_picture::Protocol;

use crate::app::prelude::*;
use crate::{app::CopyOutcome, message::WorkerEvent};

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Key(Chord),
    /// A letter of a layout that is not Latin, and the key at the same place of a Latin layout.
    LayoutKey {
        typed: Chord,
        latin: Chord,
    },
    /// An action that was chosen by its name instead of a key.
    Action(Action),
    /// The item at this position, counted from 0, of the open dialog or of the focused list.
    Item(usize),
    Mouse(Mouse),
    /// The mouse was moved over something with another text, or away from it.
    Hover(Option<SafeText>),
    /// Text that was pasted, still unfiltered.
    Paste(String),
    Resize(u16, u16),
    /// The terminal's graphics protocol, and the size of its cells in pixels.
    Terminal(Protocol, (u16, u16)),
    /// The largest side of a sixel picture that the terminal draws, in pixels.
    SixelSide(u16),
    WindowFocus(bool),
    Worker(WorkerEvent),
    /// The time of the last `Effect::WakeAt` has come.
    Wake,
    /// The text of the last `Effect::Copy` was copied or sent.
    Copied(CopyOutcome),
    Edited(Result<String, Failure>),
    /// The terminal and the environment contradict each other about pixel graphics, and the user
    /// has not confirmed either of them yet.
    PixelsUnconfirmed,
    /// The runtime has finished a task that only it can do, such as saving the graphics protocol.
    TerminalTaskDone(Result<(), Failure>),
}
