//! Runs the interface for screen readers and pipes (`--accessible`). The state of the core is printed as lines of text,
//! and typed lines become events of the core.
//!
//! Actions, availability and dialogs are those of the drawn interface. `reading` and the files that it uses contain the
//! text of each pane and dialog. A pane or dialog without a text of its own is read from the drawing.

mod announcements;
mod pictures;
mod reading;
mod sentences;
mod session;
mod typed_line;

pub use announcements::{Announcement, Announcements, Announcer};
pub use reading::Reading;
pub use session::run;
pub use typed_line::TypedLine;

use tessera_interface::app::Setup;
use tessera_picture::Protocol;

/// The columns and rows of the drawing that text is read from. They are large enough that no line
/// is cut and nothing is scrolled.
const SCREEN: (u16, u16) = (200, 250);

/// Returns the same setup, presented as text.
#[must_use]
pub fn text_setup(mut setup: Setup) -> Setup {
    setup.settings.ui.mouse = false;
    Setup { is_text: true, protocol: Protocol::None, size: SCREEN, ..setup }
}
