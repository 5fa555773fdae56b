//! Draws the basket: the selected clusters and media items, and how many previews of the selection
//! were seen.

use tessera_model::{Selection, SelectionTotals, text::grouped_with_noun};

use crate::app::overlay::selection_rows::{BasketRows, draw_entry, draw_entry_beside_picture};
use crate::ui::prelude::*;

/// Describes the size of the selection, such as `basket 14 (≈431 media)`.
pub(in crate::ui) fn basket_summary(app: &App) -> Option<String> {
    let totals = app.baskets().selection(app.results())?.totals();
    let rows = grouped_with_noun(totals.export_rows(), "media item", "media");
    (totals.entries() > 0)
        .then(|| format!("basket {} ({}{rows})", totals.entries(), totals.estimate_sign()))
}

pub(in crate::ui) fn basket(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let totals = app.baskets().selection(app.results()).map(Selection::totals).unwrap_or_default();
    let inside = ctx.pane_frame(area, Pane::Basket, &heading(&totals));
    if totals.entries() == 0 {
        let lines = [
            "Nothing is selected.",
            "In the results Space selects a cluster, v a range, V the page.",
        ];
        return ctx.centered_message(inside, ctx.theme.dim, &lines);
    }
    let rows = BasketRows::new(app, area);
    let footer = rows.footer.iter().map(|text| Line::styled(format!(" {text}"), ctx.theme.dim));
    ctx.put_lines(rows.footer_area, &footer.collect::<Vec<_>>());
    for (area, picture) in rows.pictures(app) {
        ctx.draw_tile_picture(area, picture.view, picture.canvas);
    }
    let cursor = app.baskets().cursor();
    let last = rows.entries.last().map_or(0, |(index, ..)| *index);
    for (index, entry, area) in rows.entries {
        let text = if rows.has_pictures {
            draw_entry_beside_picture(ctx, area, entry)
        } else {
            draw_entry(ctx, area, entry);
            area
        };
        let is_selected = app.panes().focus == Pane::Basket && index == cursor.min(last);
        ctx.select_row(text, 0, is_selected);
    }
}

fn heading(totals: &SelectionTotals) -> String {
    match (totals.entries(), totals.stale) {
        (0, _) => String::new(),
        (entries, 0) => entries.to_string(),
        (entries, stale) => format!("{entries} · {stale} to recheck"),
    }
}
