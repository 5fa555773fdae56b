//! What the core requests from the runtime. Plain values, which tests compare.

use crate::{
    app::{JobAlert, Uptime},
    config::Destination,
    message::{Lane, Request, Ticket},
    printable_text::PrintableText,
};
use tessera_picture::Protocol;

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Send(Ticket, Request),
    Cancel(Lane),
    /// Send `Event::Wake` at this time; replaces an earlier one.
    WakeAt(Uptime),
    Copy(PrintableText),
    Edit(String),
    CaptureMouse(bool),
    /// Draw pictures with this protocol from now on, and save that for this terminal.
    SaveProtocol(Protocol),
    Alert(JobAlert),
    /// Draw everything and send all pictures again.
    Redraw,
    Suspend,
    Quit,
    OpenDeployment(Destination),
}
