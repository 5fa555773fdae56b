//! The export form, for a selection with its totals and the entries that are not on screen.

use ratatui::layout::Rect;

use super::Draw;
use crate::{
    app::overlay::{ExportField, ExportForm},
    ui::{
        DrawContext,
        pane::basket,
        widget::{choice_text, group_digits, wrap_words},
    },
};
use tessera_model::{Selection, SelectionEntry};

impl Draw for ExportForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let what = if self.selection.is_some() { "the selection in " } else { "" };
        let inside = ctx.dialog(area, &format!("Export {what}{}", self.dataset_name));
        let first_field = match &self.selection {
            None => draw_dataset(ctx, inside, self),
            Some(selection) => draw_selection(ctx, inside, self, selection),
        };
        for (row, field) in (first_field..).zip(ExportField::ALL) {
            draw_field(ctx, inside, row, self, field);
        }
    }
}

/// Returns the row of the first field.
fn draw_dataset(ctx: &mut DrawContext, inside: Rect, form: &ExportForm) -> u16 {
    let dataset = ctx.app.store.dataset(form.dataset);
    let count = dataset.and_then(|dataset| dataset.n_images);
    let count =
        count.map_or_else(|| "the whole dataset".into(), |count| group_digits(count) + " images");
    let dim = ctx.theme.dim;
    ctx.put(inside, 0, &[(" ", dim), (&count, dim)]);
    2
}

/// Returns the row of the first field.
fn draw_selection(
    ctx: &mut DrawContext,
    inside: Rect,
    form: &ExportForm,
    selection: &Selection,
) -> u16 {
    const FIELDS: u16 = 4;
    let theme = ctx.theme;
    let totals = selection.totals();
    let (here, hidden) = ctx.app.visible_and_hidden_selected();
    for (row, text, style) in [
        (0, basket::totals_text(&totals), theme.text),
        (1, basket::previews_seen_text(&totals), theme.dim),
        (2, format!("{here} on this page, {hidden} hidden by this query"), theme.dim),
    ] {
        ctx.put(inside, row, &[(" ", style), (&text, style)]);
    }

    let cells = usize::from(inside.width).saturating_sub(2);
    let command: Vec<String> = wrap_words(form.command().as_str(), cells, 3).collect();
    let below = u16::try_from(command.len()).unwrap_or(0) + 1;
    let top = FIELDS + u16::try_from(ExportField::ALL.len()).unwrap_or(0) + 1;
    let height = inside.height.saturating_sub(top + below);
    let list = Rect { y: inside.y + top, height, ..inside };
    draw_hidden_entries(ctx, list, form, selection);
    for (row, line) in (inside.height.saturating_sub(below) + 1..).zip(&command) {
        ctx.put(inside, row, &[(" ", theme.dim), (line, theme.dim)]);
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
        let more = format!(" {} more ", rest + 1);
        let end = list.height.saturating_sub(1);
        ctx.put(list, end, &[(" ".repeat(usize::from(list.width)), ctx.theme.dim)]);
        ctx.put(list, end, &[(more.as_str(), ctx.theme.dim), ("(PgDn)", ctx.theme.key)]);
    }
}

fn draw_field(
    ctx: &mut DrawContext,
    inside: Rect,
    row: u16,
    form: &ExportForm,
    field: ExportField,
) {
    const FIELD_COLUMN: u16 = 14;
    let focused = form.field == field;
    let text = ctx.theme.text;
    let value = ctx.field_label(inside, (row, FIELD_COLUMN), (label(field), text), focused);
    let choice = match field {
        ExportField::Name => return ctx.text_field(value, &form.name, focused),
        ExportField::Folder => return ctx.text_field(value, &form.folder, focused),
        ExportField::Format => form.format.as_str(),
        ExportField::Images if form.include_images => "in the archive",
        ExportField::Images => "metadata only",
        ExportField::Download if form.auto_download => "as soon as it is ready",
        ExportField::Download => "later, with d",
    };
    let style = if focused { ctx.theme.accent } else { text };
    ctx.put(value, 0, &[(choice_text(choice, focused), style)]);
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
