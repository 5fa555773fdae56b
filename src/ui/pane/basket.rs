//! Draws the basket: the selected clusters and media items, and how many previews of the selection
//! were seen.

use ratatui::{layout::Rect, text::Line};
use tessera_model::{Selection, SelectionTotals, text::grouped_with_noun};

use crate::{
    app::{
        App, DrawContext, Pane,
        overlay::selection_rows::{draw_entry, name_width, previews_seen_text, totals_text},
        pane::scroll_top,
    },
    drawing::{below, display_width, rows_of_line},
};

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
    let rows = app.baskets().rows(app.results());
    if rows.is_empty() {
        let lines = [
            "Nothing is selected.",
            "In the results Space selects a cluster, v a range, V the page.",
        ];
        return ctx.centered_message(inside, ctx.theme.dim, &lines);
    }
    let stale =
        if totals.stale > 0 { "⚠ stale: r rechecks this page, Enter shows it" } else { "" };
    let footer: Vec<Line> = [totals_text(&totals), previews_seen_text(&totals), stale.to_owned()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| Line::styled(format!(" {text}"), ctx.theme.dim))
        .collect();
    let cells = usize::from(inside.width);
    let footer_rows: usize = footer.iter().map(|line| rows_of_line(line, cells)).sum();
    let footer_rows = u16::try_from(footer_rows).unwrap_or(u16::MAX).min(inside.height / 2);
    let list = Rect { height: inside.height - footer_rows, ..inside };
    ctx.put_lines(below(inside, list.height), &footer);
    let cursor = app.baskets().cursor().min(rows.len() - 1);
    let name = rows[cursor].name.as_str();
    let is_cut = display_width(name) > name_width(list);
    let list = if is_cut { ctx.text_below(list, name) } else { list };
    let top = scroll_top(0, cursor, usize::from(list.height));
    for (row, (index, entry)) in (0..list.height).zip(rows.iter().enumerate().skip(top)) {
        draw_entry(ctx, list, row, entry);
        ctx.select_row(list, row, app.panes().focus == Pane::Basket && index == cursor);
    }
}

fn heading(totals: &SelectionTotals) -> String {
    match (totals.entries(), totals.stale) {
        (0, _) => String::new(),
        (entries, 0) => entries.to_string(),
        (entries, stale) => format!("{entries} · {stale} to recheck"),
    }
}
