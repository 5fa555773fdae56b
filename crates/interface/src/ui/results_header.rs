//! Builds the texts around the results: the heading in the frame, the line above the tiles, and the
//! tabs.

use tessera_model::{EntityType, Status, text::count_with_noun};

use crate::ui::prelude::*;
use crate::{
    app::{
        MissingMembers, Results, View,
        results_header::{
            LEGEND_GAP, RankingText, browsed_text, results_header_rows, results_notice,
            results_notice_rows,
        },
        view::sort_filter::SortOrder,
    },
    drawing::ClickTarget,
    ui::tile,
};

/// The legend to use if there is no room for its bands.
const SHORT_LEGEND: &str = "lower is closer";
/// The columns of a name that are kept before the legend is shortened instead.
const MIN_NAME: usize = 12;

/// The columns between two parts of the heading.
const SEPARATOR_CELLS: usize = 3;
/// The maximum columns of a cluster's name in the frame.
const MAX_CLUSTER_NAME: usize = 40;

/// Returns the heading for `cells` cells. The name of a cluster and the position are shortened.
pub(super) fn heading(ctx: &DrawContext, view: &View, cells: usize) -> String {
    let app = ctx.app;
    let mut parts = Vec::new();
    if app.dataset().is_some_and(|dataset| dataset.status == Status::PartialIndex) {
        parts.push("not reindexed yet".to_owned());
    }
    if app.results().page().is_some_and(|page| page.is_bounded) {
        parts.push("only the nearest media".to_owned());
    }
    let used: usize = parts.iter().map(|part| display_width(part) + SEPARATOR_CELLS).sum();
    parts.extend(position_text(ctx, view, cells.saturating_sub(used)));
    if view.search.entity == EntityType::Objects {
        parts.push(EntityType::Objects.as_str().to_owned());
    }
    parts.push(format!("granularity {}", view.search.granularity.level()));
    if view.computed.is_none() && (view.search.page > 0 || app.results().may_have_next_page()) {
        parts.push(format!("page {}", view.search.page + 1));
    }
    if let Some(page) = app.results().page() {
        let counts = [(page.repeated, "repeated"), (page.skipped, "unreadable")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        parts.extend(counts.map(|(count, what)| format!("{count} {what}")));
    }
    parts.join(" · ")
}

/// Describes which clusters of the search are on the page, such as `clusters 801-900 of 1,234`. The service reports no
/// total, so the total is known only after the last page was loaded.
fn position_text(ctx: &DrawContext, view: &View, cells: usize) -> Option<String> {
    let app = ctx.app;
    if let Some(cluster) = app.results().cluster().filter(|_| view.members_top_row.is_some()) {
        let what = "members of ";
        let free = cells.saturating_sub(display_width(what)).min(MAX_CLUSTER_NAME);
        return Some(format!("{what}{}", truncate(&tile::subject(cluster, &view.search), free)));
    }
    let Some(range) = app.results().page_range() else {
        let clusters = app.results().page()?.clusters.len();
        return Some(count_with_noun(clusters, "cluster", "clusters"));
    };
    let is_all = range.first == 1 && range.total == Some(range.last);
    if is_all {
        return Some(count_with_noun(range.last, "cluster", "clusters"));
    }
    let [first, last] = [range.first, range.last].map(group_digits);
    let total =
        range.total.map_or_else(String::new, |total| format!(" of {}", group_digits(total)));
    let forms = [
        format!("clusters {first}-{last}{total}"),
        format!("clusters {first}-{last}"),
        format!("{first}-{last}"),
    ];
    Some(first_fitting(&forms, cells).to_owned()).filter(|text| !text.is_empty())
}

pub(super) fn status_line(ctx: &mut DrawContext, inside: Rect, view: &View) {
    let theme = ctx.theme;
    let rows = results_header_rows(ctx.app, inside).min(inside.height);
    let notice_rows = results_notice_rows(ctx.app, inside).min(rows);
    let has_legend_row = rows > notice_rows;
    let cells = usize::from(inside.width).saturating_sub(1);
    if let Some(text) = results_notice(ctx.app) {
        let notice = Line::from(vec![Span::raw(" "), Span::styled(text, theme.attention)]);
        ctx.put_lines(Rect { height: notice_rows, ..inside }, &[notice]);
    } else {
        draw_query(ctx, inside, view, cells, has_legend_row);
    }
    if let Some(text) = ctx.app.results().ranking_text().filter(|_| has_legend_row) {
        let rows = Rect { height: rows, ..inside };
        let legend = Line::styled(format!(" {}", text.legend), theme.dim);
        ctx.put_lines(below(rows, notice_rows), &[legend]);
    }
}

/// Draws the line above the tiles: what is shown, or how the page is arranged.
fn draw_query(
    ctx: &mut DrawContext,
    inside: Rect,
    view: &View,
    cells: usize,
    has_legend_row: bool,
) {
    let theme = ctx.theme;
    let first = members_text(ctx, view)
        .map(|text| vec![(text, theme.dim)])
        .or_else(|| {
            arrangement_text(ctx.app.results(), view).map(|text| vec![(text, theme.attention)])
        })
        .unwrap_or_else(|| query_text(ctx, view, cells, has_legend_row));
    let mut parts = vec![(" ".to_owned(), theme.dim)];
    parts.extend(first);
    ctx.put(inside, 0, &parts);
}

/// Describes how many members of a cluster are shown, and why the others are not.
fn members_text(ctx: &DrawContext, view: &View) -> Option<String> {
    view.members_top_row?;
    let results = ctx.app.results();
    let cluster = results.cluster()?;
    let shown = cluster.previews.len();
    let Some(missing) = results.missing_members() else {
        return Some(match shown {
            1 => "the only member of this cluster".to_owned(),
            _ => format!("all {} members of this cluster", group_digits(shown as u64)),
        });
    };
    let shown = match cluster.size() {
        Some(size) => format!("{} of {} members", group_digits(shown as u64), group_digits(size)),
        None => count_with_noun(shown, "member", "members"),
    };
    let others = match missing {
        MissingMembers::NotYet => "moving on loads more".to_owned(),
        MissingMembers::Failed(failure) => failure.message.to_string(),
        MissingMembers::NotListed if view.computed.is_some() => {
            "only loaded ones are listed here; an export has all".to_owned()
        }
        MissingMembers::NotListed => {
            "the service lists no more; f finds others, an export has all".to_owned()
        }
    };
    Some(format!("{shown}: {others}"))
}

/// Describes how the program filters, sorts and folds the loaded page, which the service does not
/// do.
pub fn arrangement_text(results: &Results, view: &View) -> Option<String> {
    let options = &view.list_options;
    let all = results.page()?.clusters.len();
    let visible = results.visible_clusters();
    let folded: usize = visible.iter().map(|cluster| cluster.folded.len()).sum();
    let mut parts = Vec::new();
    if !options.filter.is_empty() {
        let matching = visible.len() + folded;
        let filter = SafeText::name(&options.filter);
        parts.push(format!("{matching} of {all} loaded match “{filter}”, Esc clears"));
    }
    if let Some(order) = view.search.order {
        parts.push(format!("whole result sorted by {}", order.description()));
    }
    if options.order != SortOrder::default() {
        parts.push(format!("loaded page sorted by {}", options.order.name()));
    }
    if options.fold {
        parts.push(format!("{folded} with equal score folded"));
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Describes the query in words, followed by its legend unless the legend has a row of its own. The name is cut before
/// the legend is.
fn query_text(
    ctx: &DrawContext,
    view: &View,
    cells: usize,
    has_legend_row: bool,
) -> Vec<(String, Style)> {
    let theme = ctx.theme;
    if let Some(computed) = &view.computed {
        return vec![(computed.label.to_string(), theme.attention)];
    }
    let Some(RankingText { subject: (kind, name), legend }) = ctx.app.results().ranking_text()
    else {
        let order = match ctx.app.has_local_service() {
            true if view.search.filters.is_empty() => "largest clusters first",
            true => "in the order of the whole dataset",
            false => "in the order of the service",
        };
        return vec![(format!("{}, {order}", browsed_text(&view.search)), theme.dim)];
    };
    let free = cells.saturating_sub(display_width(kind) + MIN_NAME.min(display_width(name)));
    let legends = [legend, SHORT_LEGEND].map(|text| format!("{}{text}", " ".repeat(LEGEND_GAP)));
    let legend = if has_legend_row { "" } else { first_fitting(&legends, free) };
    let free = cells.saturating_sub(display_width(kind) + display_width(legend));
    vec![
        (kind.to_owned(), theme.dim),
        (truncate(name, free), theme.accent),
        (legend.to_owned(), theme.dim),
    ]
}

const MAX_TAB_TITLE: usize = 16;

/// Draws the tabs if there is more than one. A click on a tab goes there.
pub(super) fn tabs(ctx: &mut DrawContext, area: Rect) {
    let Some(tabs) = ctx.app.results().tabs().filter(|tabs| tabs.all().len() > 1) else {
        return;
    };
    let title = |view: &View| truncate(view.title().as_str(), MAX_TAB_TITLE);
    // The sign distinguishes the numbers of tabs from those of panes.
    let titles: Vec<String> = (1..)
        .zip(tabs.all())
        .map(|(number, tab)| format!(" #{number} {} ", title(&tab.view)))
        .collect();
    let fits =
        titles.iter().map(|title| display_width(title)).sum::<usize>() <= usize::from(area.width);
    let active = tabs.active();
    let mut rest = area;
    for (index, title) in titles.into_iter().enumerate() {
        let is_active = index == active;
        let text = if fits || is_active { title } else { format!(" #{} ", index + 1) };
        let (tab, others) = split_columns(rest, text_cells(&text));
        let style = if is_active { ctx.theme.selected } else { ctx.theme.dim };
        ctx.put(tab, 0, &[(text, style)]);
        if let Some(action) = Action::of_tab(index) {
            ctx.click(tab, ClickTarget::Action(action));
        }
        rest = others;
    }
}
