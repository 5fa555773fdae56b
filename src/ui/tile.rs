//! One tile of the results: a picture with two lines below it, or a single line where there is no
//! room for pictures. It stands for a cluster, or for a member of the cluster that is open.

use ratatui::{
    layout::Rect,
    text::Line,
    widgets::{Block, BorderType, Widget},
};

use crate::{
    app::{Tile, areas::Grid, basket::Standing},
    ui::{
        Screen,
        pane::{basket::sign, select_row},
        widget::{clip, empty_picture, grouped, put, score, width},
    },
};
use tessera_model::{Cluster, EntityType, Relevance, Scale};

/// What is written at a tile.
struct Words<'a> {
    relevance: Option<&'a Relevance>,
    /// How many members it has; empty for a member.
    count: String,
    /// The same in short, for the end of a line with a score.
    size: String,
    /// What it shows.
    subject: String,
}

impl<'a> Words<'a> {
    fn new(screen: &Screen, tile: &Tile<'a>, standing: Standing) -> Self {
        let cluster = tile.cluster;
        if let Some(preview) = tile.preview.filter(|_| screen.app.shows_members()) {
            let (relevance, subject) = (preview.relevance.as_ref(), preview.file_name.to_string());
            return Self { relevance, count: String::new(), size: String::new(), subject };
        }
        let alike = if tile.alike == 0 { String::new() } else { format!(" +{} alike", tile.alike) };
        let out = left_out(standing);
        let size = match cluster.size() {
            _ if tile.alike > 0 => alike.clone() + &out,
            None => out.clone(),
            Some(size) => format!("×{}{out}", grouped(size)),
        };
        Self {
            relevance: cluster.relevance.as_ref(),
            count: count(cluster, &out) + &alike,
            size,
            subject: subject(cluster),
        }
    }
}

/// Draws a tile with its picture.
pub(super) fn tile(screen: &mut Screen, grid: &Grid, area: Rect, tile: &Tile, selected: bool) {
    let theme = screen.theme;
    let place = grid.picture(area);
    match tile.preview {
        Some(preview) => screen.picture(place, preview, grid.canvas(screen.app)),
        None => empty_picture(screen, place, "no preview"),
    }
    let below = Rect { y: place.bottom(), height: area.height - place.height, ..area };
    let standing = screen.app.standing_of(tile);
    let (glyph, style) = sign(theme, standing);
    let cells = u16::try_from(width(glyph)).unwrap_or(0);
    put(screen, below, 0, &[(glyph, style)]);
    let line = Rect { x: below.x + cells, width: below.width.saturating_sub(cells), ..below };
    let words = Words::new(screen, tile, standing);
    match words.relevance {
        None => put(screen, line, 0, &[(&words.count, theme.text)]),
        Some(relevance) => ranked_line(screen, line, relevance, &words.size),
    }
    // A part of a picture, and not all of it.
    let part =
        if tile.preview.is_some_and(|preview| preview.region.is_some()) { "◰ " } else { "" };
    put(screen, below, 1, &[(part, theme.accent), (&words.subject, theme.dim)]);
    if selected {
        let margin =
            Rect { x: area.x - 1, y: area.y - 1, width: area.width + 2, height: area.height + 2 };
        let block =
            Block::bordered().border_type(BorderType::Thick).border_style(theme.frame_focus);
        block.title(Line::default()).render(margin, screen.buf);
    }
}

/// Draws a tile as a line.
pub(super) fn row(screen: &mut Screen, area: Rect, tile: &Tile, selected: bool) {
    let theme = screen.theme;
    let standing = screen.app.standing_of(tile);
    let (glyph, style) = sign(theme, standing);
    let words = Words::new(screen, tile, standing);
    let scored = words.relevance.map_or_else(String::new, |relevance| {
        let (number, rest) = ranked(relevance, screen.app.scale());
        format!("{number}{rest} · ")
    });
    put(
        screen,
        area,
        0,
        &[
            (" ", theme.text),
            (glyph, style),
            (&scored, theme.accent),
            (&words.count, theme.text),
            ("  ", theme.dim),
            (&words.subject, theme.dim),
        ],
    );
    select_row(screen, area, 0, selected);
}

/// The score, as much of its band as fits, and at the right end how many members there are.
fn ranked_line(screen: &mut Screen, below: Rect, relevance: &Relevance, size: &str) {
    let theme = screen.theme;
    let cells = usize::from(below.width);
    let (number, band) = ranked(relevance, screen.app.scale());
    let band = clip_at_word(&band, cells.saturating_sub(width(&number) + width(size) + 1));
    put(screen, below, 0, &[(&number, theme.accent), (band, theme.text)]);
    let at = u16::try_from(cells.saturating_sub(width(size))).unwrap_or(0);
    let end = Rect { x: below.x + at, width: below.width - at, ..below };
    put(screen, end, 0, &[(size, theme.dim)]);
}

/// The longest beginning of whole words that fits.
fn clip_at_word(text: &str, cells: usize) -> &str {
    if width(text) <= cells {
        return text;
    }
    let mut ends = text.match_indices(' ').map(|(at, _)| &text[..at]);
    ends.rfind(|part| width(part) <= cells).unwrap_or_default()
}

/// How many members a cluster has, without those that are left out.
fn count(cluster: &Cluster, out: &str) -> String {
    let one = match cluster.entity {
        EntityType::Images => "image",
        EntityType::Objects => "object",
    };
    match cluster.size() {
        None => format!("–{out}"),
        Some(1) if out.is_empty() => format!("1 {one}"),
        Some(many) => format!("{}{out} {one}s", grouped(many)),
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
