//! Draws forms, which are rows with labels, fields, choices and notes, and text fields. A form that does not fit is
//! scrolled.

use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect},
    style::Style,
    text::{Line, Span},
};
use tessera_config::input::{Chord, Key};
use tessera_model::SafeText;
use tui_input::Input;

use crate::drawing::{
    ClickTarget, FocusedField, MouseTargets, Painter, ScrollState, display_width, field_area, line,
    rows_of_lines, split_columns, text_cells, wrap_words,
};

/// The most rows of a form. Only a text from outside can be longer, and the last row says that it is cut.
const MAX_ROWS: u16 = 2_000;
/// The rows that a form keeps above its footer.
const MIN_ROWS: u16 = 3;

/// A text field that begins with a default. The first typed or pasted text replaces the default, and the other keys of
/// a text field begin to edit it.
#[derive(Clone, Debug, Default)]
pub struct Prefilled {
    pub(crate) input: Input,
    /// Whether the user has neither typed nor edited anything.
    pub(crate) is_default: bool,
}

pub(crate) struct FormOptions<'l> {
    /// The column where the fields begin.
    pub column: u16,
    /// The lines below the rows, which are always visible.
    pub footer: &'l [Line<'l>],
    /// How far the user has scrolled the form.
    pub scroll: ScrollState,
    /// The position of the focused field among the fields.
    pub focused: usize,
    /// Whether the fields are the items of a list, so that none of them can be changed.
    pub is_list: bool,
}

impl<'l> FormOptions<'l> {
    /// The options of a form that the user cannot scroll.
    pub(crate) fn new(column: u16, footer: &'l [Line<'l>], focused: usize) -> Self {
        Self { column, footer, scroll: ScrollState::default(), focused, is_list: false }
    }
}

/// Draws the rows of a form from the top, on a canvas that grows with the rows. Texts are wrapped in full. The
/// fields are counted as they are drawn, which is the order of the Tab key.
pub(crate) struct FormRows<'a, S> {
    pub ctx: Painter<'a, S>,
    inside: Rect,
    column: u16,
    row: u16,
    /// Whether blank rows are kept.
    is_spaced: bool,
    /// The number of fields that are drawn.
    fields: usize,
    /// The position of the focused field.
    focused: usize,
    /// The row below the focused field.
    focus_end: u16,
}

impl<S> FormRows<'_, S> {
    pub fn blank(&mut self) {
        _ = self.reserve(u16::from(self.is_spaced));
    }

    /// Reserves rows over the whole width.
    pub fn reserve(&mut self, rows: u16) -> Rect {
        let area = Rect { height: rows, ..line(self.inside, self.row) };
        self.row = self.row.saturating_add(rows).min(MAX_ROWS);
        let canvas = self.ctx.buf.area;
        if self.row > canvas.height {
            self.ctx.buf.resize(Rect { height: self.row, ..canvas });
        }
        area.intersection(self.ctx.buf.area)
    }

    pub fn line(&mut self, line: &Line) {
        let lines = std::slice::from_ref(line);
        let area = self.reserve(rows_of_lines(lines, self.inside.width));
        self.ctx.put_lines(area, lines);
    }

    pub fn text(&mut self, text: &str, style: Style) {
        self.line(&Line::from(vec![Span::raw(" "), Span::styled(text, style)]));
    }

    /// Draws the label of a value that is not a field. Returns the area of the value.
    pub fn label(&mut self, label: &Span) -> Rect {
        let row = self.reserve(1);
        self.ctx.put(row, 0, &[("   ", label.style), (&label.content, label.style)]);
        field_area(row, self.column)
    }

    /// Draws the label of the next field, with a cursor if it is focused. Returns the area of the field.
    pub fn field(&mut self, label: &Span) -> Rect {
        self.ctx.item(self.row, self.fields);
        self.fields += 1;
        if !self.is_focused() {
            return self.label(label);
        }
        let style = self.ctx.theme.accent;
        let row = self.reserve(1);
        self.ctx.put(row, 0, &[(" ▸ ", style), (&label.content, style)]);
        let (number, label) = (self.fields, label.content.to_string());
        self.ctx.mouse.field = Some(FocusedField { row: row.y, label, number, count: 0 });
        self.focus_end = self.row;
        field_area(row, self.column)
    }

    /// Returns whether the last field is focused.
    pub fn is_focused(&self) -> bool {
        self.fields == self.focused + 1
    }

    /// Makes a row of the last field clickable: a click focuses the field, and a click on a focused choice changes it.
    pub fn clickable(&mut self, field: Rect, is_choice: bool) {
        let row = Rect { x: self.inside.x, width: self.inside.width, ..field };
        let target = if is_choice && self.is_focused() {
            ClickTarget::Key(Chord::plain(Key::Right))
        } else {
            ClickTarget::Item(self.fields.saturating_sub(1))
        };
        self.ctx.click(row, target);
    }

    /// Reserves another row of the same field.
    pub fn below(&mut self, field: Rect) -> Rect {
        let row = self.reserve(1);
        Rect { y: row.y, ..field }
    }

    /// Draws a value that the user cannot change.
    pub fn fact(&mut self, label: &Span, value: &Span) {
        let area = self.label(label);
        self.value(area, &value.content, value.style);
    }

    /// Draws a field for the text of an input, which shows a placeholder while it is empty.
    pub fn input(&mut self, label: &str, input: &Input, placeholder: &str) {
        let theme = self.ctx.theme;
        let field = self.field(&Span::styled(label, theme.text));
        self.clickable(field, false);
        if input.value().is_empty() {
            self.note_beside(field, 0, placeholder, theme.dim);
        }
        self.ctx.text_field(field, input, self.is_focused());
    }

    /// Draws a field whose default is dimmed until the user changes it.
    pub fn prefilled(&mut self, label: &str, field: &Prefilled) {
        let theme = self.ctx.theme;
        let area = self.field(&Span::styled(label, theme.text));
        self.clickable(area, false);
        self.ctx.prefilled_field(area, field, self.is_focused());
    }

    /// Draws a field for the text of an input in the first columns of its row, with a note beside them.
    pub fn short_input(&mut self, label: &str, (input, columns): (&Input, u16), note: &str) {
        let theme = self.ctx.theme;
        let field = self.field(&Span::styled(label, theme.text));
        self.clickable(field, false);
        let (value, _) = split_columns(field, columns);
        self.ctx.text_field(value, input, self.is_focused());
        self.note_beside(field, columns + 1, note, theme.dim);
    }

    /// Draws a field whose value is one of several choices.
    pub fn choices(&mut self, label: &str, chosen: &str) {
        let theme = self.ctx.theme;
        let field = self.field(&Span::styled(label, theme.text));
        let focused = self.is_focused();
        let style = if focused { theme.accent } else { theme.text };
        self.value(field, &choice_text(chosen, focused), style);
        self.focus_end = if focused { self.row } else { self.focus_end };
        self.clickable(field, true);
    }

    /// Draws a text in the last field, with further rows as needed.
    pub fn value(&mut self, field: Rect, text: &str, style: Style) {
        let mut lines = wrap_words(text, usize::from(field.width), usize::MAX);
        self.ctx.put(field, 0, &[(lines.next().unwrap_or_default(), style)]);
        for line in lines {
            let row = self.below(field);
            self.ctx.put(row, 0, &[(line, style)]);
        }
    }

    /// Draws a text below a field.
    pub fn note(&mut self, text: &str, style: Style) {
        for line in wrap_words(text, usize::from(self.note_area().width), usize::MAX) {
            let row = self.reserve(1);
            self.ctx.put(field_area(row, self.column), 0, &[(line, style)]);
        }
    }

    /// Draws a text beside a field that needs only some columns of its row, or below the field if the text is too
    /// long.
    pub fn note_beside(&mut self, field: Rect, columns: u16, text: &str, style: Style) {
        let x = field.x.saturating_add(columns);
        let width = field.right().saturating_sub(x);
        if text_cells(text) > width {
            return self.note(text, style);
        }
        self.ctx.put(Rect { x, width, ..field }, 0, &[(text, style)]);
    }

    fn note_area(&self) -> Rect {
        field_area(self.inside, self.column)
    }
}

impl<S> Painter<'_, S> {
    /// Draws a form and its footer. If the form does not fit, its blank rows are omitted first. If it still does not
    /// fit, it is scrolled to the focused field.
    pub(crate) fn form(
        &mut self,
        inside: Rect,
        options: &FormOptions,
        draw: impl Fn(&mut FormRows<S>),
    ) {
        // The area may have been laid out for a larger screen.
        let inside = inside.intersection(self.buf.area);
        let footer = rows_of_lines(options.footer, inside.width);
        let footer = footer.min(inside.height.saturating_sub(MIN_ROWS));
        let height = inside.height - footer;
        let mut canvas = Buffer::empty(Rect { y: 0, ..inside });
        let (mut rows, mut focus_end, mut targets) =
            self.form_rows(&mut canvas, options, true, &draw);
        let gap = u16::from(footer > 0);
        if rows + gap > height {
            canvas.reset();
            (rows, focus_end, targets) = self.form_rows(&mut canvas, options, false, &draw);
        }
        if rows == MAX_ROWS {
            let cut = format!("{:<1$}", "… more is cut here", usize::from(inside.width));
            canvas.set_stringn(inside.x, rows - 1, cut, usize::from(inside.width), self.theme.dim);
        }
        let last = rows.saturating_sub(height);
        let focused = focus_end.saturating_sub(height).min(last);
        let scrolled = options.scroll.top(usize::from(last - focused));
        let top = focused + u16::try_from(scrolled).unwrap_or(0);
        for y in 0..height.min(rows) {
            for x in inside.left()..inside.right() {
                self.buf[(x, inside.y + y)] = canvas[(x, top + y)].clone();
            }
        }
        let is_visible = |row: &u16| (top..top + height).contains(row);
        for (row, target) in targets.clicks {
            if is_visible(&row.y) {
                self.click(Rect { y: inside.y + row.y - top, ..row }, target);
            }
        }
        let count = targets.items.len();
        if options.is_list {
            let items = targets.items.iter().filter(|(row, _)| is_visible(row));
            items.for_each(|(row, index)| self.item(inside.y + row - top, *index));
        } else if let Some(field) = targets.field.filter(|field| is_visible(&field.row)) {
            let row = inside.y + field.row - top;
            self.mouse.field = Some(FocusedField { row, count, ..field });
        }
        let frame = Rect { height, ..inside }.outer(Margin::new(1, 1));
        self.scroll_mark(frame, usize::from(top), usize::from(height), usize::from(rows));
        let below = rows.min(height) + gap.min(height.saturating_sub(rows));
        let area = Rect { y: inside.y + below, height: inside.height - below, ..inside };
        self.put_lines(area, options.footer);
    }

    /// Draws the rows on a canvas. Returns how many there are, the row below the focused field, and what can be
    /// clicked.
    fn form_rows(
        &mut self,
        canvas: &mut Buffer,
        options: &FormOptions,
        is_spaced: bool,
        draw: &impl Fn(&mut FormRows<S>),
    ) -> (u16, u16, MouseTargets) {
        let inside = canvas.area;
        let (app, theme, layer) = (self.app, self.theme, &mut *self.layer);
        let mut mouse = MouseTargets::default();
        let ctx = Painter { app, theme, buf: canvas, layer, mouse: &mut mouse };
        let column = options.column;
        let focused = options.focused;
        let mut rows =
            FormRows { ctx, inside, column, row: 0, is_spaced, fields: 0, focused, focus_end: 0 };
        draw(&mut rows);
        (rows.row, rows.focus_end, mouse)
    }

    /// Draws a single-line text field, scrolled so that the cursor is visible.
    pub(crate) fn text_field(&mut self, area: Rect, input: &Input, focused: bool) {
        self.styled_field(area, input, focused, self.theme.text);
    }

    pub(crate) fn prefilled_field(&mut self, area: Rect, field: &Prefilled, focused: bool) {
        let style = if field.is_default { self.theme.dim } else { self.theme.text };
        self.styled_field(area, &field.input, focused, style);
    }

    fn styled_field(&mut self, area: Rect, input: &Input, focused: bool, style: Style) {
        let cells = usize::from(area.width).max(1);
        let shown = SafeText::file_name(input.value());
        let typed: String = input.value().chars().take(input.cursor()).collect();
        let cursor = display_width(SafeText::file_name(&typed).as_str());
        let skip = (cursor + 1).saturating_sub(cells);
        self.put(area, 0, &[(skip_columns(shown.as_str(), skip), style)]);
        if focused && let Ok(at) = u16::try_from(cursor - skip.min(cursor)) {
            let spot = Rect { x: area.x + at.min(area.width.saturating_sub(1)), width: 1, ..area };
            self.buf.set_style(spot, self.theme.selected);
        }
    }
}

pub(crate) fn choice_text(choice: &str, focused: bool) -> String {
    if focused { format!("‹ {choice} ›") } else { choice.to_owned() }
}

fn skip_columns(text: &str, cells: usize) -> &str {
    let mut skipped = 0;
    let start = text.char_indices().find(|(_, c)| {
        let is_visible = skipped >= cells;
        skipped += display_width(c.encode_utf8(&mut [0; 4]));
        is_visible
    });
    start.map_or("", |(at, _)| &text[at..])
}
