//! The list of datasets.

use ratatui::layout::Rect;

use super::select_row;
use crate::{
    app::{Pane, pane::list_top},
    ui::{
        Screen, bar,
        widget::{clip, frame, grouped, message, put},
    },
};
use tessera_model::Dataset;

/// The list: glyph, name, status, number of images.
pub(in crate::ui) fn datasets(screen: &mut Screen, area: Rect) {
    let count = screen.app.store.list().len();
    let words = if count == 0 { String::new() } else { count.to_string() };
    let inside = frame(screen, area, Pane::Datasets, &words);
    if count == 0 {
        return nothing(screen, inside);
    }
    let top = list_top(screen.app, area);
    let selected = screen.app.selected_dataset().map(|dataset| dataset.id);
    let focused = screen.app.focus == Pane::Datasets;
    for (row, dataset) in screen.app.listed().into_iter().skip(top).enumerate() {
        let Ok(row) = u16::try_from(row) else { break };
        if row >= inside.height {
            break;
        }
        line(screen, inside, row, dataset);
        let here = Some(dataset.id) == selected;
        select_row(screen, inside, row, here && focused);
        if here && !focused {
            put(screen, Rect { width: 1, ..inside }, row, &[("▸", screen.theme.accent)]);
        }
    }
}

fn line(screen: &mut Screen, inside: Rect, row: u16, dataset: &Dataset) {
    let theme = screen.theme;
    let (glyph, style) = bar::status_mark(theme, &dataset.status);
    // READY needs no word beside its glyph here: the status below spells it out.
    let state = if dataset.status == tessera_model::Status::Ready {
        dataset.n_images.map_or_else(String::new, grouped)
    } else {
        bar::status_words(dataset)
    };
    let state = format!(" {state}");
    let cells = u16::try_from(state.chars().count()).unwrap_or(inside.width).min(inside.width);
    let room = inside.width - cells;
    let name = clip(dataset.name.as_str(), usize::from(room.saturating_sub(4)));
    put(
        screen,
        Rect { width: room, ..inside },
        row,
        &[("  ", theme.text), (glyph, style), (" ", theme.text), (&name, theme.text)],
    );
    put(screen, Rect { x: inside.x + room, width: cells, ..inside }, row, &[(&state, style)]);
}

fn nothing(screen: &mut Screen, inside: Rect) {
    let theme = screen.theme;
    let datasets = &screen.app.store.datasets;
    match (datasets.failure(), datasets.value()) {
        (Some(failure), _) => {
            let sentence = failure.to_string();
            message(
                screen,
                inside,
                theme.failure,
                &[&sentence, "r tries again; I opens a dataset by its id"],
            );
        }
        (None, Some(_)) => {
            let lines =
                ["The list is empty.", "I opens a dataset by its id, P another deployment."];
            message(screen, inside, theme.text, &lines);
        }
        (None, None) => message(screen, inside, theme.dim, &["loading"]),
    }
}
