//! The query builder: the query, a row per filter, the JSON that is sent, and diagnostics.

use ratatui::layout::Rect;
use tui_input::Input;

use super::{
    filter_row::{COLUMN_WIDTHS, RowState, draw_filter},
    query_checks::{check_lines, draw_checks, draw_rule},
};
use crate::{
    app::{
        Pane,
        pane::scroll_top,
        query::{Diagnostic, FilterKind, JsonEditor, QueryDraft, diagnostics},
    },
    input::Action,
    ui::{
        DrawContext,
        widget::{MIN_FRAMED_ROWS, below, line, split_columns},
    },
};
use tessera_model::{EntityType, Granularity, Query, SafeText};

const MAX_SUGGESTIONS: usize = 8;

pub(in crate::ui) fn query(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let draft = app.draft();
    let on = draft.rows.iter().filter(|row| row.enabled).count();
    let summary = match draft.rows.len() {
        0 => "no filters".to_owned(),
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
    if app.view().is_none() {
        return ctx.centered_message(inside, ctx.theme.dim, &["Open a dataset first."]);
    }
    let diagnostics = diagnostics(app);
    let check_rows =
        diagnostics.iter().map(|diagnostic| check_lines(diagnostic, inside.width).count()).sum();
    let [head, form, json, check] = areas(inside, draft, check_rows);
    draw_subject(ctx, head);
    draw_form(ctx, form, draft, &diagnostics);
    draw_json(ctx, json, draft);
    draw_checks(ctx, check, &diagnostics);
}

/// Form and JSON share the remaining rows; the focused one comes first.
fn areas(inside: Rect, draft: &QueryDraft, check_rows: usize) -> [Rect; 4] {
    let lines = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let head = 4.min(inside.height);
    let rest = inside.height - head;
    let check = (lines(check_rows) + 1).min(rest / 3).max(2.min(rest));
    let body = rest - check;
    let json_lines = draft.json.as_ref().map_or_else(
        || draft.rows.iter().filter(|row| row.enabled).count().max(1),
        |json| json.text.lines().len(),
    );
    let (form, json) = (lines(draft.rows.len() + 2), lines(json_lines + 1));
    let form = match &draft.json {
        Some(_) => form.min(body.saturating_sub(json).max(body / 3)),
        None => form.min(body.saturating_sub(json.min(body / 3))),
    };
    let json = json.min(body - form);
    let at = |y: u16, height: u16| Rect { y: inside.y + y, height, ..inside };
    [at(0, head), at(head, form), at(head + form, json), at(head + form + json, check)]
}

fn draw_subject(ctx: &mut DrawContext, area: Rect) {
    let (app, theme) = (ctx.app, ctx.theme);
    let Some(view) = app.view() else { return };
    let search = &view.search;
    let dot = |entity| if search.entity == entity { "(•) " } else { "( ) " };
    let level = |level: u8| {
        let selected = Granularity::new(level) == Some(search.granularity);
        if selected { format!("[{level}]") } else { format!(" {level} ") }
    };
    let levels: String = (0..5).map(level).collect();
    let parts = [
        (" ", theme.dim),
        (dot(EntityType::Images), theme.text),
        ("IMAGES ", theme.text),
        (dot(EntityType::Objects), theme.text),
        ("OBJECTS  ", theme.text),
        (&ctx.first_key(Action::ToggleEntity).unwrap_or_default(), theme.key),
        ("   granularity ", theme.dim),
        (&levels, theme.text),
        ("  < >", theme.key),
    ];
    ctx.put(area, 0, &parts);
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
    ctx.put(area, 1, &[(subject, theme.dim), (&value, theme.accent), (&bound, theme.text)]);
    let mut rest = area;
    for (title, width) in
        [" on", "key", "op", "value"].into_iter().zip(COLUMN_WIDTHS.into_iter().chain([0]))
    {
        ctx.put(rest, 3, &[(title, theme.dim)]);
        (_, rest) = split_columns(rest, width);
    }
}

fn draw_form(ctx: &mut DrawContext, area: Rect, draft: &QueryDraft, diagnostics: &[Diagnostic]) {
    let dimmed = draft.json.as_ref().is_some_and(|json| json.problem.is_some());
    let height = usize::from(area.height.saturating_sub(1));
    let top = scroll_top(0, draft.cursor, height);
    let focused = ctx.app.focus == Pane::Query && draft.field.is_none() && draft.json.is_none();
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
    if area.height > 0 {
        draw_suggestions(ctx, line(area, area.height - 1), draft);
    }
}

fn draw_add_row(ctx: &mut DrawContext, area: Rect, row: u16) {
    let theme = ctx.theme;
    let kinds = FilterKind::ALL.map(FilterKind::keyword).join(" · ");
    let parts = [(" +   ", theme.key), ("add filter … ", theme.text), (&kinds, theme.dim)];
    ctx.put(area, row, &parts);
}

fn draw_suggestions(ctx: &mut DrawContext, line: Rect, draft: &QueryDraft) {
    let theme = ctx.theme;
    let Some(row) = draft.selected_row().filter(|_| ctx.app.focus == Pane::Query) else {
        return;
    };
    let known_values = ctx.app.known_values();
    let suggestions = match draft.field {
        Some(0) => known_values.suggest(row, MAX_SUGGESTIONS),
        Some(_) | None => Vec::new(),
    };
    if suggestions.is_empty() {
        return ctx.put(line, 0, &[("     ", theme.dim), (row.kind.description(), theme.dim)]);
    }
    let label = if row.kind == FilterKind::Issues { "     issues: " } else { "     values: " };
    let values: Vec<&str> = suggestions.iter().map(|it| it.label.as_str()).collect();
    let values = values.join(" · ");
    let key = "  ↓ inserts the first";
    ctx.put(line, 0, &[(label, theme.dim), (&values, theme.text), (key, theme.dim)]);
}

fn draw_json(ctx: &mut DrawContext, area: Rect, draft: &QueryDraft) {
    let theme = ctx.theme;
    let title = if draft.json.is_some() { "JSON" } else { "live JSON" };
    draw_rule(ctx, area, title, "F4 $EDITOR");
    let body = below(area, 1);
    if let Some(json) = &draft.json {
        return draw_json_editor(ctx, body, json);
    }
    let lines: Vec<Result<String, String>> = draft.filter_lines().collect();
    if lines.is_empty() {
        return ctx.put(body, 0, &[(" []", theme.dim)]);
    }
    let last = lines.len() - 1;
    for (row, (index, line)) in (0..).zip(lines.iter().enumerate()) {
        let (text, style) = match line {
            Ok(text) => (text, theme.text),
            Err(text) => (text, theme.failure),
        };
        let before = if index == 0 { " [" } else { "  " };
        let after = if index == last { "]" } else { "," };
        let text = SafeText::caption(text);
        ctx.put(body, row, &[(before, theme.dim), (text.as_str(), style), (after, theme.dim)]);
    }
}

fn draw_json_editor(ctx: &mut DrawContext, area: Rect, json: &JsonEditor) {
    let theme = ctx.theme;
    let top = scroll_top(0, json.text.line, usize::from(area.height));
    let focused = ctx.app.focus == Pane::Query;
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
