//! The query builder: the query, a row per filter, the JSON that is sent, and diagnostics.

use ratatui::{layout::Rect, style::Style};
use tui_input::Input;

use super::{
    query_checks::{check_lines, draw_checks, draw_rule, row_suffix, severity_style},
    select_row,
};
use crate::{
    app::{
        Pane,
        pane::scroll_top,
        query::{
            Diagnostic, FilterField, FilterKind, FilterRow, JsonEditor, QueryDraft, diagnostics,
        },
    },
    ui::{
        DrawContext,
        widget::{centered_message, display_width, pane_frame, put, text_field, truncate},
    },
};
use tessera_model::{EntityType, Granularity, Query, SafeText};

/// Cells of the columns before the value: state, key, operator.
const COLUMN_WIDTHS: [u16; 3] = [5, 12, 16];
const NUMBER_WIDTH: u16 = 6;
const MAX_SUGGESTIONS: usize = 8;

pub(in crate::ui) fn query(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let draft = app.draft();
    let on = draft.rows.iter().filter(|row| row.enabled).count();
    let words = match draft.rows.len() {
        0 => "no filters".to_owned(),
        all => format!("{on} of {all} filters on"),
    };
    let inside = pane_frame(ctx, area, Pane::Query, &words);
    if app.view().is_none() {
        return centered_message(ctx, inside, ctx.theme.dim, &["Open a dataset first."]);
    }
    let remarks = diagnostics(app);
    let said: usize = remarks.iter().map(|remark| check_lines(remark, inside.width).count()).sum();
    let [head, form, json, check] = areas(inside, draft, said);
    draw_subject(ctx, head);
    draw_form(ctx, form, draft, &remarks);
    draw_json(ctx, json, draft);
    draw_checks(ctx, check, &remarks);
}

/// The areas of query, form, JSON and diagnostics. Form and JSON share the remaining rows; the focused
/// one comes first.
fn areas(inside: Rect, draft: &QueryDraft, remarks: usize) -> [Rect; 4] {
    let lines = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let head = 4.min(inside.height);
    let rest = inside.height - head;
    let check = (lines(remarks) + 1).min(rest / 3).max(2.min(rest));
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

/// Draws entity, granularity, and the anchor or caption.
fn draw_subject(ctx: &mut DrawContext, area: Rect) {
    let (app, theme) = (ctx.app, ctx.theme);
    let Some(view) = app.view() else { return };
    let search = &view.search;
    let dot = |entity| if search.entity == entity { "(•) " } else { "( ) " };
    let level = |level: u8| {
        let here = Granularity::new(level) == Some(search.granularity);
        if here { format!("[{level}]") } else { format!(" {level} ") }
    };
    let levels: String = (0..5).map(level).collect();
    let keys = |action| app.setup.keymap.keys_of(&app.contexts(), action).into_iter().next();
    let toggle = keys(crate::input::Action::ToggleEntity).unwrap_or_default();
    put(
        ctx,
        area,
        0,
        &[
            (" ", theme.dim),
            (dot(EntityType::Images), theme.text),
            ("IMAGES ", theme.text),
            (dot(EntityType::Objects), theme.text),
            ("OBJECTS  ", theme.text),
            (&toggle, theme.key),
            ("   granularity ", theme.dim),
            (&levels, theme.text),
            ("  < >", theme.key),
        ],
    );
    let (about, words, end) = match &search.query {
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
    put(ctx, area, 1, &[(about, theme.dim), (&words, theme.accent), (&end, theme.text)]);
    let titles = [" on", "key", "op", "value"];
    let starts =
        [0, COLUMN_WIDTHS[0], COLUMN_WIDTHS[0] + COLUMN_WIDTHS[1], COLUMN_WIDTHS.iter().sum()];
    for (title, start) in titles.into_iter().zip(starts) {
        let place = Rect { x: area.x + start, width: area.width.saturating_sub(start), ..area };
        put(ctx, place, 3, &[(title, theme.dim)]);
    }
}

/// Draws the filters, the row that adds one, and the suggestions for the focused field.
fn draw_form(ctx: &mut DrawContext, area: Rect, draft: &QueryDraft, remarks: &[Diagnostic]) {
    let dimmed = draft.json.as_ref().is_some_and(|json| json.problem.is_some());
    let height = usize::from(area.height.saturating_sub(1));
    let top = scroll_top(0, draft.cursor, height);
    for (line, place) in (0..).zip(top..(draft.rows.len() + 1).min(top + height)) {
        let here = Rect { y: area.y + line, height: 1, ..area };
        match draft.rows.get(place) {
            Some(row) => {
                let remark = remarks.iter().find(|remark| remark.row == Some(place));
                self::draw_row(ctx, here, draft, place, row, dimmed, remark);
            }
            None => draw_add_row(ctx, here),
        }
        let selected = draft.cursor == place && draft.json.is_none();
        let takes_keys = ctx.app.focus == Pane::Query && draft.field.is_none();
        select_row(ctx, here, 0, selected && takes_keys);
    }
    if area.height > 0 {
        draw_suggestions(ctx, Rect { y: area.bottom() - 1, height: 1, ..area }, draft);
    }
}

fn draw_add_row(ctx: &mut DrawContext, line: Rect) {
    let theme = ctx.theme;
    let kinds: Vec<&str> = FilterKind::ALL.into_iter().map(FilterKind::keyword).collect();
    let kinds = kinds.join(" · ");
    put(ctx, line, 0, &[(" +   ", theme.key), ("add filter … ", theme.text), (&kinds, theme.dim)]);
}

/// Draws the description of the selected filter, or known values that match the input.
fn draw_suggestions(ctx: &mut DrawContext, line: Rect, draft: &QueryDraft) {
    let theme = ctx.theme;
    let Some(row) = draft.selected_row().filter(|_| ctx.app.focus == Pane::Query) else {
        return;
    };
    let seen = match draft.field {
        Some(0) => ctx.app.known_values().suggest(row, MAX_SUGGESTIONS),
        Some(_) | None => Vec::new(),
    };
    if seen.is_empty() {
        return put(ctx, line, 0, &[("     ", theme.dim), (row.kind.description(), theme.dim)]);
    }
    let source = if row.kind == FilterKind::Issues { "     issues: " } else { "     values: " };
    let values: Vec<&str> = seen.iter().map(|seen| seen.label.as_str()).collect();
    let values = values.join(" · ");
    put(
        ctx,
        line,
        0,
        &[(source, theme.dim), (&values, theme.text), ("  ↓ inserts the first", theme.dim)],
    );
}

fn draw_row(
    ctx: &mut DrawContext,
    line: Rect,
    draft: &QueryDraft,
    place: usize,
    row: &FilterRow,
    dimmed: bool,
    remark: Option<&Diagnostic>,
) {
    let theme = ctx.theme;
    let style = if row.enabled && !dimmed { theme.text } else { theme.dim };
    let here = draft.cursor == place;
    let cursor = if here { "▸" } else { " " };
    let mark = if row.enabled { "✓" } else { "○" };
    put(ctx, line, 0, &[(cursor, theme.accent), (" ", style), (mark, style)]);
    let mut at = line.x + COLUMN_WIDTHS[0];
    let choice = if here && row.kind.choices().len() > 1 {
        format!("‹ {} ›", operator_text(row))
    } else {
        operator_text(row)
    };
    for (text, cells) in
        [(row.kind.keyword(), COLUMN_WIDTHS[1]), (choice.as_str(), COLUMN_WIDTHS[2])]
    {
        put(ctx, columns_from(line, at, cells), 0, &[(text, style)]);
        at += cells;
    }
    let field = if here { draft.field } else { None };
    at = draw_value(ctx, line, at, row, field, style);
    for (number, (part, input)) in row.fields().enumerate().skip(1) {
        // An empty limit is only shown in the selected row.
        if !here && input.value().is_empty() {
            continue;
        }
        at = draw_number_field(ctx, line, at, part, input, field == Some(number), style);
    }
    let (words, style) = match remark {
        Some(remark) => (row_suffix(remark), severity_style(ctx, remark.severity)),
        None if !row.enabled => ("(off, kept)".to_owned(), theme.dim),
        None => return,
    };
    put(ctx, columns_from(line, at + 1, line.width), 0, &[(&words, style)]);
}

fn operator_text(row: &FilterRow) -> String {
    if row.kind == FilterKind::Issues {
        format!("mode {}", row.choice_keyword())
    } else {
        row.choice_keyword().to_owned()
    }
}

/// Draws the value: the entries of a list, and the input. Returns the column after it.
fn draw_value(
    ctx: &mut DrawContext,
    line: Rect,
    at: u16,
    row: &FilterRow,
    field: Option<usize>,
    style: Style,
) -> u16 {
    let mut at = at;
    for entry in &row.entries {
        let name = ctx.app.known_values().tag_name(entry).filter(|_| row.kind == FilterKind::Tags);
        let shown = name.cloned().unwrap_or_else(|| SafeText::name(entry));
        let chip = format!("[{}]", truncate(shown.as_str(), 24));
        put(ctx, columns_from(line, at, line.width), 0, &[(&chip, style)]);
        at += text_cells(&chip);
    }
    let focused = field == Some(0);
    if row.kind.is_list() && !focused {
        return at;
    }
    let typed = text_cells(SafeText::name(row.text(0)).as_str()) + 1;
    let right = line.right().saturating_sub(at + 30).max(12);
    let room = typed.clamp(if row.kind == FilterKind::Text { 20 } else { 8 }, right.max(20));
    draw_boxed_field(
        ctx,
        line,
        at,
        room,
        row.fields().next().map(|(_, input)| input),
        focused,
        style,
    )
}

fn draw_number_field(
    ctx: &mut DrawContext,
    line: Rect,
    at: u16,
    part: FilterField,
    input: &Input,
    focused: bool,
    style: Style,
) -> u16 {
    let label = format!("  {} ", part.label);
    put(ctx, columns_from(line, at, line.width), 0, &[(&label, ctx.theme.dim)]);
    draw_boxed_field(ctx, line, at + text_cells(&label), NUMBER_WIDTH, Some(input), focused, style)
}

/// Draws `[text ]`. Returns the column after it.
fn draw_boxed_field(
    ctx: &mut DrawContext,
    line: Rect,
    at: u16,
    room: u16,
    input: Option<&Input>,
    focused: bool,
    style: Style,
) -> u16 {
    let place = columns_from(line, at + 1, room);
    put(ctx, columns_from(line, at, 1), 0, &[("[", style)]);
    if let Some(input) = input {
        text_field(ctx, place, input, focused);
        if !focused {
            ctx.buf.set_style(place, style);
        }
    }
    put(ctx, columns_from(line, at + 1 + room, 1), 0, &[("]", style)]);
    at + room + 2
}

/// The part of a line from column `x` on, at most `room` cells.
fn columns_from(line: Rect, x: u16, room: u16) -> Rect {
    let x = x.min(line.right());
    Rect { x, width: room.min(line.right() - x), ..line }
}

fn text_cells(text: &str) -> u16 {
    u16::try_from(display_width(text)).unwrap_or(u16::MAX)
}

/// Draws the JSON that is sent, or the JSON editor.
fn draw_json(ctx: &mut DrawContext, area: Rect, draft: &QueryDraft) {
    let theme = ctx.theme;
    let title = if draft.json.is_some() { "JSON" } else { "live JSON" };
    draw_rule(ctx, area, title, "F4 $EDITOR");
    let body =
        Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    if let Some(json) = &draft.json {
        return draw_json_editor(ctx, body, json);
    }
    let lines: Vec<Result<String, String>> = draft.filter_lines().collect();
    if lines.is_empty() {
        return put(ctx, body, 0, &[(" []", theme.dim)]);
    }
    let last = lines.len() - 1;
    for (row, (place, line)) in (0..).zip(lines.iter().enumerate()) {
        let (text, style) = match line {
            Ok(text) => (text, theme.text),
            Err(text) => (text, theme.failure),
        };
        let before = if place == 0 { " [" } else { "  " };
        let after = if place == last { "]" } else { "," };
        let text = SafeText::caption(text);
        put(ctx, body, row, &[(before, theme.dim), (text.as_str(), style), (after, theme.dim)]);
    }
}

fn draw_json_editor(ctx: &mut DrawContext, area: Rect, json: &JsonEditor) {
    let theme = ctx.theme;
    let top = scroll_top(0, json.text.line, usize::from(area.height));
    for (row, (place, line)) in (0..area.height).zip(json.text.lines().iter().enumerate().skip(top))
    {
        let number = format!("{:>3} ", place + 1);
        put(ctx, area, row, &[(&number, theme.dim)]);
        let place_of_text =
            Rect { y: area.y + row, height: 1, ..columns_from(area, area.x + 4, area.width) };
        let here = place == json.text.line;
        let column = if here { json.text.column } else { 0 };
        let input = Input::new(line.clone()).with_cursor(column);
        text_field(ctx, place_of_text, &input, here && ctx.app.focus == Pane::Query);
    }
}
