//! Draws the query builder: a row for each filter, the JSON that is sent, and the checks of the
//! query.

use tessera_model::{EntityType, Granularity, Query, Search};
use tui_input::Input;

use crate::ui::prelude::*;
use crate::{
    app::{
        pane::scroll_top,
        query::{Diagnostic, FilterKind, FilterRow, JsonEditor, QueryDraft, Severity, diagnostics},
    },
    drawing::{choice_text, line, rows_of_lines, wrapped_rows},
    ui::pane::MIN_FRAMED_ROWS,
};

const MAX_SUGGESTIONS: usize = 8;
/// The rows of the focused part on any screen: those around its cursor, and a title or a description.
const MIN_FOCUSED_ROWS: u16 = 3;

pub(in crate::ui) fn query(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let draft = app.query().draft(app.results());
    let on = draft.rows.iter().filter(|row| row.enabled).count();
    let summary = match draft.rows.len() {
        0 => "no filters".to_owned(),
        1 => format!("{on} of 1 filter on"),
        all => format!("{on} of {all} filters on"),
    };
    if area.height < MIN_FRAMED_ROWS {
        let key = ctx.first_key(Action::FocusQuery).unwrap_or_default();
        return ctx.collapsed_pane(
            area,
            Pane::Query,
            &format!("{summary} · {key} opens the query builder"),
        );
    }
    let inside = ctx.pane_frame(area, Pane::Query, &summary);
    if app.results().view().is_none() {
        return ctx.centered_message(inside, ctx.theme.dim, &["Open a dataset first."]);
    }
    let diagnostics = diagnostics(app);
    let subject = subject_lines(ctx);
    let json_lines = json_lines(ctx, draft);
    let tail = suggestion_line(ctx, draft);
    let rows = |lines: &[Line]| rows_of_lines(lines, inside.width);
    let checks: u16 = diagnostics.iter().map(|it| check_rows(it, inside.width)).sum();
    let needed = NeededRows {
        head: rows(&subject) + 1,
        form: list_rows(draft).saturating_add(rows(&tail)),
        json: match &draft.json {
            Some(json) => u16::try_from(json.text.lines().len()).unwrap_or(u16::MAX),
            None => rows(&json_lines),
        }
        .saturating_add(1),
        checks: checks.saturating_add(1),
    };
    let [head, form, json, check] = areas(inside, &needed, draft.json.is_some());
    draw_subject(ctx, head, &subject);
    draw_form(ctx, form, draft, &diagnostics, &tail);
    draw_json(ctx, json, draft, &json_lines);
    draw_checks(ctx, check, &diagnostics);
}

/// Returns the number of rows that the filters need, including the row that adds a filter.
fn list_rows(draft: &QueryDraft) -> u16 {
    u16::try_from(draft.rows.len()).unwrap_or(u16::MAX).saturating_add(1)
}

/// The rows that each part needs to be shown in full.
struct NeededRows {
    head: u16,
    form: u16,
    json: u16,
    checks: u16,
}

/// Divides the pane among its parts. If not everything fits, the form and the JSON share the rows that the other parts
/// leave, and the focused one of them gets its rows first. On a small screen, the other parts leave it a few rows.
fn areas(inside: Rect, needed: &NeededRows, edits_json: bool) -> [Rect; 4] {
    let focused = if edits_json { needed.json } else { needed.form };
    let focused = focused.min(MIN_FOCUSED_ROWS).min(inside.height);
    let head = needed.head.min((inside.height / 2).max(3)).min(inside.height - focused);
    let all = needed.form.saturating_add(needed.json).saturating_add(needed.checks);
    // A blank row separates the head from the rest if a row is free.
    let head = head + u16::from(all.saturating_add(head) < inside.height);
    let rest = inside.height - head;
    let (form, json, check) = if all <= rest {
        (needed.form, needed.json, needed.checks)
    } else {
        let check = needed.checks.min(rest / 3).max(2).min(rest - focused);
        let body = rest - check;
        let form = if edits_json {
            let form = body.saturating_sub(needed.json).max(body / 3);
            needed.form.min(form.min(body - focused))
        } else {
            let form = body.saturating_sub(needed.json.min(body / 3));
            needed.form.min(form.max(focused))
        };
        let json = needed.json.min(body - form);
        (form, json, rest - form - json)
    };
    let at = |y: u16, height: u16| Rect { y: inside.y + y, height, ..inside };
    [at(0, head), at(head, form), at(head + form, json), at(head + form + json, check)]
}

/// Describes what is searched: the kind of media, the granularity and the query.
fn subject_lines(ctx: &DrawContext) -> Vec<Line<'static>> {
    let (app, theme) = (ctx.app, ctx.theme);
    let Some(view) = app.results().view() else { return Vec::new() };
    let search = &view.search;
    let kind = if app.setup().is_text {
        let (entity, level) = (search.entity.as_str(), search.granularity.level());
        let key = ctx.first_key(Action::ToggleEntity).unwrap_or_default();
        Line::raw(format!(" {entity} ({key} changes it)  granularity {level} of 0 to 4 (< >)"))
    } else {
        entity_and_granularity(ctx, search)
    };
    let (subject, value, bound) = match &search.query {
        Query::Browse => (" of the whole dataset", String::new(), String::new()),
        Query::Similar(_) => {
            let name = view.similar_to.as_ref().map_or("a picture", SafeText::as_str);
            (" similar to ", name.to_owned(), String::new())
        }
        Query::Caption { text, max_score } => {
            let bound = max_score.map_or_else(
                || "  no max score".to_owned(),
                |score| format!("  max score {} (lower = stricter)", score.value()),
            );
            (" captions matching ", SafeText::name(text.as_str()).to_string(), bound)
        }
    };
    let query = Line::from(vec![
        Span::styled(subject, theme.dim),
        Span::styled(value, theme.accent),
        Span::styled(bound, theme.text),
    ]);
    vec![kind, query]
}

/// Returns what can be found, and the granularities, with marks at the chosen ones.
fn entity_and_granularity(ctx: &DrawContext, search: &Search) -> Line<'static> {
    let dot = |entity| if search.entity == entity { "(•) " } else { "( ) " };
    let level = |level: u8| {
        let selected = Granularity::new(level) == Some(search.granularity);
        if selected { format!("[{level}]") } else { format!(" {level} ") }
    };
    let levels: String = (0..5).map(level).collect();
    Line::from(vec![
        Span::raw(" "),
        Span::styled(format!("{}IMAGES ", dot(EntityType::Images)), ctx.theme.text),
        Span::styled(format!("{}OBJECTS  ", dot(EntityType::Objects)), ctx.theme.text),
        Span::styled(ctx.first_key(Action::ToggleEntity).unwrap_or_default(), ctx.theme.key),
        Span::styled("   granularity ", ctx.theme.dim),
        Span::styled(levels, ctx.theme.text),
        Span::styled("  < >", ctx.theme.key),
    ])
}

fn draw_subject(ctx: &mut DrawContext, area: Rect, lines: &[Line]) {
    let last = area.height.saturating_sub(1);
    ctx.put_lines(Rect { height: last, ..area }, lines);
    let mut rest = area;
    for (title, width) in
        [" on", "key", "op", "value"].into_iter().zip(COLUMN_WIDTHS.into_iter().chain([0]))
    {
        ctx.put(rest, last, &[(title, ctx.theme.dim)]);
        (_, rest) = split_columns(rest, width);
    }
}

fn draw_form(
    ctx: &mut DrawContext,
    area: Rect,
    draft: &QueryDraft,
    diagnostics: &[Diagnostic],
    tail: &[Line],
) {
    let dimmed = draft.json.as_ref().is_some_and(|json| json.problem.is_some());
    let tail_rows = match tail {
        [] => 0,
        _ => area.height.saturating_sub(list_rows(draft)).max(1).min(area.height.saturating_sub(1)),
    };
    let height = usize::from(area.height.saturating_sub(tail_rows));
    let top = scroll_top(0, draft.cursor, height);
    let focused = ctx.app.panes().focus == Pane::Query && draft.json.is_none();
    for (row, index) in (0..).zip(top..(draft.rows.len() + 1).min(top + height)) {
        let selected = draft.cursor == index;
        match draft.rows.get(index) {
            Some(filter) => {
                let field = draft.field.filter(|_| selected);
                let diagnostic = diagnostics.iter().find(|it| it.row == Some(index));
                let state = RowState { selected, field, dimmed, diagnostic };
                draw_filter(ctx, line(area, row), filter, &state);
            }
            None => draw_add_row(ctx, area, row),
        }
        // A click on the row that is being edited would do what Enter does in its field.
        if focused && (draft.field.is_none() || !selected) {
            ctx.list_row(area, row, index, selected);
        } else {
            ctx.item(area.y + row, index);
        }
    }
    ctx.put_lines(below(area, area.height.saturating_sub(tail_rows)), tail);
}

fn draw_add_row(ctx: &mut DrawContext, area: Rect, row: u16) {
    let theme = ctx.theme;
    let (key, label) = (" +   ", "add filter … ");
    let kinds = FilterKind::DOCUMENTED.map(FilterKind::keyword).join(" · ");
    let used = display_width(key) + display_width(label);
    // The text may be left empty, because the list that the key opens has all kinds.
    let kinds = first_fitting(&[kinds], usize::from(area.width).saturating_sub(used)).to_owned();
    ctx.put(area, row, &[(key, theme.key), (label, theme.text), (&kinds, theme.dim)]);
}

/// Returns the values that are suggested for the selected row, or a description of the row's filter
/// if there are none.
fn suggestion_line(ctx: &DrawContext, draft: &QueryDraft) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let Some(row) = draft.selected_row().filter(|_| ctx.app.panes().focus == Pane::Query) else {
        return Vec::new();
    };
    let known_values = ctx.app.query().known_values(ctx.app.results());
    let suggestions = match draft.field {
        Some(0) => known_values.suggest(row, MAX_SUGGESTIONS),
        Some(_) | None => Vec::new(),
    };
    if suggestions.is_empty() {
        let description = Span::styled(row.kind.description(), theme.dim);
        return vec![Line::from(vec![Span::raw("     "), description])];
    }
    let label = if row.kind == FilterKind::Issues { "     issues: " } else { "     values: " };
    let values: Vec<&str> = suggestions.iter().map(|it| it.label.as_str()).collect();
    vec![Line::from(vec![
        Span::styled(label, theme.dim),
        Span::styled(values.join(" · "), theme.text),
        Span::styled("  ↓ inserts the first", theme.dim),
    ])]
}

/// Returns the lines of the JSON that is sent.
fn json_lines(ctx: &DrawContext, draft: &QueryDraft) -> Vec<Line<'static>> {
    let theme = ctx.theme;
    let lines: Vec<Result<String, String>> = draft.filter_lines().collect();
    let last = lines.len().saturating_sub(1);
    let line = |(index, line): (usize, Result<String, String>)| {
        let (text, style) = match line {
            Ok(text) => (text, theme.text),
            Err(text) => (text, theme.failure),
        };
        let before = if index == 0 { " [" } else { "  " };
        let after = if index == last { "]" } else { "," };
        Line::from(vec![
            Span::styled(before, theme.dim),
            Span::styled(SafeText::caption(&text).to_string(), style),
            Span::styled(after, theme.dim),
        ])
    };
    let lines: Vec<Line> = lines.into_iter().enumerate().map(line).collect();
    if lines.is_empty() { vec![Line::styled(" []", theme.dim)] } else { lines }
}

fn draw_json(ctx: &mut DrawContext, area: Rect, draft: &QueryDraft, lines: &[Line]) {
    let title = if draft.json.is_some() { "JSON" } else { "live JSON" };
    draw_rule(ctx, area, title, "F8 $EDITOR");
    let body = below(area, 1);
    match &draft.json {
        Some(json) => draw_json_editor(ctx, body, json),
        None => ctx.put_lines(body, lines),
    }
}

fn draw_json_editor(ctx: &mut DrawContext, area: Rect, json: &JsonEditor) {
    let theme = ctx.theme;
    let top = scroll_top(0, json.text.line, usize::from(area.height));
    let focused = ctx.app.panes().focus == Pane::Query;
    let lines = json.text.lines().iter().enumerate().skip(top);
    for (row, (index, text)) in (0..area.height).zip(lines) {
        let (number, field) = split_columns(line(area, row), 4);
        ctx.put(number, 0, &[(format!("{:>3} ", index + 1), theme.dim)]);
        let is_cursor_line = index == json.text.line;
        let column = if is_cursor_line { json.text.column } else { 0 };
        let input = Input::new(text.clone()).with_cursor(column);
        ctx.text_field(field, &input, is_cursor_line && focused);
    }
}

/// The cells of the columns before the value: state, key, operator.
pub(super) const COLUMN_WIDTHS: [u16; 3] = [5, 12, 16];
/// The cells of a number: in a wide row, and in a row where three fields just fit.
const NUMBER_WIDTHS: (u16, u16) = (6, 4);
const WIDE_ROW: u16 = 84;
/// In a row that is narrower than this, a focused number is shown alone.
const MIN_WHOLE_ROW: u16 = 78;

pub(super) struct RowState<'a> {
    pub selected: bool,
    /// The focused field, if this row is selected.
    pub field: Option<usize>,
    /// Whether the row is dimmed because the JSON editor has replaced the rows.
    pub dimmed: bool,
    pub diagnostic: Option<&'a Diagnostic>,
}

pub(super) fn draw_filter(ctx: &mut DrawContext, line: Rect, row: &FilterRow, state: &RowState) {
    let theme = ctx.theme;
    let style = if row.enabled && !state.dimmed { theme.text } else { theme.dim };
    let number_width = if line.width < WIDE_ROW { NUMBER_WIDTHS.1 } else { NUMBER_WIDTHS.0 };
    let setup = ctx.app.setup();
    let mark = if row.enabled { setup.sign(" ✓", " on") } else { setup.sign(" ○", " off") };
    let mut writer = RowWriter { ctx, rest: line, style };
    writer.column(if state.selected { "▸" } else { " " }, 1, theme.accent);
    writer.column(mark, COLUMN_WIDTHS[0] - 1 + 2 * u16::from(setup.is_text), style);
    writer.column(row.kind.keyword(), COLUMN_WIDTHS[1], style);
    let mode = if row.kind == FilterKind::Issues { "mode " } else { "" };
    let has_choice = state.selected && row.kind.choices().len() > 1;
    let operator = choice_text(&format!("{mode}{}", row.choice_keyword()), has_choice);
    writer.column(&operator, COLUMN_WIDTHS[2], style);
    let focused_number = state.field.filter(|number| *number > 0 && line.width < MIN_WHOLE_ROW);
    let has_name = row.kind == FilterKind::Column;
    if has_name {
        writer.column_name(row, state.field == Some(1));
    }
    if has_name || focused_number.is_none() {
        writer.value(row, state.field == Some(0));
    }
    for (number, (part, input)) in row.fields().enumerate().skip(if has_name { 2 } else { 1 }) {
        let label = format!("  {} ", part.label);
        let fits = text_cells(&label) + number_width + 2 <= writer.rest.width;
        let is_shown = focused_number.is_none_or(|focused| focused == number);
        // An empty limit is shown only in the selected row.
        if fits && is_shown && (state.selected || !input.value().is_empty()) {
            writer.text(&label, theme.dim);
            writer.field(number_width, Some(input), state.field == Some(number));
        }
    }
    let (_, end) = split_columns(writer.rest, 1);
    let suffix = match state.diagnostic {
        // The checks below say the same, with the number of the row.
        Some(_) if ctx.app.setup().is_text => return,
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
    /// The part of the row that is still free, at the right.
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

    /// Writes the name of a column before its value.
    fn column_name(&mut self, row: &FilterRow, focused: bool) {
        let Some((part, input)) = row.fields().nth(1) else { return };
        let dim = self.ctx.theme.dim;
        self.text(&format!("{} ", part.label), dim);
        let width = (text_cells(SafeText::name(input.value()).as_str()) + 1).clamp(8, 16);
        self.field(width, Some(input), focused);
        self.text("  value ", dim);
    }

    fn value(&mut self, row: &FilterRow, focused: bool) {
        for entry in &row.entries {
            let tag = self.ctx.app.query().known_values(self.ctx.app.results()).tag_name(entry);
            let tag = tag.filter(|_| row.kind == FilterKind::Tags);
            let shown = tag.cloned().unwrap_or_else(|| SafeText::name(entry));
            self.text(&format!("[{}]", truncate(shown.as_str(), 24)), self.style);
        }
        if row.is_list() && !focused {
            return;
        }
        let text_width = text_cells(SafeText::name(row.text(0)).as_str()) + 1;
        let most = self.rest.width.saturating_sub(30).max(20);
        let width = text_width.clamp(if row.kind == FilterKind::Text { 20 } else { 8 }, most);
        self.field(width, row.fields().next().map(|(_, input)| input), focused);
    }

    /// Writes a field as `[text ]`.
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

pub(super) fn draw_checks(ctx: &mut DrawContext, area: Rect, diagnostics: &[Diagnostic]) {
    let needed: u16 = diagnostics.iter().map(|it| check_rows(it, area.width)).sum();
    let is_cut = needed >= area.height;
    let key = ctx.first_key(Action::QueryChecks).filter(|_| is_cut);
    let hint = key.map_or_else(String::new, |key| format!("{key} shows all"));
    draw_rule(ctx, area, "check", &hint);
    let lines = diagnostics.iter().map(|diagnostic| {
        let style = severity_style(ctx, diagnostic.severity);
        let mark = match diagnostic.severity {
            Severity::Error => " ! ",
            Severity::Warning => " ? ",
            Severity::Info => "   ",
        };
        Line::from(vec![Span::styled(mark, style), Span::styled(check_text(diagnostic), style)])
    });
    let lines: Vec<Line> = lines.collect();
    ctx.put_lines(below(area, 1), &lines);
}

/// Returns the number of rows that a diagnostic needs below the form.
pub(super) fn check_rows(diagnostic: &Diagnostic, width: u16) -> u16 {
    wrapped_rows(&check_text(diagnostic), width.saturating_sub(3))
}

/// Returns the text of a diagnostic, with the number of its row.
fn check_text(diagnostic: &Diagnostic) -> String {
    let row = diagnostic.row.map_or_else(String::new, |row| format!("row {}: ", row + 1));
    format!("{row}{}", SafeText::detail(&diagnostic.text))
}

/// Returns what the row of a diagnostic shows of it in `cells` cells. The text below the form is
/// complete.
pub(super) fn row_suffix(diagnostic: &Diagnostic, cells: u16) -> String {
    match diagnostic.severity {
        Severity::Error => {
            let whole = format!("! {}", SafeText::detail(&diagnostic.text));
            first_fitting(&[whole.as_str(), "!"], usize::from(cells)).to_owned()
        }
        Severity::Warning => "?".to_owned(),
        Severity::Info => String::new(),
    }
}

pub(super) fn severity_style(ctx: &DrawContext, severity: Severity) -> Style {
    match severity {
        Severity::Error => ctx.theme.failure,
        Severity::Warning => ctx.theme.attention,
        Severity::Info => ctx.theme.dim,
    }
}

pub(super) fn draw_rule(ctx: &mut DrawContext, area: Rect, title: &str, hint: &str) {
    let theme = ctx.theme;
    let title = format!("─ {title} ");
    let hint = if hint.is_empty() { String::new() } else { format!(" {hint}") };
    let used = display_width(&title) + display_width(&hint);
    let fill = "─".repeat(usize::from(area.width).saturating_sub(used));
    ctx.put(area, 0, &[(&title, theme.frame), (&fill, theme.frame), (&hint, theme.dim)]);
}
