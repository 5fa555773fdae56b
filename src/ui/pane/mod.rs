//! The drawing of each pane; its state is in the file of the same name in `app/pane`.

pub(super) mod basket;
mod datasets;
mod detail;
mod jobs;
mod query;
mod query_checks;
mod results;
mod status;

pub(super) use datasets::datasets;
pub(super) use detail::detail;
pub(super) use jobs::{job_summary, jobs};
pub(super) use query::query;
pub(super) use results::results;
pub(super) use status::status;

use ratatui::layout::Rect;

use crate::ui::DrawContext;

/// Highlights a row over its whole width, if it is selected.
pub(super) fn select_row(ctx: &mut DrawContext, area: Rect, row: u16, selected: bool) {
    if selected && row < area.height {
        let line = Rect { y: area.y + row, height: 1, ..area };
        ctx.buf.set_style(line, ctx.theme.selected);
    }
}
