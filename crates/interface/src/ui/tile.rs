//! Draws a tile of the results for a cluster or a member: a picture above two lines, or a single
//! line.

use std::collections::{BTreeSet, HashSet};

use ratatui::{
    layout::Margin,
    widgets::{Block, BorderType, Widget},
};
use tessera_model::{
    Cluster, EntityType, Filter, Preview, Relevance, ScoreScale, Search, is_metadata_label,
    tag::{PICKED, REJECTED},
    vql::LabelRule,
};

use crate::ui::prelude::*;
use crate::{
    app::{
        Tile, View,
        basket::SelectionState,
        overlay::{score_histogram::ScoreHistogram, selection_rows::mark_glyph},
        tile_grid::TileGrid,
    },
    drawing::format_score,
};

struct TileText<'a> {
    relevance: Option<&'a Relevance>,
    /// The number of members, longest form first. Empty for a member.
    counts: Vec<String>,
    /// The counts without nouns, for the end of a line with a score.
    short_counts: Vec<String>,
    /// The caption, the labels or the file name.
    subject: String,
}

impl<'a> TileText<'a> {
    fn new(ctx: &DrawContext, tile: &Tile<'a>, state: SelectionState) -> Self {
        let cluster = tile.cluster;
        if let Some(preview) = tile.preview.filter(|_| ctx.app.results().shows_members()) {
            let (relevance, subject) = (preview.relevance.as_ref(), preview.title().to_string());
            return Self { relevance, counts: Vec::new(), short_counts: Vec::new(), subject };
        }
        let view = ctx.app.results().view();
        let shows_names = view.is_some_and(View::shows_names);
        let excluded = match state {
            SelectionState::Partial(excluded) => format!("−{excluded}"),
            _ => String::new(),
        };
        let mut counts = member_counts(cluster, &excluded);
        let size =
            cluster.size().map_or_else(String::new, |size| format!("×{}", group_digits(size)));
        let mut short_counts = vec![format!("{size}{excluded}")];
        if tile.folded > 0 {
            let folded = [format!(" +{} similar", tile.folded), format!(" +{}", tile.folded)];
            let with_folded =
                |count: &String| folded.clone().map(|folded| format!("{count}{folded}"));
            counts = counts.iter().flat_map(with_folded).collect();
            short_counts = folded.map(|folded| format!("{folded}{excluded}")).to_vec();
        }
        Self {
            relevance: cluster.relevance.as_ref(),
            counts,
            short_counts,
            subject: match tile.preview {
                Some(preview) if shows_names => preview.title().to_string(),
                _ => view.map_or_else(String::new, |view| subject(cluster, &view.search)),
            },
        }
    }
}

pub(super) fn draw_tile(
    ctx: &mut DrawContext,
    grid: &TileGrid,
    (index, area): (usize, Rect),
    tile: &Tile,
    selected: bool,
) {
    let theme = ctx.theme;
    let picture = grid.picture_area(index, area);
    let out = ScoreHistogram::falls_out(ctx.app.overlays(), tile.cluster);
    let pictures = if out { Vec::new() } else { grid.pictures(ctx.app, index, area, tile) };
    if pictures.is_empty() {
        ctx.picture_placeholder(picture, if out { "falls out" } else { "no preview" });
    }
    for (preview, area) in pictures {
        let canvas = ctx.app.screen().canvas(area.width, area.height);
        ctx.draw_tile_picture(area, preview.media.into(), canvas);
    }
    let below = below(area, picture.height);
    let state = ctx.app.baskets().tile_selection_state(tile, ctx.app.results());
    let (glyph, style) = mark_glyph(theme, state);
    ctx.put(below, 0, &[(glyph, style)]);
    let (_, line) = split_columns(below, text_cells(glyph));
    let text = TileText::new(ctx, tile, state);
    let badges = badges(ctx.app, tile, usize::from(line.width).saturating_sub(USUAL_SIZE_CELLS));
    ctx.put(line, 0, &[(badges.as_str(), theme.attention)]);
    let (_, line) = split_columns(line, text_cells(&badges));
    match text.relevance {
        None => {
            let count = first_fitting(&text.counts, usize::from(line.width));
            ctx.put(line, 0, &[(count, theme.text)]);
        }
        Some(relevance) => score_line(ctx, line, relevance, &text.short_counts),
    }
    // The mark shows that the item is an object, which is a part of a picture.
    let is_object = tile.preview.is_some_and(|preview| preview.region.is_some());
    let object_mark = if is_object { "◰ " } else { "" };
    let cells = usize::from(below.width).saturating_sub(display_width(object_mark));
    let lines = wrap_words(&text.subject, cells, usize::from(below.height.saturating_sub(1)));
    for (row, line) in (1..).zip(lines) {
        ctx.put(below, row, &[(object_mark, theme.accent), (&line, theme.dim)]);
        if line.ends_with('…') {
            ctx.explain(below, text.subject.as_str());
        }
    }
    if out {
        ctx.buf.set_style(below, theme.dim);
    }
    if selected {
        let margin = area.outer(Margin::new(1, 1));
        let block =
            Block::bordered().border_type(BorderType::Thick).border_style(theme.frame_focus);
        block.title(Line::default()).render(margin, ctx.buf);
    }
}

pub(super) fn draw_row(ctx: &mut DrawContext, area: Rect, tile: &Tile, selected: bool) {
    let theme = ctx.theme;
    let state = ctx.app.baskets().tile_selection_state(tile, ctx.app.results());
    let (glyph, style) = mark_glyph(theme, state);
    let text = TileText::new(ctx, tile, state);
    let score = text.relevance.map_or_else(String::new, |relevance| {
        let (score, band) = score_and_band(relevance, ctx.app.results().score_scale());
        format!("{score}{band} · ")
    });
    let count = text.counts.first().map_or("", String::as_str);
    let badges = badges(ctx.app, tile, usize::from(area.width));
    let parts = [
        (" ", theme.text),
        (glyph, style),
        (&badges, theme.attention),
        (&score, theme.accent),
        (count, theme.text),
        ("  ", theme.dim),
        (if area.height > 1 { "" } else { &text.subject }, theme.dim),
    ];
    ctx.put(area, 0, &parts);
    let lines = usize::from(area.height.saturating_sub(1));
    let cells = usize::from(area.width.saturating_sub(4));
    for (row, line) in (1..area.height).zip(wrap_words(&text.subject, cells, lines)) {
        ctx.put(area, row, &[("   ", theme.dim), (&line, theme.dim)]);
    }
    if ScoreHistogram::falls_out(ctx.app.overlays(), tile.cluster) {
        ctx.buf.set_style(area, theme.dim);
    }
    if selected {
        ctx.buf.set_style(area, theme.selected);
    }
}

/// The minimum width that a number of members counts as, so that neighboring tiles show the same part of the band.
const USUAL_SIZE_CELLS: usize = 4;

/// Draws the score, its band as far as it fits, and the number of members at the right end.
fn score_line(ctx: &mut DrawContext, line: Rect, relevance: &Relevance, sizes: &[String]) {
    let theme = ctx.theme;
    let cells = usize::from(line.width);
    let (score, band) = score_and_band(relevance, ctx.app.results().score_scale());
    let size = first_fitting(sizes, cells.saturating_sub(display_width(&score) + 1));
    let used = display_width(&score) + display_width(size).max(USUAL_SIZE_CELLS) + 1;
    let band = clip_at_word(&band, cells.saturating_sub(used));
    ctx.put(line, 0, &[(score.as_str(), theme.accent), (band, theme.text)]);
    let (_, end) = split_end(line, size);
    ctx.put(end, 0, &[(size, theme.dim)]);
}

/// What the user has said about pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagMark {
    Picked,
    Rejected,
    Rated(u8),
    /// The names of other tags.
    Tagged(Vec<String>),
}

impl TagMark {
    fn sign(&self) -> String {
        match self {
            Self::Picked => "✔".to_owned(),
            Self::Rejected => "✖".to_owned(),
            Self::Rated(rating) => format!("★{rating}"),
            Self::Tagged(tags) => format!("#{}", tags.len()),
        }
    }

    /// Returns the mark for a reader who does not see the sign.
    pub fn words(&self) -> String {
        match self {
            Self::Picked => PICKED.to_owned(),
            Self::Rejected => REJECTED.to_owned(),
            Self::Rated(rating) => format!("rated {rating}"),
            Self::Tagged(tags) => format!("tagged {}", tags.join(" and ")),
        }
    }
}

/// Returns the marks of a tile that fit. A mark of only some pictures of a cluster is in parentheses.
fn badges(app: &App, tile: &Tile, cells: usize) -> String {
    let picture = tile.preview.filter(|_| app.results().shows_members());
    let mut shown = String::new();
    for (mark, is_whole) in tag_marks(app, tile.cluster, picture) {
        let sign = mark.sign();
        let part = if is_whole { sign } else { format!("({sign})") };
        if display_width(&shown) + display_width(&part) < cells {
            shown = format!("{shown}{part} ");
        }
    }
    shown
}

/// Returns the marks of a cluster, or of a picture in it. Each mark comes with whether all pictures are known to have it,
/// also those that are not loaded. A service that sends the tags of clusters, but not those of pictures, does not say
/// which pictures have them.
pub fn tag_marks(app: &App, cluster: &Cluster, picture: Option<&Preview>) -> Vec<(TagMark, bool)> {
    let pictures: Vec<&Preview> = match picture {
        Some(preview) => vec![preview],
        None => cluster.previews.iter().collect(),
    };
    let tags_of = |preview: &&'_ Preview| -> BTreeSet<String> {
        let kept = app.tagging().kept_tags_of(app.results(), cluster, Some(preview));
        preview.tags.iter().chain(kept).map(ToString::to_string).collect()
    };
    let of_pictures: Vec<BTreeSet<String>> = pictures.iter().map(tags_of).collect();
    let kept = app.tagging().kept_tags_of(app.results(), cluster, None);
    let kept: BTreeSet<&str> = kept.map(SafeText::as_str).collect();
    // A filter leaves members out whose tags the cluster has nevertheless.
    let shows_all = picture.is_some() || app.results().missing_members_of(cluster).is_none();
    let knows_all = picture.is_some() || shows_all && app.has_local_service();
    let of_cluster = cluster.tags.iter().filter(|_| !knows_all);
    let mut tags: BTreeSet<String> = of_pictures.iter().flatten().cloned().collect();
    let knows_pictures = app.has_local_service() || !tags.is_empty();
    tags.extend(of_cluster.map(|tag| tag.name.to_string()));
    let is_whole = |name: &str| {
        let is_known = shows_all
            || kept.contains(name)
            || app.tagging().is_given_to_cluster(app.results(), cluster.id, name);
        !knows_pictures || is_known && of_pictures.iter().all(|tags| tags.contains(name))
    };
    let named = |name: &str, mark| tags.contains(name).then(|| (mark, is_whole(name)));
    let rating = pictures.iter().map(|preview| preview.rating).max().unwrap_or(0);
    let is_rated = shows_all && pictures.iter().all(|preview| preview.rating == rating);
    let others = tags.iter().filter(|name| ![PICKED, REJECTED].contains(&name.as_str())).cloned();
    let (whole, partial): (Vec<_>, Vec<_>) = others.partition(|name| is_whole(name));
    let tagged = |tags: Vec<String>, is_whole| {
        (!tags.is_empty()).then_some((TagMark::Tagged(tags), is_whole))
    };
    let marks = [
        named(PICKED, TagMark::Picked),
        named(REJECTED, TagMark::Rejected),
        (rating > 0).then_some((TagMark::Rated(rating), is_rated)),
        tagged(whole, true),
        tagged(partial, false),
    ];
    marks.into_iter().flatten().collect()
}

/// Returns the longest prefix of whole words that fits.
fn clip_at_word(text: &str, cells: usize) -> &str {
    if display_width(text) <= cells {
        return text;
    }
    let mut ends = text.match_indices(' ').map(|(at, _)| &text[..at]);
    ends.rfind(|part| display_width(part) <= cells).unwrap_or_default()
}

/// Returns the number of members from the longest form to the shortest:
/// `4 images, 3 frames, 1 video`, `7 members`, `7`.
fn member_counts(cluster: &Cluster, excluded: &str) -> Vec<String> {
    let contents = cluster.contents_with_frames();
    let nouns = match (cluster.entity, &contents) {
        (EntityType::Objects, _) => ("object", "objects"),
        (EntityType::Images, None) => ("image", "images"),
        (EntityType::Images, Some(_)) => ("member", "members"),
    };
    let Some(size) = cluster.size() else { return vec![format!("–{excluded}")] };
    let noun = if size == 1 { nouns.0 } else { nouns.1 };
    let number = format!("{}{excluded}", group_digits(size));
    let contents = contents.filter(|_| excluded.is_empty());
    contents.into_iter().chain([format!("{number} {noun}"), number]).collect()
}

fn score_and_band(relevance: &Relevance, scale: ScoreScale) -> (String, String) {
    let band = relevance.band(scale).map_or_else(String::new, |band| {
        let gauge = "▮".repeat(band.strength()) + &"▯".repeat(4 - band.strength());
        format!(" {gauge} {}", band.label())
    });
    (format_score(relevance.score), band)
}

/// Returns the name of a cluster: its “caption”, its video, the `# labels` of what it shows, or the name of its first
/// file. Labels that no member of the result has are last or, if the search excludes them, omitted.
pub(super) fn subject(cluster: &Cluster, search: &Search) -> String {
    let first = cluster.previews.first();
    if let Some(caption) = cluster.caption() {
        return format!("“{}”", truncate(caption.as_str(), 200));
    }
    if let Some(frame) = first.and_then(|preview| preview.frame.as_ref()) {
        return frame.title().to_string();
    }
    let is_excluded = |label: &SafeText| {
        search.filters.iter().any(|filter| match filter {
            Filter::Labels(LabelRule::NotOneOf, labels) => {
                labels.as_slice().iter().any(|excluded| excluded.as_str() == label.received())
            }
            _ => false,
        })
    };
    let labels = cluster.labels.iter().filter(|label| !is_metadata_label(label.as_str()));
    let mut labels: Vec<&SafeText> = labels.filter(|label| !is_excluded(label)).collect();
    // Thousands of members may be loaded, so their labels are collected once.
    let of_members: HashSet<&SafeText> =
        cluster.previews.iter().flat_map(|it| &it.labels).collect();
    labels.sort_by_key(|label| !of_members.contains(label));
    let labels: Vec<&str> = labels.into_iter().take(3).map(SafeText::as_str).collect();
    if labels.is_empty() {
        return first.map_or_else(|| cluster.id.short(), |preview| preview.file_name.to_string());
    }
    format!("# {}", labels.join(", "))
}
