//! The border of a region, in characters over the cells of its picture. Only half-blocks need it:
//! for other protocols the border is in the pixels.

use ratatui::layout::Rect;

use crate::ui::DrawContext;
use tessera_model::Region;
use tessera_picture::Protocol;

/// Draws the border of `region` over a picture that covers these cells.
pub(in crate::ui) fn draw_region_outline(ctx: &mut DrawContext, covered: Rect, region: Region) {
    if ctx.app.protocol != Protocol::HalfBlock {
        return;
    }
    let ((x, y), (width, height)) = region.cells((covered.width, covered.height));
    let area = Rect { x: covered.x + x, y: covered.y + y, width, height };
    let style = ctx.theme.frame_focus;
    let (right, bottom) = (area.right() - 1, area.bottom() - 1);
    for position in area.positions() {
        let across = (position.x == area.x, position.x == right);
        let down = (position.y == area.y, position.y == bottom);
        let symbol = match (across, down) {
            // A cell or a line of them has no corners.
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
        ctx.buf[position].set_symbol(symbol).set_style(style);
    }
}
