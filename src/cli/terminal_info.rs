//! What the terminal can draw.

use tessera_picture::Protocol;

#[derive(Clone, Debug, Default)]
pub struct TerminalInfo {
    pub name: String,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Size of a cell in pixels.
    pub cell: (u16, u16),
    /// Whether the terminal responded to queries.
    pub answered: bool,
    pub truecolor: bool,
    /// The protocols that draw at the cursor, best first; half-blocks always work.
    pub protocols: Vec<Protocol>,
}
