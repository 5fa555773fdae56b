//! Selects with keys: an item, a range, a page, or all clusters of a search. All clusters are selected page by page,
//! until the last page or until the user presses a key.

use std::{mem, ops::RangeInclusive};

use tessera_model::{
    Basket, ClusterId, EntityType, Selection, SelectionChange, SelectionEntry, ToggleOutcome,
    basket::{cluster_entry, media_item_entry},
    text::grouped_with_noun,
};

use crate::app::prelude::*;
use crate::app::{
    Baskets,
    basket::{SelectAllPages, cluster_count, count_with_noun},
};

type BasketChange = fn(&mut Basket, Vec<SelectionEntry>) -> SelectionChange;

/// Toggles what is under the cursor: a cluster, or an item in the detail.
pub(in crate::app) fn toggle_selected(app: &mut App) {
    if app.panes.focus == Pane::Detail || app.results.shows_members() {
        toggle_preview_selected(app);
    } else if app.baskets.pending.range.is_some() {
        select_range(app);
    } else {
        let cursor = app.results.view().map_or(0, |view| view.cursor);
        let change = change_tiles(app, cursor..=cursor, Basket::toggle);
        match change {
            Some(SelectionChange { added: 0 | 1, removed: 0 | 1, absorbed: 0 }) => {}
            _ => app.outbox.notify_selection_change(change),
        }
    }
}

/// Toggles the selection of the preview. Inside a selected cluster, this excludes the preview
/// or includes it again.
pub(in crate::app) fn toggle_preview_selected(app: &mut App) {
    let App { baskets, results, outbox, .. } = app;
    let (Some(view), Some(cluster), Some(preview)) =
        (results.view(), results.cluster(), results.preview())
    else {
        return;
    };
    let entry = media_item_entry(preview, cluster, &view.search);
    let outcome = baskets.edit(|basket| basket.toggle_media_item(entry), results, outbox);
    let name = &preview.file_name;
    let text = match outcome {
        Some(ToggleOutcome::Excluded) => format!("{name} is excluded from its selected cluster"),
        Some(ToggleOutcome::Included) => format!("{name} is included in its cluster again"),
        Some(ToggleOutcome::Selected | ToggleOutcome::Deselected) | None => return,
    };
    outbox.notify(Level::Success, text);
}

/// Starts a range at the cursor. The second call selects the range.
pub(in crate::app) fn select_range(app: &mut App) {
    let Some(range) = app.baskets.selected_tile_range(&app.results) else {
        app.baskets.pending.range = app.results.cluster().map(|cluster| cluster.id);
        return;
    };
    app.baskets.pending.range = None;
    select_tiles(app, range);
}

/// Selects the clusters on the page that the filter shows.
pub(in crate::app) fn select_page(app: &mut App) {
    select_tiles(app, 0..=usize::MAX);
}

fn select_tiles(app: &mut App, tiles: RangeInclusive<usize>) {
    let change = change_tiles(app, tiles, Basket::select);
    app.outbox.notify_selection_change(change);
}

fn change_tiles(
    app: &mut App,
    tiles: RangeInclusive<usize>,
    change: BasketChange,
) -> Option<SelectionChange> {
    let view = app.results.view()?;
    let found_by = |id| Search { filters: view.filters_of(id).to_vec(), ..view.search.clone() };
    let clusters = app.results.clusters_of_tiles(tiles).into_iter();
    let entries = clusters.map(|cluster| cluster_entry(cluster, &found_by(cluster.id))).collect();
    app.baskets.edit(|basket| change(basket, entries), &app.results, &mut app.outbox)
}

impl Outbox {
    fn notify_selection_change(&mut self, change: Option<SelectionChange>) {
        let Some(SelectionChange { added, removed, absorbed }) = change else { return };
        let mut text = match (added, removed) {
            (0, 0) => "already selected".to_owned(),
            (added, 0) => format!("{} selected", cluster_count(added)),
            (0, removed) => format!("{} deselected", cluster_count(removed)),
            (added, removed) => format!("{} selected, {removed} deselected", cluster_count(added)),
        };
        if absorbed > 0 {
            text += ", replacing ";
            text += &count_with_noun(absorbed, "selected media item", "selected media items");
        }
        self.notify(Level::Success, text + "; u undoes it");
    }
}

impl SelectAllPages {
    /// Selects the clusters of a page, or the rest of them.
    fn change_page(&mut self, basket: &mut Basket, search: &Search, page: &Page) {
        // The first change begins an undo step, to which the other pages belong as well.
        let is_first = self.clusters_changed == 0;
        if self.rest {
            let unchanged =
                basket.select_rest(&page.clusters, search, &mut self.unplaced, is_first);
            self.clusters_changed += page.clusters.len() - unchanged;
            self.unchanged += unchanged;
            return;
        }
        let entries = page.clusters.iter().map(|cluster| cluster_entry(cluster, search));
        let change =
            if is_first { basket.select(entries) } else { basket.select_in_last_step(entries) };
        self.clusters_changed += change.added;
    }

    /// Deselects what no page has shown, in the same undo step.
    fn deselect_unplaced(&mut self, basket: &mut Basket) {
        self.deselected = basket.remove(mem::take(&mut self.unplaced));
        if self.deselected > 0 && self.clusters_changed > 0 {
            basket.merge_last_steps(2);
        }
    }

    /// Says what was selected so far.
    pub fn summary(&self) -> String {
        let pages = grouped_with_noun(self.pages_done as u64, "page", "pages");
        let added = grouped_with_noun(self.clusters_changed as u64, "cluster", "clusters");
        if !self.rest {
            return format!("selected {added} from {pages}");
        }
        let unchanged = match self.unchanged {
            0 => String::new(),
            count => {
                format!(", except for {} that other filters have selected", cluster_count(count))
            }
        };
        // Only some members of a cluster are shown, so an entry that no page showed may be a member of a selected
        // cluster.
        let unplaced = match self.deselected {
            0 => String::new(),
            count => {
                let entries = count_with_noun(count, "entry", "entries");
                format!(", which may include {entries} that its pages do not show")
            }
        };
        format!("selected the rest of {pages}{unchanged}{unplaced}")
    }
}

/// The number of pages that are loaded before the user has to confirm to continue.
const PAGES_PER_CONFIRMATION: usize = 50;

impl Baskets {
    pub fn selected_tile_range(&self, results: &Results) -> Option<RangeInclusive<usize>> {
        let from = self.pending.range?;
        let page = results.page()?;
        let from = page.clusters.iter().position(|cluster| cluster.id == from)?;
        let from = results.visible_clusters().iter().position(|visible| visible.contains(from))?;
        let to = results.view()?.cursor;
        Some(from.min(to)..=from.max(to))
    }

    /// Starts with the first page, or continues after a pause. `rest` selects what is not selected yet, instead of
    /// what is.
    pub(in crate::app) fn select_all_pages(&mut self, rest: bool, results: &Results) {
        if let Some(all) = &mut self.pending.all_pages {
            all.paused = false;
            return;
        }
        self.pending.range = None;
        let selected = self.selection(results).filter(|_| rest);
        let selected = selected.map(Selection::ordered_entries).unwrap_or_default();
        let unplaced = selected.into_iter().map(SelectionEntry::id).collect();
        self.pending.all_pages = results.view().map(|view| SelectAllPages {
            next_page: Search { page: 0, ..view.search.clone() },
            pages_done: 0,
            rest,
            clusters_changed: 0,
            unchanged: 0,
            unplaced,
            deselected: 0,
            paused: false,
        });
    }

    pub(in crate::app) fn next_page_to_select(&self) -> Option<&Search> {
        self.pending.all_pages.as_ref().filter(|all| !all.paused).map(|all| &all.next_page)
    }

    /// Stops selecting all pages while a page loads. Returns whether one did.
    pub(in crate::app) fn stop_loading(&mut self, outbox: &mut Outbox) -> bool {
        let is_loading = self.next_page_to_select().is_some();
        if is_loading {
            self.finish_select_all("stopped", None, outbox);
        }
        is_loading
    }

    /// Ends a range that does not start on the page on screen.
    pub(in crate::app) fn drop_lost_range(&mut self, results: &Results) {
        let Some(page) = results.page() else { return };
        let is_shown = |id: &ClusterId| page.clusters.iter().any(|cluster| cluster.id == *id);
        self.pending.range = self.pending.range.filter(is_shown);
    }

    /// Cancels a range in the results, or the selection of all pages. Returns whether there was one.
    pub(in crate::app) fn cancel_pending(&mut self, focus: Pane, outbox: &mut Outbox) -> bool {
        if focus == Pane::Results && self.pending.range.take().is_some() {
            return true;
        }
        let going = self.pending.all_pages.is_some();
        if going {
            self.finish_select_all("stopped", None, outbox);
        }
        going
    }

    fn finish_select_all(&mut self, why: &str, failure: Option<&Failure>, outbox: &mut Outbox) {
        let Some(all) = self.pending.all_pages.take() else { return };
        let text = format!("{why}: {}", all.summary());
        match failure {
            Some(failure) => outbox.notify(Level::Error, format!("{text}; {failure}")),
            None => outbox.notify(Level::Success, text + "; u undoes it"),
        }
    }
}

/// Replaces the selection by what the search finds and is not selected. If pages cannot show what the rest consists of,
/// the local service computes it, so that no action applies to a file that the user has kept.
pub(in crate::app) fn select_rest(app: &mut App) {
    let App { baskets, results, .. } = app;
    if let (None, Some(view), Some(selected)) =
        (&baskets.pending.all_pages, results.view(), baskets.selection(results))
        && app.setup.deployment == DeploymentKind::Local
        && view.search.entity == EntityType::Images
        && !selected.has_only_clusters_of(&view.search)
    {
        let request = Request::SelectRest(view.search.clone(), selected.items());
        return app.outbox.send(Lane::Rest(view.search.dataset), request);
    }
    baskets.select_all_pages(true, results);
}

pub(in crate::app) fn rest_selected(app: &mut App, dataset: DatasetId, rest: &Selection) {
    let images = grouped_with_noun(rest.len() as u64, "image", "images");
    let text = format!("selected the rest: {images}; u undoes it");
    app.baskets.replace(dataset, rest, &text, &mut app.outbox);
}

pub(in crate::app) fn select_loaded_pages(app: &mut App) {
    while let Some(search) = app.baskets.next_page_to_select().cloned()
        && let Some(page) = app.results.pages.current(&search).cloned()
    {
        select_page_contents(app, &search, &page);
    }
}

/// Stops because a page could not be loaded, and keeps what is selected.
pub(in crate::app) fn select_all_page_failed(app: &mut App, search: &Search, failure: &Failure) {
    if app.baskets.next_page_to_select() == Some(search) {
        let why = format!("page {} could not be loaded", search.page + 1);
        app.baskets.finish_select_all(&why, Some(failure), &mut app.outbox);
    }
}

fn select_page_contents(app: &mut App, search: &Search, page: &Page) {
    let App { baskets, results, outbox, .. } = app;
    let Some(mut all) = baskets.pending.all_pages.take() else { return };
    baskets.edit_of(search.dataset, |basket| all.change_page(basket, search, page), outbox);
    // Requesting the entry keeps the page on screen in the cache.
    if let Some(search_on_screen) = results.view().map(|view| view.search.clone()) {
        results.pages.entry(search_on_screen);
    }
    all.pages_done += 1;
    all.paused = all.pages_done.is_multiple_of(PAGES_PER_CONFIRMATION);
    all.next_page.page += 1;
    let is_last = !page.may_have_next();
    if is_last {
        baskets.edit_of(search.dataset, |basket| all.deselect_unplaced(basket), outbox);
    }
    baskets.pending.all_pages = Some(all);
    if is_last {
        baskets.finish_select_all("all pages loaded", None, outbox);
    }
}
