//! The input for the id of a dataset.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::DatasetIdInput,
    ui::{
        DrawContext,
        overlay::Draw,
        widget::{bordered, put, text_field},
    },
};

impl Draw for DatasetIdInput {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = bordered(ctx, area, Line::from(" Open a dataset by its id "), true);
        let theme = ctx.theme;
        put(ctx, inside, 0, &[(" an id; the service need not list the dataset", theme.dim)]);
        let place = Rect {
            x: inside.x + 1,
            y: inside.y + 1,
            width: inside.width.saturating_sub(2),
            height: 1,
        };
        text_field(ctx, place, &self.text, true);
    }
}
