//! Draws the results: the clusters as tiles with picture, size, score and caption.

use ratatui::layout::Rect;
use tessera_model::Query;

use crate::{
    app::{
        DrawContext, Pane, RelaxedSearch, Remote, View,
        basket::SelectedEntries,
        query::{ChipState, chips},
        results_header::results_header_rows,
        tile_grid::TileGrid,
        view::tiles::TileCursor,
    },
    drawing::below,
    input::Action,
    ui::{pane::title_cells, results_header, tile},
};

const CANNOT_BROWSE_HINT: &str = "c searches by caption, F by a picture on this machine";

pub(in crate::ui) fn results(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let cells = title_cells(area, Pane::Results);
    let heading = app
        .results()
        .view()
        .map_or_else(String::new, |view| results_header::heading(ctx, view, cells));
    let inside = ctx.pane_frame(area, Pane::Results, &heading);
    let Some(view) = app.results().view() else {
        let loading = app.service_data().datasets.value().is_none()
            && app.service_data().datasets.failure().is_none();
        let text = if loading { "loading" } else { "Open a dataset with Enter." };
        return ctx.centered_message(inside, ctx.theme.dim, &[text]);
    };
    results_header::status_line(ctx, inside, view);
    draw_selection_footer(ctx, area);
    let body = below(inside, results_header_rows(app, inside));
    let failure = app.results().remote_page().and_then(Remote::failure);
    match (app.results().page(), failure) {
        (Some(page), _) if page.clusters.is_empty() => draw_empty(ctx, body, view),
        (Some(_), _) if app.results().tiles().is_empty() => {
            let lines = ["No loaded cluster matches the filter.", "Esc clears it"];
            ctx.centered_message(body, ctx.theme.text, &lines);
        }
        (Some(_), _) => draw_tiles(ctx, area),
        (None, Some(failure)) if app.results().needs_query(app.service_data()) => {
            let detail = failure.to_string();
            let lines = ["This deployment requires a query.", CANNOT_BROWSE_HINT, &detail];
            ctx.centered_message(body, ctx.theme.text, &lines);
        }
        (None, Some(failure)) => {
            let lines = [&failure.to_string(), "r tries again"];
            ctx.centered_message(body, ctx.theme.failure, &lines);
        }
        (None, None) => draw_loading(ctx, area),
    }
}

fn draw_selection_footer(ctx: &mut DrawContext, area: Rect) {
    let text = match ctx.app.baskets().selected_entries(ctx.app.results()) {
        SelectedEntries { on_page: 0, hidden: 0 } => return,
        SelectedEntries { on_page: here, hidden: 0 } => format!(" selected {here} here "),
        SelectedEntries { on_page: here, hidden } => {
            format!(" selected {here} here · {hidden} hidden by this query · M lists them ")
        }
    };
    let line = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
    ctx.put(line, area.height.saturating_sub(1), &[(text, ctx.theme.text)]);
}

fn draw_loading(ctx: &mut DrawContext, area: Rect) {
    let grid = TileGrid::new(ctx.app, area);
    for tile in (0..grid.capacity()).map_while(|index| grid.tile_area(index)) {
        if !grid.is_list() {
            ctx.picture_placeholder(grid.picture_area(tile), "");
        }
    }
}

fn draw_too_strict(ctx: &mut DrawContext, body: Rect, relaxed: &RelaxedSearch) {
    let chips = chips(ctx.app.query(), ctx.app.results());
    let on = chips.iter().filter(|chip| chip.state == ChipState::On);
    let on: Vec<&str> = on.map(|chip| chip.text.as_str()).collect();
    let key = ctx.first_key(Action::Relax).unwrap_or_default();
    let lines = [
        format!("No match for {}", on.join(" and ")),
        format!("{key} searches again with {}", relaxed.description),
        "Esc goes back".to_owned(),
    ];
    ctx.centered_message(body, ctx.theme.text, &lines);
}

fn draw_empty(ctx: &mut DrawContext, body: Rect, view: &View) {
    let theme = ctx.theme;
    if view.computed.is_some() {
        let lines = ["No clusters remain.", "Ctrl-W closes this tab"];
        return ctx.centered_message(body, theme.text, &lines);
    }
    let is_busy = ctx.app.dataset().is_some_and(|dataset| dataset.status.is_busy());
    if let (0, false, Some(relaxed)) =
        (view.search.page, is_busy, ctx.app.results().relaxed_search())
    {
        return draw_too_strict(ctx, body, &relaxed);
    }
    let lines = match (view.search.page, &view.search.query) {
        (1.., _) => ["This page is empty: the previous one was the last.", "p goes back"],
        (0, _) if is_busy => {
            ["No clusters yet: the dataset is being indexed.", "They appear here automatically."]
        }
        (0, Query::Similar(_)) => ["No similar clusters.", "> groups more coarsely, Esc goes back"],
        (0, Query::Caption { .. }) => ["No matching caption.", "Esc goes back"],
        (0, Query::Browse) if view.search.filters.is_empty() => {
            ["The dataset has no clusters.", "r refreshes"]
        }
        (0, Query::Browse) => ["Nothing matches all filters.", "Esc goes back"],
    };
    ctx.centered_message(body, theme.text, &lines);
}

fn draw_tiles(ctx: &mut DrawContext, area: Rect) {
    let grid = TileGrid::new(ctx.app, area);
    let TileCursor { tile: cursor, top_row: top } = ctx.app.results().tile_cursor();
    let first = grid.first_visible(top);
    let range = ctx.app.baskets().selected_tile_range(ctx.app.results());
    let (visible, rows) = grid.scroll_range();
    ctx.scroll_mark(area, top, visible, rows);
    let tiles = ctx.app.results().tiles().into_iter().enumerate().skip(first);
    for (area, (index, tile)) in (0..).map_while(|place| grid.tile_area(place)).zip(tiles) {
        let selected = index == cursor;
        if grid.is_list() {
            tile::draw_row(ctx, area, &tile, selected);
        } else {
            tile::draw_tile(ctx, &grid, area, &tile, selected);
        }
        if range.as_ref().is_some_and(|range| range.contains(&index)) {
            let text = below(area, grid.picture_area(area).height);
            ctx.buf.set_style(text, ctx.theme.selected);
        }
    }
}
