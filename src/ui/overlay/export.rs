//! The export form: name, folder, format, with or without images, when to download; for a
//! selection also what exactly is exported, seen and unseen.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::{ExportField, ExportForm},
    ui::{
        DrawContext,
        overlay::file_picker,
        pane::basket,
        widget::{bordered, group_digits, put, wrap_words},
    },
};
use tessera_model::{Selection, SelectionEntry};

/// Draws the form.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, form: &ExportForm) {
    let what = if form.selection.is_some() { "what is marked in " } else { "" };
    let title = Line::from(format!(" Export {what}{} ", form.dataset_name));
    let inside = bordered(screen, area, title, true);
    let fields = match &form.selection {
        None => draw_dataset(screen, inside, form),
        Some(selection) => draw_selection(screen, inside, form, selection),
    };
    for (row, field) in (fields..).zip(ExportField::ALL) {
        draw_field(screen, inside, row, form, field);
    }
}

/// What the whole dataset comes to. Returns the row of the first field.
fn draw_dataset(screen: &mut DrawContext, inside: Rect, form: &ExportForm) -> u16 {
    let dataset = screen.app.store.dataset(form.dataset);
    let count = dataset.and_then(|dataset| dataset.n_images);
    let count =
        count.map_or_else(|| "the whole dataset".into(), |count| group_digits(count) + " images");
    let dim = screen.theme.dim;
    put(screen, inside, 0, &[(" ", dim), (&count, dim)]);
    2
}

/// What a selection comes to: its totals, what of it is hidden, and the command that does the
/// same. Returns the row of the first field.
fn draw_selection(
    screen: &mut DrawContext,
    inside: Rect,
    form: &ExportForm,
    selection: &Selection,
) -> u16 {
    const FIELDS: u16 = 4;
    let theme = screen.theme;
    let totals = selection.totals();
    let (sum, seen) = (basket::totals_text(&totals), basket::previews_seen_text(&totals));
    put(screen, inside, 0, &[(" ", theme.text), (&sum, theme.text)]);
    put(screen, inside, 1, &[(" ", theme.dim), (&seen, theme.dim)]);
    let (here, hidden) = screen.app.visible_and_hidden_selected();
    let place = format!(" {here} on this page, {hidden} hidden by this query");
    put(screen, inside, 2, &[(&place, theme.dim)]);

    let cells = usize::from(inside.width).saturating_sub(2);
    let command: Vec<String> = wrap_words(&form.command(), cells, 3).collect();
    let below = u16::try_from(command.len()).unwrap_or(0) + 1;
    let top = FIELDS + u16::try_from(ExportField::ALL.len()).unwrap_or(0) + 1;
    let height = inside.height.saturating_sub(top + below);
    let list = Rect { y: inside.y + top, height, ..inside };
    draw_hidden_marks(screen, list, form, selection);
    for (row, line) in (inside.height.saturating_sub(below) + 1..).zip(&command) {
        put(screen, inside, row, &[(" ", theme.dim), (line, theme.dim)]);
    }
    FIELDS
}

/// The marks that are stale or not on the page: nobody exports what they have forgotten.
fn draw_hidden_marks(
    screen: &mut DrawContext,
    list: Rect,
    form: &ExportForm,
    selection: &Selection,
) {
    let app = screen.app;
    let stale = |mark: &SelectionEntry| mark.cluster().is_some_and(|cluster| cluster.stale);
    let mut marks = selection.ordered_entries();
    marks.retain(|mark| stale(mark) || app.tile_of_entry(mark).is_none());
    marks.sort_by_key(|mark| !stale(mark));
    let top = form.scroll_top.min(marks.len().saturating_sub(usize::from(list.height)));
    for (row, mark) in (0..list.height).zip(&marks[top..]) {
        basket::draw_mark(screen, list, row, mark);
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

fn draw_field(
    screen: &mut DrawContext,
    inside: Rect,
    row: u16,
    form: &ExportForm,
    field: ExportField,
) {
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
        ExportField::Name => return file_picker::text_field(screen, place, &form.name, focused),
        ExportField::Folder => {
            return file_picker::text_field(screen, place, &form.folder, focused);
        }
        ExportField::Format => form.format.word(),
        ExportField::Images if form.include_images => "in the archive",
        ExportField::Images => "metadata only",
        ExportField::Download if form.auto_download => "as soon as it is ready",
        ExportField::Download => "later, with d",
    };
    put(screen, place, 0, &[(&choice_text(words, focused), style)]);
}

fn label(field: ExportField) -> &'static str {
    match field {
        ExportField::Name => "file name",
        ExportField::Folder => "folder",
        ExportField::Format => "metadata",
        ExportField::Images => "images",
        ExportField::Download => "download",
    }
}

fn choice_text(words: &str, focused: bool) -> String {
    if focused { format!("‹ {words} ›") } else { words.to_owned() }
}
