//! The detail of a preview: the picture as large as possible, and its facts.

use ratatui::{layout::Rect, style::Style};

use crate::{
    app::{App, Pane, areas::detail_picture_area, detail_picture_view},
    ui::{
        DrawContext,
        widget::{below, format_score, group_digits, wrap_words},
    },
};
use tessera_model::{Cluster, EntryId, Preview};
use tessera_picture::Crop;

pub(in crate::ui) fn detail(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let (Some(cluster), Some(preview)) = (app.cluster(), app.preview()) else {
        let inside = ctx.pane_frame(area, Pane::Detail, "");
        return ctx.centered_message(inside, ctx.theme.dim, &["No preview."]);
    };
    let index = app.view().map_or(0, |view| view.preview_index.min(cluster.previews.len() - 1));
    let summary = format!("{} of {} shown", index + 1, cluster.previews.len());
    let inside = ctx.pane_frame(area, Pane::Detail, &summary);
    let picture = detail_picture_area(area, app.cell_size);
    let canvas = app.canvas(picture.width, picture.height);
    let view = detail_picture_view(preview);
    let crop = view.crop;
    let covered = ctx.draw_picture(picture, view, canvas);
    if let (Some(covered), Crop::Highlighted(region)) = (covered, crop) {
        ctx.draw_region_outline(covered, region);
    }
    let below = below(inside, picture.bottom() - inside.y);
    let lines = preview_lines(ctx, preview, usize::from(below.width));
    for (row, (text, style)) in (0..).zip(lines) {
        ctx.put(below, row, &[(" ", style), (&text, style)]);
    }
}

fn preview_lines(ctx: &DrawContext, preview: &Preview, cells: usize) -> Vec<(String, Style)> {
    let theme = ctx.theme;
    let mut lines = vec![(preview.title().to_string(), theme.accent)];
    lines.extend(selection_text(ctx.app, preview).map(|text| (text.to_owned(), theme.success)));
    let dimensions = preview.dimensions.map(|(width, height)| format!("{width}×{height}"));
    let score = preview.relevance.as_ref().map(|relevance| {
        let band = relevance.band(ctx.app.score_scale());
        let label = band.map_or_else(String::new, |band| format!(" {}", band.label()));
        format!("score {}{label}", format_score(relevance.score))
    });
    // A cluster of frames is described by the line below.
    let size = ctx.app.cluster().filter(|cluster| cluster.n_frames != cluster.size());
    let size = size.and_then(Cluster::size).map(|size| format!("{size} in cluster"));
    let facts: Vec<String> = [dimensions, score, size].into_iter().flatten().collect();
    lines.push((facts.join(" · "), theme.text));
    lines.extend(video_lines(ctx.app, preview).into_iter().map(|text| (text, theme.text)));
    if let Some(caption) = &preview.caption {
        let caption = wrap_words(caption.as_str(), cells.saturating_sub(2), 3);
        lines.extend(caption.map(|line| (line, theme.text)));
    }
    if let Some(cluster) = ctx.app.cluster().filter(|cluster| !cluster.labels.is_empty()) {
        let labels: Vec<&str> = cluster.labels.iter().take(8).map(AsRef::as_ref).collect();
        lines.push((labels.join(", "), theme.dim));
    }
    lines.push((format!("media {}", preview.media), theme.dim));
    lines
}

/// Which of the loaded frames of its video a frame is, and what its cluster contains.
fn video_lines(app: &App, preview: &Preview) -> Vec<String> {
    if preview.frame.is_none() {
        return Vec::new();
    }
    let position = app.frame_position().map(|(index, count)| {
        let number = index + 1;
        format!("frame {number} of {} on this page", group_digits(count as u64))
    });
    let in_cluster = app
        .cluster()
        .and_then(Cluster::contents_with_frames)
        .map(|frames| format!("cluster: {frames}"));
    [position, in_cluster].into_iter().flatten().collect()
}

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
