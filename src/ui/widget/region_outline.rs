//! The outline of a region, drawn as characters over a picture of half-blocks. Other protocols have
//! the outline in the pixels.

use ratatui::layout::Rect;

use crate::ui::DrawContext;
use tessera_model::Region;
use tessera_picture::Protocol;

impl DrawContext<'_> {
    pub(in crate::ui) fn draw_region_outline(&mut self, covered: Rect, region: Region) {
        if self.app.screen().protocol != Protocol::HalfBlock {
            return;
        }
        let ((x, y), (width, height)) = region.cells((covered.width, covered.height));
        let area = Rect { x: covered.x + x, y: covered.y + y, width, height };
        let style = self.theme.frame_focus;
        let (right, bottom) = (area.right() - 1, area.bottom() - 1);
        for position in area.positions() {
            let across = (position.x == area.x, position.x == right);
            let down = (position.y == area.y, position.y == bottom);
            let symbol = match (across, down) {
                // A single cell, or a single row or column, has no corners.
                ((true, true), (true, true)) => "╋",
                ((true, true), _) => "┃",
                (_, (true, true)) => "━",
                ((true, _), (true, _)) => "┏",
                ((_, true), (true, _)) => "┓",
                ((true, _), (_, true)) => "┗",
                ((_, true), (_, true)) => "┛",
                ((false, false), (false, false)) => continue,
                ((false, false), _) => "━",
                (_, (false, false)) => "┃",
            };
            self.buf[position].set_symbol(symbol).set_style(style);
        }
    }
}
