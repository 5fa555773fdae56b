//! The interface for screen readers and pipes (`--accessible`): the state of the core as lines of text,
//! and typed lines as its events.
//!
//! Actions, availability and dialogs are those of the drawn interface. The text of each place is in
//! `reading` and the files that it uses; a place without a text of its own is read from the drawing.

mod announcements;
mod pictures;
mod reading;
mod sentences;
mod session;
mod typed_line;

pub use announcements::{Announcement, Announcements, Announcer};
pub use reading::Reading;
pub use session::{AccessibleOptions, run};
pub use typed_line::TypedLine;

use crate::app::{Presentation, Setup};
use tessera_picture::Protocol;

/// Columns and rows that text of the drawing is read from: no line is cut, and nothing is scrolled.
const SCREEN: (u16, u16) = (200, 250);

/// The same setup, presented as text.
#[must_use]
pub fn text_setup(setup: Setup) -> Setup {
    Setup {
        presentation: Presentation::Text,
        protocol: Protocol::None,
        size: SCREEN,
        capture_mouse: false,
        ..setup
    }
}
