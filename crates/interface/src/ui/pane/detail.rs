//! Draws the detail of a preview: the picture as large as possible, and its facts.

use tessera_model::{Cluster, EntryId, FileFacts, Preview, text::format_bytes, vql::ColumnValue};
use tessera_picture::Crop;

use crate::ui::prelude::*;
use crate::{
    app::{areas::DetailLayout, detail_picture_view},
    drawing::{format_score, rows_of_line},
};

pub(in crate::ui) fn detail(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let (Some(cluster), Some(preview)) = (app.results().cluster(), app.results().preview()) else {
        let inside = ctx.pane_frame(area, Pane::Detail, "");
        return ctx.centered_message(inside, ctx.theme.dim, &["No preview."]);
    };
    let index = app.results().preview_index();
    let summary = format!("{} of {} shown", index + 1, cluster.previews.len());
    ctx.pane_frame(area, Pane::Detail, &summary);
    let DetailLayout { picture, text, strip } = DetailLayout::new(app, area);
    let canvas = app.screen().canvas(picture.width, picture.height);
    let view = detail_picture_view(preview);
    let crop = view.crop.clone();
    let covered = ctx.draw_picture(picture, view, canvas);
    if let (Some(covered), Crop::Highlighted(region)) = (covered, crop) {
        ctx.draw_region_outline(covered, region, ctx.app.screen().protocol);
    }
    draw_strip(ctx, &strip, index);
    let line = |(text, style)| Line::from(Span::styled(format!(" {text}"), style));
    let mut lines: Vec<Line> = preview_lines(ctx, preview).into_iter().map(line).collect();
    // What is looked at, such as a caption, is shown in full before anything else gets a row.
    let rows = lines.iter().map(|line| rows_of_line(line, usize::from(text.width))).sum();
    let free = usize::from(text.height).saturating_sub(rows);
    lines.extend(further_lines(ctx, preview).into_iter().take(free).map(line));
    ctx.put_lines(text, &lines);
    if let Some(caption) = preview.caption.as_ref().filter(|_| rows > usize::from(text.height)) {
        ctx.explain(text, caption);
    }
}

/// Draws the previews of the cluster, with a mark below the one that is shown large.
fn draw_strip(ctx: &mut DrawContext, strip: &[(usize, Rect)], selected: usize) {
    let app = ctx.app;
    let Some(cluster) = app.results().cluster() else { return };
    for (index, area) in strip {
        let Some(preview) = cluster.previews.get(*index) else { continue };
        let canvas = app.screen().canvas(area.width, area.height);
        ctx.draw_tile_picture(*area, preview.media.into(), canvas);
        if *index == selected {
            let mark = Rect { y: area.bottom(), height: 1, ..*area };
            ctx.put(mark, 0, &[("━".repeat(usize::from(area.width)), ctx.theme.accent)]);
        }
    }
}

fn preview_lines(ctx: &DrawContext, preview: &Preview) -> Vec<(String, Style)> {
    let theme = ctx.theme;
    let mut lines = vec![(preview.title().to_string(), theme.accent)];
    lines.extend(path_text(preview).map(|path| (path, theme.dim)));
    lines.extend(selection_text(ctx.app, preview).map(|text| (text, theme.success)));
    let file: Vec<String> = file_facts(preview).collect();
    if !file.is_empty() {
        lines.push((file.join(" · "), theme.text));
    }
    let score = preview.relevance.as_ref().map(|relevance| {
        let band = relevance.band(ctx.app.results().score_scale());
        let label = band.map_or_else(String::new, |band| format!(" {}", band.label()));
        format!("score {}{label}", format_score(relevance.score))
    });
    // The size of a cluster that contains only frames is part of the line below.
    let size = ctx.app.results().cluster().filter(|cluster| cluster.n_frames != cluster.size());
    let size = size.and_then(Cluster::size).map(|size| format!("{size} in cluster"));
    let facts: Vec<String> = [score, size].into_iter().flatten().collect();
    if !facts.is_empty() {
        lines.push((facts.join(" · "), theme.text));
    }
    lines.extend(video_lines(ctx.app, preview).into_iter().map(|text| (text, theme.text)));
    lines.extend(preview.caption.as_ref().map(|caption| (format!("“{caption}”"), theme.text)));
    let rating = (preview.rating > 0).then(|| {
        let stars = "★".repeat(preview.rating.into());
        if ctx.app.setup().is_text { format!("rated {}", preview.rating) } else { stars }
    });
    let cluster = ctx.app.results().cluster();
    let (tagging, results) = (ctx.app.tagging(), ctx.app.results());
    let kept = cluster.into_iter().flat_map(|it| tagging.kept_tags_of(results, it, Some(preview)));
    let tags = preview.tags.iter().chain(kept).map(ToString::to_string);
    let given: Vec<String> = rating.into_iter().chain(tags).collect();
    if !given.is_empty() {
        lines.push((format!("tags: {}", given.join(", ")), theme.attention));
    }
    lines
}

/// Returns what is shown only if there is room for it.
fn further_lines(ctx: &DrawContext, preview: &Preview) -> Vec<(String, Style)> {
    let theme = ctx.theme;
    let mut lines = Vec::new();
    if !preview.labels.is_empty() {
        let labels: Vec<&str> = preview.labels.iter().map(AsRef::as_ref).collect();
        lines.push((format!("labels: {}", labels.join(", ")), theme.text));
    }
    if let Some(cluster) = ctx.app.results().cluster().filter(|cluster| !cluster.labels.is_empty())
    {
        let labels: Vec<&str> = cluster.labels.iter().map(AsRef::as_ref).collect();
        lines.push((format!("labels in the whole cluster: {}", labels.join(", ")), theme.dim));
    }
    if !preview.extra_columns.is_empty() {
        let column = |(name, value): (&SafeText, &ColumnValue)| {
            format!("{name}: {}", SafeText::detail(&value.to_string()))
        };
        let columns = preview.extra_columns.iter().map(column);
        lines.push((columns.collect::<Vec<_>>().join(" · "), theme.text));
    }
    lines.push((format!("media {}", preview.media), theme.dim));
    lines
}

/// Returns the path of the original in its dataset, unless the path is only the name.
fn path_text(preview: &Preview) -> Option<String> {
    let path = preview.original_uri.as_ref()?;
    path.as_str().contains('/').then(|| path.to_string())
}

/// Describes the size, the date and the camera of a picture.
pub(in crate::ui) fn file_facts(preview: &Preview) -> impl Iterator<Item = String> {
    let dimensions = preview.dimensions.map(|(width, height)| format!("{width}×{height}"));
    let FileFacts { bytes, date, camera } = &preview.file;
    let texts = [date, camera].map(|text| text.as_ref().map(ToString::to_string));
    [dimensions, bytes.map(format_bytes)].into_iter().chain(texts).flatten()
}

/// Describes the position of a frame among the loaded frames of its video, and what its cluster
/// contains.
fn video_lines(app: &App, preview: &Preview) -> Vec<String> {
    if preview.frame.is_none() {
        return Vec::new();
    }
    let position = app.results().frame_position().map(|(index, count)| {
        let number = index + 1;
        format!("frame {number} of {} on this page", group_digits(count as u64))
    });
    let in_cluster = app
        .results()
        .cluster()
        .and_then(Cluster::contents_with_frames)
        .map(|frames| format!("cluster: {frames}"));
    [position, in_cluster].into_iter().flatten().collect()
}

pub(in crate::ui) fn selection_text(app: &App, preview: &Preview) -> Option<String> {
    let selection = app.baskets().selection(app.results())?;
    if selection.get(&EntryId::MediaItem(preview.media)).is_some() {
        return Some(app.setup().sign("✓ selected", "selected").to_owned());
    }
    let (cluster, _) = app.results().loaded_member(preview.media)?;
    let selected = selection.cluster(&app.results().part_of(cluster))?;
    let (sign, words) = match (selected.stale, selected.excluded.contains(&preview.media)) {
        (_, true) => ("◐ ", "excluded from its selected cluster"),
        (true, false) => ("⚠ ", "its cluster is selected; recheck needed"),
        (false, false) => ("● ", "its cluster is selected"),
    };
    Some(format!("{}{words}", app.setup().sign(sign, "")))
}
