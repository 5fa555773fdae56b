//! The list of datasets.

use ratatui::layout::Rect;

use super::select_row;
use crate::{
    app::{Pane, pane::datasets_scroll_top},
    ui::{
        DrawContext, bars,
        widget::{centered_message, group_digits, pane_frame, put, truncate},
    },
};
use tessera_model::Dataset;

/// Draws glyph, name, and status or number of images of each dataset.
pub(in crate::ui) fn datasets(ctx: &mut DrawContext, area: Rect) {
    let count = ctx.app.store.dataset_list().len();
    let words = if count == 0 { String::new() } else { count.to_string() };
    let inside = pane_frame(ctx, area, Pane::Datasets, &words);
    if count == 0 {
        return draw_empty(ctx, inside);
    }
    let top = datasets_scroll_top(ctx.app, area);
    let selected = ctx.app.selected_dataset().map(|dataset| dataset.id);
    let focused = ctx.app.focus == Pane::Datasets;
    for (row, dataset) in ctx.app.visible_datasets().into_iter().skip(top).enumerate() {
        let Ok(row) = u16::try_from(row) else { break };
        if row >= inside.height {
            break;
        }
        draw_row(ctx, inside, row, dataset);
        let here = Some(dataset.id) == selected;
        select_row(ctx, inside, row, here && focused);
        if here && !focused {
            put(ctx, Rect { width: 1, ..inside }, row, &[("▸", ctx.theme.accent)]);
        }
    }
}

fn draw_row(ctx: &mut DrawContext, inside: Rect, row: u16, dataset: &Dataset) {
    let theme = ctx.theme;
    let (glyph, style) = bars::status_glyph(theme, &dataset.status);
    // READY is not spelled out: the status pane does.
    let state = if dataset.status == tessera_model::Status::Ready {
        dataset.n_images.map_or_else(String::new, group_digits)
    } else {
        bars::status_text(dataset)
    };
    let state = format!(" {state}");
    let cells = u16::try_from(state.chars().count()).unwrap_or(inside.width).min(inside.width);
    let room = inside.width - cells;
    let name = truncate(dataset.name.as_str(), usize::from(room.saturating_sub(4)));
    put(
        ctx,
        Rect { width: room, ..inside },
        row,
        &[("  ", theme.text), (glyph, style), (" ", theme.text), (&name, theme.text)],
    );
    put(ctx, Rect { x: inside.x + room, width: cells, ..inside }, row, &[(&state, style)]);
}

fn draw_empty(ctx: &mut DrawContext, inside: Rect) {
    let theme = ctx.theme;
    let datasets = &ctx.app.store.datasets;
    match (datasets.failure(), datasets.value()) {
        (Some(failure), _) => {
            let sentence = failure.to_string();
            centered_message(
                ctx,
                inside,
                theme.failure,
                &[&sentence, "r tries again; I opens a dataset by its id"],
            );
        }
        (None, Some(_)) => {
            let lines = ["No datasets.", "I opens a dataset by its id, P another deployment."];
            centered_message(ctx, inside, theme.text, &lines);
        }
        (None, None) => centered_message(ctx, inside, theme.dim, &["loading"]),
    }
}
