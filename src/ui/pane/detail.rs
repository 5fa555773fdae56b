//! The detail of a preview: the picture as large as possible, and its facts.

use ratatui::{layout::Rect, style::Style};

use crate::{
    app::{App, Pane, areas::detail_picture_area, detail_picture_view},
    ui::{
        DrawContext,
        widget::{
            centered_message, draw_region_outline, format_score, pane_frame, put, wrap_words,
        },
    },
};
use tessera_model::{Cluster, EntryId, Preview};
use tessera_picture::Crop;

pub(in crate::ui) fn detail(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let (Some(cluster), Some(preview)) = (app.cluster(), app.preview()) else {
        let inside = pane_frame(ctx, area, Pane::Detail, "");
        return centered_message(ctx, inside, ctx.theme.dim, &["No preview."]);
    };
    let place = app.view().map_or(0, |view| view.preview_index.min(cluster.previews.len() - 1));
    let words = format!("{} of {} shown", place + 1, cluster.previews.len());
    let inside = pane_frame(ctx, area, Pane::Detail, &words);
    let picture = detail_picture_area(area, app.cell_size);
    let canvas = app.canvas(picture.width, picture.height);
    let sight = detail_picture_view(preview);
    let part = sight.crop;
    if let (Some(covered), Crop::Highlighted(region)) =
        (ctx.draw_picture(picture, sight, canvas), part)
    {
        draw_region_outline(ctx, covered, region);
    }
    let below = Rect { y: picture.bottom(), height: inside.bottom() - picture.bottom(), ..inside };
    let lines = preview_lines(ctx, preview, usize::from(below.width));
    for (row, (text, style)) in (0..).zip(lines) {
        put(ctx, below, row, &[(" ", style), (&text, style)]);
    }
}

fn preview_lines(ctx: &DrawContext, preview: &Preview, cells: usize) -> Vec<(String, Style)> {
    let theme = ctx.theme;
    let mut lines = vec![(preview.file_name.to_string(), theme.accent)];
    lines.extend(selection_text(ctx.app, preview).map(|words| (words.to_owned(), theme.success)));
    let mut facts = Vec::new();
    if let Some((across, down)) = preview.dimensions {
        facts.push(format!("{across}×{down}"));
    }
    if let Some(relevance) = &preview.relevance {
        let word = relevance
            .band(ctx.app.score_scale())
            .map_or_else(String::new, |band| format!(" {}", band.label()));
        facts.push(format!("score {}{word}", format_score(relevance.score)));
    }
    if let Some(size) = ctx.app.cluster().and_then(Cluster::size) {
        facts.push(format!("{size} in cluster"));
    }
    lines.push((facts.join(" · "), theme.text));
    if let Some(caption) = &preview.caption {
        lines.extend(
            wrap_words(caption.as_str(), cells.saturating_sub(2), 3).map(|line| (line, theme.text)),
        );
    }
    if let Some(cluster) = ctx.app.cluster().filter(|cluster| !cluster.labels.is_empty()) {
        let labels: Vec<&str> = cluster.labels.iter().take(8).map(AsRef::as_ref).collect();
        lines.push((labels.join(", "), theme.dim));
    }
    lines.push((format!("media {}", preview.media), theme.dim));
    lines
}

/// Whether the preview is selected.
fn selection_text(app: &App, preview: &Preview) -> Option<&'static str> {
    let selection = app.selection()?;
    if selection.get(EntryId::MediaItem(preview.media)).is_some() {
        return Some("✓ selected");
    }
    let selected = selection.cluster(app.cluster()?.id)?;
    Some(match (selected.stale, selected.excluded.contains(&preview.media)) {
        (_, true) => "◐ excluded from its selected cluster",
        (true, false) => "⚠ its cluster is selected; recheck needed",
        (false, false) => "● its cluster is selected",
    })
}
