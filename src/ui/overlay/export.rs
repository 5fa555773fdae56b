//! The export form, for a selection with its totals and the entries that are not on screen.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use super::Draw;
use crate::{
    app::overlay::{ExportField, ExportForm},
    ui::{
        DrawContext,
        pane::basket,
        widget::{FormOptions, FormRows, choice_text, group_digits},
    },
};
use tessera_model::{Selection, SelectionEntry, text::grouped_with_noun};

const FIELD_COLUMN: u16 = 14;
/// Entries that are listed, at most.
const MAX_ENTRIES: usize = 150;

impl Draw for ExportForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let what = if self.selection.is_some() { "the selection in " } else { "" };
        let inside = ctx.dialog(area, &format!("Export {what}{}", self.dataset_name));
        let command = Span::styled(self.command().as_str().to_owned(), ctx.theme.dim);
        let command = Line::from(vec![Span::raw(" "), command]);
        let footer: Vec<Line> = self.selection.iter().map(|_| command.clone()).collect();
        let options = FormOptions { column: FIELD_COLUMN, footer: &footer, scroll: self.scroll };
        ctx.form(inside, &options, |rows| {
            match &self.selection {
                None => draw_dataset(rows, self),
                Some(selection) => draw_totals(rows, selection),
            }
            rows.blank();
            for field in ExportField::ALL {
                draw_field(rows, self, field);
            }
            if let Some(selection) = &self.selection {
                rows.blank();
                draw_hidden_entries(rows, selection);
            }
        });
    }
}

fn draw_dataset(rows: &mut FormRows, form: &ExportForm) {
    let dataset = rows.ctx.app.store().dataset(form.dataset);
    let count = dataset.and_then(|dataset| dataset.n_images);
    let count = count.map(|count| grouped_with_noun(count, "image", "images"));
    let count = count.unwrap_or_else(|| "the whole dataset".to_owned());
    rows.text(&count, rows.ctx.theme.dim);
}

fn draw_totals(rows: &mut FormRows, selection: &Selection) {
    let theme = rows.ctx.theme;
    let totals = selection.totals();
    let (here, hidden) = rows.ctx.app.visible_and_hidden_selected();
    for (text, style) in [
        (basket::totals_text(&totals), theme.text),
        (basket::previews_seen_text(&totals), theme.dim),
        (format!("{here} on this page, {hidden} hidden by this query"), theme.dim),
    ] {
        if !text.is_empty() {
            rows.text(&text, style);
        }
    }
}

/// Draws the entries that are stale or not on the page, so that no forgotten entry is exported.
fn draw_hidden_entries(rows: &mut FormRows, selection: &Selection) {
    let app = rows.ctx.app;
    let stale = |entry: &SelectionEntry| entry.cluster().is_some_and(|cluster| cluster.stale);
    let mut entries = selection.ordered_entries();
    entries.retain(|entry| stale(entry) || app.tile_of_entry(entry).is_none());
    entries.sort_by_key(|entry| !stale(entry));
    if !entries.is_empty() {
        rows.text("selected, but not on this page:", rows.ctx.theme.dim);
    }
    for entry in entries.iter().take(MAX_ENTRIES) {
        let row = rows.reserve(1);
        basket::draw_entry(&mut rows.ctx, row, 0, entry);
    }
    let rest = entries.len().saturating_sub(MAX_ENTRIES);
    if rest > 0 {
        let rest = group_digits(rest as u64);
        rows.text(&format!("and {rest} more, which the basket lists"), rows.ctx.theme.dim);
    }
}

fn draw_field(rows: &mut FormRows, form: &ExportForm, field: ExportField) {
    let focused = form.field == field;
    let theme = rows.ctx.theme;
    let label = (label(field), theme.text);
    let choice = match field {
        ExportField::Name => {
            let value = rows.field(label, focused);
            return rows.ctx.text_field(value, &form.name, focused);
        }
        ExportField::Folder => {
            let value = rows.field(label, focused);
            return rows.ctx.text_field(value, &form.folder, focused);
        }
        ExportField::Format => form.format.as_str(),
        ExportField::Images if form.include_images => "in the archive",
        ExportField::Images => "metadata only",
        ExportField::Download if form.auto_download => "as soon as it is ready",
        ExportField::Download => "later, with d",
    };
    let style = if focused { theme.accent } else { theme.text };
    rows.choice(label, (&choice_text(choice, focused), style), focused);
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
