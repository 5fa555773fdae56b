//! What the core requests from the runtime. Plain values, which tests compare.

use std::sync::Arc;

use crate::{
    app::{JobAlert, Uptime},
    config::Destination,
    message::{Lane, Request, Ticket},
};
use tessera_picture::Protocol;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Hand a request to the worker.
    Send(Ticket, Request),
    /// The response of this lane is no longer needed.
    Cancel(Lane),
    /// Send `Event::Wake` at this time; replaces an earlier one.
    WakeAt(Uptime),
    /// Show this picture on the whole screen.
    FullSize(Arc<[u8]>),
    Copy(String),
    Edit(String),
    /// Capture the mouse, or leave it to the terminal.
    CaptureMouse(bool),
    /// Draw pictures with this protocol from now on, and save that for this terminal.
    SaveProtocol(Protocol),
    Alert(JobAlert),
    /// Draw everything and send all pictures again.
    Redraw,
    /// Give the terminal back to the shell until the program is resumed.
    Suspend,
    Quit,
    /// Leave this deployment and open another.
    OpenDeployment(Destination),
}
