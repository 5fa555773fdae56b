//! A tile of the results: a picture above two lines, or one line on a small screen. It shows a
//! cluster, or a member of the open cluster.

use ratatui::{
    layout::Rect,
    text::Line,
    widgets::{Block, BorderType, Widget},
};

use crate::{
    app::{Tile, areas::Grid, basket::SelectionState},
    ui::{
        DrawContext,
        pane::{basket::mark_glyph, select_row},
        widget::{display_width, format_score, group_digits, picture_placeholder, put, truncate},
    },
};
use tessera_model::{Cluster, EntityType, Relevance, ScoreScale};

struct TileText<'a> {
    relevance: Option<&'a Relevance>,
    /// The number of members; empty for a member.
    count: String,
    /// The number of members for the end of a line with a score.
    short_count: String,
    /// Caption, labels or file name.
    subject: String,
}

impl<'a> TileText<'a> {
    fn new(ctx: &DrawContext, tile: &Tile<'a>, standing: SelectionState) -> Self {
        let cluster = tile.cluster;
        if let Some(preview) = tile.preview.filter(|_| ctx.app.shows_members()) {
            let (relevance, subject) = (preview.relevance.as_ref(), preview.file_name.to_string());
            return Self { relevance, count: String::new(), short_count: String::new(), subject };
        }
        let alike =
            if tile.folded == 0 { String::new() } else { format!(" +{} similar", tile.folded) };
        let out = excluded_suffix(standing);
        let size = match cluster.size() {
            _ if tile.folded > 0 => alike.clone() + &out,
            None => out.clone(),
            Some(size) => format!("×{}{out}", group_digits(size)),
        };
        Self {
            relevance: cluster.relevance.as_ref(),
            count: member_count(cluster, &out) + &alike,
            short_count: size,
            subject: subject(cluster),
        }
    }
}

pub(super) fn draw_tile(
    ctx: &mut DrawContext,
    grid: &Grid,
    area: Rect,
    tile: &Tile,
    selected: bool,
) {
    let theme = ctx.theme;
    let place = grid.picture_area(area);
    match tile.preview {
        Some(preview) => ctx.draw_preview(place, preview, grid.canvas(ctx.app)),
        None => picture_placeholder(ctx, place, "no preview"),
    }
    let below = Rect { y: place.bottom(), height: area.height - place.height, ..area };
    let standing = ctx.app.tile_selection_state(tile);
    let (glyph, style) = mark_glyph(theme, standing);
    let cells = u16::try_from(display_width(glyph)).unwrap_or(0);
    put(ctx, below, 0, &[(glyph, style)]);
    let line = Rect { x: below.x + cells, width: below.width.saturating_sub(cells), ..below };
    let words = TileText::new(ctx, tile, standing);
    match words.relevance {
        None => put(ctx, line, 0, &[(&words.count, theme.text)]),
        Some(relevance) => score_line(ctx, line, relevance, &words.short_count),
    }
    // An object is a part of a picture.
    let part =
        if tile.preview.is_some_and(|preview| preview.region.is_some()) { "◰ " } else { "" };
    put(ctx, below, 1, &[(part, theme.accent), (&words.subject, theme.dim)]);
    if selected {
        let margin =
            Rect { x: area.x - 1, y: area.y - 1, width: area.width + 2, height: area.height + 2 };
        let block =
            Block::bordered().border_type(BorderType::Thick).border_style(theme.frame_focus);
        block.title(Line::default()).render(margin, ctx.buf);
    }
}

pub(super) fn draw_row(ctx: &mut DrawContext, area: Rect, tile: &Tile, selected: bool) {
    let theme = ctx.theme;
    let standing = ctx.app.tile_selection_state(tile);
    let (glyph, style) = mark_glyph(theme, standing);
    let words = TileText::new(ctx, tile, standing);
    let scored = words.relevance.map_or_else(String::new, |relevance| {
        let (number, rest) = score_and_band(relevance, ctx.app.score_scale());
        format!("{number}{rest} · ")
    });
    put(
        ctx,
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
    select_row(ctx, area, 0, selected);
}

/// Draws the score with its band as far as it fits, and the number of members at the right end.
fn score_line(ctx: &mut DrawContext, below: Rect, relevance: &Relevance, size: &str) {
    let theme = ctx.theme;
    let cells = usize::from(below.width);
    let (number, band) = score_and_band(relevance, ctx.app.score_scale());
    let band =
        clip_at_word(&band, cells.saturating_sub(display_width(&number) + display_width(size) + 1));
    put(ctx, below, 0, &[(&number, theme.accent), (band, theme.text)]);
    let at = u16::try_from(cells.saturating_sub(display_width(size))).unwrap_or(0);
    let end = Rect { x: below.x + at, width: below.width - at, ..below };
    put(ctx, end, 0, &[(size, theme.dim)]);
}

/// The longest prefix of whole words that fits.
fn clip_at_word(text: &str, cells: usize) -> &str {
    if display_width(text) <= cells {
        return text;
    }
    let mut ends = text.match_indices(' ').map(|(at, _)| &text[..at]);
    ends.rfind(|part| display_width(part) <= cells).unwrap_or_default()
}

/// The number of members, with the excluded ones.
fn member_count(cluster: &Cluster, out: &str) -> String {
    let one = match cluster.entity {
        EntityType::Images => "image",
        EntityType::Objects => "object",
    };
    match cluster.size() {
        None => format!("–{out}"),
        Some(1) if out.is_empty() => format!("1 {one}"),
        Some(many) => format!("{}{out} {one}s", group_digits(many)),
    }
}

/// `−2` for two excluded members of a selected cluster.
fn excluded_suffix(standing: SelectionState) -> String {
    match standing {
        SelectionState::Partial(out) => format!("−{out}"),
        SelectionState::Unselected
        | SelectionState::Items(_)
        | SelectionState::Whole
        | SelectionState::Stale => String::new(),
    }
}

/// The score, and its band as a gauge and a word.
fn score_and_band(relevance: &Relevance, scale: ScoreScale) -> (String, String) {
    let rest = relevance.band(scale).map_or_else(String::new, |band| {
        let marks = "▮".repeat(band.strength()) + &"▯".repeat(4 - band.strength());
        format!(" {marks} {}", band.label())
    });
    (format_score(relevance.score), rest)
}

/// The caption of a cluster, else its labels, else a file name.
fn subject(cluster: &Cluster) -> String {
    let first = cluster.previews.first();
    let labels =
        || cluster.labels.iter().take(3).map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    match (cluster.caption(), cluster.labels.is_empty(), first) {
        (Some(caption), ..) => truncate(caption.as_str(), 200),
        (None, false, _) => labels(),
        (None, true, Some(preview)) => preview.file_name.to_string(),
        (None, true, None) => cluster.id.short(),
    }
}
