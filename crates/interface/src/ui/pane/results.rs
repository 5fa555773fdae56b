//! Draws the results: the clusters as tiles with picture, size, score and caption.

use crate::ui::prelude::*;
use crate::{
    app::{
        Remote, basket::SelectedEntries, results_header::results_header_rows, tile_grid::TileGrid,
        view::tiles::TileCursor,
    },
    ui::{
        pane::{empty_results, title_cells},
        results_header, tile,
    },
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
        let text =
            if loading { app.loading_text() } else { "Open a dataset with Enter.".to_owned() };
        return ctx.centered_message(inside, ctx.theme.dim, &[&text]);
    };
    results_header::status_line(ctx, inside, view);
    draw_selection_footer(ctx, area);
    let body = below(inside, results_header_rows(app, inside));
    let failure = app.results().remote_page().and_then(Remote::failure);
    match (app.results().page(), failure) {
        (Some(page), _) if page.clusters.is_empty() => empty_results::draw(ctx, body, view),
        (Some(_), _) if app.results().tiles().is_empty() => {
            empty_results::draw_filtered(ctx, body, view);
        }
        (Some(_), _) => draw_tiles(ctx, area),
        (None, Some(failure)) if app.results().needs_query(app.service_data()) => {
            let detail = failure.to_string();
            let lines = ["This deployment requires a query.", CANNOT_BROWSE_HINT, &detail];
            ctx.centered_message(body, ctx.theme.text, &lines);
        }
        (None, Some(failure)) => empty_results::draw_failure(ctx, body, view, failure),
        (None, None) => draw_loading(ctx, area),
    }
}

fn draw_selection_footer(ctx: &mut DrawContext, area: Rect) {
    let text = match ctx.app.baskets().selected_entries(ctx.app.results()) {
        SelectedEntries { on_page: 0, hidden: 0 } => return,
        SelectedEntries { on_page: here, hidden: 0 } => format!(" selected {here} here "),
        SelectedEntries { on_page: here, hidden } => {
            format!(" selected {here} here · {hidden} not shown on this page · M lists them ")
        }
    };
    let line = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
    ctx.put(line, area.height.saturating_sub(1), &[(text, ctx.theme.text)]);
}

fn draw_loading(ctx: &mut DrawContext, area: Rect) {
    let grid = TileGrid::new(ctx.app, area);
    for index in grid.visible().filter(|_| !grid.is_list()) {
        let Some(tile) = grid.tile_area(index) else { continue };
        ctx.picture_placeholder(grid.picture_area(index, tile), "");
    }
}

fn draw_tiles(ctx: &mut DrawContext, area: Rect) {
    let grid = TileGrid::new(ctx.app, area);
    let TileCursor { tile: cursor, top_row: top } = ctx.app.results().tile_cursor();
    let range = ctx.app.baskets().selected_tile_range(ctx.app.results());
    let (visible, rows) = grid.scroll_range();
    ctx.scroll_mark(area, top, visible, rows);
    for (index, tile) in ctx.app.results().tiles().into_iter().enumerate() {
        let Some(area) = grid.tile_area(index) else { continue };
        let selected = index == cursor;
        if grid.is_list() {
            tile::draw_row(ctx, area, &tile, selected);
        } else {
            tile::draw_tile(ctx, &grid, (index, area), &tile, selected);
        }
        if range.as_ref().is_some_and(|range| range.contains(&index)) {
            let text = below(area, grid.picture_area(index, area).height);
            ctx.buf.set_style(text, ctx.theme.selected);
        }
    }
}
