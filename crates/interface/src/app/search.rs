//! Opens searches: from the query builder, by a picture, from the history, or from loaded results. Each search opens as
//! a view in a tab.

use tessera_model::{
    Anchor, AnchorKind, EntityType, Filter, Fraction, HistoryEntry, PictureSource, ResultCount,
    StateValue,
    set_algebra::{FoundCluster, SetOperator, combine},
    text::{format_age, group_digits},
    vql::{MAX_FILTERS, Number},
};

use crate::app::prelude::*;
use crate::app::{
    Computed, QueryImage, Tabs,
    basket::count_with_noun,
    full_size_link,
    overlay::{
        command_list::{CommandList, ListKind},
        fact_sheet::FactSheet,
        file_picker::FilePicker,
        pick_list::{Combination, Command, PickItem},
    },
    pane::Registration,
    query::{FilterKind, FilterRow, diagnostics, filter_summary},
    service_data::LoadedState,
    view::search_title,
};

const UNLISTED_DATASET: &str = "a dataset that is not in the list";

impl Results {
    pub(in crate::app) fn open_externally(&mut self, outbox: &mut Outbox) {
        if let Some(link) = self.preview().and_then(full_size_link) {
            outbox.send(Lane::OpenExternally, Request::OpenExternally(PictureSource::Link(link)));
        }
    }

    /// Registers a query image. The response opens the results.
    pub(in crate::app) fn register_query_image(
        &mut self,
        image: QueryImage,
        search: Search,
        outbox: &mut Outbox,
    ) {
        let request = Request::RegisterAnchor {
            dataset: search.dataset,
            image: image.source.clone(),
            entity: search.entity,
            granularity: search.granularity,
            region: image.region,
        };
        self.recent_images.add(image.clone());
        self.registering = Some(Registration { image, search });
        outbox.send(Lane::Anchor, request);
    }

    /// Runs the search again from the first page, with another granularity or entity type. An
    /// uploaded anchor is registered for one of each, so changing them registers its image again.
    pub(in crate::app) fn change_search(
        &mut self,
        change: impl FnOnce(&mut Search),
        outbox: &mut Outbox,
    ) {
        let Some(view) = self.view_mut() else { return };
        let mut search = Search { page: 0, ..view.search.clone() };
        change(&mut search);
        match view.query_image.clone() {
            Some(image) => self.register_query_image(image, search, outbox),
            None => view.replace_search(search),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RelaxedSearch {
    /// The description of the change, such as `with max score 0.2 → 0.4`.
    pub description: String,
    pub search: Search,
}

const BOUND_STEP: f64 = 0.2;

impl Results {
    /// Returns a search that finds more. A bound on a score is moved first. Without a bound, the
    /// last filter is removed.
    pub fn relaxed_search(&self) -> Option<RelaxedSearch> {
        let search = &self.view()?.search;
        if let Query::Caption { text, max_score: Some(bound) } = &search.query {
            let next = raise_bound(*bound);
            let description = format!("with max score {}", bound_change_text(*bound, next));
            let query = Query::Caption { text: text.clone(), max_score: next };
            let search = Search { query, page: 0, ..search.clone() };
            return Some(RelaxedSearch { description, search });
        }
        let mut filters = search.filters.clone();
        let description = match filters.iter_mut().rev().find_map(relax_filter) {
            Some(description) => description,
            None => match FilterRow::from_filter(&filters.pop()?).kind {
                FilterKind::Not => "without the last exclusion".to_owned(),
                kind => format!("without {}", kind.keyword()),
            },
        };
        Some(RelaxedSearch { description, search: Search { filters, page: 0, ..search.clone() } })
    }
}

/// Moves the bound of a filter, and describes the change. Returns `None` if the filter has no
/// bound.
fn relax_filter(filter: &mut Filter) -> Option<String> {
    match filter {
        Filter::Semantic { min_similarity, .. } => {
            let now = (*min_similarity)?;
            *min_similarity = lower_bound(now);
            Some(format!("with min similarity {}", bound_change_text(now, *min_similarity)))
        }
        Filter::Similar { max_distance, .. } => {
            let now = (*max_distance)?;
            *max_distance = raise_bound(now);
            Some(format!("with max distance {}", bound_change_text(now, *max_distance)))
        }
        Filter::Duplicates(bound) => lower_required_bound("duplicates", bound),
        Filter::Uniqueness(bound) => lower_required_bound("uniqueness", bound),
        _ => None,
    }
}

/// Lowers a bound from 0.0 to 1.0. Returns `None` for a bound on the scale of another service, whose steps are unknown.
fn lower_required_bound(name: &str, bound: &mut Number) -> Option<String> {
    let now = Fraction::new(bound.value())?;
    let next = lower_bound(now)?;
    *bound = Number::new(next.value()).ok()?;
    Some(format!("with {name} {}", bound_change_text(now, Some(next))))
}

fn bound_change_text(from: Fraction, to: Option<Fraction>) -> String {
    let to = to.map_or_else(|| "none".to_owned(), |to| format!("{:.2}", to.value()));
    format!("{:.2} → {to}", from.value())
}

/// Returns the bound one step higher, or `None` if it would no longer exclude anything.
fn raise_bound(bound: Fraction) -> Option<Fraction> {
    rounded_bound(bound.value() + BOUND_STEP).filter(|next| next.value() < 1.0)
}

fn lower_bound(bound: Fraction) -> Option<Fraction> {
    rounded_bound(bound.value() - BOUND_STEP).filter(|next| next.value() > 0.0)
}

fn rounded_bound(value: f64) -> Option<Fraction> {
    Fraction::new((value * 100.0).round() / 100.0)
}

impl App {
    /// Runs a search in this tab and adds it to the history.
    fn run_search(&mut self, mut view: View) {
        if view.query_image.is_none() {
            view.query_image = self.results.recent_images.registered(&view.search.query).cloned();
        }
        if self.results.view().is_some_and(|before| before.search.filters != view.search.filters) {
            self.query.edit_draft(|draft| draft.adopt_filters(&view.search.filters), &self.results);
        }
        self.history.add(&view, &self.results, &self.outbox);
        self.results.edit_tabs(|tabs| tabs.tab_mut().push(view));
    }

    /// Opens a search in this tab. Esc returns to the previous search.
    pub(in crate::app) fn open_search(&mut self, search: Search) {
        if self.results.view().is_none_or(|view| view.search.dataset != search.dataset) {
            self.open_dataset(search.dataset);
        }
        let (similar_to, query_image) = match self.results.view() {
            // The name of an anchor comes from the view that has the anchor.
            Some(view) if view.search.query == search.query => {
                (view.similar_to.clone(), view.query_image.clone())
            }
            _ => (None, None),
        };
        self.run_search(View { similar_to, query_image, ..View::new(search) });
        self.panes.focus = Pane::Results;
    }

    /// Runs the draft on the search on screen. The anchor or caption of the search stays.
    pub(in crate::app) fn run_query(&mut self) {
        if let Some((draft, known)) = self.query.draft_and_values(&self.results) {
            draft.finish_field(known);
        }
        let (Ok(filters), Some(view)) =
            (self.query.draft(&self.results).filters(), self.results.view())
        else {
            return;
        };
        let search = Search { filters, page: 0, ..view.search.clone() };
        if search == view.search {
            self.refresh();
            self.panes.focus = Pane::Results;
        } else {
            self.open_search(search);
        }
    }

    pub(in crate::app) fn run_relaxed_search(&mut self) {
        if let Some(relaxed) = self.results.relaxed_search() {
            self.open_search(relaxed.search);
        }
    }

    /// Searches with further filters. Objects are searched in the whole dataset, because filters of images do not
    /// match objects.
    pub(in crate::app) fn search_with_filters(&mut self, entity: EntityType, further: &[Filter]) {
        let Some(search) = self.results.view().map(|view| view.search.clone()) else { return };
        let search = if entity == search.entity {
            search
        } else {
            Search { entity, granularity: search.granularity, ..Search::browse(search.dataset) }
        };
        if further.iter().all(|filter| search.filters.contains(filter)) {
            self.outbox.notify(Level::Warning, "the search has this filter already");
        } else if search.filters.len() + further.len() > MAX_FILTERS {
            let text = format!("a search has at most {MAX_FILTERS} filters; remove one first");
            self.outbox.notify(Level::Warning, text);
        } else {
            let mut filters = search.filters.clone();
            filters.extend_from_slice(further);
            self.open_search(Search { filters, page: 0, ..search });
        }
    }

    pub(in crate::app) fn search_similar(&mut self) {
        let (Some(preview), Some(view)) = (self.results.preview(), self.results.view()) else {
            return;
        };
        let anchor = Anchor { media: preview.media, kind: AnchorKind::Media };
        let (name, from) = (preview.title(), view.search.clone());
        self.open_similar_search(from, anchor, name, None);
    }

    pub(in crate::app) fn query_image_registered(&mut self, anchor: Anchor) {
        let Some(Registration { image, search }) = self.results.registering.take() else {
            return;
        };
        FilePicker::file_found(&mut self.overlays);
        let filters = search.filters.clone();
        let search = search.with_anchor(anchor);
        if search.filters != filters {
            self.query.edit_draft(|draft| draft.adopt_filters(&search.filters), &self.results);
        }
        self.results.recent_images.add_registered(anchor, image.clone());
        // If only the granularity of the same image has changed, the view is replaced instead of
        // adding one.
        match self.results.view_mut() {
            Some(view) if view.query_image.as_ref() == Some(&image) => {
                view.replace_search(Search {
                    query: Query::Similar(anchor),
                    order: None,
                    page: 0,
                    ..search
                });
            }
            _ => self.open_similar_search(search, anchor, image.label(), Some(image)),
        }
    }

    pub(in crate::app) fn open_similar_search(
        &mut self,
        from: Search,
        anchor: Anchor,
        name: SafeText,
        query_image: Option<QueryImage>,
    ) {
        let search = Search { query: Query::Similar(anchor), order: None, page: 0, ..from };
        self.run_search(View { similar_to: Some(name), query_image, ..View::new(search) });
    }

    pub(in crate::app) fn open_tab(&mut self) {
        let Some(dataset) = self.results.view().map(|view| view.search.dataset) else { return };
        let view = View::new(self.setup.initial_search(dataset));
        self.open_in_tab(view);
    }

    pub(in crate::app) fn open_in_tab(&mut self, view: View) {
        let added = self.results.tabs_mut().is_some_and(|tabs| tabs.add(view));
        if added {
            self.panes.focus = Pane::Results;
        } else {
            self.outbox
                .notify(Level::Warning, format!("{} tabs are open; close one first", Tabs::MAX));
        }
    }

    pub(in crate::app) fn go_to_tab(&mut self, index: usize) {
        self.results.edit_tabs(|tabs| tabs.go_to(index));
        self.panes.focus = Pane::Results;
    }

    /// Goes to the tab `by` tabs further, and from the last one to the first one.
    pub(in crate::app) fn step_tab(&mut self, by: isize) {
        let Some(tabs) = self.results.tabs() else { return };
        let count = tabs.all().len().cast_signed();
        let index = (tabs.active().cast_signed() + by).rem_euclid(count);
        self.go_to_tab(index.cast_unsigned());
    }

    pub(in crate::app) fn go_forward(&mut self) {
        self.results.edit_tabs(|tabs| _ = tabs.tab_mut().forward());
        self.panes.focus = Pane::Results;
    }

    pub(in crate::app) fn open_combine_picker(&mut self) {
        let Some(tabs) = self.results.tabs() else { return };
        let here = tabs.tab().view.title();
        let others = tabs.all().iter().enumerate().filter(|(index, _)| *index != tabs.active());
        let items = others.flat_map(|(index, tab)| {
            let there = tab.view.title();
            let loaded = self.results.clusters_of(&tab.view).len();
            let loaded = count_with_noun(loaded, "cluster", "clusters");
            SetOperator::ALL.map(|operator| {
                let label = format!("{here} {} {there}", operator.symbol());
                let meaning = operator.description();
                let note = format!("{meaning}; {loaded} of the others loaded");
                PickItem::new(Command::CombineTabs(Combination { tab: index, operator }), label)
                    .note(note)
            })
        });
        let items = items.collect();
        let title = "Combine the loaded pages by their previews";
        CommandList::open(self, ListKind::Combinations, title, items);
    }

    pub(in crate::app) fn combine_tabs(&mut self, combination: Combination) {
        let Some(tabs) = self.results.tabs() else { return };
        let Combination { tab, operator } = combination;
        let Some(other) = tabs.all().get(tab) else { return };
        let (here, there) = (tabs.tab().view.title(), other.view.title());
        let found_by = |view: &View| -> Vec<FoundCluster> {
            let clusters = self.results.clusters_of(view).into_iter().cloned();
            clusters
                .map(|it| FoundCluster { members: view.members_of(it.id), cluster: it })
                .collect()
        };
        let combined = combine(&found_by(&tabs.tab().view), &found_by(&other.view), operator);
        let label = format!("{here} {} {there}, of loaded pages", operator.symbol());
        let members = combined.iter().map(|it| (it.cluster.id, it.members.clone())).collect();
        let clusters = combined.into_iter().map(|it| it.cluster).collect();
        let page = Page { clusters, ..Page::default() };
        let computed = Computed { label: SafeText::name(&label), page, members, scan: None };
        let search = Search { page: 0, ..tabs.tab().view.search.clone() };
        self.open_in_tab(View { computed: Some(computed), ..View::new(search) });
        let text = "only previews were compared; selecting a cluster takes all its members";
        self.outbox.notify(Level::Success, text);
    }

    /// Handles Enter: edits the selected row, or lists the filters that can be added.
    pub(in crate::app) fn edit_selected_filter(&mut self) {
        if self.query.draft(&self.results).selected_row().is_none() {
            return self.open_filter_picker();
        }
        self.query.edit_draft(
            |draft| {
                let _ = draft.edit_row();
                draft.field = draft.selected_row().map(FilterRow::first_field);
            },
            &self.results,
        );
    }

    pub(in crate::app) fn open_filter_picker(&mut self) {
        let item = |kind: FilterKind| {
            PickItem::new(Command::AddFilter(kind), kind.keyword()).note(kind.description())
        };
        let items = FilterKind::known_by(self.has_local_service()).into_iter().map(item).collect();
        CommandList::open(self, ListKind::FilterKinds, "Add a filter", items);
    }

    pub(in crate::app) fn add_filter(&mut self, kind: FilterKind) {
        self.panes.focus = Pane::Query;
        self.query.edit_draft(|draft| draft.add(kind), &self.results);
    }

    /// Shows the checks of the query as a list that scrolls.
    pub(in crate::app) fn open_query_checks(&mut self) {
        let sheet =
            diagnostics(self).iter().fold(FactSheet::new("Checks of the query"), |sheet, it| {
                let row = it.row.map_or_else(String::new, |row| format!(" in row {}", row + 1));
                sheet.fact(&format!("{}{row}", it.severity.name()), &it.text)
            });
        self.overlays.open(sheet);
    }

    pub(in crate::app) fn open_history(&mut self) {
        self.history.needed = true;
        self.show_history();
    }

    fn show_history(&mut self) {
        if self.history.past_searches.is_empty() && self.history.loaded.due(None).is_none() {
            self.overlays.close();
            self.outbox.notify(Level::Warning, "no searches yet");
        } else {
            let items = self.past_searches();
            CommandList::open(self, ListKind::History, "Past searches", items);
        }
    }

    fn past_searches(&self) -> Vec<PickItem> {
        let items = self.history.past_searches.iter().rev().map(|entry| {
            let search = &entry.search;
            let name =
                self.service_data.dataset(search.dataset).map(|dataset| dataset.name.as_str());
            let dataset = name.unwrap_or(UNLISTED_DATASET);
            let (entity, level) = (search.entity.as_str(), search.granularity.level());
            let found = entry.results.map(|results| format!("{} · ", result_text(results)));
            let found = found.unwrap_or_default();
            let note = format!("{found}{dataset} · {entity} · granularity {level}");
            let age =
                entry.searched_at.map(|at| format_age(self.outbox.clock().saturating_sub(at)));
            PickItem::new(Command::RerunSearch(Box::new(entry.clone())), self.describe(entry))
                .prefix(age.unwrap_or_default())
                .note(note)
                .disabled(name.is_none())
        });
        items.collect()
    }

    /// Describes the query and every filter of a past search.
    fn describe(&self, entry: &HistoryEntry) -> String {
        let HistoryEntry { search, similar_to, .. } = entry;
        let filters = search.filters.iter().map(|filter| filter_summary(self, filter));
        let query = search_title(&search.query, similar_to.as_ref(), 0);
        let max_score = match search.query {
            Query::Caption { max_score, .. } => max_score,
            Query::Browse | Query::Similar(_) => None,
        };
        let max_score = max_score.map(|score| format!("scores <{}", score.value()));
        let is_browse = search.query == Query::Browse && !search.filters.is_empty();
        let query = (!is_browse).then(|| query.to_string());
        query.into_iter().chain(max_score).chain(filters).collect::<Vec<_>>().join(" · ")
    }

    /// Says that a search or a view is of a dataset that is not in the list. Returns whether it is.
    pub(in crate::app) fn refuses_unlisted(&mut self, dataset: DatasetId, name: &str) -> bool {
        let is_known = self.service_data.dataset(dataset).is_some();
        let is_refused = self.service_data.datasets.value().is_some() && !is_known;
        if is_refused {
            let text = format!("this {name} is of {UNLISTED_DATASET}; I opens it by its id");
            self.outbox.notify(Level::Warning, text);
        }
        is_refused
    }

    /// Runs a past search again. The file of a query image is registered again, because its anchor may have expired. A
    /// picture of a dataset has no file, and no request returns the link of a media item, so the anchor is used again.
    pub(in crate::app) fn rerun_search(&mut self, entry: HistoryEntry) {
        let HistoryEntry { search, similar_to, file, region, .. } = entry;
        if self.refuses_unlisted(search.dataset, "search") {
            return;
        }
        self.open_dataset(search.dataset);
        self.panes.focus = Pane::Results;
        match file {
            Some(file) => {
                self.results.register_query_image(
                    QueryImage { region, ..QueryImage::file(file) },
                    search,
                    &mut self.outbox,
                );
            }
            None => self.run_search(View { similar_to, ..View::new(search) }),
        }
    }

    /// Merges the loaded searches of earlier runs with the searches of this run, which are newer.
    pub(in crate::app) fn history_loaded(&mut self, result: LoadedState) {
        let loaded = result.map(|value| {
            if let Some(StateValue::History(earlier)) = value {
                let newer = std::mem::replace(&mut self.history.past_searches, earlier);
                for entry in newer {
                    entry.append_to(&mut self.history.past_searches);
                }
            }
        });
        self.history.loaded.finish(self.outbox.now, loaded);
        if self.overlays.dialog::<CommandList>().is_some_and(|it| it.kind == ListKind::History) {
            self.show_history();
        }
    }
}

fn result_text(results: ResultCount) -> String {
    let more = if results.is_complete { "" } else { "+" };
    let noun = if results.clusters == 1 && results.is_complete { "cluster" } else { "clusters" };
    format!("{}{more} {noun}", group_digits(results.clusters as u64))
}
