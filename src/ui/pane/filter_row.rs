//! A filter of the query builder: its state, kind, operator and value in one row.

use ratatui::{layout::Rect, style::Style};
use tessera_model::{SafeText, text::truncate};
use tui_input::Input;

use super::query_checks::{row_suffix, severity_style};
use crate::{
    app::{
        overlay::DrawContext,
        query::{Diagnostic, FilterKind, FilterRow},
    },
    drawing::{choice_text, first_fitting, split_columns, text_cells},
};

/// Cells of the columns before the value: state, key, operator.
pub(super) const COLUMN_WIDTHS: [u16; 3] = [5, 12, 16];
/// Cells of a number, in a wide row and in one where three fields fit just so.
const NUMBER_WIDTHS: (u16, u16) = (6, 4);
const WIDE_ROW: u16 = 84;
/// In a narrower row, a focused number is shown alone.
const MIN_WHOLE_ROW: u16 = 78;

pub(super) struct RowState<'a> {
    pub selected: bool,
    /// The focused field of the selected row.
    pub field: Option<usize>,
    /// Whether the JSON editor has replaced the rows.
    pub dimmed: bool,
    pub diagnostic: Option<&'a Diagnostic>,
}

pub(super) fn draw_filter(ctx: &mut DrawContext, line: Rect, row: &FilterRow, state: &RowState) {
    let theme = ctx.theme;
    let style = if row.enabled && !state.dimmed { theme.text } else { theme.dim };
    let number_width = if line.width < WIDE_ROW { NUMBER_WIDTHS.1 } else { NUMBER_WIDTHS.0 };
    let mut writer = RowWriter { ctx, rest: line, style };
    writer.column(if state.selected { "▸" } else { " " }, 1, theme.accent);
    writer.column(if row.enabled { " ✓" } else { " ○" }, COLUMN_WIDTHS[0] - 1, style);
    writer.column(row.kind.keyword(), COLUMN_WIDTHS[1], style);
    let mode = if row.kind == FilterKind::Issues { "mode " } else { "" };
    let has_choice = state.selected && row.kind.choices().len() > 1;
    let operator = choice_text(&format!("{mode}{}", row.choice_keyword()), has_choice);
    writer.column(&operator, COLUMN_WIDTHS[2], style);
    let focused_number = state.field.filter(|number| *number > 0 && line.width < MIN_WHOLE_ROW);
    if focused_number.is_none() {
        writer.value(row, state.field == Some(0));
    }
    for (number, (part, input)) in row.fields().enumerate().skip(1) {
        let label = format!("  {} ", part.label);
        let fits = text_cells(&label) + number_width + 2 <= writer.rest.width;
        let is_shown = focused_number.is_none_or(|focused| focused == number);
        // An empty limit is only shown in the selected row.
        if fits && is_shown && (state.selected || !input.value().is_empty()) {
            writer.text(&label, theme.dim);
            writer.field(number_width, Some(input), state.field == Some(number));
        }
    }
    let (_, end) = split_columns(writer.rest, 1);
    let suffix = match state.diagnostic {
        Some(diagnostic) => {
            (row_suffix(diagnostic, end.width), severity_style(ctx, diagnostic.severity))
        }
        None if !row.enabled => {
            let texts = ["(off, kept)", "(off)"];
            (first_fitting(&texts, usize::from(end.width)).to_owned(), theme.dim)
        }
        None => return,
    };
    ctx.put(end, 0, &[suffix]);
}

struct RowWriter<'c, 'a> {
    ctx: &'c mut DrawContext<'a>,
    /// What is free at the right.
    rest: Rect,
    style: Style,
}

impl RowWriter<'_, '_> {
    fn text(&mut self, text: &str, style: Style) {
        self.column(text, text_cells(text), style);
    }

    fn column(&mut self, text: &str, width: u16, style: Style) {
        let (column, rest) = split_columns(self.rest, width);
        self.ctx.put(column, 0, &[(text, style)]);
        self.rest = rest;
    }

    fn value(&mut self, row: &FilterRow, focused: bool) {
        for entry in &row.entries {
            let tag = self.ctx.app.query().known_values(self.ctx.app.results()).tag_name(entry);
            let tag = tag.filter(|_| row.kind == FilterKind::Tags);
            let shown = tag.cloned().unwrap_or_else(|| SafeText::name(entry));
            self.text(&format!("[{}]", truncate(shown.as_str(), 24)), self.style);
        }
        if row.kind.is_list() && !focused {
            return;
        }
        let text_width = text_cells(SafeText::name(row.text(0)).as_str()) + 1;
        let most = self.rest.width.saturating_sub(30).max(20);
        let width = text_width.clamp(if row.kind == FilterKind::Text { 20 } else { 8 }, most);
        self.field(width, row.fields().next().map(|(_, input)| input), focused);
    }

    /// Writes `[text ]`.
    fn field(&mut self, width: u16, input: Option<&Input>, focused: bool) {
        self.text("[", self.style);
        let (field, rest) = split_columns(self.rest, width);
        if let Some(input) = input {
            self.ctx.text_field(field, input, focused);
            if !focused {
                self.ctx.buf.set_style(field, self.style);
            }
        }
        self.rest = rest;
        self.text("]", self.style);
    }
}
