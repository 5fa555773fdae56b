//! The drawing of each overlay; its state is in the file of the same name in `app/overlay`.

mod add_media;
mod archive_inspector;
mod caption;
mod export;
mod facets;
mod fact_sheet;
mod file_picker;
mod filter_input;
mod graphics_check;
mod help;
mod job_detail;
mod login;
mod pick_list;
mod prompt;
mod region_picker;
mod reindex;
mod saved_views;
mod score_histogram;

use ratatui::{
    layout::Rect,
    widgets::{Clear, Widget},
};

use crate::{
    app::{Overlay, overlay::with_dialog},
    ui::DrawContext,
};

pub(super) use login::token_text;

trait Draw {
    fn draw(&self, ctx: &mut DrawContext, area: Rect);
}

pub(super) fn draw(ctx: &mut DrawContext, area: Rect) {
    Clear.render(area, ctx.buf);
    if let Some(overlay) = ctx.app.overlay() {
        with_dialog!(overlay, dialog => dialog.draw(ctx, area));
    }
}
