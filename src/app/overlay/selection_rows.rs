//! Shows a selection: its totals as text, and its entries as rows. The export form, the basket pane and the tiles of
//! the results share this code.

use ratatui::{layout::Rect, style::Style};
use tessera_model::{
    EntryContent, SelectedCluster, SelectionEntry, SelectionTotals,
    text::{group_digits, grouped_with_noun, truncate},
};

use crate::{
    app::{
        DrawContext,
        basket::{SelectionState, count_with_noun},
    },
    drawing::{Theme, display_width},
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
        SelectionState::Stale => ("⚠ ", theme.moving),
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

/// Returns the columns that the glyph, the size, the kind and the visibility of an entry leave for its name.
pub(crate) fn name_width(list: Rect) -> usize {
    const OTHERS: usize = 1 + 2 + 1 + SIZE_WIDTH + 1 + 8 + 7;
    usize::from(list.width).saturating_sub(OTHERS).clamp(8, 40)
}

/// Draws an entry in a row: its selection state, name and size, and whether it is on the page.
pub(crate) fn draw_entry(ctx: &mut DrawContext, list: Rect, row: u16, entry: &SelectionEntry) {
    let (app, theme) = (ctx.app, ctx.theme);
    let (state, size) = match &entry.content {
        EntryContent::MediaItem(..) => (SelectionState::Items(1), "1 media item".to_owned()),
        EntryContent::Cluster(cluster) => (cluster_state(cluster), member_count(cluster)),
    };
    let (glyph, style) = mark_glyph(theme, state);
    let (visibility, visibility_style) = match (state, app.results.tile_of_entry(entry)) {
        (SelectionState::Stale, _) => ("stale", theme.moving),
        (_, Some(_)) => ("here", theme.dim),
        (_, None) => ("hidden", theme.dim),
    };
    let width = name_width(list);
    let name = truncate(entry.name.as_str(), width);
    let gap = " ".repeat(width.saturating_sub(display_width(&name)) + 1);
    let parts = [
        (" ".to_owned(), theme.text),
        (glyph.to_owned(), style),
        (format!("{name}{gap}{size:<SIZE_WIDTH$} "), theme.text),
        (format!("{:<7} ", entry.entity.as_str()), theme.dim),
        (visibility.to_owned(), visibility_style),
    ];
    ctx.put(list, row, &parts);
}

fn cluster_state(cluster: &SelectedCluster) -> SelectionState {
    match cluster.excluded.len() {
        _ if cluster.stale => SelectionState::Stale,
        0 => SelectionState::Whole,
        excluded => SelectionState::Partial(excluded),
    }
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
