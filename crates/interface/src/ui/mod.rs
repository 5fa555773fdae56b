//! Draws the whole screen from `&App`, with its bars and panes. Each pane has a file that is named like its state in
//! `app/pane`. Dialogs draw themselves, in `app/overlay`.

mod bars;
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
    layout::{Position, Rect},
    widgets::{Clear, Widget},
};
use tessera_config::input::Action;
use tessera_model::SafeText;

use crate::{
    app::{App, DrawContext, Event, Mouse, MouseKind, screen::too_small_text},
    drawing::{ClickTarget, MouseTargets, PictureLayer, Theme},
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
    let notification = hints::notification_area(app, line, line_of_hints);
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
    hints::hints(&mut ctx, line_of_hints);
    if line != line_of_hints || !hints::needs_hints(app) {
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
}

fn draw_panes(ctx: &mut DrawContext) {
    let areas = ctx.app.areas();
    bars::header(ctx, areas.header);
    for (area, draw) in [
        (Some(areas.chips), bars::chips as fn(&mut DrawContext, Rect)),
        (areas.tabs, bars::pane_tabs),
        (areas.datasets, pane::datasets),
        (areas.status, pane::status),
        (areas.results, pane::results),
        (areas.detail, pane::detail),
        (areas.query, pane::query),
        (areas.jobs, pane::jobs),
        (areas.basket, pane::basket::basket),
        (areas.connection, pane::connection),
    ] {
        if let Some(area) = area {
            draw(ctx, area);
        }
    }
    if ctx.app.jump_mode() {
        bars::jump_letters(ctx);
    }
}
