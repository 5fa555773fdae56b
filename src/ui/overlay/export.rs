//! The export form: name, folder, format, with or without images, when to download.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::{ExportForm, Field},
    ui::{
        Screen,
        overlay::file,
        widget::{boxed, grouped, put},
    },
};

/// Draws the form.
pub(super) fn draw(screen: &mut Screen, area: Rect, form: &ExportForm) {
    let title = Line::from(format!(" Export {} ", form.dataset_name));
    let inside = boxed(screen, area, title, true);
    let dataset = screen.app.store.dataset(form.dataset);
    let count = dataset.and_then(|dataset| dataset.n_images);
    let count =
        count.map_or_else(|| "the whole dataset".into(), |count| grouped(count) + " images");
    let dim = screen.theme.dim;
    put(screen, inside, 0, &[(" ", dim), (&count, dim)]);
    for (row, field) in (2u16..).zip(Field::ALL) {
        line(screen, inside, row, form, field);
    }
}

fn line(screen: &mut Screen, inside: Rect, row: u16, form: &ExportForm, field: Field) {
    let focused = form.field == field;
    let style = if focused { screen.theme.accent } else { screen.theme.text };
    let mark = if focused { " ▸ " } else { "   " };
    put(screen, inside, row, &[(mark, style), (label(field), style)]);
    let place = Rect {
        x: inside.x + 14,
        y: inside.y + row,
        width: inside.width.saturating_sub(15),
        height: 1,
    };
    let words = match field {
        Field::Name => return file::field(screen, place, &form.name, focused),
        Field::Folder => return file::field(screen, place, &form.folder, focused),
        Field::Format => form.format.word(),
        Field::Images if form.images => "in the archive",
        Field::Images => "metadata only",
        Field::Fetch if form.fetch => "as soon as it is ready",
        Field::Fetch => "later, with d",
    };
    put(screen, place, 0, &[(&choice(words, focused), style)]);
}

fn label(field: Field) -> &'static str {
    match field {
        Field::Name => "file name",
        Field::Folder => "folder",
        Field::Format => "metadata",
        Field::Images => "images",
        Field::Fetch => "download",
    }
}

fn choice(words: &str, focused: bool) -> String {
    if focused { format!("‹ {words} ›") } else { words.to_owned() }
}
