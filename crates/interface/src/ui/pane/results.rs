//! Draws the results: the clusters as tiles with picture, size, score and caption, or why there are none and what to do.

use tessera_config::DeploymentKind;
use tessera_model::{
    Dataset, EnrichmentModel, EntityType, Failure, ModelStatus, Query, QueryText,
    text::{capitalize, grouped_with_noun},
};

use crate::ui::prelude::*;
use crate::{
    app::{
        Job, JobState, RelaxedSearch, Remote, View,
        basket::SelectedEntries,
        jobs::rows::job_summary,
        loading_text,
        overlay::sort_filter::names_text,
        query::{ChipState, chips},
        results_header::results_header_rows,
        tile_grid::TileGrid,
        view::tiles::TileCursor,
    },
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
        let text =
            if loading { loading_text(app) } else { "Open a dataset with Enter.".to_owned() };
        return ctx.centered_message(inside, ctx.theme.dim, &[&text]);
    };
    results_header::status_line(ctx, inside, view);
    draw_selection_footer(ctx, area);
    let body = below(inside, results_header_rows(app, inside));
    let failure = app.results().remote_page().and_then(Remote::failure);
    match (app.results().page(), failure) {
        (Some(page), _) if page.clusters.is_empty() => draw_empty(ctx, body, view),
        (Some(_), _) if app.results().tiles().is_empty() => {
            draw_filtered(ctx, body, view);
        }
        (Some(_), _) => draw_tiles(ctx, area),
        (None, Some(failure)) if app.results().needs_query(app.service_data()) => {
            let detail = failure.to_string();
            let lines = ["This deployment requires a query.", CANNOT_BROWSE_HINT, &detail];
            ctx.centered_message(body, ctx.theme.text, &lines);
        }
        (None, Some(failure)) => draw_failure(ctx, body, view, failure),
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

fn draw_empty(ctx: &mut DrawContext, body: Rect, view: &View) {
    let lines = empty_lines(ctx, view);
    ctx.centered_message(body, ctx.theme.text, &lines);
}

/// Says why a page has no clusters, and what to do.
fn empty_lines(ctx: &DrawContext, view: &View) -> Vec<String> {
    let app = ctx.app;
    if view.computed.is_some() {
        return computed_lines(view);
    }
    let is_busy = app.dataset().is_some_and(|dataset| dataset.status.is_busy());
    let is_encoding = |job: &&Job| {
        job.dataset == view.search.dataset && matches!(job.state(), JobState::Encoding(..))
    };
    if let Some(job) = app.jobs().iter().find(is_encoding).filter(|_| is_busy) {
        let encoding = format!("The pictures are being encoded: {}", job_summary(job));
        return vec![encoding, "The search is repeated when they are.".to_owned()];
    }
    if view.search.page == 0 && !is_busy {
        if let Some(text) = view.searched_name() {
            return no_name_lines(ctx, text);
        }
        if let Some(relaxed) = app.results().relaxed_search() {
            return too_strict_lines(ctx, &relaxed);
        }
    }
    let lines = match (view.search.page, &view.search.query) {
        (page @ 1.., _) => later_page_lines(page, app.results().last_page_number()),
        (0, _) if is_busy => {
            ["No clusters yet: the dataset is being indexed.", "They appear here automatically."]
        }
        (0, Query::Caption { text, .. }) => return caption_lines(ctx, text, view),
        (0, Query::Similar(_)) => ["No similar clusters.", "> groups more coarsely, Esc goes back"],
        (0, Query::Browse) => browse_lines(view),
    };
    lines.map(str::to_owned).into()
}

/// Says why nothing was computed: set operations left nothing, or no name was found.
fn computed_lines(view: &View) -> Vec<String> {
    match view.scan() {
        Some(scan) => scan.empty_lines(),
        None => ["No clusters remain.", "Ctrl-W closes this tab"].map(str::to_owned).into(),
    }
}

fn no_name_lines(ctx: &DrawContext, text: &str) -> Vec<String> {
    let names = names_text(ctx.app);
    vec![
        format!("No file or folder is called “{}”.", SafeText::name(text)),
        format!("All {names} of the dataset were searched, with their folders."),
        "Esc goes back".to_owned(),
    ]
}

fn too_strict_lines(ctx: &DrawContext, relaxed: &RelaxedSearch) -> Vec<String> {
    let chips = chips(ctx.app);
    let on = chips.iter().filter(|chip| chip.state == ChipState::On);
    let on: Vec<&str> = on.map(|chip| chip.text.as_str()).collect();
    let key = ctx.first_key(Action::Relax).unwrap_or_default();
    vec![
        format!("Nothing matches all of this: {}", on.join(" · ")),
        format!("{key} searches again {}", relaxed.description),
        "Esc goes back".to_owned(),
    ]
}

fn later_page_lines(page: u32, last: Option<u32>) -> [&'static str; 2] {
    if last == Some(page - 1) {
        ["This page is empty: the previous one was the last.", "p goes back"]
    } else {
        ["This page is empty: the results end on an earlier one.", "g n goes to another page"]
    }
}

fn browse_lines(view: &View) -> [&'static str; 2] {
    match view.search.entity {
        _ if !view.search.filters.is_empty() => ["Nothing matches all filters.", "Esc goes back"],
        EntityType::Objects => ["The dataset has no objects.", "t shows its images"],
        EntityType::Images => ["The dataset has no clusters.", "r refreshes"],
    }
}

/// Says that the filter of the loaded results leaves none, and where it has looked.
fn draw_filtered(ctx: &mut DrawContext, body: Rect, view: &View) {
    let loaded = ctx.app.results().page().map_or(0, |page| page.clusters.len());
    let clusters = grouped_with_noun(loaded as u64, "loaded cluster", "loaded clusters");
    let page = view.search.page + 1;
    let looked = format!("The filter has looked at the {clusters} of page {page}. Esc clears it");
    let key = ctx.first_key(Action::Filter).unwrap_or_default();
    let all_names = format!("{key}, then Enter searches all {}", names_text(ctx.app));
    let lines = ["No loaded cluster matches the filter.".to_owned(), looked, all_names];
    ctx.centered_message(body, ctx.theme.text, &lines);
}

/// Says that nothing matches a text, which media the text was compared with, and what else finds pictures.
fn caption_lines(ctx: &DrawContext, text: &QueryText, view: &View) -> Vec<String> {
    let app = ctx.app;
    let mut lines = vec![format!("Nothing matches “{}”.", text.as_str())];
    let known = app.service_data().enrichment(view.search.dataset);
    let media = app.service_data().dataset(view.search.dataset).and_then(Dataset::media_count);
    let coverage = known.and_then(|known| known.caption_coverage(media));
    let is_local = app.has_local_service();
    if let Some(coverage) = coverage {
        let names =
            if is_local { "; names of files and folders were searched as well" } else { "" };
        lines.push(format!("{}{names}.", capitalize(&coverage.captions_text())));
    }
    let has_model = known.is_some_and(|known| {
        known.status_of(EnrichmentModel::MultimodelImageEncoding) == ModelStatus::Applied
    });
    let key = ctx.first_key(Action::GetModel).unwrap_or_default();
    if known.is_some_and(|known| known.imported_embeddings().is_some()) {
        lines.push("No text encoder belongs to the imported embeddings.".to_owned());
        lines.push(format!("{key} gets a model, which takes their place"));
    } else if app.setup().deployment == DeploymentKind::Local && !has_model {
        lines.push(format!("{key} gets a model, which finds pictures by what they show"));
    }
    lines.extend(ways_on(ctx));
    lines
}

/// Returns the keys that find pictures without captions.
fn ways_on(ctx: &DrawContext) -> [String; 2] {
    let key = |action| ctx.first_key(action).unwrap_or_default();
    [
        format!("{} finds pictures that are similar to a picture file", key(Action::SimilarToFile)),
        format!(
            "{} goes back, where {} on a picture finds similar ones",
            key(Action::Back),
            key(Action::Similar)
        ),
    ]
}

/// Draws why the results could not be loaded. A service that refuses to search captions did what it should, so this is
/// no error, and the same request would be refused again.
fn draw_failure(ctx: &mut DrawContext, body: Rect, view: &View, failure: &Failure) {
    let theme = ctx.theme;
    let reason = failure.to_string();
    match &view.search.query {
        _ if failure.may_succeed_later() => {
            ctx.centered_message(body, theme.failure, &[&reason, "r tries again"]);
        }
        Query::Caption { text, .. } => {
            let mut lines = caption_lines(ctx, text, view);
            lines.insert(1, reason);
            ctx.centered_message(body, theme.text, &lines);
        }
        _ => ctx.centered_message(body, theme.failure, &[&reason, "Esc goes back"]),
    }
}
