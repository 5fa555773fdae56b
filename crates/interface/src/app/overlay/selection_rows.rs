//! Shows a selection: its totals as text, and its entries as rows. The export form, the basket pane and the tiles of
//! the results share this code.

use ratatui::{layout::Rect, style::Style};
use tessera_model::{
    EntryContent, SelectedCluster, Selection, SelectionEntry, SelectionTotals,
    text::{group_digits, grouped_with_noun, truncate},
};
use tessera_picture::Protocol;

use crate::{
    app::{
        App, DrawContext,
        basket::{SelectionState, count_with_noun},
        pane::{inner_area, scroll_top},
        view::pictures::{VisiblePicture, preview_picture},
    },
    drawing::{Theme, display_width, wrapped_rows},
};

/// The columns of the number of members.
const SIZE_WIDTH: usize = 18;

/// Returns the glyph of a selection state with a space. Unselected items have an empty glyph.
pub(crate) fn mark_glyph(theme: &Theme, state: SelectionState) -> (&'static str, Style) {
    match state {
        SelectionState::Unselected => ("", theme.text),
        SelectionState::Items(_) => ("✓ ", theme.success),
        SelectionState::Whole => ("● ", theme.success),
        SelectionState::Partial(_) => ("◐ ", theme.success),
        SelectionState::Stale => ("⚠ ", theme.attention),
    }
}

/// Returns a text like `3 clusters of 1 204 members − 2 excluded, 9 media items: ≈1 211 rows`.
pub(crate) fn totals_text(totals: &SelectionTotals) -> String {
    let mut parts = Vec::new();
    if totals.clusters > 0 {
        let clusters = count_with_noun(totals.clusters, "cluster", "clusters");
        let excluded = match totals.excluded {
            0 => String::new(),
            excluded => format!(" − {excluded} excluded"),
        };
        let members = grouped_with_noun(totals.members, "member", "members");
        parts.push(format!("{clusters} of {members}{excluded}"));
    }
    if totals.media > 0 {
        parts.push(count_with_noun(totals.media, "media item", "media items"));
    }
    let rows = grouped_with_noun(totals.export_rows(), "row", "rows");
    format!("{}: {}{rows}", parts.join(", "), totals.estimate_sign())
}

/// Says how many members of the clusters were shown, and how many clusters may be larger.
pub(crate) fn previews_seen_text(totals: &SelectionTotals) -> String {
    if totals.clusters == 0 {
        return String::new();
    }
    let more = match totals.uncounted {
        0 => String::new(),
        many => {
            format!(" · {} may have more members", count_with_noun(many, "cluster", "clusters"))
        }
    };
    let members = grouped_with_noun(totals.members, "member", "members");
    format!("{} of {members} are shown as previews{more}", totals.previewed)
}

/// Returns what is said about the selection as a whole.
pub fn totals_lines(app: &App) -> Vec<String> {
    let totals = app.baskets.selection(&app.results).map(Selection::totals).unwrap_or_default();
    let sign = app.setup.sign("⚠ ", "");
    let stale =
        (totals.stale > 0).then(|| format!("{sign}stale: r rechecks this page, Enter shows it"));
    let mut lines = vec![totals_text(&totals), previews_seen_text(&totals)];
    lines.extend(stale);
    lines.retain(|line| !line.is_empty());
    lines
}

/// Returns the columns that the glyph, the size, the kind and the visibility of an entry leave for its name.
pub(crate) fn name_width(list: Rect) -> usize {
    const OTHERS: usize = 1 + 2 + 1 + SIZE_WIDTH + 1 + 8 + 10;
    usize::from(list.width).saturating_sub(OTHERS).clamp(8, 40)
}

/// The rows and columns of the picture beside an entry.
const PICTURE_SIZE: (u16, u16) = (3, 8);
/// The number of entries with pictures for which the pane must have room. Otherwise, an entry is a single line.
const MIN_PICTURES: u16 = 3;

/// The areas of what the basket pane shows.
pub(crate) struct BasketRows<'a> {
    /// The visible entries with their indexes.
    pub entries: Vec<(usize, &'a SelectionEntry, Rect)>,
    pub has_pictures: bool,
    /// The lines below the entries: the name of the selected entry if the name is cut, and the totals.
    pub footer: Vec<String>,
    pub footer_area: Rect,
}

impl<'a> BasketRows<'a> {
    pub(crate) fn new(app: &'a App, pane: Rect) -> Self {
        let inner = inner_area(pane);
        let entries = app.baskets.rows(&app.results);
        let cursor = app.baskets.cursor().min(entries.len().saturating_sub(1));
        let draws = app.screen.has_room_for_pictures() && app.screen.protocol != Protocol::None;
        let mut footer = totals_lines(app);
        let rows_of = |footer: &[String]| {
            let rows = footer.iter().map(|text| wrapped_rows(text, inner.width.saturating_sub(1)));
            rows.sum::<u16>().min(inner.height / 2)
        };
        let (rows, _) = PICTURE_SIZE;
        let has_pictures = draws && inner.height >= rows_of(&footer) + MIN_PICTURES * rows;
        let name = entries.get(cursor).map(|entry| entry.name.to_string()).unwrap_or_default();
        if !has_pictures && display_width(&name) > name_width(inner) {
            footer.insert(0, name);
        }
        let footer_rows = rows_of(&footer);
        let list = Rect { height: inner.height - footer_rows, ..inner };
        let rows = if has_pictures { rows } else { 1 };
        let visible = usize::from(list.height / rows);
        let entries = entries.into_iter().enumerate().skip(scroll_top(0, cursor, visible));
        let tops = (list.y..list.bottom()).step_by(usize::from(rows)).take(visible);
        let entries = entries
            .zip(tops)
            .map(|((index, entry), y)| (index, entry, Rect { y, height: rows, ..list }));
        let footer_area = Rect { y: list.bottom(), height: footer_rows, ..inner };
        Self { entries: entries.collect(), has_pictures, footer, footer_area }
    }

    /// Returns the index of the entry in a row of the screen.
    pub(crate) fn index_at(&self, row: u16) -> Option<usize> {
        let hit = self.entries.iter().find(|(_, _, area)| (area.y..area.bottom()).contains(&row));
        hit.map(|(index, ..)| *index)
    }

    /// Returns the pictures of the entries whose previews are loaded, with their areas.
    pub(crate) fn pictures(&self, app: &App) -> Vec<(Rect, VisiblePicture)> {
        let entries = self.entries.iter().filter(|_| self.has_pictures);
        let pictures = entries.filter_map(|(_, entry, area)| {
            let area = Rect { x: area.x + 1, width: PICTURE_SIZE.1, ..*area };
            let (_, preview) = app.results.loaded_member(entry.representative()?)?;
            let canvas = app.screen.canvas(area.width, area.height);
            Some((area, preview_picture(preview, canvas)?))
        });
        pictures.collect()
    }
}

/// Draws an entry beside its picture: its selection state and name, and below them its size, and whether it is on the
/// page. Returns the area of this text.
pub(crate) fn draw_entry_beside_picture(
    ctx: &mut DrawContext,
    area: Rect,
    entry: &SelectionEntry,
) -> Rect {
    let theme = ctx.theme;
    let (_, columns) = PICTURE_SIZE;
    let text =
        Rect { x: area.x + columns + 2, width: area.width.saturating_sub(columns + 2), ..area };
    let (state, size) = state_and_size(entry);
    let (glyph, style) = mark_glyph(theme, state);
    ctx.put(text, 0, &[(glyph, style), (entry.name.as_str(), theme.text)]);
    let (visibility, visibility_style) = visibility(ctx, entry, state);
    let kind = format!("  {size} · {} · ", entry.entity.as_str().to_lowercase());
    ctx.put(text, 1, &[(kind.as_str(), theme.dim), (visibility, visibility_style)]);
    text
}

fn state_and_size(entry: &SelectionEntry) -> (SelectionState, String) {
    match &entry.content {
        EntryContent::MediaItem(..) => (SelectionState::Items(1), "1 media item".to_owned()),
        EntryContent::Cluster(cluster) => {
            let state = SelectionState::of_cluster(cluster, cluster.excluded.len());
            (state, member_count(cluster))
        }
    }
}

/// Says whether an entry is on the page.
fn visibility(
    ctx: &DrawContext,
    entry: &SelectionEntry,
    state: SelectionState,
) -> (&'static str, Style) {
    match (state, ctx.app.results.tile_of_entry(entry)) {
        (SelectionState::Stale, _) => ("stale", ctx.theme.attention),
        (_, Some(_)) => ("here", ctx.theme.dim),
        (_, None) => ("not shown", ctx.theme.dim),
    }
}

/// Draws an entry in a row: its selection state, name and size, and whether it is on the page.
pub(crate) fn draw_entry(ctx: &mut DrawContext, row: Rect, entry: &SelectionEntry) {
    let theme = ctx.theme;
    let (state, size) = state_and_size(entry);
    let (glyph, style) = mark_glyph(theme, state);
    let (visibility, visibility_style) = visibility(ctx, entry, state);
    let width = name_width(row);
    let name = truncate(entry.name.as_str(), width);
    let gap = " ".repeat(width.saturating_sub(display_width(&name)) + 1);
    let parts = [
        (" ".to_owned(), theme.text),
        (ctx.app.setup.sign(glyph, "").to_owned(), style),
        (format!("{name}{gap}{size:<SIZE_WIDTH$} "), theme.text),
        (format!("{:<7} ", entry.entity.as_str()), theme.dim),
        (visibility.to_owned(), visibility_style),
    ];
    ctx.put(row, 0, &parts);
}

/// Returns a text like `88 members`, `88−2 members` or `≥31 members`.
fn member_count(cluster: &SelectedCluster) -> String {
    let Some(members) = cluster.member_count else { return "size unknown".to_owned() };
    let least = if cluster.count_is_minimum { "≥" } else { "" };
    let excluded = match cluster.excluded.len() {
        0 => String::new(),
        excluded => format!("−{excluded}"),
    };
    let noun = if members == 1 { "member" } else { "members" };
    format!("{least}{}{excluded} {noun}", group_digits(members))
}
