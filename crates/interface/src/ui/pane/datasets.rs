//! Draws the list of datasets.

use tessera_model::{
    Dataset, Status,
    text::{count_with_noun, truncate_start},
};

use crate::ui::prelude::*;
use crate::{
    app::{areas::datasets_scroll_top, loading_text, pane::distinction},
    drawing::line,
    ui::pane::{MIN_FRAMED_ROWS, status_glyph, status_summary, status_text},
};

pub(in crate::ui) fn datasets(ctx: &mut DrawContext, area: Rect) {
    let count = ctx.app.service_data().dataset_list().len();
    let filter = ctx.app.datasets().list_options.filter.as_str();
    let matching = match ctx.app.visible_datasets().len() {
        _ if filter.is_empty() || count == 0 => None,
        matching => Some(format!("{matching} of {count}")),
    };
    let is_focused = ctx.app.panes().focus == Pane::Datasets;
    let clearing = if is_focused { "Esc clears" } else { "filter" };
    let clearing = format!("{clearing} “{}”", SafeText::name(filter));
    if area.height < MIN_FRAMED_ROWS {
        let matching = matching.map(|text| (format!("{text}, {clearing} · "), ctx.theme.attention));
        let parts = matching.into_iter().chain(status_summary(ctx));
        return ctx.collapsed_pane_of(area, Pane::Datasets, parts);
    }
    let is_filtered = matching.is_some();
    let all = if count == 0 { String::new() } else { count.to_string() };
    let inside = ctx.pane_frame(area, Pane::Datasets, &matching.unwrap_or(all));
    if count == 0 {
        return draw_empty(ctx, inside);
    }
    if is_filtered {
        let footer = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
        ctx.put(footer, area.height - 1, &[(format!(" {clearing} "), ctx.theme.attention)]);
    }
    let top = datasets_scroll_top(ctx.app, area);
    let selected = ctx.app.selected_dataset().map(|dataset| dataset.id);
    ctx.scroll_mark(area, top, usize::from(inside.height), ctx.app.visible_datasets().len());
    let focused = ctx.app.panes().focus == Pane::Datasets;
    let datasets = ctx.app.visible_datasets().into_iter().skip(top);
    for (row, dataset) in (0..inside.height).zip(datasets) {
        draw_row(ctx, line(inside, row), dataset);
        let is_selected = Some(dataset.id) == selected;
        ctx.select_row(inside, row, is_selected && focused);
        if is_selected && !focused {
            ctx.put(inside, row, &[("▸", ctx.theme.accent)]);
        }
    }
}

fn draw_row(ctx: &mut DrawContext, line: Rect, dataset: &Dataset) {
    let theme = ctx.theme;
    let (glyph, style) = status_glyph(ctx, dataset);
    // READY is not written here, because the status pane shows it.
    let state = if dataset.status == Status::Ready && !dataset.folder_missing {
        media_count_text(dataset)
    } else {
        status_text(dataset)
    };
    let state = format!(" {state}");
    let (left, right) = split_end(line, &state);
    let room = usize::from(left.width.saturating_sub(4));
    let name = truncate(dataset.name.as_str(), room);
    let room = room.saturating_sub(display_width(&name) + 1);
    let distinction = distinction(ctx.app, dataset).filter(|_| room > 1);
    let distinction = distinction.map(|it| truncate_start(&it, room)).unwrap_or_default();
    let parts = [
        ("  ", theme.text),
        (glyph, style),
        (" ", theme.text),
        (&name, theme.text),
        (" ", theme.text),
        (&distinction, theme.dim),
    ];
    ctx.put(left, 0, &parts);
    ctx.put(right, 0, &[(state, style)]);
    let text = if dataset.folder_missing {
        format!("the folder of {} is missing or empty", dataset.name)
    } else {
        format!("{} is {}", dataset.name, status_text(dataset))
    };
    if name != dataset.name.as_str() {
        ctx.explain(line, &text);
    }
    ctx.explain(Rect { width: line.width.min(4), ..line }, text);
}

/// Returns the number of images, or the number of videos if there are only videos.
fn media_count_text(dataset: &Dataset) -> String {
    match (dataset.n_images, dataset.n_videos) {
        (Some(0) | None, Some(videos @ 1..)) => count_with_noun(videos, "video", "videos"),
        (images, _) => images.map_or_else(String::new, group_digits),
    }
}

fn draw_empty(ctx: &mut DrawContext, inside: Rect) {
    let theme = ctx.theme;
    let datasets = &ctx.app.service_data().datasets;
    match (datasets.failure(), datasets.value()) {
        (Some(failure), _) => {
            let way_out = match ctx.app.login().rejection {
                Some(_) => "L opens the login",
                None => "r tries again; I opens a dataset by its id",
            };
            let lines = [&failure.to_string(), way_out];
            ctx.centered_message(inside, theme.failure, &lines);
        }
        (None, Some(_)) => {
            let lines = ["No datasets.", "I opens a dataset by its id, P another deployment."];
            ctx.centered_message(inside, theme.text, &lines);
        }
        (None, None) => ctx.centered_message(inside, theme.dim, &[&loading_text(ctx.app)]),
    }
}
