//! Draws the full-size view: the title, one or several pictures, and hints or a notification.

use tessera_model::{Preview, picture_source::format_timestamp};
use tessera_picture::Protocol;

use crate::ui::prelude::*;
use crate::{
    app::{
        Viewer,
        basket::count_with_noun,
        viewer::{Arrangement, Comparison, StripFrame, ViewerPanel},
    },
    ui::pane::selection_text,
};

pub(super) fn viewer(ctx: &mut DrawContext) {
    let areas = ctx.app.viewer_areas();
    title(ctx, areas.title);
    let panels = ctx.app.viewer_panels();
    if panels.is_empty() {
        ctx.centered_message(areas.pictures, ctx.theme.dim, &["No picture is loaded here yet."]);
    }
    for panel in &panels {
        draw_panel(ctx, panel);
    }
    for frame in &ctx.app.strip_frames() {
        draw_frame(ctx, frame);
    }
}

fn draw_panel(ctx: &mut DrawContext, panel: &ViewerPanel) {
    if let Some(label) = panel.label {
        let style = if panel.active { ctx.theme.accent } else { ctx.theme.dim };
        let mark = if panel.active { "▸" } else { " " };
        ctx.put(label, 0, &[(mark, style)]);
        let rest = Rect { x: label.x + 1, width: label.width.saturating_sub(1), ..label };
        let parts = name_parts(ctx, panel.picture.preview(), panel.active);
        ctx.put(rest, 0, &parts);
    }
    if ctx.app.screen().protocol == Protocol::None {
        return ctx.picture_placeholder(panel.area, "pictures are turned off");
    }
    if let Some((view, canvas)) = ctx.app.displayed_in_viewer(panel) {
        ctx.draw_picture(panel.area, view, canvas);
    }
}

/// Draws a frame of a video above its time. The frame that is shown at full size is highlighted.
fn draw_frame(ctx: &mut DrawContext, frame: &StripFrame) {
    let (app, theme) = (ctx.app, ctx.theme);
    if app.screen().protocol != Protocol::None {
        ctx.draw_tile_picture(frame.area, frame.preview.media.into(), app.strip_canvas());
    }
    let seconds = frame.preview.frame.as_ref().and_then(|frame| frame.seconds);
    let time = seconds.map_or_else(String::new, format_timestamp);
    let style = if frame.current { theme.selected } else { theme.dim };
    let line = Rect { y: frame.area.bottom(), height: 1, ..frame.area };
    ctx.put(line, 0, &[(format!(" {time} "), style)]);
}

/// Draws the name and size at the left, and position and zoom at the right. The right part is never
/// cut.
fn title(ctx: &mut DrawContext, area: Rect) {
    let (app, theme) = (ctx.app, ctx.theme);
    let place = match app.comparison() {
        Some(comparison) => arrangement_text(ctx, comparison),
        None if ctx.app.viewer().is_some_and(Viewer::is_playing) => playback_text(ctx),
        None => position_text(ctx),
    };
    let end = format!("{place}  {} ", zoom_text(ctx));
    let (left, right) = split_end(area, &end);
    let is_side_by_side =
        app.comparison().is_some_and(|it| it.arrangement == Arrangement::SideBySide);
    match app.viewed_preview() {
        // The labels above the pictures show the names. A name that is cut there is shown in full
        // here.
        Some(preview) if is_side_by_side => {
            let mut parts = vec![(" Compare".to_owned(), theme.accent)];
            if is_label_cut(ctx, preview) {
                parts.extend(name_parts(ctx, preview, true));
            }
            ctx.put(left, 0, &parts);
        }
        Some(preview) => ctx.put(left, 0, &name_parts(ctx, preview, true)),
        None => {}
    }
    ctx.put(right, 0, &[(end, theme.dim)]);
}

/// Returns whether the label above the active picture has no room for all its parts.
fn is_label_cut(ctx: &DrawContext, preview: &Preview) -> bool {
    let panels = ctx.app.viewer_panels();
    let label = panels.iter().find(|panel| panel.active).and_then(|panel| panel.label);
    let needed: usize =
        name_parts(ctx, preview, true).iter().map(|(text, _)| display_width(text)).sum();
    label.is_some_and(|label| needed + 1 > usize::from(label.width))
}

/// Returns the name of a picture, its size, and whether it is selected.
fn name_parts(ctx: &DrawContext, preview: &Preview, accented: bool) -> [(String, Style); 3] {
    let (app, theme) = (ctx.app, ctx.theme);
    let size = app.service_data().viewed_size(preview);
    let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
    let selected = selection_text(app, preview);
    let selected = selected.map_or_else(String::new, |text| format!("  {text}"));
    let name_style = if accented { theme.accent } else { theme.text };
    [(format!(" {}", preview.title()), name_style), (size, theme.text), (selected, theme.success)]
}

fn arrangement_text(ctx: &DrawContext, comparison: &Comparison) -> String {
    let count = comparison.pictures.len();
    match comparison.arrangement {
        Arrangement::SideBySide => count_with_noun(count, "picture", "pictures"),
        Arrangement::InTurn => format!("{} of {count} in turn", comparison.active + 1),
        Arrangement::Difference => {
            let other = ctx
                .app
                .comparison()
                .and_then(|it| Some(it.previews(ctx.app.results()).get(1)?.title()));
            format!("differences from {} in red", other.unwrap_or_default())
        }
    }
}

fn playback_text(ctx: &DrawContext) -> String {
    let (index, count) = ctx.app.results().frame_position().unwrap_or_default();
    format!("playing frame {} of {}", index + 1, group_digits(count as u64))
}

fn position_text(ctx: &DrawContext) -> String {
    let Some((place, count)) = ctx.app.viewer_position().filter(|(_, count)| *count > 0) else {
        return String::new();
    };
    let digits = |number: usize| group_digits(number as u64);
    let page = match ctx.app.results().page_number() {
        0 => String::new(),
        page => format!(", page {}", page + 1),
    };
    format!("{} of {}{page}", digits(place + 1), digits(count))
}

fn zoom_text(ctx: &DrawContext) -> String {
    let whole = ctx.app.viewer().is_some_and(|viewer| viewer.position.is_whole());
    let percent = ctx.app.viewer_scale().map(|scale| format!("{:.0}%", 100.0 * scale));
    match (percent, whole) {
        (Some(percent), true) => format!("{percent} whole"),
        (Some(percent), false) => percent,
        (None, _) => "loading".to_owned(),
    }
}
