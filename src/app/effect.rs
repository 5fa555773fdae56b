//! What the core asks of the shell around it. Plain values: a test compares them.

use std::sync::Arc;

use crate::{
    app::{JobAlert, Uptime},
    config::Destination,
    message::{Lane, Request, Ticket},
};
use tessera_picture::Protocol;

/// One thing to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Hand a request to the worker.
    Send(Ticket, Request),
    /// The answer of this lane is no longer wanted.
    Cancel(Lane),
    /// Send `Event::Wake` at this time; replaces an earlier wish.
    WakeAt(Uptime),
    /// Take the screen over and show this picture as large as it goes.
    FullSize(Arc<[u8]>),
    /// Put this text into the clipboard, through the terminal.
    Copy(String),
    /// Give the terminal to the person's editor, with this text in it.
    Edit(String),
    /// Take the mouse, or leave it to the terminal.
    CaptureMouse(bool),
    /// Pictures are drawn like this from now on; keep it for this terminal.
    SaveProtocol(Protocol),
    /// Tell of the jobs through the terminal.
    Alert(JobAlert),
    /// Draw everything anew and send all pictures again.
    Redraw,
    /// Give the terminal back to the shell until it is resumed.
    Suspend,
    /// End the program.
    Quit,
    /// Leave this deployment and open another.
    OpenDeployment(Destination),
}
