//! Draws the connection: whether the service responds, the login, the requests under way, and the latest events.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use crate::{
    app::overlay::{DrawContext, log::latest_events},
    drawing::{below, rows_of_line, wrap_words},
    input::Action,
    ui::bars,
};

const NAME_WIDTH: usize = 9;

pub(in crate::ui) fn connection(ctx: &mut DrawContext, area: Rect) {
    let key = ctx.first_key(Action::Log).unwrap_or_default();
    let inside = ctx.frame(area, format!(" Connection  {key} log "), false);
    let facts: Vec<Line> = facts(ctx)
        .into_iter()
        .map(|(name, value, style)| {
            let name = Span::styled(format!(" {name:<NAME_WIDTH$}"), ctx.theme.dim);
            Line::from(vec![name, Span::styled(value, style)])
        })
        .collect();
    let cells = usize::from(inside.width);
    let rows: usize = facts.iter().map(|line| rows_of_line(line, cells)).sum();
    let rows = u16::try_from(rows).unwrap_or(u16::MAX);
    ctx.put_lines(inside, &facts);
    let events = below(inside, rows.saturating_add(1));
    let cells = usize::from(events.width.saturating_sub(2));
    let latest = latest_events(ctx.app, usize::from(events.height));
    let lines = latest.flat_map(|event| wrap_words(&event, cells, usize::MAX));
    let lines: Vec<String> = lines.take(usize::from(events.height)).collect();
    for (row, line) in (0..).zip(&lines) {
        ctx.put(events, row, &[(" ", ctx.theme.dim), (line, ctx.theme.dim)]);
    }
}

fn facts(ctx: &DrawContext) -> Vec<(&'static str, String, Style)> {
    let (app, theme) = (ctx.app, ctx.theme);
    let service = match app.outage() {
        Some(outage) => ("service", bars::outage_text(outage, 0), theme.moving),
        None if app.service_data().datasets.value().is_none() => {
            ("service", "connecting".to_owned(), theme.moving)
        }
        None => ("service", "responding".to_owned(), theme.text),
    };
    let login = bars::login_text(app);
    let login = match (&app.login().rejection, login.is_empty()) {
        (Some(_), _) => ("login", login, theme.failure),
        (None, true) => ("login", "none needed".to_owned(), theme.text),
        (None, false) => ("login", login, theme.text),
    };
    let requests = format!("{} under way", app.tickets().outstanding());
    vec![service, login, ("requests", requests, theme.text)]
}
