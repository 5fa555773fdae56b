//! The facets of the loaded results: a bar with its count for each value, and a list of the issues.

use ratatui::layout::Rect;
use tessera_model::text::grouped_with_noun;

use super::Draw;
use crate::{
    app::{
        overlay::{FacetSection, FacetValue, Facets},
        pane::scroll_top,
    },
    ui::{
        DrawContext,
        widget::{below, display_width, gauge, group_digits, truncate},
    },
};

/// Cells of the longest bar, and of what a name leaves for the bar and the count.
const MAX_BAR: usize = 24;
const BAR_AND_COUNT: usize = 20;

const ISSUES_NOTE: &str =
    "No counts: results do not carry issues. Services may reject names other than blur.";

impl Draw for Facets {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &self.title(ctx));
        let theme = ctx.theme;
        let mut kinds = vec![(" ".to_owned(), theme.dim)];
        for section in ctx.app.facet_sections() {
            let style = if section == self.section { theme.selected } else { theme.dim };
            kinds.push((format!(" {} ", section.label()), style));
        }
        ctx.put(inside, 0, &kinds);
        let facets = self.values(ctx.app);
        // The blank row is used where the values need it.
        let is_full = facets.len() + 2 > usize::from(inside.height);
        let rows = below(inside, if is_full { 1 } else { 2 });
        let rows = match self.section {
            FacetSection::Counted(_) => rows,
            FacetSection::Issues => ctx.text_below(rows, ISSUES_NOTE),
        };
        let most = facets.first().and_then(|facet| facet.clusters).unwrap_or(0);
        let widest = facets.iter().map(|facet| display_width(facet.name.as_str())).max();
        let used = if most > 0 { BAR_AND_COUNT } else { 2 };
        let max_name = usize::from(rows.width).saturating_sub(used).max(1);
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

impl Facets {
    fn title(self, ctx: &DrawContext) -> String {
        if self.section == FacetSection::Issues {
            return "Quality issues".to_owned();
        }
        let all = ctx.app.results().loaded_clusters().len();
        format!("In {}", grouped_with_noun(all as u64, "loaded cluster", "loaded clusters"))
    }
}

fn draw_facet(
    ctx: &mut DrawContext,
    rows: Rect,
    row: u16,
    facet: &FacetValue,
    (name_width, most): (usize, usize),
) {
    let theme = ctx.theme;
    let name = truncate(facet.name.as_str(), name_width);
    let gap = " ".repeat(name_width.saturating_sub(display_width(&name)) + 1);
    let Some(clusters) = facet.clusters else {
        return ctx.put(rows, row, &[(format!(" {name}"), theme.text)]);
    };
    #[expect(clippy::cast_precision_loss, reason = "a fraction for a bar")]
    let part = clusters as f64 / most.max(1) as f64;
    let used = name_width + 12;
    let bar = gauge(part, MAX_BAR.min(usize::from(rows.width).saturating_sub(used)));
    let parts = [
        (format!(" {name}{gap}"), theme.text),
        (bar, theme.gauge),
        (format!(" {}", group_digits(clusters as u64)), theme.dim),
    ];
    ctx.put(rows, row, &parts);
}
