//! Decides why an action is unavailable. Dimmed hints, help, menu and warnings all use this one
//! function, so that they always agree. Come here to change a reason.

use tessera_config::{
    DeploymentKind,
    input::{Action, action::ActionGroup},
    tables::text_of,
};
use tessera_model::{
    AnchorKind, Basket, Dataset, DatasetId, EntityType, Operation, Permission, Query, SafeText,
    Selection, text::capitalize,
};

use crate::{
    app::{
        App, Baskets, Job, JobState, Pane, Remote, Results, copy, kept_tags, model_offer, outage,
        query::diagnostics,
        view::sort_filter::can_sort_by_score,
        viewer::{full_size_reason, other_picture_reason, viewer_reason},
    },
    message::Lane,
};

pub(in crate::app) fn unless(met: bool, reason: &str) -> Option<String> {
    (!met).then(|| reason.to_owned())
}

pub(in crate::app) fn not_open_reason(app: &App) -> Option<String> {
    unless(app.dataset().is_some(), "open a dataset first")
}

pub(in crate::app) fn no_cluster_reason(results: &Results) -> Option<String> {
    unless(results.cluster().is_some(), "no cluster is selected")
}

pub(in crate::app) fn no_picture_reason(results: &Results) -> Option<String> {
    unless(results.preview().is_some(), "no picture is selected")
}

pub(in crate::app) fn status_reason(app: &App, operation: Operation) -> Option<String> {
    status_denial(app.dataset()?, operation)
}

/// Returns the reason and the way out if the status of a dataset forbids an operation.
pub(in crate::app) fn status_denial(dataset: &Dataset, operation: Operation) -> Option<String> {
    let way_out = dataset.status.allows(operation).denial_reason()?;
    let (name, status) = (capitalize(operation.label()), dataset.status.as_str());
    Some(format!("{name}: not available while {status}. {}.", capitalize(way_out)))
}

pub fn unavailable_reason(app: &App, action: Action) -> Option<String> {
    if app.setup.is_text
        && let Some(reason) = drawing_reason(action)
    {
        return Some(reason.to_owned());
    }
    if needs_service(action) && outage(app).is_some() {
        return Some("the service is not responding; retrying automatically".to_owned());
    }
    if needs_service(action) && app.login.rejection.is_some() {
        return Some("the service does not accept the login; L opens it".to_owned());
    }
    if let Some(reason) = other_picture_reason(app, action) {
        return Some(reason);
    }
    match action.group() {
        ActionGroup::Navigation => navigation_reason(app, action),
        ActionGroup::Searching => search_reason(app, action),
        ActionGroup::QueryBuilder => query_reason(app, action),
        ActionGroup::Selection => selection_reason(app, action),
        ActionGroup::Tagging => tagging_reason(app, action),
        ActionGroup::Jobs => job_reason(app, action),
        ActionGroup::Clipboard => copy::unavailable_reason(app, action),
        ActionGroup::Viewer => viewer_reason(app, action),
        ActionGroup::Program => program_reason(app, action),
    }
}

pub(in crate::app) fn suggested_action(app: &App, action: Action) -> Option<Action> {
    unavailable_reason(app, action)?;
    match action {
        _ if app.dataset().is_none() => Some(Action::FocusDatasets),
        Action::Export if can_reindex(app) && !is_forbidden(app, Action::Reindex) => {
            Some(Action::Reindex)
        }
        Action::Export | Action::SimilarToFile | Action::AddMedia | Action::Reindex => {
            Some(Action::Refresh)
        }
        Action::Similar if app.results.preview().is_some() => Some(Action::Refresh),
        Action::Similar
        | Action::FullSize
        | Action::OpenExternally
        | Action::LargerTiles
        | Action::Mosaic
        | Action::SmallerTiles => Some(Action::FocusResults),
        Action::NextPage => Some(Action::PreviousPage),
        Action::PreviousPage => Some(Action::NextPage),
        Action::Finer => Some(Action::Coarser),
        Action::Coarser => Some(Action::Finer),
        Action::Download => Some(Action::Export),
        _ => None,
    }
}

fn can_reindex(app: &App) -> bool {
    let permission = app.dataset().map(|dataset| dataset.status.allows(Operation::Reindex));
    permission == Some(Permission::Allowed)
}

/// Returns whether the action sends something to the service, so that an outage prevents the
/// action.
fn needs_service(action: Action) -> bool {
    let sends =
        [Action::Export, Action::ExportBasket, Action::SimilarToFile, Action::Split, Action::Check];
    changes_dataset(action) || sends.contains(&action)
}

/// Returns whether the action changes a dataset of the service.
fn changes_dataset(action: Action) -> bool {
    matches!(
        action,
        Action::AddMedia
            | Action::Reindex
            | Action::Rescan
            | Action::CancelIndexing
            | Action::ChooseFiles
            | Action::RenameDataset
            | Action::RemoveDataset
    )
}

fn navigation_reason(app: &App, action: Action) -> Option<String> {
    let count = app.results.tab_count();
    match (action, action.tab_index()) {
        (Action::Forward, _) => {
            let ahead = app.results.tabs().is_some_and(|tabs| !tabs.tab().forward_stack.is_empty());
            unless(ahead, "nothing to go forward to")
        }
        (Action::NewTab, _) => not_open_reason(app),
        (Action::CloseTab, _) => unless(count > 1, "this is the only tab"),
        (Action::NextTab | Action::PreviousTab, _) if count < 2 => Some(few_tabs(count)),
        (_, Some(index)) if index >= count => Some(few_tabs(count)),
        _ => None,
    }
}

fn few_tabs(count: usize) -> String {
    match count {
        0 => "open a dataset first".to_owned(),
        1 => "there is one tab; Ctrl-T opens another".to_owned(),
        _ => format!("there are {count} tabs"),
    }
}

fn program_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Profiles => unless(
            !app.jobs.any_state(|state| matches!(state, JobState::Downloading(..))),
            "a download is running; wait until it ends, or stop it in the jobs pane",
        ),
        Action::Login => {
            let needs_login = app.setup.login.is_some() || app.login.rejection.is_some();
            unless(needs_login, "this deployment needs no login")
        }
        Action::LargerTiles | Action::SmallerTiles | Action::Mosaic => {
            unless(app.panes.focus == Pane::Results, "only the results have tiles")
        }
        _ => None,
    }
}

/// The reasons why actions do not exist if the state is presented as text.
const TEXT_MODE_REASONS: &str = include_str!("../../../../assets/text_mode.txt");

/// Returns why an action does not exist if the state is presented as text.
pub fn drawing_reason(action: Action) -> Option<&'static str> {
    text_of(TEXT_MODE_REASONS, action.name())
}

/// The reason why nothing is changed.
pub const READ_ONLY: &str = "opened with --read-only";

/// Returns whether the program was opened so that it never does this. Such an action is not offered in hints.
pub fn is_forbidden(app: &App, action: Action) -> bool {
    app.setup.read_only && changes_dataset(action)
}

fn download_reason(app: &App) -> Option<String> {
    let focus = app.panes.focus;
    if app.jobs.job_to_download(focus).is_some() {
        return None;
    }
    let Some(archive) = app.jobs.downloaded_archive(focus) else {
        return Some("no finished export to download; e starts one".to_owned());
    };
    let path = SafeText::file_name(&archive.path.to_string_lossy());
    Some(match focus {
        Pane::Jobs => format!("downloaded already, to {path}"),
        _ => format!("all finished exports were downloaded, the last one to {path}; e starts one"),
    })
}

pub(in crate::app) fn job_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::Export => not_open_reason(app).or_else(|| status_reason(app, Operation::Export)),
        Action::Download => download_reason(app),
        Action::ExportBasket => basket_reason(app)
            .or_else(|| nothing_selected_reason(&app.baskets, &app.results))
            .or_else(|| status_reason(app, Operation::Export)),
        _ if is_forbidden(app, action) => Some(READ_ONLY.to_owned()),
        // A busy dataset does not prevent an addition, because the addition is queued until the
        // dataset is free.
        Action::AddMedia => target_status_reason(app, Operation::AddMedia)
            .filter(|_| app.target_dataset().is_none_or(|dataset| !dataset.status.is_busy())),
        Action::Reindex => target_status_reason(app, Operation::Reindex),
        Action::Rescan | Action::ChooseFiles | Action::RenameDataset | Action::RemoveDataset => {
            managed_dataset(app).and_then(at_rest).err()
        }
        Action::CancelIndexing => managed_dataset(app).and_then(being_indexed).err(),
        Action::CancelExport => cancellation_reason(app),
        Action::StopWatching => {
            let watches = |job: &Job| job.is_active() && !matches!(job.state(), JobState::Starting);
            unless(app.jobs.selected().is_some_and(watches), "this job is not being watched")
        }
        Action::Inspect => unless(
            app.jobs.archive_to_inspect().is_some(),
            "this job has no downloaded archive; d downloads a finished export",
        ),
        Action::ForgetJob => match app.jobs.selected() {
            None => Some("no job is selected".to_owned()),
            Some(job) => unless(!job.is_active(), "this job is still running; x stops it"),
        },
        _ => None,
    }
}

/// Returns why the service cannot cancel the selected job.
fn cancellation_reason(app: &App) -> Option<String> {
    let is_exporting = app.jobs.selected().is_some_and(|job| app.jobs.is_exporting(job.id));
    let reason = "this deployment cannot cancel exports; x stops watching it";
    unless(is_exporting, "no running export is selected")
        .or_else(|| unless(app.has_local_service(), reason))
}

/// Returns why files of this machine cannot be used or changed. `reason` is for deployments on other machines.
fn folder_reason(app: &App, reason: &str) -> Option<String> {
    unless(app.setup.deployment == DeploymentKind::Local, reason)
        .or_else(|| unless(!app.setup.read_only, READ_ONLY))
        .or_else(|| not_open_reason(app))
}

/// Returns why the files of the dataset cannot be acted on.
fn file_reason(app: &App) -> Option<String> {
    let elsewhere = "the files of this deployment may be on another machine; open a folder";
    folder_reason(app, elsewhere).or_else(|| {
        let dataset = app.dataset()?;
        let is_acting = app.outbox.tickets.is_open(&Lane::FileAction(dataset.id));
        unless(!is_acting, "an action on files is running; wait until it ends").or_else(|| {
            unless(!dataset.status.is_busy(), "the dataset is busy; wait until it is READY")
        })
    })
}

const TAGS_LOADING: &str = "the tags are loading";

/// Returns why media of the open dataset cannot be tagged or rated.
fn tagging_reason(app: &App, action: Action) -> Option<String> {
    let kept = match action {
        _ if kept_tags::are_kept(app) => kept_tags_reason(app, action),
        _ if concerns_whole_search(app, action) => whole_search_reason(&app.results),
        Action::ManageTags if !app.tagging().is_on => {
            Some("the tags are listed in the tagging mode; ; starts it".to_owned())
        }
        Action::ManageTags => loading_reason(
            app.tagging().tags.get(&app.results.view()?.search.dataset),
            TAGS_LOADING,
        ),
        _ => None,
    };
    let can_undo = app.dataset().is_some_and(|dataset| app.tagging().can_undo(dataset.id));
    let nothing_made = action == Action::UndoTags && !can_undo;
    unless(!app.setup.read_only, READ_ONLY)
        .or_else(|| not_open_reason(app))
        .or(kept)
        .or_else(|| unless(!nothing_made, "no tag was changed since the start"))
}

/// Whether an action tags everything that the search finds, or makes the next key do so.
fn concerns_whole_search(app: &App, action: Action) -> bool {
    let is_change = matches!(action, Action::Pick | Action::Reject)
        || action.tag_key().is_some()
        || action.rating().is_some();
    if app.tagging.whole_search { is_change } else { action == Action::TagWholeSearch }
}

/// Returns why everything that the search finds cannot be tagged.
fn whole_search_reason(results: &Results) -> Option<String> {
    let is_filtered = results.view().is_some_and(|view| !view.list_options.filter.is_empty());
    let reason = "the filter (/) hides a part of what the search finds; Backspace clears it, V selects what \
                  it shows";
    computed_reason(results).or_else(|| unless(!is_filtered, reason))
}

/// Returns why media cannot be tagged if the service changes no tags, so that the tags are kept on this machine.
fn kept_tags_reason(app: &App, action: Action) -> Option<String> {
    if action == Action::TagWholeSearch || action.rating().is_some() {
        let reason = "only media of local folders and of `tessera serve` are rated, or tagged by a \
                      whole search; open a folder";
        return Some(reason.to_owned());
    }
    let tags = app.tagging().kept.remote(app.results.view()?.search.dataset);
    loading_reason(tags, TAGS_LOADING)
}

/// Returns why a saved value is not there yet. Without a failure, it is loading.
fn loading_reason<T>(saved: Option<&Remote<T>>, loading: &str) -> Option<String> {
    match saved.map(|saved| (saved.value(), saved.failure())) {
        Some((Some(_), _)) => None,
        Some((None, Some(failure))) => Some(format!("{failure}. r tries again")),
        Some((None, None)) | None => Some(loading.to_owned()),
    }
}

/// Returns why the open dataset cannot be divided or checked. Both read its metadata by an export.
fn metadata_reason(app: &App, lane: fn(DatasetId) -> Lane) -> Option<String> {
    let Some(dataset) = app.dataset() else { return not_open_reason(app) };
    if let Some(way_out) = dataset.status.allows(Operation::Export).denial_reason() {
        let status = dataset.status.as_str();
        return Some(format!("not available while {status}. {}.", capitalize(way_out)));
    }
    let is_running = app.outbox.tickets.is_open(&lane(dataset.id));
    unless(!is_running, "this is running already; wait until it ends")
}

/// Returns why the open dataset cannot get a model.
fn model_reason(app: &App) -> Option<String> {
    let jobs = "a model is being applied; 4 goes to the jobs, which show how far it is";
    folder_reason(app, "models are for folders of this machine; open a folder")
        .or_else(|| unless(!app.jobs.is_getting_model(), jobs))
}

/// Returns why there is no map of what the search finds.
fn map_reason(app: &App) -> Option<String> {
    let query = app.results.view().map(|view| &view.search.query);
    let operation = match query {
        Some(Query::Similar(_)) => Operation::VisualSearch,
        _ => Operation::TextSearch,
    };
    let elsewhere = "only media of local folders are on a map; open a folder";
    unless(app.has_local_service(), elsewhere)
        .or_else(|| not_open_reason(app))
        .or_else(|| computed_reason(&app.results))
        .or_else(|| status_reason(app, operation))
}

/// Returns why the most different media of the search cannot be selected.
fn diverse_reason(app: &App) -> Option<String> {
    if app.setup.deployment != DeploymentKind::Local {
        return Some("only media of local folders are compared here; open a folder".to_owned());
    }
    let Some(view) = app.results.view() else { return not_open_reason(app) };
    let are_images = view.search.entity == EntityType::Images;
    computed_reason(&app.results)
        .or_else(|| unless(are_images, "objects are not compared; t switches to images"))
        .or_else(|| status_reason(app, Operation::VisualSearch))
}

/// Returns the dataset that can be managed here, or why there is none.
fn managed_dataset(app: &App) -> Result<&Dataset, String> {
    if !app.has_local_service() {
        return Err("only datasets of local folders are managed here; open a folder".to_owned());
    }
    app.target_dataset().ok_or_else(|| app.no_target_reason().to_owned())
}

fn at_rest(dataset: &Dataset) -> Result<(), String> {
    if !dataset.status.is_busy() {
        return Ok(());
    }
    Err(format!("not available while {}; wait until it ends", dataset.status.as_str()))
}

fn being_indexed(dataset: &Dataset) -> Result<(), String> {
    if dataset.status.is_busy() { Ok(()) } else { Err("nothing is being indexed".to_owned()) }
}

fn target_status_reason(app: &App, operation: Operation) -> Option<String> {
    match app.target_dataset() {
        None => Some(app.no_target_reason().to_owned()),
        Some(dataset) => status_denial(dataset, operation),
    }
}

pub(in crate::app) fn search_reason(app: &App, action: Action) -> Option<String> {
    let visual_search = || status_reason(app, Operation::VisualSearch);
    match action {
        Action::Caption => {
            not_open_reason(app).or_else(|| status_reason(app, Operation::TextSearch))
        }
        Action::GetModel => model_reason(app),
        Action::DismissOffer => unless(model_offer::is_offered(app), "no model is offered"),
        Action::Relax => unless(app.results.relaxed_search().is_some(), "no condition to relax"),
        Action::SimilarToFile => not_open_reason(app).or_else(visual_search),
        Action::Similar => no_picture_reason(&app.results).or_else(visual_search),
        Action::Record => unless(app.selected_dataset().is_some(), app.no_dataset_reason()),
        Action::FullSize => full_size_reason(app),
        Action::OpenExternally => no_picture_reason(&app.results),
        Action::PickRegion => {
            let linked = app.results.preview().is_some_and(|preview| preview.original.is_some());
            no_picture_reason(&app.results)
                .or_else(|| unless(linked, "the service provides no link to this picture"))
                .or_else(visual_search)
        }
        Action::PickRegionOfQuery => {
            let uploaded = app.results.view().is_some_and(|view| view.query_image.is_some());
            let reason = "no picture was uploaded for this search; F selects one";
            not_open_reason(app).or_else(|| unless(uploaded, reason)).or_else(visual_search)
        }
        Action::ScoreHistogram => not_open_reason(app)
            .or_else(|| members_shown_reason(&app.results))
            .or_else(|| scores_reason(&app.results)),
        Action::Facets => not_open_reason(app).or_else(|| computed_reason(&app.results)),
        Action::Check => metadata_reason(app, Lane::Check),
        Action::Map => map_reason(app),
        Action::History | Action::Views => not_open_reason(app),
        Action::Combine => {
            let reason = "there is nothing to combine with; Ctrl-T opens another tab";
            not_open_reason(app).or_else(|| unless(app.results.tab_count() > 1, reason))
        }
        Action::ToggleEntity => not_open_reason(app).or_else(|| fixed_search_reason(app)),
        _ => results_reason(app, action),
    }
}

fn next_page_reason(results: &Results) -> Option<String> {
    let page = results.requested_page() + 1;
    match results.requested_failure() {
        _ if results.pending_search().is_none() && results.may_have_next_page() => None,
        Some(failure) if failure.may_succeed_later() => {
            Some(format!("page {page} could not be loaded; r tries again"))
        }
        Some(_) => Some(format!("page {page} could not be loaded; Esc goes back")),
        None if results.page().is_none() => Some("this page is still loading".to_owned()),
        None if results.pending_search().is_some() => {
            Some(format!("page {page} is not loaded yet; Esc stays here"))
        }
        None => Some("this is the last page".to_owned()),
    }
}

fn results_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::NextPage => next_page_reason(&app.results),
        Action::PreviousPage => unless(app.results.requested_page() > 0, "this is the first page"),
        Action::GoToPage => not_open_reason(app).or_else(|| computed_reason(&app.results)),
        Action::PreviousFrame => {
            frame_reason(&app.results, -1, "this is the first frame of its video")
        }
        Action::NextFrame => frame_reason(&app.results, 1, "this is the last frame of its video"),
        Action::Finer | Action::Coarser => granularity_reason(app, action),
        Action::Filter | Action::Sort => match app.panes.focus {
            Pane::Datasets => None,
            Pane::Results | Pane::Detail => {
                not_open_reason(app).or_else(|| members_shown_reason(&app.results))
            }
            Pane::Query | Pane::Jobs | Pane::Basket => {
                Some("only datasets and results can be filtered and sorted".to_owned())
            }
        },
        Action::Fold => {
            let scored =
                app.results.page()?.clusters.iter().any(|cluster| cluster.relevance.is_some());
            members_shown_reason(&app.results).or_else(|| {
                unless(scored, "nothing on this page has a score; only searches have scores")
            })
        }
        _ => None,
    }
}

/// Returns why the scores of the search on screen cannot be limited.
fn scores_reason(results: &Results) -> Option<String> {
    let view = results.view()?;
    let reason = "only searches by a picture or a caption have scores";
    let ranked = !matches!(view.search.query, Query::Browse);
    unless(ranked && view.computed.is_none(), reason).or_else(|| {
        let known = results.page().is_some_and(can_sort_by_score);
        unless(known, "these results have no scores to sort by")
    })
}

fn frame_reason(results: &Results, by: isize, end: &str) -> Option<String> {
    no_picture_reason(results)
        .or_else(|| unless(results.frame_position().is_some(), "this is not a frame of a video"))
        .or_else(|| unless(results.frame_beside(by).is_some(), &format!("{end} on this page")))
}

pub(in crate::app) fn query_reason(app: &App, action: Action) -> Option<String> {
    match action {
        Action::RunQuery => not_open_reason(app)
            .or_else(|| status_reason(app, Operation::TextSearch))
            .or_else(|| app.query.draft(&app.results).filters().err()),
        Action::AddFilter | Action::SwitchJson | Action::EditJson => not_open_reason(app),
        Action::QueryChecks => not_open_reason(app).or_else(|| {
            unless(!diagnostics(app).is_empty(), "the query has nothing to check; a adds a filter")
        }),
        Action::SaveView => not_open_reason(app)
            .or_else(|| app.service_data.saved_views_unavailable())
            .or_else(|| app.query.draft(&app.results).filters().err()),
        Action::ToggleFilter | Action::DeleteFilter => unless(
            app.query.draft(&app.results).selected_row().is_some(),
            "no filter is selected; a adds one",
        ),
        _ => None,
    }
}

fn granularity_reason(app: &App, action: Action) -> Option<String> {
    let Some(view) = app.results.view() else {
        return not_open_reason(app);
    };
    let now = view.search.granularity;
    let (next, end) = match action {
        Action::Finer => (now.finer(), "finest"),
        _ => (now.coarser(), "coarsest"),
    };
    if next == now {
        return Some(format!("granularity {} is the {end}", now.level()));
    }
    fixed_search_reason(app)
}

fn computed_reason(results: &Results) -> Option<String> {
    let computed = results.view().is_some_and(|view| view.computed.is_some());
    unless(!computed, "this was computed from loaded pages; Esc returns to a search")
}

/// Returns why the search on screen cannot change its granularity or entity type.
fn fixed_search_reason(app: &App) -> Option<String> {
    let view = app.results.view()?;
    if let Some(reason) = computed_reason(&app.results) {
        return Some(reason);
    }
    // An upload is registered for one granularity and entity type, so changing them registers its
    // picture again.
    match (&view.search.query, &view.query_image) {
        (Query::Similar(anchor), _) if anchor.kind != AnchorKind::Upload => None,
        (Query::Similar(_), Some(_)) => status_reason(app, Operation::VisualSearch),
        (Query::Similar(_), None) => {
            Some("the uploaded picture is not known any more; search by it again".to_owned())
        }
        _ => None,
    }
}

pub(in crate::app) fn selection_reason(app: &App, action: Action) -> Option<String> {
    let reason = match action {
        Action::MoveFiles | Action::CopyFiles | Action::LinkFiles | Action::TrashFiles => {
            file_reason(app).or_else(|| nothing_selected_reason(&app.baskets, &app.results))
        }
        Action::UndoFileAction | Action::ReviewDuplicates => file_reason(app),
        Action::SelectDiverse => diverse_reason(app),
        Action::Split => metadata_reason(app, Lane::Split),
        Action::Select => no_cluster_reason(&app.results),
        Action::SelectRange | Action::SelectPage => {
            no_cluster_reason(&app.results).or_else(|| members_shown_reason(&app.results))
        }
        Action::SelectAll | Action::SelectRest => {
            members_shown_reason(&app.results).or_else(|| {
                let computed = app.results.view().is_some_and(|view| view.computed.is_some());
                unless(!computed, "all loaded results are on this page; V selects the page")
            })
        }
        Action::Exclude => no_picture_reason(&app.results)
            .or_else(|| cluster_not_selected_reason(&app.baskets, &app.results)),
        Action::Undo => unless(
            app.baskets.current(&app.results).is_some_and(Basket::can_undo),
            "no selection change to undo",
        ),
        Action::Redo => unless(
            app.baskets.current(&app.results).is_some_and(Basket::can_redo),
            "no selection change to redo",
        ),
        Action::Deselect | Action::ClearBasket | Action::SaveSelection => {
            nothing_selected_reason(&app.baskets, &app.results)
        }
        _ => None,
    };
    basket_reason(app).or(reason)
}

/// Returns why the basket cannot be changed. The saved basket must have been loaded, because it
/// would otherwise be overwritten.
pub(in crate::app) fn basket_reason(app: &App) -> Option<String> {
    let Some(view) = app.results.view() else { return not_open_reason(app) };
    loading_reason(app.baskets.remote(view.search.dataset), "the basket is loading")
}

pub(in crate::app) fn nothing_selected_reason(
    baskets: &Baskets,
    results: &Results,
) -> Option<String> {
    let empty = baskets.selection(results).is_none_or(Selection::is_empty);
    unless(!empty, "nothing is selected: Space selects a cluster")
}

fn members_shown_reason(results: &Results) -> Option<String> {
    let reason = "these are the members of one cluster: Space selects one, Esc goes back";
    unless(!results.shows_members(), reason)
}

fn cluster_not_selected_reason(baskets: &Baskets, results: &Results) -> Option<String> {
    let selected = results.cluster().is_some_and(|cluster| {
        let part = results.part_of(cluster);
        baskets.selection(results).is_some_and(|selection| selection.cluster(&part).is_some())
    });
    unless(selected, "the cluster of this item is not selected; Space in the results selects it")
}
