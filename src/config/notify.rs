//! The ways in which the end of a job is told.

use serde::Deserialize;

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Notify {
    /// A line in the program.
    Toast,
    /// The bell of the terminal.
    Bell,
    /// A notification of the desktop, through the terminal.
    Desktop,
    /// The progress in the terminal's tab, and its title.
    Progress,
}

impl Notify {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Toast, Self::Bell, Self::Desktop, Self::Progress];
}
