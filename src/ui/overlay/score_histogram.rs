//! The histogram of the loaded scores: bars with the cut, and the pictures on both sides of it.

use ratatui::{
    layout::Rect,
    widgets::{Sparkline, SparklineBar, Widget},
};
use tessera_model::{Cluster, Histogram, text::count_with_noun};

use super::Draw;
use crate::{
    app::overlay::ScoreHistogram,
    ui::{
        DrawContext,
        widget::{
            below, display_width, first_fitting, format_score, group_digits, line, split_end,
            text_cells,
        },
    },
};

impl Draw for ScoreHistogram {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        ctx.dialog(area, "Scores of the loaded results: lower is closer");
        let areas = Self::areas(area);
        let Some(histogram) = ctx.app.score_histogram(usize::from(areas.plot.width)) else {
            return;
        };
        self.draw_headline(ctx, areas.plot);
        self.draw_bars(ctx, areas.plot, &histogram);
        draw_axis(ctx, areas.plot, &histogram);
        let Some(pictures) = areas.boundary else { return };
        let sides = self.boundary(ctx.app).into_iter().zip(pictures);
        for ((cluster, picture), name) in sides.zip(["last kept", "first left out"]) {
            draw_boundary(ctx, picture, cluster, name);
        }
    }
}

impl ScoreHistogram {
    fn draw_headline(&self, ctx: &mut DrawContext, plot: Rect) {
        let (kept, dropped) = self.split(ctx.app);
        let all = kept.len() + dropped.len();
        let theme = ctx.theme;
        let loaded = group_digits(all as u64);
        let (text, style) = if self.limit().is_some() {
            let score = format_score(self.cut_score());
            let kept = group_digits(kept.len() as u64);
            (format!("{kept} of {loaded} below {score}"), theme.accent)
        } else {
            (format!("no limit: all {loaded} stay"), theme.text)
        };
        let fall_out = match dropped.len() {
            0 => String::new(),
            count => format!(" · {} out", count_with_noun(count, "falls", "fall")),
        };
        let above = Rect { y: plot.y - 1, height: 1, ..plot };
        let cells = usize::from(above.width).saturating_sub(display_width(&text));
        let fall_out = first_fitting(&[fall_out], cells).to_owned();
        ctx.put(above, 0, &[(text, style), (fall_out, theme.dim)]);
    }

    /// Draws a bar for each column, dimmed where results fall out, and the cut over them.
    fn draw_bars(&self, ctx: &mut DrawContext, plot: Rect, histogram: &Histogram) {
        let theme = ctx.theme;
        let cut = self.limit().and_then(|limit| histogram.index_of(limit.value()));
        let largest = histogram.largest_count();
        // One result in an interval is visible beside many in another.
        let smallest = largest.div_ceil(8 * usize::from(plot.height.max(1)));
        let bars = histogram.counts.iter().enumerate().map(|(column, &count)| {
            let height = if count == 0 { 0 } else { count.max(smallest) };
            let stays = cut.is_none_or(|cut| column < cut);
            let style = if stays { theme.gauge } else { theme.dim };
            SparklineBar::from(height as u64).style(Some(style))
        });
        Sparkline::default().data(bars).max(largest as u64).render(plot, ctx.buf);
        if let Some(column) = cut.and_then(|cut| u16::try_from(cut).ok()) {
            for y in plot.top()..plot.bottom() {
                ctx.buf[(plot.x + column, y)].set_symbol("┃").set_style(theme.frame_focus);
            }
        }
    }
}

fn draw_axis(ctx: &mut DrawContext, plot: Rect, histogram: &Histogram) {
    let axis = Rect { y: plot.bottom(), height: 1, ..plot };
    let (start, end) = histogram.range;
    let end = format_score(end);
    ctx.put(axis, 0, &[(format_score(start), ctx.theme.dim)]);
    let (_, right) = split_end(axis, &end);
    ctx.put(right, 0, &[(&end, ctx.theme.dim)]);
    let middle = format!("most in a bar: {}", histogram.largest_count());
    let free = usize::from(axis.width).saturating_sub(12);
    let middle = first_fitting(&[middle], free).to_owned();
    let x = axis.x + axis.width.saturating_sub(text_cells(&middle)) / 2;
    let width = axis.right().saturating_sub(x);
    ctx.put(Rect { x, width, ..axis }, 0, &[(middle, ctx.theme.dim)]);
}

fn draw_boundary(ctx: &mut DrawContext, picture: Rect, cluster: Option<&Cluster>, name: &str) {
    let canvas = ctx.app.screen().canvas(picture.width, picture.height);
    match cluster.and_then(|cluster| cluster.previews.first()) {
        Some(preview) => _ = ctx.draw_picture(picture, preview.media.into(), canvas),
        None => ctx.picture_placeholder(picture, "none"),
    }
    let score = cluster.and_then(|cluster| cluster.relevance.as_ref());
    let score = score.map_or_else(String::new, |relevance| format_score(relevance.score));
    let text = line(Rect { height: picture.height + 1, ..picture }, picture.height);
    ctx.put(below(text, 0), 0, &[(score, ctx.theme.accent), (format!(" {name}"), ctx.theme.dim)]);
}
