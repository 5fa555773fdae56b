//! The question before a reindex.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::ReindexConfirmation,
    ui::{
        DrawContext,
        widget::{bordered, group_digits, put},
    },
};
use tessera_model::Selection;

/// Draws the question with its consequences.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, asked: &ReindexConfirmation) {
    let title = Line::from(format!(" Reindex {} ", asked.dataset_name));
    let inside = bordered(screen, area, title, true);
    let (app, theme) = (screen.app, screen.theme);
    let count = app.store.dataset(asked.dataset).and_then(|dataset| dataset.n_images);
    let count = count.map_or_else(|| "all its media".to_owned(), |n| group_digits(n) + " images");
    let first = format!(" Clusters {count} anew.");
    let marked = app.store.baskets.get(&asked.dataset).and_then(|basket| basket.value());
    let marked = marked.is_some_and(|basket| !Selection::is_empty(basket.selection()));
    let basket =
        if marked { " What is marked in clusters must be checked again afterwards." } else { "" };
    let lines = [
        (first.as_str(), theme.text),
        ("", theme.text),
        (" PARTIAL INDEX → READ ONLY → INDEXING → READY", theme.accent),
        (" Until READY nothing can be added or exported, and no picture searched by.", theme.dim),
        (" Clusters get new ids; searches that are open are asked again.", theme.dim),
        (basket, theme.dim),
    ];
    for (row, line) in (0u16..).zip(lines) {
        put(screen, inside, row, &[line]);
    }
}
