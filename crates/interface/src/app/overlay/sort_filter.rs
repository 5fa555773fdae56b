//! Shows the input that filters the loaded datasets or clusters, and the list of their sort orders. The filter applies
//! while it is typed. The typed text can also be searched for in all names of the dataset. A local deployment has such
//! a search. On any other deployment, every page is loaded and searched here.

use tessera_model::{
    Dataset, FileOrder, Filter,
    text::grouped_with_noun,
    vql::{ColumnValue, FileProperty, Operator, Property},
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        overlay::{
            command_list::{CommandList, ListKind},
            fields::edit,
            pick_list::{Command, PickItem},
        },
        view::sort_filter::{ListOptions, SortKey, SortOrder, can_sort_by_score},
    },
    drawing::{split_columns, split_end},
};

#[derive(Clone, Debug)]
pub struct FilterInput {
    /// The pane whose list is filtered: the datasets or the results.
    pub pane: Pane,
    pub text: Input,
}

impl Dialog for FilterInput {
    /// Esc clears the filter and closes the input. Enter on a page without a match searches all names.
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        match chord.key {
            Key::Esc => set_filter(app, self.pane, String::new()),
            Key::Tab if self.can_search_names() => self.search_names(app),
            Key::Enter if self.can_search_names() && app.results.visible_clusters().is_empty() => {
                self.search_names(app);
            }
            Key::Enter => set_filter(app, self.pane, self.text.value().to_owned()),
            _ => {
                edit(&mut self.text, chord);
                return KeyResult::Stay;
            }
        }
        KeyResult::Close
    }

    /// The input is above the hints, so that it covers no row of the list.
    fn area(&self, app: &App) -> Rect {
        let (columns, rows) = app.screen.size;
        Rect::new(0, rows.saturating_sub(2), columns, rows.min(1))
    }

    fn hints(&self) -> &'static str {
        match self.pane {
            Pane::Datasets => "type to filter   Enter apply   Esc clear",
            _ => "type to filter   Enter apply   Tab search all names   Esc clear",
        }
    }

    fn filters_a_pane(&self) -> bool {
        true
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(&mut self.text)
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let (app, theme) = (ctx.app, ctx.theme);
        let (left, all) = match self.pane {
            Pane::Datasets => (app.visible_datasets().len(), app.service_data.dataset_list().len()),
            _ => (
                app.results.visible_clusters().len(),
                app.results.page().map_or(0, |page| page.clusters.len()),
            ),
        };
        let all_names = if left == 0 && self.can_search_names() {
            format!("· Enter searches all {} ", names_text(app))
        } else {
            String::new()
        };
        let matches = format!(" {left} of {all} loaded {all_names}");
        let (prompt, rest) = split_columns(area, 3);
        let (field, end) = split_end(rest, &matches);
        ctx.put(prompt, 0, &[(" / ", theme.key)]);
        ctx.text_field(field, &self.text, true);
        ctx.put(end, 0, &[(matches, if left == 0 { theme.attention } else { theme.dim })]);
    }
}

impl FilterInput {
    pub(in crate::app) fn open(app: &mut App) {
        let pane = if app.panes.focus == Pane::Datasets { Pane::Datasets } else { Pane::Results };
        if let Some(options) = list_options_of(app, pane) {
            let text = options.filter.as_str().into();
            app.overlays.open(FilterInput { pane, text });
        }
    }

    /// Returns whether the text can be searched for in all names of the dataset.
    fn can_search_names(&self) -> bool {
        self.pane == Pane::Results && names_filter(self.text.value()).is_some()
    }

    /// Searches the names of the whole dataset, whatever was searched for before.
    fn search_names(&self, app: &mut App) {
        let text = self.text.value();
        set_filter(app, self.pane, String::new());
        if !app.has_local_service() {
            return app.results.scan_names(text);
        }
        let Some(filter) = names_filter(text) else { return };
        let Some(search) = app.results.view().map(|view| view.search.clone()) else { return };
        let Search { entity, granularity, dataset, .. } = search;
        let filters = vec![filter];
        app.open_search(Search { entity, granularity, filters, ..Search::browse(dataset) });
    }

    pub(in crate::app) fn apply_typed(app: &mut App) {
        if let Some(input) = app.overlays.dialog::<FilterInput>() {
            let (pane, typed) = (input.pane, input.text.value().to_owned());
            set_filter(app, pane, typed);
        }
    }
}

fn set_filter(app: &mut App, pane: Pane, typed: String) {
    if let Some(options) = list_options_of(app, pane) {
        options.filter = typed;
    }
}

/// Returns the filter for media whose path contains a text, if something is typed.
fn names_filter(text: &str) -> Option<Filter> {
    let text = ColumnValue::Text(text.trim().to_owned());
    Filter::property(Property::File(FileProperty::Path), Operator::Contains, &[text]).ok()
}

/// Returns the number of names of the open dataset with its noun: `12 340 names`.
pub(crate) fn names_text(app: &App) -> String {
    let count = app.dataset().and_then(Dataset::file_count);
    count.map_or_else(|| "names".to_owned(), |count| grouped_with_noun(count, "name", "names"))
}

/// Returns the filter and order of the list in a pane. The detail shares the options of the results.
fn list_options_of(app: &mut App, pane: Pane) -> Option<&mut ListOptions> {
    match pane {
        Pane::Datasets => Some(&mut app.datasets.list_options),
        Pane::Results | Pane::Detail => app.results.view_mut().map(|view| &mut view.list_options),
        Pane::Query | Pane::Jobs | Pane::Basket => None,
    }
}

pub(in crate::app) fn open_sort_list(app: &mut App) {
    let pane = app.panes.focus;
    let Some(current) = list_options_of(app, pane).map(|options| options.order) else { return };
    let is_whole = pane != Pane::Datasets && sorts_files(app);
    let keys = match pane {
        Pane::Datasets => SortKey::DATASETS,
        _ if is_whole => SortKey::CLUSTERS_OF_SORTED_FILES,
        _ => SortKey::CLUSTERS,
    };
    let of_files = app.results.view().and_then(|view| view.search.order);
    let orders = keys.iter().flat_map(|&by| {
        let directions = if by == SortKey::Service { &[false][..] } else { &[false, true] };
        directions.iter().map(move |&reversed| SortOrder { by, reversed })
    });
    let items = orders.map(|order| {
        PickItem::new(Command::Sort(order), order.name())
            .note(if is_whole && order.by != SortKey::Service { "of the loaded page" } else { "" })
            .unavailable(order_unavailable(&app.results, order))
            .current(order == current && (of_files.is_none() || order != SortOrder::default()))
    });
    let whole = FileOrder::all().filter(|_| is_whole).map(|order| {
        PickItem::new(Command::SortFiles(order), order.description())
            .note("of the whole result")
            .current(of_files == Some(order) && current == SortOrder::default())
    });
    let title = match pane {
        Pane::Datasets => "Sort the datasets",
        _ if is_whole => "Sort the results",
        _ => "Sort the loaded page",
    };
    let items = items.chain(whole).collect();
    CommandList::open(app, ListKind::SortOrders, title, items);
}

pub(in crate::app) fn sort_by(app: &mut App, order: SortOrder) {
    if let Some(reason) = order_unavailable(&app.results, order) {
        return app.outbox.notify(Level::Warning, reason);
    }
    if let Some(options) = list_options_of(app, app.panes.focus) {
        options.order = order;
    }
    if order.by == SortKey::Service && app.panes.focus != Pane::Datasets {
        sort_files(app, None);
    }
}

/// Returns whether the deployment sorts the whole result on screen.
fn sorts_files(app: &App) -> bool {
    let is_search = app.results.view().is_some_and(|view| view.computed.is_none());
    is_search && app.has_local_service()
}

/// Loads the result again in an order of files, or in the order of the service.
pub(in crate::app) fn sort_files(app: &mut App, order: Option<FileOrder>) {
    app.results.edit_view(|view| {
        view.list_options.order = SortOrder::default();
        if view.search.order != order {
            view.replace_search(Search { order, page: 0, ..view.search.clone() });
        }
    });
}

/// Returns why the clusters cannot be sorted in this order. Scores with an unknown direction cannot be sorted.
fn order_unavailable(results: &Results, order: SortOrder) -> Option<&'static str> {
    let page = results.page().filter(|_| order.by == SortKey::Score)?;
    (!can_sort_by_score(page)).then_some("these results have no scores to sort by")
}
