//! The export form: name, folder, format, with or without images, when to download; for a
//! selection also what exactly is exported, seen and unseen.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::{ExportForm, Field},
    ui::{
        Screen,
        overlay::file,
        pane::basket,
        widget::{boxed, grouped, put, wrapped},
    },
};
use tessera_model::{Mark, Selection};

/// Draws the form.
pub(super) fn draw(screen: &mut Screen, area: Rect, form: &ExportForm) {
    let what = if form.selection.is_some() { "what is marked in " } else { "" };
    let title = Line::from(format!(" Export {what}{} ", form.dataset_name));
    let inside = boxed(screen, area, title, true);
    let fields = match &form.selection {
        None => whole(screen, inside, form),
        Some(selection) => marked(screen, inside, form, selection),
    };
    for (row, field) in (fields..).zip(Field::ALL) {
        line(screen, inside, row, form, field);
    }
}

/// What the whole dataset comes to. Returns the row of the first field.
fn whole(screen: &mut Screen, inside: Rect, form: &ExportForm) -> u16 {
    let dataset = screen.app.store.dataset(form.dataset);
    let count = dataset.and_then(|dataset| dataset.n_images);
    let count =
        count.map_or_else(|| "the whole dataset".into(), |count| grouped(count) + " images");
    let dim = screen.theme.dim;
    put(screen, inside, 0, &[(" ", dim), (&count, dim)]);
    2
}

/// What a selection comes to: its totals, what of it is hidden, and the command that does the
/// same. Returns the row of the first field.
fn marked(screen: &mut Screen, inside: Rect, form: &ExportForm, selection: &Selection) -> u16 {
    const FIELDS: u16 = 4;
    let theme = screen.theme;
    let totals = selection.totals();
    let (sum, seen) = (basket::sum(&totals), basket::seen(&totals));
    put(screen, inside, 0, &[(" ", theme.text), (&sum, theme.text)]);
    put(screen, inside, 1, &[(" ", theme.dim), (&seen, theme.dim)]);
    let (here, hidden) = screen.app.marks_here_and_hidden();
    let place = format!(" {here} on this page, {hidden} hidden by this query");
    put(screen, inside, 2, &[(&place, theme.dim)]);

    let cells = usize::from(inside.width).saturating_sub(2);
    let command: Vec<String> = wrapped(&form.command(), cells, 3).collect();
    let below = u16::try_from(command.len()).unwrap_or(0) + 1;
    let top = FIELDS + u16::try_from(Field::ALL.len()).unwrap_or(0) + 1;
    let height = inside.height.saturating_sub(top + below);
    let list = Rect { y: inside.y + top, height, ..inside };
    hidden_marks(screen, list, form, selection);
    for (row, line) in (inside.height.saturating_sub(below) + 1..).zip(&command) {
        put(screen, inside, row, &[(" ", theme.dim), (line, theme.dim)]);
    }
    FIELDS
}

/// The marks that are stale or not on the page: nobody exports what they have forgotten.
fn hidden_marks(screen: &mut Screen, list: Rect, form: &ExportForm, selection: &Selection) {
    let app = screen.app;
    let stale = |mark: &Mark| mark.cluster().is_some_and(|cluster| cluster.stale);
    let mut marks = selection.rows();
    marks.retain(|mark| stale(mark) || app.place_of(mark).is_none());
    marks.sort_by_key(|mark| !stale(mark));
    let top = form.top.min(marks.len().saturating_sub(usize::from(list.height)));
    for (row, mark) in (0..list.height).zip(&marks[top..]) {
        basket::line(screen, list, row, mark);
    }
    let rest = marks.len().saturating_sub(top + usize::from(list.height));
    if rest > 0 {
        let words = format!(" {} more ", rest + 1);
        let end = list.height.saturating_sub(1);
        let blank = " ".repeat(usize::from(list.width));
        put(screen, list, end, &[(&blank, screen.theme.dim)]);
        put(screen, list, end, &[(&words, screen.theme.dim), ("(PgDn)", screen.theme.key)]);
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
