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
    let theme = screen.theme;
    let count = screen
        .app
        .store
        .dataset(form.dataset)
        .and_then(|dataset| dataset.n_images);
    let count = count.map_or_else(
        || "the whole dataset".to_owned(),
        |count| format!("{} images", grouped(count)),
    );
    put(screen, inside, 0, &[(" ", theme.dim), (&count, theme.dim)]);
    for (row, field) in (2u16..).zip(Field::ALL) {
        let focused = form.field == field;
        let label = match field {
            Field::Name => "file name",
            Field::Folder => "folder",
            Field::Format => "metadata",
            Field::Images => "images",
            Field::Fetch => "download",
        };
        let style = if focused { theme.accent } else { theme.text };
        let mark = if focused { " ▸ " } else { "   " };
        put(screen, inside, row, &[(mark, style), (label, style)]);
        let place = Rect {
            x: inside.x + 14,
            y: inside.y + row,
            width: inside.width.saturating_sub(15),
            height: 1,
        };
        match field {
            Field::Name => file::field(screen, place, &form.name, focused),
            Field::Folder => file::field(screen, place, &form.folder, focused),
            Field::Format => put(
                screen,
                place,
                0,
                &[(&choice(form.format.word(), focused), style)],
            ),
            Field::Images => {
                let words = if form.images {
                    "in the archive"
                } else {
                    "metadata only"
                };
                put(screen, place, 0, &[(&choice(words, focused), style)]);
            }
            Field::Fetch => {
                let words = if form.fetch {
                    "as soon as it is ready"
                } else {
                    "later, with d"
                };
                put(screen, place, 0, &[(&choice(words, focused), style)]);
            }
        }
    }
}

fn choice(words: &str, focused: bool) -> String {
    if focused {
        format!("‹ {words} ›")
    } else {
        words.to_owned()
    }
}
