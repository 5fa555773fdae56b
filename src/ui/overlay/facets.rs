//! The facets of the loaded results: a bar with its count for each value.

use ratatui::layout::Rect;
use tessera_model::{Facet, text::grouped_with_noun};

use super::Draw;
use crate::{
    app::{overlay::Facets, pane::scroll_top},
    ui::{
        DrawContext,
        widget::{below, display_width, gauge, group_digits, truncate},
    },
};

/// Cells of the longest bar, and of what a name leaves for the bar and the count.
const MAX_BAR: usize = 24;
const BAR_AND_COUNT: usize = 20;

impl Draw for Facets {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let all = ctx.app.loaded_clusters().len();
        let clusters = grouped_with_noun(all as u64, "loaded cluster", "loaded clusters");
        let title = format!("In {clusters}");
        let inside = ctx.dialog(area, &title);
        let theme = ctx.theme;
        let mut kinds = vec![(" ".to_owned(), theme.dim)];
        for kind in ctx.app.facet_kinds() {
            let style = if kind == self.kind { theme.selected } else { theme.dim };
            kinds.push((format!(" {} ", kind.label()), style));
        }
        ctx.put(inside, 0, &kinds);
        let rows = below(inside, 2);
        let facets = ctx.app.facets(self.kind);
        let most = facets.first().map_or(0, |facet| facet.clusters);
        let widest = facets.iter().map(|facet| display_width(facet.name.as_str())).max();
        let max_name = usize::from(rows.width).saturating_sub(BAR_AND_COUNT).max(1);
        let name_width = widest.unwrap_or(0).min(max_name);
        let selected = facets.get(self.cursor).map_or("", |facet| facet.name.as_str());
        let is_cut = display_width(selected) > name_width;
        let rows = if is_cut { ctx.text_below(rows, selected) } else { rows };
        let top = scroll_top(0, self.cursor, usize::from(rows.height));
        // Without the bar, which a reversed style would empty.
        let width = u16::try_from(name_width + 2).unwrap_or(u16::MAX).min(rows.width);
        let names = Rect { width, ..rows };
        for (row, (index, facet)) in (0..rows.height).zip(facets.iter().enumerate().skip(top)) {
            draw_facet(ctx, rows, row, facet, (name_width, most));
            ctx.select_row(names, row, index == self.cursor);
        }
    }
}

fn draw_facet(
    ctx: &mut DrawContext,
    rows: Rect,
    row: u16,
    facet: &Facet,
    (name_width, most): (usize, usize),
) {
    let theme = ctx.theme;
    let name = truncate(facet.name.as_str(), name_width);
    let gap = " ".repeat(name_width.saturating_sub(display_width(&name)) + 1);
    #[expect(clippy::cast_precision_loss, reason = "a fraction for a bar")]
    let part = facet.clusters as f64 / most.max(1) as f64;
    let used = name_width + 12;
    let bar = gauge(part, MAX_BAR.min(usize::from(rows.width).saturating_sub(used)));
    let parts = [
        (format!(" {name}{gap}"), theme.text),
        (bar, theme.gauge),
        (format!(" {}", group_digits(facet.clusters as u64)), theme.dim),
    ];
    ctx.put(rows, row, &parts);
}
