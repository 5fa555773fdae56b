//! The area for a picture, and how the terminal draws it.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Protocol {
    None,
    /// Two pixels per cell, as text.
    #[default]
    HalfBlock,
    /// Kitty graphics with Unicode placeholders.
    Kitty,
    Sixel,
    Iterm,
}

/// The area for a picture, and the protocol. Equal canvases have equal encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canvas {
    /// Width in cells, at least 1.
    pub columns: u16,
    /// Height in cells, at least 1.
    pub rows: u16,
    /// Size of one cell in pixels (width, height).
    pub cell: (u16, u16),
    pub protocol: Protocol,
}
