//! Draws the lines above the panes (header, tabs, filter chips), and the letters of the jump mode.

use ratatui::style::Modifier;

use crate::ui::prelude::*;
use crate::{
    app::query::{self, ChipState},
    ui::{
        pane::{basket, login_text, outage_text, status_glyph, status_text},
        results_header,
    },
};

pub(super) fn header(ctx: &mut DrawContext, area: Rect) {
    let (app, theme) = (ctx.app, ctx.theme);
    let deployment = format!("  {}", app.setup().deployment_name);
    let mut parts = vec![(" tessera".to_owned(), theme.accent), (deployment, theme.dim)];
    if let Some(dataset) = app.dataset() {
        let (glyph, style) = status_glyph(ctx, dataset);
        let known = if app.login().rejection.is_some() { "last known " } else { "" };
        parts.push((format!(" ▸ {}  ", dataset.name), theme.text));
        parts.push((format!("{glyph} {known}{}", status_text(dataset)), style));
    }
    let activity = activity_text(app);
    let login = login_text(app);
    let gap = if login.is_empty() || activity.is_empty() { "" } else { "   " };
    let needed = text_cells(&login) + text_cells(gap) + text_cells(&activity);
    let (left, right) = split_columns(area, area.width.saturating_sub(needed.saturating_add(1)));
    ctx.put(left, 0, &parts);
    let used = parts.iter().fold(2, |used: u16, (text, _)| used.saturating_add(text_cells(text)));
    let (_, tabs) = split_columns(left, used);
    results_header::tabs(ctx, tabs);
    let style = if app.outage().is_some() { theme.moving } else { theme.dim };
    let login_style = if app.login().rejection.is_some() { theme.failure } else { theme.dim };
    ctx.put(right, 0, &[(login, login_style), (gap.to_owned(), style), (activity, style)]);
}

fn activity_text(app: &App) -> String {
    let mut parts = Vec::new();
    parts.extend(app.outage().map(|outage| outage_text(outage, app.screen().size.0)));
    match app.tickets().outstanding() {
        // While the login is rejected, the only requests are polls.
        _ if app.login().rejection.is_some() => {}
        0 => {}
        1 => parts.push("1 request".to_owned()),
        many => parts.push(format!("{many} requests")),
    }
    parts.extend(basket::basket_summary(app));
    let active = app.jobs().iter().filter(|job| job.is_active()).count();
    if active > 0 {
        parts.push(format!("jobs {active}▶"));
    }
    parts.join("   ")
}

/// Draws the names of the panes, for screens on which only one pane fits.
pub(super) fn pane_tabs(ctx: &mut DrawContext, area: Rect) {
    let mut x = area.x;
    for (number, pane) in (1..).zip(Pane::NUMBERED) {
        let label = format!(" {number} {} ", pane.name());
        let style = if pane == ctx.app.panes().focus { ctx.theme.selected } else { ctx.theme.dim };
        ctx.buf.set_stringn(x, area.y, &label, usize::from(area.right().saturating_sub(x)), style);
        x += text_cells(&label);
    }
}

pub(super) fn chips(ctx: &mut DrawContext, area: Rect) {
    let theme = ctx.theme;
    let chips = query::chips(ctx.app);
    let (mut used, mut hidden) = (0, chips.len());
    for (chip, chip_area) in chips.iter().zip(query::chip_areas(&chips, area)) {
        let (mark, style) = match chip.state {
            ChipState::On => (theme.success, theme.text),
            ChipState::Off | ChipState::Context => (theme.dim, theme.dim),
            ChipState::NotRun => (theme.moving, theme.text),
        };
        let (text, glyph) = (chip.text.as_str(), chip.state.symbol());
        ctx.put(chip_area, 0, &[(" ", style), (glyph, mark), (" ", style), (text, style)]);
        used += chip_area.width;
        hidden -= 1;
    }
    let (_, rest) = split_columns(area, used);
    if hidden > 0 {
        return ctx.put(rest, 0, &[(format!(" +{hidden}"), theme.moving)]);
    }
    let key = ctx.first_key(Action::FocusQuery).unwrap_or_default();
    let cells = usize::from(rest.width).saturating_sub(3 + display_width(&key));
    let text = first_fitting(&[" opens the query builder"], cells);
    if !text.is_empty() {
        ctx.put(rest, 0, &[("   ", theme.dim), (&key, theme.key), (text, theme.dim)]);
    }
}

pub(super) fn jump_letters(ctx: &mut DrawContext) {
    for target in ctx.app.jump_targets() {
        let letter = format!(" {} ", target.letter);
        let (x, y) = target.position;
        ctx.buf.set_stringn(x, y, letter, 3, ctx.theme.selected.add_modifier(Modifier::BOLD));
    }
}
