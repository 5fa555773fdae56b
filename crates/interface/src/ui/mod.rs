//! Draws the whole screen from `&App`, with its bars and panes. Each pane has a file that is named like its state in
//! `app/pane`. Dialogs draw themselves, in `app/overlay`.

mod hints;
mod pane;
mod prelude;
mod results_header;
mod tile;
mod viewer;
pub mod welcome_screen;

pub use results_header::arrangement_text;
pub use tile::tag_marks;

use ratatui::{
    buffer::Buffer,
    layout::Position,
    style::Modifier,
    widgets::{Clear, Widget},
};

use crate::ui::prelude::*;
use crate::{
    app::{
        Event, Mouse, MouseKind, outage,
        query::{self, ChipState},
        screen::too_small_text,
    },
    drawing::{ClickTarget, MouseTargets, PictureLayer, Theme},
    ui::pane::{basket, login_text, outage_text, status_glyph, status_text},
};

impl MouseTargets {
    /// Returns the event for the mouse at this cell, unless the cell's text is already `shown`.
    pub fn change(&self, shown: Option<&SafeText>, cell: (u16, u16)) -> Option<Event> {
        let text = self.text_at(Position::from(cell));
        (text != shown).then(|| Event::Hover(text.cloned()))
    }

    /// Returns the event for an event of the mouse. A click on a hint or a tab is the key or the action there.
    pub fn clicked(&self, event: Event) -> Event {
        let Event::Mouse(Mouse { column, row, kind: MouseKind::Click }) = event else {
            return event;
        };
        match self.click_target(Position::new(column, row)) {
            Some(ClickTarget::Action(action)) => Event::Action(action),
            Some(ClickTarget::Key(chord)) => Event::Key(chord),
            Some(ClickTarget::Item(index)) => Event::Item(index),
            None => event,
        }
    }
}

impl DrawContext<'_> {
    fn first_key(&self, action: Action) -> Option<String> {
        self.app.keys_of(action).into_iter().next()
    }
}

pub fn draw(app: &App, theme: &Theme, buf: &mut Buffer, layer: &mut PictureLayer) {
    draw_with_texts(app, theme, buf, layer, &mut MouseTargets::default());
}

/// Draws the screen and collects the texts for the cell under the mouse.
pub fn draw_with_texts(
    app: &App,
    theme: &Theme,
    buf: &mut Buffer,
    layer: &mut PictureLayer,
    mouse: &mut MouseTargets,
) {
    mouse.clear();
    let overlay = app.overlay_area();
    let (line, line_of_hints) = match app.viewer() {
        Some(_) => (app.viewer_areas().hints, app.viewer_areas().hints),
        None => (app.areas().notification, app.areas().hints),
    };
    let notification = hints::notification_area(app, line);
    // A notification of several lines may cover the area above its line, where pictures are cropped.
    let above = (notification.height > 1).then_some(notification);
    let hints = hints::hints_area(app, line_of_hints);
    let explained = (hints.height > 1).then_some(hints);
    let covered: Vec<Rect> = overlay.into_iter().chain(above).chain(explained).collect();
    layer.begin_frame(&covered);
    let mut ctx = DrawContext { app, theme, buf, layer, mouse };
    if let Some(sentence) = too_small_text(app.screen().size) {
        return ctx.paragraph(&sentence);
    }
    if app.viewer().is_some() {
        viewer::viewer(&mut ctx);
    } else {
        draw_panes(&mut ctx);
    }
    // Without a line of their own, hints that must be shown take the line of the notification.
    let is_notified = line != line_of_hints || !hints::needs_hints(app);
    hints::hints(&mut ctx, line_of_hints);
    if is_notified && above.is_none() {
        hints::notification(&mut ctx, notification);
    }
    if let (Some(dialog), Some(area)) = (app.overlay(), overlay) {
        // The mouse does not reach the panes below the dialog. Only the hints of the dialog stay.
        ctx.mouse.clear();
        hints::hints(&mut ctx, line_of_hints);
        ctx.layer.allow_on_overlays();
        Clear.render(area, ctx.buf);
        dialog.draw(&mut ctx, area);
    }
    // Several lines cover the end of a dialog, because the text would have no beginning otherwise.
    if is_notified && above.is_some() {
        hints::notification(&mut ctx, notification);
    }
}

fn draw_panes(ctx: &mut DrawContext) {
    let areas = ctx.app.areas();
    header(ctx, areas.header);
    for (area, draw) in [
        (Some(areas.chips), chips as fn(&mut DrawContext, Rect)),
        (areas.tabs, pane_tabs),
        (areas.pane(Pane::Datasets), pane::datasets),
        (areas.status, pane::status),
        (areas.pane(Pane::Results), pane::results),
        (areas.pane(Pane::Detail), pane::detail),
        (areas.pane(Pane::Query), pane::query),
        (areas.pane(Pane::Jobs), pane::jobs),
        (areas.pane(Pane::Basket), pane::basket::basket),
        (areas.connection, pane::connection),
    ] {
        if let Some(area) = area {
            draw(ctx, area);
        }
    }
    if ctx.app.jump_mode() {
        jump_letters(ctx);
    }
}

fn header(ctx: &mut DrawContext, area: Rect) {
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
    let style = if outage(app).is_some() { theme.attention } else { theme.dim };
    let login_style = if app.login().rejection.is_some() { theme.failure } else { theme.dim };
    ctx.put(right, 0, &[(login, login_style), (gap.to_owned(), style), (activity, style)]);
}

fn activity_text(app: &App) -> String {
    let mut parts = Vec::new();
    parts.extend(outage(app).map(|outage| outage_text(outage, app.screen().size.0)));
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
fn pane_tabs(ctx: &mut DrawContext, area: Rect) {
    let mut x = area.x;
    for (number, pane) in (1..).zip(Pane::NUMBERED) {
        let label = format!(" {number} {} ", pane.name());
        let style = if pane == ctx.app.panes().focus { ctx.theme.selected } else { ctx.theme.dim };
        ctx.buf.set_stringn(x, area.y, &label, usize::from(area.right().saturating_sub(x)), style);
        x += text_cells(&label);
    }
}

fn chips(ctx: &mut DrawContext, area: Rect) {
    let theme = ctx.theme;
    let chips = query::chips(ctx.app);
    let (mut used, mut hidden) = (0, chips.len());
    for (chip, chip_area) in chips.iter().zip(query::chip_areas(&chips, area)) {
        let (mark, style) = match chip.state {
            ChipState::On => (theme.success, theme.text),
            ChipState::Off | ChipState::Context => (theme.dim, theme.dim),
            ChipState::NotRun => (theme.attention, theme.text),
        };
        let (text, glyph) = (chip.text.as_str(), chip.state.symbol());
        ctx.put(chip_area, 0, &[(" ", style), (glyph, mark), (" ", style), (text, style)]);
        used += chip_area.width;
        hidden -= 1;
    }
    let (_, rest) = split_columns(area, used);
    if hidden > 0 {
        return ctx.put(rest, 0, &[(format!(" +{hidden}"), theme.attention)]);
    }
    let key = ctx.first_key(Action::FocusQuery).unwrap_or_default();
    let cells = usize::from(rest.width).saturating_sub(3 + display_width(&key));
    let text = first_fitting(&[" opens the query builder"], cells);
    if !text.is_empty() {
        ctx.put(rest, 0, &[("   ", theme.dim), (&key, theme.key), (text, theme.dim)]);
    }
}

fn jump_letters(ctx: &mut DrawContext) {
    for target in ctx.app.jump_targets() {
        let letter = format!(" {} ", target.letter);
        let (x, y) = target.position;
        ctx.buf.set_stringn(x, y, letter, 3, ctx.theme.selected.add_modifier(Modifier::BOLD));
    }
}
