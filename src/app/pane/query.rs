//! The query pane: the filters of each dataset as they are being written.

/// State of the pane.
#[derive(Debug, Default)]
pub struct Query {
    /// Whether it was told that the service reads the max score the other way.
    pub direction_told: bool,
}
