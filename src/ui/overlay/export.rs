//! The export form: name, folder, format, with or without images, when to download; for a
//! selection also its totals and the entries that are not on screen.

use ratatui::{layout::Rect, text::Line};

use crate::{
    app::overlay::{ExportField, ExportForm},
    ui::{
        DrawContext,
        overlay::Draw,
        pane::basket,
        widget::{bordered, group_digits, put, text_field, wrap_words},
    },
};
use tessera_model::{Selection, SelectionEntry};

impl Draw for ExportForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let what = if self.selection.is_some() { "the selection in " } else { "" };
        let title = Line::from(format!(" Export {what}{} ", self.dataset_name));
        let inside = bordered(ctx, area, title, true);
        let fields = match &self.selection {
            None => draw_dataset(ctx, inside, self),
            Some(selection) => draw_selection(ctx, inside, self, selection),
        };
        for (row, field) in (fields..).zip(ExportField::ALL) {
            draw_field(ctx, inside, row, self, field);
        }
    }
}

/// Draws the size of the dataset. Returns the row of the first field.
fn draw_dataset(ctx: &mut DrawContext, inside: Rect, form: &ExportForm) -> u16 {
    let dataset = ctx.app.store.dataset(form.dataset);
    let count = dataset.and_then(|dataset| dataset.n_images);
    let count =
        count.map_or_else(|| "the whole dataset".into(), |count| group_digits(count) + " images");
    let dim = ctx.theme.dim;
    put(ctx, inside, 0, &[(" ", dim), (&count, dim)]);
    2
}

/// Draws the totals of a selection, its hidden entries, and the equivalent command. Returns the row
/// of the first field.
fn draw_selection(
    ctx: &mut DrawContext,
    inside: Rect,
    form: &ExportForm,
    selection: &Selection,
) -> u16 {
    const FIELDS: u16 = 4;
    let theme = ctx.theme;
    let totals = selection.totals();
    let (sum, seen) = (basket::totals_text(&totals), basket::previews_seen_text(&totals));
    put(ctx, inside, 0, &[(" ", theme.text), (&sum, theme.text)]);
    put(ctx, inside, 1, &[(" ", theme.dim), (&seen, theme.dim)]);
    let (here, hidden) = ctx.app.visible_and_hidden_selected();
    let visibility = format!(" {here} on this page, {hidden} hidden by this query");
    put(ctx, inside, 2, &[(&visibility, theme.dim)]);

    let cells = usize::from(inside.width).saturating_sub(2);
    let command: Vec<String> = wrap_words(&form.command(), cells, 3).collect();
    let below = u16::try_from(command.len()).unwrap_or(0) + 1;
    let top = FIELDS + u16::try_from(ExportField::ALL.len()).unwrap_or(0) + 1;
    let height = inside.height.saturating_sub(top + below);
    let list = Rect { y: inside.y + top, height, ..inside };
    draw_hidden_entries(ctx, list, form, selection);
    for (row, line) in (inside.height.saturating_sub(below) + 1..).zip(&command) {
        put(ctx, inside, row, &[(" ", theme.dim), (line, theme.dim)]);
    }
    FIELDS
}

/// Draws the entries that are stale or not on the page, so that no forgotten entry is exported.
fn draw_hidden_entries(
    ctx: &mut DrawContext,
    list: Rect,
    form: &ExportForm,
    selection: &Selection,
) {
    let app = ctx.app;
    let stale = |entry: &SelectionEntry| entry.cluster().is_some_and(|cluster| cluster.stale);
    let mut entries = selection.ordered_entries();
    entries.retain(|entry| stale(entry) || app.tile_of_entry(entry).is_none());
    entries.sort_by_key(|entry| !stale(entry));
    let top = form.scroll_top.min(entries.len().saturating_sub(usize::from(list.height)));
    for (row, entry) in (0..list.height).zip(&entries[top..]) {
        basket::draw_entry(ctx, list, row, entry);
    }
    let rest = entries.len().saturating_sub(top + usize::from(list.height));
    if rest > 0 {
        let words = format!(" {} more ", rest + 1);
        let end = list.height.saturating_sub(1);
        let blank = " ".repeat(usize::from(list.width));
        put(ctx, list, end, &[(&blank, ctx.theme.dim)]);
        put(ctx, list, end, &[(&words, ctx.theme.dim), ("(PgDn)", ctx.theme.key)]);
    }
}

fn draw_field(
    ctx: &mut DrawContext,
    inside: Rect,
    row: u16,
    form: &ExportForm,
    field: ExportField,
) {
    let focused = form.field == field;
    let style = if focused { ctx.theme.accent } else { ctx.theme.text };
    let mark = if focused { " ▸ " } else { "   " };
    put(ctx, inside, row, &[(mark, style), (label(field), style)]);
    let place = Rect {
        x: inside.x + 14,
        y: inside.y + row,
        width: inside.width.saturating_sub(15),
        height: 1,
    };
    let words = match field {
        ExportField::Name => return text_field(ctx, place, &form.name, focused),
        ExportField::Folder => {
            return text_field(ctx, place, &form.folder, focused);
        }
        ExportField::Format => form.format.as_str(),
        ExportField::Images if form.include_images => "in the archive",
        ExportField::Images => "metadata only",
        ExportField::Download if form.auto_download => "as soon as it is ready",
        ExportField::Download => "later, with d",
    };
    put(ctx, place, 0, &[(&choice_text(words, focused), style)]);
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
