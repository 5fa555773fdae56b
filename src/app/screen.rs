//! The terminal that shows the program: its size, and how it draws pictures. Everything that depends only on the
//! terminal is here.

use tessera_picture::{
    Canvas, Protocol,
    fit::{DEFAULT_SIXEL_SIDE, max_sixel_cells},
};

use crate::app::{
    Effect, Level, Outbox, Setup,
    areas::{MIN_PICTURE_SCREEN, MIN_SCREEN},
};

#[derive(Debug)]
pub struct Screen {
    /// The columns and rows of the screen.
    pub size: (u16, u16),
    pub protocol: Protocol,
    /// The size of a cell in pixels.
    pub cell_size: (u16, u16),
    /// The largest side of a sixel picture that the terminal draws, in pixels.
    pub(super) sixel_side: u16,
    /// Whether the terminal window has the focus, if the terminal reports it.
    pub(super) window_focused: bool,
    pub(super) mouse_captured: bool,
}

impl Screen {
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            size: setup.size,
            protocol: setup.protocol,
            cell_size: (10, 20),
            sixel_side: DEFAULT_SIXEL_SIDE,
            window_focused: true,
            mouse_captured: setup.capture_mouse,
        }
    }

    /// Returns whether the screen is too small to draw anything.
    pub fn is_too_small(&self) -> bool {
        self.size.0 < MIN_SCREEN.0 || self.size.1 < MIN_SCREEN.1
    }

    /// Returns whether there are enough cells for pictures beside the text.
    pub(super) fn has_room_for_pictures(&self) -> bool {
        self.size.0 >= MIN_PICTURE_SCREEN.0 && self.size.1 >= MIN_PICTURE_SCREEN.1
    }

    /// Returns the canvas for an area, limited to the size of picture that the terminal draws.
    pub fn canvas(&self, columns: u16, rows: u16) -> Canvas {
        let drawable = |cells: u16, cell_side: u16| match self.protocol {
            Protocol::Sixel => cells.min(max_sixel_cells(self.sixel_side, cell_side)),
            Protocol::None | Protocol::HalfBlock | Protocol::Kitty | Protocol::Iterm => cells,
        };
        Canvas {
            columns: drawable(columns, self.cell_size.0).max(1),
            rows: drawable(rows, self.cell_size.1).max(1),
            cell: self.cell_size,
            protocol: self.protocol,
        }
    }

    pub(in crate::app) fn toggle_mouse(&mut self, outbox: &mut Outbox) {
        self.mouse_captured = !self.mouse_captured;
        outbox.push(Effect::CaptureMouse(self.mouse_captured));
        let text = if self.mouse_captured {
            "mouse captured; hold Shift to select text"
        } else {
            "mouse released: it selects text"
        };
        outbox.notify(Level::Success, text);
    }
}
