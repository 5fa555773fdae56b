//! The query builder: the query, a row per filter, the JSON that is sent, and diagnostics.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};
use tessera_model::{EntityType, Granularity, Query, SafeText};
use tui_input::Input;

use super::{
    filter_row::{COLUMN_WIDTHS, RowState, draw_filter},
    query_checks::{check_rows, draw_checks, draw_rule},
};
use crate::{
    app::{
        Pane,
        overlay::DrawContext,
        pane::scroll_top,
        query::{Diagnostic, FilterKind, JsonEditor, QueryDraft, diagnostics},
    },
    drawing::{below, display_width, first_fitting, line, rows_of_line, split_columns},
    input::Action,
    ui::pane::frame::MIN_FRAMED_ROWS,
};

const MAX_SUGGESTIONS: usize = 8;

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
        return ctx.pane_line(
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
    let rows = |lines: &[Line]| {
        let cells = usize::from(inside.width);
        let rows = lines.iter().map(|line| rows_of_line(line, cells)).sum::<usize>();
        u16::try_from(rows).unwrap_or(u16::MAX)
    };
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

/// The rows of the filters, and the one that adds a filter.
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

/// Where not all fits, form and JSON share the rows that the others leave; the focused one comes first.
fn areas(inside: Rect, needed: &NeededRows, edits_json: bool) -> [Rect; 4] {
    let head = needed.head.min((inside.height / 2).max(3)).min(inside.height);
    let all = needed.form.saturating_add(needed.json).saturating_add(needed.checks);
    // A blank row separates the head from the rest if there is one.
    let head = head + u16::from(all.saturating_add(head) < inside.height);
    let rest = inside.height - head;
    let (form, json, check) = if all <= rest {
        (needed.form, needed.json, needed.checks)
    } else {
        let check = needed.checks.min(rest / 3).max(2.min(rest));
        let body = rest - check;
        let form = if edits_json {
            needed.form.min(body.saturating_sub(needed.json).max(body / 3))
        } else {
            needed.form.min(body.saturating_sub(needed.json.min(body / 3)))
        };
        let json = needed.json.min(body - form);
        (form, json, rest - form - json)
    };
    let at = |y: u16, height: u16| Rect { y: inside.y + y, height, ..inside };
    [at(0, head), at(head, form), at(head + form, json), at(head + form + json, check)]
}

/// What is searched: the kind of media and the granularity, and the query.
fn subject_lines(ctx: &DrawContext) -> Vec<Line<'static>> {
    let (app, theme) = (ctx.app, ctx.theme);
    let Some(view) = app.results().view() else { return Vec::new() };
    let search = &view.search;
    let dot = |entity| if search.entity == entity { "(•) " } else { "( ) " };
    let level = |level: u8| {
        let selected = Granularity::new(level) == Some(search.granularity);
        if selected { format!("[{level}]") } else { format!(" {level} ") }
    };
    let levels: String = (0..5).map(level).collect();
    let kind = Line::from(vec![
        Span::raw(" "),
        Span::styled(format!("{}IMAGES ", dot(EntityType::Images)), theme.text),
        Span::styled(format!("{}OBJECTS  ", dot(EntityType::Objects)), theme.text),
        Span::styled(ctx.first_key(Action::ToggleEntity).unwrap_or_default(), theme.key),
        Span::styled("   granularity ", theme.dim),
        Span::styled(levels, theme.text),
        Span::styled("  < >", theme.key),
    ]);
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
        _ => area.height.saturating_sub(list_rows(draft)).max(1),
    };
    let height = usize::from(area.height.saturating_sub(tail_rows));
    let top = scroll_top(0, draft.cursor, height);
    let focused =
        ctx.app.panes().focus == Pane::Query && draft.field.is_none() && draft.json.is_none();
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
        ctx.select_row(area, row, selected && focused);
    }
    ctx.put_lines(below(area, area.height.saturating_sub(tail_rows)), tail);
}

fn draw_add_row(ctx: &mut DrawContext, area: Rect, row: u16) {
    let theme = ctx.theme;
    let (key, label) = (" +   ", "add filter … ");
    let kinds = FilterKind::ALL.map(FilterKind::keyword).join(" · ");
    let used = display_width(key) + display_width(label);
    // The list that opens has all of them.
    let kinds = first_fitting(&[kinds], usize::from(area.width).saturating_sub(used)).to_owned();
    ctx.put(area, row, &[(key, theme.key), (label, theme.text), (&kinds, theme.dim)]);
}

/// The values that the selected row suggests, or else what its filter does.
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

/// The JSON that is sent.
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
    draw_rule(ctx, area, title, "F4 $EDITOR");
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
