//! The clusters as tiles: a picture, its count and score, and what it shows.

use ratatui::{
    layout::Rect,
    text::Line,
    widgets::{Block, BorderType, Widget},
};

use super::{basket::sign, select_row};
use crate::{
    app::{
        Pane, Tile, View,
        areas::Grid,
        basket::Standing,
        query::{self, Looser, chips},
    },
    input::Action,
    model::{Cluster, Page, Query, Relevance, Scale},
    ui::{
        Screen,
        widget::{clip, empty_picture, frame, grouped, message, put, score, width},
    },
};

/// The pane: frame, one line on what is asked, tiles.
pub(in crate::ui) fn results(screen: &mut Screen, area: Rect) {
    let app = screen.app;
    let words = app.view().map_or_else(String::new, |view| heading(view, app.page()));
    let inside = frame(screen, area, Pane::Results, &words);
    let Some(view) = app.view() else {
        let loading =
            app.store.datasets.value().is_none() && app.store.datasets.failure().is_none();
        let lines: &[&str] = if loading { &["loading"] } else { &["Open a dataset with Enter."] };
        return message(screen, inside, screen.theme.dim, lines);
    };
    explain(screen, inside, view);
    footer(screen, area);
    let body = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
    let Some(remote) = app.remote_page() else {
        return loading(screen, area);
    };
    match (remote.value(), remote.failure()) {
        (Some(page), _) if page.clusters.is_empty() => empty(screen, body, view),
        (Some(_), _) => tiles(screen, area),
        (None, Some(failure)) => {
            let sentence = failure.to_string();
            message(screen, body, screen.theme.failure, &[&sentence, "r tries again"]);
        }
        (None, None) => loading(screen, area),
    }
}

fn heading(view: &View, page: Option<&Page>) -> String {
    let count = match page {
        None => String::new(),
        // The service gives no total: a full page may be followed by another (M49).
        Some(page) if page.may_continue() => format!("{}+ clusters · ", page.clusters.len()),
        Some(page) => format!("{} clusters · ", page.clusters.len()),
    };
    let level = view.search.granularity.level();
    format!("{count}granularity {level} · page {}", view.search.page + 1)
}

/// The line that tells what was asked, and how to read the scores.
fn explain(screen: &mut Screen, inside: Rect, view: &View) {
    let (theme, app) = (screen.theme, screen.app);
    let old = app.remote_page().filter(|page| page.failure().is_some() && page.value().is_some());
    if let Some(page) = old {
        let age = app.now.saturating_sub(page.updated()).as_secs();
        let reason = page.failure().map_or_else(String::new, ToString::to_string);
        let words = format!(" seen {age} s ago; r tries again: {reason}");
        return put(screen, inside, 0, &[(&words, theme.moving)]);
    }
    if app.results.registering.is_some() {
        return put(screen, inside, 0, &[(" sending the query image", theme.moving)]);
    }
    let legend = format!("   {}", view.search.query.scale().legend());
    let (about, name) = match (&view.search.query, &view.similar_to) {
        (Query::Similar(_), Some(name)) => (" similar to ", name.as_str()),
        (Query::Similar(_), None) => (" similar to ", "a picture"),
        (Query::Caption { text, .. }, _) => (" captions that mean ", text.as_str()),
        (Query::Browse, _) if view.search.filters.is_empty() => {
            let words = " the whole dataset, in the order of the service";
            return put(screen, inside, 0, &[(words, theme.dim)]);
        }
        (Query::Browse, _) => {
            let words = " what passes the filters, in the order of the service";
            return put(screen, inside, 0, &[(words, theme.dim)]);
        }
    };
    put(screen, inside, 0, &[(about, theme.dim), (name, theme.accent), (&legend, theme.dim)]);
}

/// How many marks are on this page and how many are not, on the frame: marks never act unseen.
fn footer(screen: &mut Screen, area: Rect) {
    let words = match screen.app.marks_here_and_hidden() {
        (0, 0) => return,
        (here, 0) => format!(" marked {here} here "),
        (here, hidden) => {
            format!(" marked {here} here · {hidden} hidden by this query · M lists them ")
        }
    };
    let line = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
    put(screen, line, area.height.saturating_sub(1), &[(&words, screen.theme.text)]);
}

fn loading(screen: &mut Screen, area: Rect) {
    let grid = Grid::new(screen.app, area);
    for tile in (0..grid.columns * grid.rows).map_while(|place| grid.tile(place)) {
        if !grid.is_list() {
            empty_picture(screen, grid.picture(tile), "");
        }
    }
}

/// Nothing passed the conditions: which they are, and the key that loosens the strictest.
fn too_strict(screen: &mut Screen, body: Rect, looser: &Looser) {
    let app = screen.app;
    let chips = chips(app);
    let on = chips.iter().filter(|chip| chip.standing == query::Standing::On);
    let on: Vec<&str> = on.map(|chip| chip.text.as_str()).collect();
    let keys = app.setup.keymap.keys_of(&app.contexts(), Action::Loosen);
    let key = keys.first().map_or("", String::as_str);
    let lines = [
        format!("Nothing passes: {}", on.join(" and ")),
        format!("{key} searches again with {}", looser.words),
        "Esc goes back".to_owned(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    message(screen, body, screen.theme.text, &lines);
}

fn empty(screen: &mut Screen, body: Rect, view: &View) {
    let theme = screen.theme;
    let moving = screen.app.dataset().is_some_and(|dataset| dataset.status.is_moving());
    if let (0, false, Some(looser)) = (view.search.page, moving, screen.app.looser()) {
        return too_strict(screen, body, &looser);
    }
    let lines: &[&str] = match (view.search.page, &view.search.query, screen.app.dataset()) {
        (1.., ..) => &["This page is empty: the one before was the last.", "p goes back"],
        (0, _, Some(dataset)) if dataset.status.is_moving() => {
            &["No clusters yet: the dataset is being indexed.", "They appear here by themselves."]
        }
        (0, Query::Similar(_), _) => {
            &["Nothing is similar.", "> groups more coarsely, Esc goes back"]
        }
        (0, Query::Caption { .. }, _) => &["No caption means this.", "Esc goes back"],
        (0, Query::Browse, _) if !view.search.filters.is_empty() => {
            &["Nothing passes all the filters.", "Esc goes back"]
        }
        (0, Query::Browse, _) => &["The dataset has no clusters.", "r asks again"],
    };
    message(screen, body, theme.text, lines);
}

fn tiles(screen: &mut Screen, area: Rect) {
    let grid = Grid::new(screen.app, area);
    let (cursor, top) = screen.app.tile_cursor();
    let first = top * grid.columns;
    for (place, tile) in screen.app.tiles().into_iter().skip(first).enumerate() {
        let Some(area) = grid.tile(place) else { break };
        let selected = first + place == cursor;
        if grid.is_list() {
            row(screen, area, &tile, selected);
        } else {
            self::tile(screen, &grid, area, tile, selected);
        }
    }
}

fn tile(screen: &mut Screen, grid: &Grid, area: Rect, tile: Tile, selected: bool) {
    let theme = screen.theme;
    let place = grid.picture(area);
    let cluster = tile.cluster;
    match tile.preview {
        Some(preview) => screen.picture(place, preview, grid.canvas(screen.app)),
        None => empty_picture(screen, place, "no preview"),
    }
    let below = Rect { y: place.bottom(), height: area.height - place.height, ..area };
    let standing = screen.app.standing_of(&tile);
    let (glyph, style) = sign(theme, standing);
    let cells = u16::try_from(width(glyph)).unwrap_or(0);
    put(screen, below, 0, &[(glyph, style)]);
    let line = Rect { x: below.x + cells, width: below.width.saturating_sub(cells), ..below };
    match &cluster.relevance {
        None => put(screen, line, 0, &[(&count(cluster, standing), theme.text)]),
        Some(relevance) => ranked_line(screen, line, relevance, cluster, standing),
    }
    put(screen, below, 1, &[(&subject(cluster), theme.dim)]);
    if selected {
        let margin =
            Rect { x: area.x - 1, y: area.y - 1, width: area.width + 2, height: area.height + 2 };
        let block =
            Block::bordered().border_type(BorderType::Thick).border_style(theme.frame_focus);
        block.title(Line::default()).render(margin, screen.buf);
    }
}

/// The score, as much of its band as fits, and at the right end how many members there are.
fn ranked_line(
    screen: &mut Screen,
    below: Rect,
    relevance: &Relevance,
    cluster: &Cluster,
    standing: Standing,
) {
    let theme = screen.theme;
    let size = cluster.size().map_or_else(String::new, |size| format!("×{}", grouped(size)));
    let size = size + &left_out(standing);
    let cells = usize::from(below.width);
    let (number, band) = ranked(relevance, screen.app.scale());
    let band = clip_at_word(&band, cells.saturating_sub(width(&number) + width(&size) + 1));
    put(screen, below, 0, &[(&number, theme.accent), (band, theme.text)]);
    let at = u16::try_from(cells.saturating_sub(width(&size))).unwrap_or(0);
    let end = Rect { x: below.x + at, width: below.width - at, ..below };
    put(screen, end, 0, &[(&size, theme.dim)]);
}

/// The longest beginning of whole words that fits.
fn clip_at_word(text: &str, cells: usize) -> &str {
    if width(text) <= cells {
        return text;
    }
    let mut ends = text.match_indices(' ').map(|(at, _)| &text[..at]);
    ends.rfind(|part| width(part) <= cells).unwrap_or_default()
}

/// A line instead of a tile, where there is no room for pictures.
fn row(screen: &mut Screen, area: Rect, tile: &Tile, selected: bool) {
    let cluster = tile.cluster;
    let theme = screen.theme;
    let scored = cluster.relevance.as_ref().map_or_else(String::new, |relevance| {
        let (number, rest) = ranked(relevance, screen.app.scale());
        format!("{number}{rest} · ")
    });
    let standing = screen.app.standing_of(tile);
    let (glyph, style) = sign(theme, standing);
    let count = count(cluster, standing);
    let subject = subject(cluster);
    put(
        screen,
        area,
        0,
        &[
            (" ", theme.text),
            (glyph, style),
            (&scored, theme.accent),
            (&count, theme.text),
            ("  ", theme.dim),
            (&subject, theme.dim),
        ],
    );
    select_row(screen, area, 0, selected);
}

/// How many members a cluster has.
fn count(cluster: &Cluster, standing: Standing) -> String {
    let out = left_out(standing);
    match cluster.size() {
        None => format!("–{out}"),
        Some(1) if out.is_empty() => "1 image".to_owned(),
        Some(many) => format!("{}{out} images", grouped(many)),
    }
}

/// `−2`, when two members are left out of a marked cluster.
fn left_out(standing: Standing) -> String {
    match standing {
        Standing::Part(out) => format!("−{out}"),
        Standing::Unmarked | Standing::Singles(_) | Standing::Whole | Standing::Stale => {
            String::new()
        }
    }
}

/// A score as number, and the rest: marks and word of its band.
fn ranked(relevance: &Relevance, scale: Scale) -> (String, String) {
    let rest = relevance.band(scale).map_or_else(String::new, |band| {
        let marks = "▮".repeat(band.marks()) + &"▯".repeat(4 - band.marks());
        format!(" {marks} {}", band.word())
    });
    (score(relevance.score), rest)
}

/// What the cluster shows, in the words there are: a caption, labels, or a file name.
fn subject(cluster: &Cluster) -> String {
    let first = cluster.previews.first();
    let caption =
        cluster.captions.first().or_else(|| first.and_then(|preview| preview.caption.as_ref()));
    let labels =
        || cluster.labels.iter().take(3).map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    match (caption, cluster.labels.is_empty(), first) {
        (Some(caption), ..) => clip(caption.as_str(), 200),
        (None, false, _) => labels(),
        (None, true, Some(preview)) => preview.file_name.to_string(),
        (None, true, None) => cluster.id.short(),
    }
}
