//! Keeps the state of the screen: the terminal with the size of its cells and the largest size of its pictures, the
//! focus and the arrangement of the panes, and keys that are not complete.

use tessera_config::{ThemeChoice, TileLayout, TileSize};
use tessera_model::SavedSession;
use tessera_picture::{
    Canvas, Protocol,
    fit::{DEFAULT_SIXEL_SIDE, max_sixel_cells},
};

use crate::app::prelude::*;
use crate::app::{Effect, Mouse};

/// The smallest screen that anything is drawn on (columns, rows).
pub const MIN_SCREEN: (u16, u16) = (30, 8);

/// Returns what a screen shows that is too small for anything else.
pub(crate) fn too_small_text((width, height): (u16, u16)) -> Option<String> {
    let (columns, rows) = MIN_SCREEN;
    let sentence =
        || format!("tessera needs {columns}x{rows} cells; this terminal has {width}x{height}");
    (width < columns || height < rows).then(sentence)
}

/// The smallest screen with pictures (columns, rows).
pub const MIN_PICTURE_SCREEN: (u16, u16) = (60, 16);

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
            mouse_captured: setup.settings.ui.mouse,
        }
    }

    /// Returns whether the screen is too small to draw anything.
    pub fn is_too_small(&self) -> bool {
        too_small_text(self.size).is_some()
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
        let captured = "mouse captured; hold Shift to select text";
        outbox.toggle(&mut self.mouse_captured, captured, "mouse released: it selects text");
        outbox.push(Effect::CaptureMouse(self.mouse_captured));
    }
}

/// The focus, and how the panes are arranged and drawn.
#[derive(Debug)]
pub struct Panes {
    pub focus: Pane,
    /// Whether the focused pane fills the screen.
    pub zoomed: bool,
    pub tile_size: TileSize,
    pub tile_layout: TileLayout,
    /// By how many steps the panes beside the results are wider than usual, or narrower if
    /// negative.
    pub(super) side_width: i16,
    /// Whether the datasets, the status and the connection have a column of their own. `None` until the user decides.
    pub(super) status_column: Option<bool>,
    /// Whether the line with key hints is shown.
    pub footer: bool,
    pub theme: ThemeChoice,
    /// The number of listed datasets when the open dialog was opened. The panes keep their sizes because of it.
    pub(super) datasets_before_overlay: Option<usize>,
}

impl Panes {
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            focus: Pane::Datasets,
            zoomed: false,
            tile_size: initial_tile_size(setup.session.as_ref(), setup.settings.ui.tile),
            tile_layout: initial_tile_layout(setup.session.as_ref(), setup.settings.ui.layout),
            side_width: 0,
            status_column: None,
            footer: true,
            theme: setup.settings.ui.theme.clone(),
            datasets_before_overlay: None,
        }
    }

    pub(super) fn widen_sides(&mut self, by: i16) {
        self.side_width = (self.side_width + by).clamp(-3, 8);
    }

    pub(in crate::app) fn next_theme(&mut self, setup: &Setup, outbox: &mut Outbox) {
        self.theme = self.theme.next(&setup.user_themes, setup.unreadable_theme.as_ref());
        let text = format!("theme {}; save it as `ui.theme` in the settings", self.theme.as_str());
        outbox.notify(Level::Success, text);
    }
}

/// Returns the tile size at the start.
fn initial_tile_size(session: Option<&SavedSession>, setting: TileSize) -> TileSize {
    let saved = session.and_then(|session| session.tile_size.as_deref());
    let known = TileSize::ALL.into_iter().find(|size| Some(size.as_str()) == saved);
    known.unwrap_or(setting)
}

/// Returns the arrangement of the tiles at the start.
fn initial_tile_layout(session: Option<&SavedSession>, setting: TileLayout) -> TileLayout {
    let saved = session.and_then(|session| session.tile_layout.as_deref());
    let known = TileLayout::ALL.into_iter().find(|layout| Some(layout.as_str()) == saved);
    known.unwrap_or(setting)
}

/// Input that is not complete yet, and what is under the mouse.
#[derive(Debug, Default)]
pub(in crate::app) struct InputState {
    pub pending_keys: Vec<Chord>,
    /// How many letters without an action were typed since the last action.
    pub unknown_letters: u8,
    /// Whether the panes show jump labels. The next key then jumps.
    pub jump_mode: bool,
    pub last_click: Option<(Uptime, Mouse)>,
    /// The full text of what is under the mouse, if the screen cuts or abbreviates it.
    pub hover: Option<SafeText>,
}
