//! The basket: what is marked for an export, a line each, with where it is.

use ratatui::{layout::Rect, style::Style};

use super::select_row;
use crate::{
    app::{
        App, Pane,
        basket::{Standing, counted},
        pane::scrolled,
    },
    ui::{
        Screen, Theme,
        widget::{clip, frame, grouped, message, put},
    },
};
use tessera_model::{Mark, Marked, MarkedCluster, Selection, Totals};

/// The sign of a mark, with a space behind it; nothing for what is not marked.
pub(in crate::ui) fn sign(theme: &Theme, standing: Standing) -> (&'static str, Style) {
    match standing {
        Standing::Unmarked => ("", theme.text),
        Standing::Singles(_) => ("✓ ", theme.success),
        Standing::Whole => ("● ", theme.success),
        Standing::Part(_) => ("◐ ", theme.success),
        Standing::Stale => ("⚠ ", theme.moving),
    }
}

/// How much is marked, in a few words: `basket 14 (≈431 media)`.
pub(in crate::ui) fn content(app: &App) -> Option<String> {
    let totals = app.selection()?.totals();
    let rows = grouped(totals.rows());
    (totals.marks() > 0)
        .then(|| format!("basket {} ({}{rows} media)", totals.marks(), totals.sign()))
}

/// The pane.
pub(in crate::ui) fn basket(screen: &mut Screen, area: Rect) {
    let app = screen.app;
    let totals = app.selection().map(Selection::totals).unwrap_or_default();
    let inside = frame(screen, area, Pane::Basket, &heading(&totals));
    let rows = app.basket_rows();
    if rows.is_empty() {
        let lines =
            ["Nothing is marked.", "In the results space marks a cluster, v a range, V the page."];
        return message(screen, inside, screen.theme.dim, &lines);
    }
    let list = Rect { height: inside.height.saturating_sub(2), ..inside };
    let cursor = app.basket_row.min(rows.len() - 1);
    let top = scrolled(0, cursor, usize::from(list.height));
    for (row, mark) in (0..list.height).zip(&rows[top..]) {
        line(screen, list, row, mark);
        let selected = app.focus == Pane::Basket && top + usize::from(row) == cursor;
        select_row(screen, list, row, selected);
    }
    let theme = screen.theme;
    for (row, words) in (list.height..).zip([sum(&totals), seen(&totals)]) {
        put(screen, inside, row, &[(" ", theme.dim), (&words, theme.dim)]);
    }
}

fn heading(totals: &Totals) -> String {
    match (totals.marks(), totals.stale) {
        (0, _) => String::new(),
        (marks, 0) => marks.to_string(),
        (marks, stale) => format!("{marks} · {stale} to recheck"),
    }
}

/// `3 clusters of 1 204 members − 2 left out, 9 single media: ≈1 211 rows`.
pub(in crate::ui) fn sum(totals: &Totals) -> String {
    let mut parts = Vec::new();
    if totals.clusters > 0 {
        let clusters = counted(totals.clusters, "cluster", "clusters");
        let out = match totals.excluded {
            0 => String::new(),
            out => format!(" − {out} left out"),
        };
        parts.push(format!("{clusters} of {} members{out}", grouped(totals.members)));
    }
    if totals.media > 0 {
        parts.push(counted(totals.media, "single medium", "single media"));
    }
    format!("{}: {}{} rows", parts.join(", "), totals.sign(), grouped(totals.rows()))
}

/// How much of the clusters was seen, and what is not known of them.
pub(in crate::ui) fn seen(totals: &Totals) -> String {
    if totals.clusters == 0 {
        return String::new();
    }
    let more = match totals.uncounted {
        0 => String::new(),
        many => {
            let clusters = counted(many, "cluster", "clusters");
            format!(" · {clusters} may hold more than was counted")
        }
    };
    format!("previews seen {} of {} members{more}", totals.seen, grouped(totals.members))
}

/// One mark with where it is.
pub(in crate::ui) fn line(screen: &mut Screen, list: Rect, row: u16, mark: &Mark) {
    let (app, theme) = (screen.app, screen.theme);
    let (standing, size) = match &mark.what {
        Marked::Medium(..) => (Standing::Singles(1), "1 medium".to_owned()),
        Marked::Cluster(cluster) => (standing(cluster), members(cluster)),
    };
    let (glyph, style) = sign(theme, standing);
    let place = match (standing, app.place_of(mark)) {
        (Standing::Stale, _) => "stale: r rechecks on this page, Enter looks for it",
        (_, Some(_)) => "here",
        (_, None) => "hidden",
    };
    let name = format!("{:<24} ", clip(mark.name.as_str(), 24));
    let kind = format!("{:<7} ", mark.entity.word());
    let size = format!("{size:<18} ");
    let parts = [
        (" ", theme.text),
        (glyph, style),
        (&name, theme.text),
        (&size, theme.text),
        (&kind, theme.dim),
        (place, if standing == Standing::Stale { theme.moving } else { theme.dim }),
    ];
    put(screen, list, row, &parts);
}

fn standing(cluster: &MarkedCluster) -> Standing {
    match cluster.exclude.len() {
        _ if cluster.stale => Standing::Stale,
        0 => Standing::Whole,
        excluded => Standing::Part(excluded),
    }
}

/// `88 members`, `88−2 members`, `≥31 members`.
fn members(cluster: &MarkedCluster) -> String {
    let Some(members) = cluster.members else { return "size not told".to_owned() };
    let least = if cluster.at_least { "≥" } else { "" };
    let out = match cluster.exclude.len() {
        0 => String::new(),
        out => format!("−{out}"),
    };
    let noun = if members == 1 { "member" } else { "members" };
    format!("{least}{}{out} {noun}", grouped(members))
}
