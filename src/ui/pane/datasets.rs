//! The list of datasets, and the status of the selected one with what it allows.

use std::ops::RangeFrom;

use ratatui::{layout::Rect, text::Line};

use super::select_row;
use crate::{
    app::{Pane, pane::list_top},
    model::{Dataset, Operation, Verdict},
    ui::{
        Screen, bar,
        widget::{boxed, clip, frame, gauge, grouped, message, put},
    },
};

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
    let state = if dataset.status == crate::model::Status::Ready {
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
                &[&sentence, "r tries again; it also does by itself"],
            );
        }
        (None, Some(_)) => {
            let lines =
                ["The list is empty.", "`tessera open FOLDER` shows a folder of this machine."];
            message(screen, inside, theme.text, &lines);
        }
        (None, None) => message(screen, inside, theme.dim, &["loading"]),
    }
}

/// Facts of the selected dataset, and what its status allows.
pub(in crate::ui) fn status(screen: &mut Screen, area: Rect) {
    let inside = boxed(screen, area, Line::from(" Status "), false);
    let Some(dataset) = screen.app.selected_dataset() else {
        return;
    };
    standing(screen, inside, dataset);
    let mut rows = 2..;
    for ((name, value), row) in facts(dataset).into_iter().zip(&mut rows) {
        let theme = screen.theme;
        put(screen, inside, row, &[(&format!(" {name:<9}"), theme.dim), (&value, theme.text)]);
    }
    rows.start += 1;
    for operation in [Operation::VisualSearch, Operation::Export] {
        let verdict = dataset.status.allows(operation);
        allowed(screen, inside, &mut rows, verdict, operation.name());
    }
}

/// The status in a glyph and a word, and below it how far it is or what went wrong.
fn standing(screen: &mut Screen, inside: Rect, dataset: &Dataset) {
    let theme = screen.theme;
    let (glyph, style) = bar::status_mark(theme, &dataset.status);
    let word = format!(" {}", bar::status_words(dataset));
    let legacy = if dataset.status_is_legacy { " (legacy)" } else { "" };
    let parts = [(" ", theme.text), (glyph, style), (&word, style), (legacy, theme.dim)];
    put(screen, inside, 0, &parts);
    if let (true, Some(percent)) = (dataset.status.is_moving(), dataset.progress) {
        let cells = usize::from(inside.width.saturating_sub(2));
        let bar = gauge(f64::from(percent) / 100.0, cells);
        put(screen, inside, 1, &[(" ", theme.text), (&bar, theme.gauge)]);
    } else if let Some(error) = &dataset.error {
        put(screen, inside, 1, &[(" ", theme.text), (error.as_str(), theme.failure)]);
    }
}

/// One operation, and on a line of its own why it is not allowed.
fn allowed(
    screen: &mut Screen,
    inside: Rect,
    rows: &mut RangeFrom<u16>,
    verdict: Verdict,
    name: &str,
) {
    let theme = screen.theme;
    let (mark, style, reason) = match verdict {
        Verdict::Yes => (" ✓ ", theme.success, ""),
        Verdict::Try | Verdict::Ask => (" ? ", theme.moving, "may be refused"),
        Verdict::No(reason) => (" ✗ ", theme.dim, reason),
    };
    put(screen, inside, rows.start, &[(mark, style), (name, style)]);
    rows.start += 1;
    if !reason.is_empty() {
        put(screen, inside, rows.start, &[("   ", theme.dim), (reason, theme.dim)]);
        rows.start += 1;
    }
}

fn facts(dataset: &Dataset) -> Vec<(&'static str, String)> {
    let count = |count: Option<u64>| count.map_or_else(|| "—".to_owned(), grouped);
    let text = |text: &Option<crate::model::SafeText>| {
        text.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string)
    };
    vec![
        ("images", count(dataset.n_images)),
        ("videos", count(dataset.n_videos)),
        ("owner", text(&dataset.owner)),
        ("created", text(&dataset.created_at).chars().take(16).collect()),
    ]
}
