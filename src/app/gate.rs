//! Why an action cannot be done now: one function behind the greyed-out hint, the help and the
//! refusal, so that the three never disagree.

use crate::{
    app::{App, Pane, copy, job::Stage},
    input::Action,
    model::{AnchorKind, Basket, Dataset, Operation, Query, Selection, Verdict},
};

/// The reason why `action` cannot be done now, if there is one.
#[must_use]
pub fn refusal(app: &App, action: Action) -> Option<String> {
    if changes(action) && app.outage().is_some() {
        return Some("the service does not answer; it is asked again by itself".to_owned());
    }
    match action {
        Action::Export => no_dataset(app).or_else(|| by_status(app, Operation::Export)),
        Action::Caption => no_dataset(app).or_else(|| by_status(app, Operation::TextSearch)),
        Action::RunQuery => no_dataset(app)
            .or_else(|| by_status(app, Operation::TextSearch))
            .or_else(|| app.draft().filters().err()),
        Action::AddFilter | Action::SwitchJson | Action::EditJson | Action::Views => {
            no_dataset(app)
        }
        Action::SaveView => {
            no_dataset(app).or_else(|| app.views_refusal()).or_else(|| app.draft().filters().err())
        }
        Action::ToggleFilter | Action::DeleteFilter => {
            let none = app.draft().row().is_none();
            none.then(|| "there is no filter on this line; a adds one".to_owned())
        }
        Action::Loosen => app.looser().is_none().then(|| "nothing here can be loosened".to_owned()),
        Action::SimilarToFile => {
            no_dataset(app).or_else(|| by_status(app, Operation::VisualSearch))
        }
        Action::Similar => no_preview(app).or_else(|| by_status(app, Operation::VisualSearch)),
        Action::Record => {
            app.selected_dataset().is_none().then(|| "there is no dataset here".to_owned())
        }
        Action::FullSize | Action::Outside => no_preview(app),
        Action::PickRegion => no_preview(app)
            .or_else(|| no_original(app))
            .or_else(|| by_status(app, Operation::VisualSearch)),
        Action::PickRegionOfQuery => no_dataset(app)
            .or_else(|| no_query_image(app))
            .or_else(|| by_status(app, Operation::VisualSearch)),
        Action::NextPage => match app.page() {
            None => Some("this page is still loading".to_owned()),
            Some(_) => (!app.may_continue()).then(|| "this is the last page".to_owned()),
        },
        Action::PreviousPage => {
            let first = app.view().is_none_or(|view| view.search.page == 0);
            first.then(|| "this is the first page".to_owned())
        }
        Action::Finer | Action::Coarser => granularity(app, action),
        Action::Forward => {
            let ahead = app.results.tabs().is_some_and(|tabs| !tabs.tab().ahead.is_empty());
            (!ahead).then(|| "nothing was gone back from".to_owned())
        }
        Action::NewTab => no_dataset(app),
        Action::CloseTab => (app.tab_count() < 2).then(|| "this is the only tab".to_owned()),
        Action::Tab1 => no_tab(app, 1),
        Action::Tab2 => no_tab(app, 2),
        Action::Tab3 => no_tab(app, 3),
        Action::Tab4 => no_tab(app, 4),
        Action::Tab5 => no_tab(app, 5),
        Action::Tab6 => no_tab(app, 6),
        Action::Tab7 => no_tab(app, 7),
        Action::Tab8 => no_tab(app, 8),
        Action::Tab9 => no_tab(app, 9),
        Action::Filter | Action::Sort => match app.focus {
            Pane::Datasets => None,
            Pane::Results | Pane::Detail => no_dataset(app),
            Pane::Query | Pane::Jobs | Pane::Basket => {
                Some("only datasets and results are filtered and sorted".to_owned())
            }
        },
        Action::History => no_dataset(app),
        Action::Combine => {
            let alone = app.tab_count() < 2;
            let reason = "there is nothing to combine with; Ctrl-T opens another tab";
            no_dataset(app).or_else(|| alone.then(|| reason.to_owned()))
        }
        Action::Fold => no_scores(app),
        Action::ToggleEntity => no_dataset(app).or_else(|| fixed(app)),
        Action::Download => {
            let ready = app.job_to_download().is_some();
            (!ready).then(|| "no finished export to download; e starts one".to_owned())
        }
        Action::Profiles => {
            let moving =
                app.store.jobs.values().any(|job| matches!(job.stage, Stage::Downloading(..)));
            moving.then(|| "a download is running here; let it end first".to_owned())
        }
        Action::Mark => no_basket(app).or_else(|| no_cluster(app)),
        Action::MarkRange | Action::MarkPage | Action::InvertMarks => {
            no_basket(app).or_else(|| no_cluster(app)).or_else(|| members(app))
        }
        Action::MarkAll => no_basket(app).or_else(|| members(app)).or_else(|| {
            let computed = app.view().is_some_and(|view| view.computed.is_some());
            computed.then(|| "this is all that was loaded: V marks it".to_owned())
        }),
        Action::Exclude => no_basket(app).or_else(|| no_preview(app)).or_else(|| not_marked(app)),
        Action::Undo => no_basket(app).or_else(|| {
            let can = app.basket().is_some_and(Basket::can_undo);
            (!can).then(|| "no marking to take back".to_owned())
        }),
        Action::Redo => no_basket(app).or_else(|| {
            let can = app.basket().is_some_and(Basket::can_redo);
            (!can).then(|| "nothing was taken back".to_owned())
        }),
        Action::OpenSelection => no_basket(app),
        Action::ExportBasket => no_basket(app)
            .or_else(|| nothing_marked(app))
            .or_else(|| by_status(app, Operation::Export)),
        Action::Unmark | Action::ClearBasket | Action::SaveSelection => {
            no_basket(app).or_else(|| nothing_marked(app))
        }
        Action::AddMedia | Action::Reindex if app.setup.read_only => {
            Some("opened with --read-only: nothing is changed".to_owned())
        }
        Action::AddMedia => adding(app),
        Action::Reindex => {
            no_target(app).or_else(|| by_status_of(app.target(), Operation::Reindex))
        }
        Action::StopWatching => stopping(app),
        Action::Inspect => {
            let none = app.archive_to_inspect().is_none();
            none.then(|| {
                "there is no downloaded archive here; d downloads a finished export".to_owned()
            })
        }
        Action::ForgetJob => forgetting(app),
        Action::Larger | Action::Smaller => {
            (app.focus != Pane::Results).then(|| "only the results have tiles".to_owned())
        }
        Action::CopyId
        | Action::CopyLink
        | Action::CopyName
        | Action::CopyJson
        | Action::CopyCurl
        | Action::CopyCommand
        | Action::CopyProfiler => copy::refusal(app, action),
        _ => None,
    }
}

/// The step that would help, where `action` is refused and there is one.
#[must_use]
pub fn remedy(app: &App, action: Action) -> Option<Action> {
    refusal(app, action)?;
    match action {
        _ if app.dataset().is_none() => Some(Action::FocusDatasets),
        Action::Export if allowed(app, Operation::Reindex) => Some(Action::Reindex),
        Action::Export | Action::SimilarToFile | Action::AddMedia | Action::Reindex => {
            Some(Action::Refresh)
        }
        Action::Similar if app.preview().is_some() => Some(Action::Refresh),
        Action::Similar | Action::FullSize | Action::Outside | Action::Larger | Action::Smaller => {
            Some(Action::FocusResults)
        }
        Action::NextPage => Some(Action::PreviousPage),
        Action::PreviousPage => Some(Action::NextPage),
        Action::Finer => Some(Action::Coarser),
        Action::Coarser => Some(Action::Finer),
        Action::Download => Some(Action::Export),
        _ => None,
    }
}

fn allowed(app: &App, operation: Operation) -> bool {
    app.dataset().is_some_and(|dataset| dataset.status.allows(operation) == Verdict::Yes)
}

fn by_status(app: &App, operation: Operation) -> Option<String> {
    by_status_of(app.dataset(), operation)
}

fn by_status_of(dataset: Option<&Dataset>, operation: Operation) -> Option<String> {
    let dataset = dataset?;
    let reason = dataset.status.allows(operation).refusal()?;
    Some(format!("{} {reason} (now {})", operation.name(), dataset.status.word()))
}

fn stopping(app: &App) -> Option<String> {
    let stops = app
        .selected_job()
        .is_some_and(|job| job.is_active() && !matches!(job.stage, Stage::Starting));
    (!stops).then(|| "this job is not being watched".to_owned())
}

/// A busy dataset refuses nothing: the addition waits here until it is free (M38).
fn adding(app: &App) -> Option<String> {
    let waits = app.target().is_some_and(|dataset| dataset.status.is_moving());
    let refused = || by_status_of(app.target(), Operation::AddMedia).filter(|_| !waits);
    no_target(app).or_else(refused)
}

fn no_target(app: &App) -> Option<String> {
    app.target().is_none().then(|| "open a dataset first".to_owned())
}

fn forgetting(app: &App) -> Option<String> {
    match app.selected_job() {
        None => Some("there is no job here".to_owned()),
        Some(job) if job.is_active() => Some("this job is still going on; x stops it".to_owned()),
        Some(_) => None,
    }
}

fn no_dataset(app: &App) -> Option<String> {
    app.dataset().is_none().then(|| "open a dataset first".to_owned())
}

fn no_original(app: &App) -> Option<String> {
    let linked = app.preview().is_some_and(|preview| preview.original.is_some());
    (!linked).then(|| "the service gives no link to this picture".to_owned())
}

fn no_query_image(app: &App) -> Option<String> {
    let uploaded = app.view().is_some_and(|view| view.query_image.is_some());
    (!uploaded).then(|| "no picture was uploaded for this search; F chooses one".to_owned())
}

fn no_preview(app: &App) -> Option<String> {
    app.preview().is_none().then(|| "there is no picture here".to_owned())
}

/// The basket must have been recalled, so that nothing that was kept is overwritten.
fn no_basket(app: &App) -> Option<String> {
    let Some(view) = app.view() else { return no_dataset(app) };
    let basket = app.store.baskets.get(&view.search.dataset);
    match basket.map(|basket| (basket.value(), basket.failure())) {
        Some((Some(_), _)) => None,
        Some((None, Some(failure))) => Some(format!("{failure}; r tries again")),
        Some((None, None)) | None => Some("the basket is being read".to_owned()),
    }
}

fn nothing_marked(app: &App) -> Option<String> {
    let empty = app.selection().is_none_or(Selection::is_empty);
    empty.then(|| "nothing is marked: space marks a cluster".to_owned())
}

fn no_cluster(app: &App) -> Option<String> {
    app.cluster().is_none().then(|| "there is no cluster here".to_owned())
}

fn members(app: &App) -> Option<String> {
    let reason = "these are the members of one cluster: Space marks one, Esc goes back";
    app.shows_members().then(|| reason.to_owned())
}

fn not_marked(app: &App) -> Option<String> {
    let marked = app.cluster().is_some_and(|cluster| {
        app.selection().is_some_and(|selection| selection.cluster(cluster.id).is_some())
    });
    (!marked).then(|| "its cluster is not marked; space in the results marks it".to_owned())
}

fn granularity(app: &App, action: Action) -> Option<String> {
    let Some(view) = app.view() else {
        return no_dataset(app);
    };
    let now = view.search.granularity;
    let (next, end) = match action {
        Action::Finer => (now.finer(), "finest"),
        _ => (now.coarser(), "coarsest"),
    };
    if next == now {
        return Some(format!("granularity {} is the {end}", now.level()));
    }
    fixed(app)
}

/// Why what is on screen cannot be asked otherwise: another granularity, other things.
fn fixed(app: &App) -> Option<String> {
    let view = app.view()?;
    if view.computed.is_some() {
        return Some("this was computed from loaded pages; Esc goes back to a search".to_owned());
    }
    // An upload holds for what it was registered with, so its file is registered again.
    let upload =
        matches!(view.search.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    if upload { by_status(app, Operation::VisualSearch) } else { None }
}

fn no_tab(app: &App, number: usize) -> Option<String> {
    let count = app.tab_count();
    (number > count).then(|| match count {
        0 => "open a dataset first".to_owned(),
        1 => "there is one tab; Ctrl-T opens another".to_owned(),
        _ => format!("there are {count} tabs"),
    })
}

fn no_scores(app: &App) -> Option<String> {
    let scored = app.page()?.clusters.iter().any(|cluster| cluster.relevance.is_some());
    (!scored).then(|| "nothing has a score here: a search gives one".to_owned())
}

/// What changes something at the service: off while it does not answer.
fn changes(action: Action) -> bool {
    matches!(action, Action::Export | Action::SimilarToFile)
}
