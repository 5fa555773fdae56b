//! The basket: the selected clusters and media items, and whether they are on screen.

use ratatui::{layout::Rect, style::Style, text::Line};

use crate::{
    app::{
        App, Pane,
        basket::{SelectionState, count_with_noun},
        pane::scroll_top,
    },
    ui::{
        DrawContext, Theme,
        widget::{below, display_width, group_digits, rows_of_line, truncate},
    },
};
use tessera_model::{
    EntryContent, SelectedCluster, Selection, SelectionEntry, SelectionTotals,
    text::grouped_with_noun,
};

/// The columns of the number of members.
const SIZE_WIDTH: usize = 18;

/// The glyph of a selection state with a space; empty for unselected items.
pub(in crate::ui) fn mark_glyph(theme: &Theme, state: SelectionState) -> (&'static str, Style) {
    match state {
        SelectionState::Unselected => ("", theme.text),
        SelectionState::Items(_) => ("✓ ", theme.success),
        SelectionState::Whole => ("● ", theme.success),
        SelectionState::Partial(_) => ("◐ ", theme.success),
        SelectionState::Stale => ("⚠ ", theme.moving),
    }
}

/// The size of the selection: `basket 14 (≈431 media)`.
pub(in crate::ui) fn basket_summary(app: &App) -> Option<String> {
    let totals = app.selection()?.totals();
    let rows = grouped_with_noun(totals.export_rows(), "media item", "media");
    (totals.entries() > 0)
        .then(|| format!("basket {} ({}{rows})", totals.entries(), totals.estimate_sign()))
}

pub(in crate::ui) fn basket(ctx: &mut DrawContext, area: Rect) {
    let app = ctx.app;
    let totals = app.selection().map(Selection::totals).unwrap_or_default();
    let inside = ctx.pane_frame(area, Pane::Basket, &heading(&totals));
    let rows = app.basket_rows();
    if rows.is_empty() {
        let lines = [
            "Nothing is selected.",
            "In the results Space selects a cluster, v a range, V the page.",
        ];
        return ctx.centered_message(inside, ctx.theme.dim, &lines);
    }
    let stale =
        if totals.stale > 0 { "⚠ stale: r rechecks this page, Enter shows it" } else { "" };
    let footer: Vec<Line> = [totals_text(&totals), previews_seen_text(&totals), stale.to_owned()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(|text| Line::styled(format!(" {text}"), ctx.theme.dim))
        .collect();
    let cells = usize::from(inside.width);
    let footer_rows: usize = footer.iter().map(|line| rows_of_line(line, cells)).sum();
    let footer_rows = u16::try_from(footer_rows).unwrap_or(u16::MAX).min(inside.height / 2);
    let list = Rect { height: inside.height - footer_rows, ..inside };
    ctx.put_lines(below(inside, list.height), &footer);
    let cursor = app.baskets().cursor().min(rows.len() - 1);
    let name = rows[cursor].name.as_str();
    let is_cut = display_width(name) > name_width(list);
    let list = if is_cut { ctx.text_below(list, name) } else { list };
    let top = scroll_top(0, cursor, usize::from(list.height));
    for (row, (index, entry)) in (0..list.height).zip(rows.iter().enumerate().skip(top)) {
        draw_entry(ctx, list, row, entry);
        ctx.select_row(list, row, app.panes().focus == Pane::Basket && index == cursor);
    }
}

fn heading(totals: &SelectionTotals) -> String {
    match (totals.entries(), totals.stale) {
        (0, _) => String::new(),
        (entries, 0) => entries.to_string(),
        (entries, stale) => format!("{entries} · {stale} to recheck"),
    }
}

/// `3 clusters of 1 204 members − 2 excluded, 9 media items: ≈1 211 rows`.
pub(in crate::ui) fn totals_text(totals: &SelectionTotals) -> String {
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

/// How many members of the clusters were shown, and how many clusters may be larger.
pub(in crate::ui) fn previews_seen_text(totals: &SelectionTotals) -> String {
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

/// The columns of a name: those that the glyph, the size, the kind, and the visibility leave.
fn name_width(list: Rect) -> usize {
    const OTHERS: usize = 1 + 2 + 1 + SIZE_WIDTH + 1 + 8 + 7;
    usize::from(list.width).saturating_sub(OTHERS).clamp(8, 40)
}

pub(in crate::ui) fn draw_entry(
    ctx: &mut DrawContext,
    list: Rect,
    row: u16,
    entry: &SelectionEntry,
) {
    let (app, theme) = (ctx.app, ctx.theme);
    let (state, size) = match &entry.content {
        EntryContent::MediaItem(..) => (SelectionState::Items(1), "1 media item".to_owned()),
        EntryContent::Cluster(cluster) => (cluster_state(cluster), member_count(cluster)),
    };
    let (glyph, style) = mark_glyph(theme, state);
    let (visibility, visibility_style) = match (state, app.tile_of_entry(entry)) {
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

/// `88 members`, `88−2 members`, `≥31 members`.
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
