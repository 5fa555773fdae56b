//! The results: the clusters as tiles with picture, size, score and caption.

use ratatui::layout::Rect;

use crate::{
    app::{
        Pane, Remote, View,
        areas::Grid,
        query::{self, LoosenedSearch, chips},
    },
    input::Action,
    ui::{
        DrawContext, results_header, tile,
        widget::{centered_message, pane_frame, picture_placeholder, put},
    },
};
use tessera_model::Query;

/// The hint for a dataset that cannot be browsed.
const CANNOT_BROWSE_HINT: &str = "c searches by caption, F by a picture on this machine";

pub(in crate::ui) fn results(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let words = app.view().map_or_else(String::new, |view| results_header::heading(ctx, view));
    let inside = pane_frame(ctx, area, Pane::Results, &words);
    let Some(view) = app.view() else {
        let loading =
            app.store.datasets.value().is_none() && app.store.datasets.failure().is_none();
        let lines: &[&str] = if loading { &["loading"] } else { &["Open a dataset with Enter."] };
        return centered_message(ctx, inside, ctx.theme.dim, lines);
    };
    results_header::status_line(ctx, inside, view);
    draw_selection_footer(ctx, area);
    let body = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
    let failure = app.remote_page().and_then(Remote::failure);
    match (app.page(), failure) {
        (Some(page), _) if page.clusters.is_empty() => draw_empty(ctx, body, view),
        (Some(_), _) if app.tiles().is_empty() => {
            let lines = ["No loaded cluster matches the filter.", "Esc clears it"];
            centered_message(ctx, body, ctx.theme.text, &lines);
        }
        (Some(_), _) => draw_tiles(ctx, area),
        (None, Some(failure)) if app.needs_query() => {
            let detail = failure.to_string();
            let lines = ["This deployment requires a query.", CANNOT_BROWSE_HINT, &detail];
            centered_message(ctx, body, ctx.theme.text, &lines);
        }
        (None, Some(failure)) => {
            let sentence = failure.to_string();
            centered_message(ctx, body, ctx.theme.failure, &[&sentence, "r tries again"]);
        }
        (None, None) => draw_loading(ctx, area),
    }
}

/// Draws the number of selected items on this page and elsewhere.
fn draw_selection_footer(ctx: &mut DrawContext, area: Rect) {
    let words = match ctx.app.visible_and_hidden_selected() {
        (0, 0) => return,
        (here, 0) => format!(" selected {here} here "),
        (here, hidden) => {
            format!(" selected {here} here · {hidden} hidden by this query · M lists them ")
        }
    };
    let line = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
    put(ctx, line, area.height.saturating_sub(1), &[(&words, ctx.theme.text)]);
}

fn draw_loading(ctx: &mut DrawContext, area: Rect) {
    let grid = Grid::new(ctx.app, area);
    for tile in (0..grid.columns * grid.rows).map_while(|place| grid.tile_area(place)) {
        if !grid.is_list() {
            picture_placeholder(ctx, grid.picture_area(tile), "");
        }
    }
}

/// Draws the filters of an empty result and the key that relaxes the strictest.
fn draw_too_strict(ctx: &mut DrawContext, body: Rect, looser: &LoosenedSearch) {
    let app = ctx.app;
    let chips = chips(app);
    let on = chips.iter().filter(|chip| chip.state == query::ChipState::On);
    let on: Vec<&str> = on.map(|chip| chip.text.as_str()).collect();
    let keys = app.setup.keymap.keys_of(&app.contexts(), Action::Loosen);
    let key = keys.first().map_or("", String::as_str);
    let lines = [
        format!("No match for {}", on.join(" and ")),
        format!("{key} searches again with {}", looser.description),
        "Esc goes back".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    centered_message(ctx, body, ctx.theme.text, &lines);
}

fn draw_empty(ctx: &mut DrawContext, body: Rect, view: &View) {
    let theme = ctx.theme;
    if view.computed.is_some() {
        let lines = ["No clusters remain.", "Ctrl-W closes this tab"];
        return centered_message(ctx, body, theme.text, &lines);
    }
    let moving = ctx.app.dataset().is_some_and(|dataset| dataset.status.is_busy());
    if let (0, false, Some(looser)) = (view.search.page, moving, ctx.app.loosened_search()) {
        return draw_too_strict(ctx, body, &looser);
    }
    let lines: &[&str] = match (view.search.page, &view.search.query, ctx.app.dataset()) {
        (1.., ..) => &["This page is empty: the previous one was the last.", "p goes back"],
        (0, _, Some(dataset)) if dataset.status.is_busy() => {
            &["No clusters yet: the dataset is being indexed.", "They appear here automatically."]
        }
        (0, Query::Similar(_), _) => {
            &["No similar clusters.", "> groups more coarsely, Esc goes back"]
        }
        (0, Query::Caption { .. }, _) => &["No matching caption.", "Esc goes back"],
        (0, Query::Browse, _) if !view.search.filters.is_empty() => {
            &["Nothing matches all filters.", "Esc goes back"]
        }
        (0, Query::Browse, _) => &["The dataset has no clusters.", "r refreshes"],
    };
    centered_message(ctx, body, theme.text, lines);
}

fn draw_tiles(ctx: &mut DrawContext, area: Rect) {
    let grid = Grid::new(ctx.app, area);
    let (cursor, top) = ctx.app.tile_cursor();
    let first = top * grid.columns;
    let range = ctx.app.selected_tile_range();
    for (place, tile) in ctx.app.tiles().into_iter().skip(first).enumerate() {
        let Some(area) = grid.tile_area(place) else { break };
        let selected = first + place == cursor;
        if grid.is_list() {
            tile::draw_row(ctx, area, &tile, selected);
        } else {
            tile::draw_tile(ctx, &grid, area, &tile, selected);
        }
        if range.as_ref().is_some_and(|range| range.contains(&(first + place))) {
            let below = grid.picture_area(area).height;
            let words = Rect { y: area.y + below, height: area.height - below, ..area };
            ctx.buf.set_style(words, ctx.theme.selected);
        }
    }
}
