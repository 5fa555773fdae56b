//! Tests the menu, the palette, the help and the log.

use std::time::Duration;

use tessera_config::{
    ThemeChoice,
    input::{Action, Keymap},
};
use tessera_interface::{
    app::{
        Effect, Event, Mouse, MouseKind, Pane, loading_text,
        overlay::{
            command_list::{CommandList, ListKind},
            export::ExportForm,
            fact_sheet::FactSheet,
            help::Help,
            manage_dataset::ReindexConfirmation,
            pick_list::{Command, PickItem},
        },
        results_header::results_notice,
    },
    message::{Lane, Payload, Request, WorkerEvent},
};
use tessera_model::{FailureKind, RecordField, RequestOutcome, RequestRecord, SafeText, Status};
use tessera_picture::Protocol;
use tessera_wire::endpoints::Endpoint;

use crate::support::app_harness::{AppHarness, dataset, page};

/// Creates a core with one dataset of this status open.
pub(super) fn with_status(status: Status) -> AppHarness {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
    harness.answer_page(page(0, 9));
    harness
}

/// Returns the items of the open menu: each with its action and whether it is disabled.
fn menu(harness: &AppHarness) -> Vec<(Action, bool)> {
    let Some(menu) = harness.app.dialog::<CommandList>() else { panic!("no menu is open") };
    menu.list.items.iter().map(|item| (action(item), item.disabled)).collect()
}

fn action(item: &PickItem) -> Action {
    let Command::Action(action) = item.command else { panic!("not an action: {item:?}") };
    action
}

#[test]
fn the_menu_lists_unavailable_actions_with_reasons() {
    let mut harness = with_status(Status::Indexing);
    harness.press(".");
    assert!(menu(&harness).contains(&(Action::Export, true)));
    assert!(menu(&harness).contains(&(Action::Refresh, false)));
    assert!(menu(&harness).contains(&(Action::NextPane, false)), "moving around is listed as well");
    let Some(open) = harness.app.dialog::<CommandList>() else { unreachable!() };
    let export = open.list.items.iter().find(|item| action(item) == Action::Export).unwrap();
    assert!(export.note.as_str().contains("not available while INDEXING"), "{}", export.note);
}

#[test]
fn an_unavailable_action_is_explained_with_a_suggestion() {
    let mut harness = with_status(Status::Indexing);
    harness.press(".");
    harness.type_text("Export the dataset");
    harness.press("enter");
    let Some(explained) = harness.app.dialog::<CommandList>() else { panic!("it is explained") };
    assert!(
        explained.title.as_str().contains("not available while INDEXING"),
        "{}",
        explained.title
    );
    assert_eq!(menu(&harness), [(Action::Refresh, false), (Action::Menu, false)]);
    harness.press("enter");
    assert!(harness.app.overlay().is_none());
    harness.take(|lane| *lane == Lane::Datasets);
}

#[test]
fn an_action_whose_keys_were_taken_stays_in_the_menu() {
    let mut harness = with_status(Status::Ready);
    let (keymap, lost) =
        Keymap::built_in().unwrap().with_overrides("[everywhere]\nquit = ['c']").unwrap();
    assert_eq!(lost, [Action::Caption]);
    harness.app.setup_mut().keymap = keymap;
    harness.press(".");
    assert!(menu(&harness).iter().any(|(action, _)| *action == Action::Caption));
}

#[test]
fn a_right_click_opens_the_menu_of_what_is_under_it() {
    let mut harness = with_status(Status::Ready);
    let area = harness.app.areas().pane(Pane::Datasets).unwrap();
    let at = Mouse { column: area.x + 3, row: area.y, kind: MouseKind::RightClick };
    harness.happen(Event::Mouse(at));
    assert_eq!(harness.app.panes().focus, Pane::Datasets);
    assert!(!menu(&harness).is_empty());
    harness.press("esc");
    assert!(harness.app.overlay().is_none());
}

#[test]
fn the_palette_finds_actions_datasets_and_themes() {
    let mut harness = AppHarness::new();
    let list = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    harness.answer(Lane::Datasets, Payload::Datasets(list, 0));
    harness.press(":");
    harness.type_text("ds set-2");
    harness.press("enter");
    assert_eq!(harness.app.results().view().unwrap().search.dataset, dataset(2, Status::Ready).id);
    harness.press("ctrl-p");
    harness.type_text("theme plain");
    harness.press("enter");
    assert_eq!(harness.app.panes().theme, ThemeChoice::Plain);
    harness.press(":");
    harness.type_text("zoom");
    harness.press("enter");
    assert!(harness.app.panes().zoomed);
}

#[test]
fn the_palette_and_the_menu_find_actions_by_other_words() {
    let mut harness = AppHarness::with_clusters(3);
    for (word, name) in [
        ("duplicate", "review duplicates"),
        ("similar", "similar"),
        ("delete", "trash files"),
        ("path", "copy name"),
        ("label", "tag mode"),
        ("copy path", "copy name"),
        ("invert", "select rest"),
        ("dedupe", "review duplicates"),
    ] {
        harness.press(":");
        harness.type_text(word);
        let palette = palette(&harness).unwrap();
        let labels: Vec<&str> =
            palette.list.matches().iter().map(|item| item.label.as_str()).collect();
        assert!(labels.contains(&name), "{word}: {labels:?}");
        harness.press("esc .");
        harness.type_text(word);
        let menu = harness.app.dialog::<CommandList>().unwrap();
        let help = Action::by_name(&name.replace(' ', "-")).unwrap().help();
        assert!(menu.list.matches().iter().any(|item| item.label.as_str() == help), "{word}");
        harness.press("esc");
    }
}

fn palette(harness: &AppHarness) -> Option<&CommandList> {
    harness.app.dialog::<CommandList>().filter(|list| list.kind == ListKind::Palette)
}

#[test]
fn the_palette_lists_what_was_picked_most_first() {
    let mut harness = AppHarness::with_clusters(3);
    let first = |harness: &AppHarness| {
        let Some(palette) = palette(harness) else { panic!("no palette") };
        palette.list.matches()[0].label.to_string()
    };
    for action in ["footer", "copy name", "copy name"] {
        harness.press(":");
        harness.type_text(action);
        harness.press("enter");
    }
    harness.press(":");
    assert_eq!(first(&harness), "copy name");
    // Among equal matches, the action that was picked most also comes first.
    harness.type_text("copy");
    assert_eq!(first(&harness), "copy name");
}

#[test]
fn the_palette_shows_reasons_and_keeps_its_history() {
    let mut harness = with_status(Status::Indexing);
    harness.press(":");
    harness.type_text("export");
    let Some(palette) = palette(&harness) else { panic!("the palette is open") };
    let first = palette.list.matches()[0];
    assert!(
        first.disabled && first.note.as_str().contains("not available while INDEXING"),
        "{first:?}"
    );
    harness.press("enter");
    let explains = |harness: &AppHarness| {
        harness.app.dialog::<CommandList>().is_some_and(|list| list.kind == ListKind::Actions)
    };
    assert!(explains(&harness), "it is explained");
    harness.press("esc : up enter");
    assert!(explains(&harness), "↑ brings `export` back");
}

#[test]
fn the_help_is_searched_and_closed_step_by_step() {
    let mut harness = with_status(Status::Ready);
    harness.press("? /");
    harness.type_text("granularity");
    harness.press("enter");
    let Some(help) = harness.app.dialog::<Help>() else { panic!("the help is open") };
    assert_eq!((help.query.value(), help.searching), ("granularity", false));
    harness.press("esc");
    assert!(harness.app.overlay().is_some(), "Esc takes the search back first");
    harness.press("esc");
    assert!(harness.app.overlay().is_none());
}

#[test]
fn the_help_of_a_dialog_returns_to_it() {
    let mut harness = with_status(Status::PartialIndex);
    for close in ["esc", "?", "q", "enter"] {
        harness.press("R ?");
        assert!(harness.app.dialog::<Help>().is_some());
        harness.press(close);
        assert!(harness.app.dialog::<ReindexConfirmation>().is_some(), "{close}");
        harness.press("esc");
    }
    harness.press(": ?");
    let Some(open) = palette(&harness) else { panic!("a text field takes letters") };
    assert_eq!(open.list.filter.value(), "?");
    harness.press("f1");
    assert!(harness.app.dialog::<Help>().is_some());
    harness.press("q");
    assert!(palette(&harness).is_some());
}

#[test]
fn the_mouse_and_the_footer_can_be_disabled() {
    let mut harness = with_status(Status::Ready);
    harness.press("alt-m");
    assert!(harness.other.contains(&Effect::CaptureMouse(false)));
    assert!(harness.notice().contains("mouse released"));
    let before = harness.app.areas().pane(Pane::Results).unwrap().height;
    harness.press("alt-f");
    assert_eq!(harness.app.areas().pane(Pane::Results).unwrap().height, before + 1);
    harness.press("T");
    assert_eq!(harness.app.panes().theme, ThemeChoice::Dark);
}

#[test]
fn the_next_theme_is_one_that_the_background_leaves_readable() {
    let mut harness = AppHarness::configured(Protocol::None, |setup| {
        setup.unreadable_theme = Some(ThemeChoice::Light);
    });
    let themes = [(); 3].map(|()| {
        harness.press("T");
        harness.app.panes().theme.clone()
    });
    assert_eq!(themes, [ThemeChoice::Dark, ThemeChoice::Plain, ThemeChoice::Auto]);
}

#[test]
fn the_last_counts_stay_with_their_age() {
    let mut harness = with_status(Status::Indexing);
    harness.wait(5);
    let mut later = dataset(1, Status::Ready);
    later.n_images = None;
    harness.answer(Lane::Datasets, Payload::Datasets(vec![later], 0));
    let past = harness.app.service_data().observed.get(dataset(1, Status::Ready).id).unwrap();
    assert_eq!(
        past.images,
        Some((240, Duration::ZERO)),
        "no longer reported: the last count stays"
    );
    let change = past.changes.last().unwrap();
    assert_eq!((&change.from, &change.to), (&Status::Indexing, &Status::Ready));
    assert_eq!(change.seen_at, Duration::from_secs(5));
}

#[test]
fn an_error_keeps_the_last_good_status() {
    let mut harness = with_status(Status::Indexing);
    harness.wait(5);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Error)], 0));
    let past = harness.app.service_data().observed.get(dataset(1, Status::Ready).id).unwrap();
    assert_eq!(past.last_good_status, Some((Status::Indexing, Duration::ZERO)));
}

#[test]
fn enrichments_are_requested_once_and_may_be_missing() {
    let mut harness = with_status(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    harness.fail(Lane::Enrichment(id), FailureKind::NotFound);
    assert_eq!((harness.notice(), harness.app.service_data().enrichment(id)), ("", None));
    harness.wait(10);
    let again = harness.open.iter().any(|(_, request)| *request == Request::Enrichment(id));
    assert!(!again, "not again and again");
}

#[test]
fn w_pauses_and_resumes_automatic_refresh() {
    let mut harness = with_status(Status::Indexing);
    harness.press("1 w");
    harness.wait(60);
    assert!(!harness.requests().contains(&&Request::Datasets));
    harness.press("r");
    assert!(harness.requests().contains(&&Request::Datasets), "r refreshes anyway");
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.press("w");
    harness.wait(60);
    assert!(harness.requests().contains(&&Request::Datasets));
}

#[test]
fn the_record_shows_unknown_fields() {
    let mut harness = with_status(Status::Ready);
    harness.press("1 i");
    let id = dataset(1, Status::Ready).id;
    let field = |name: &str, value: &str| RecordField {
        name: SafeText::name(name),
        value: SafeText::detail(value),
    };
    let fields = vec![field("created_at", "2026-11-21T09:00:00"), field("flux_level", "7")];
    harness.answer(Lane::Record(id), Payload::Record(fields));
    let Some(sheet) = harness.app.dialog::<FactSheet>() else { panic!("the record is shown") };
    let lines: Vec<String> =
        sheet.facts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(lines, ["created_at=2026-11-21T09:00:00  (zone not given)", "flux_level=7"]);
}

fn exchange(attempt: u32) -> Event {
    Event::Worker(WorkerEvent::Exchange(RequestRecord {
        purpose: "list the datasets",
        method: "GET",
        target: SafeText::detail("/api/v1/datasets"),
        attempt,
        duration: Duration::from_millis(31),
        bytes_sent: 0,
        outcome: RequestOutcome::Rejected {
            status: 409,
            message: Some(SafeText::detail("not READY")),
        },
        retry_in: None,
    }))
}

#[test]
fn what_is_loading_names_the_pause_before_the_next_try() {
    let mut harness = AppHarness::new();
    assert_eq!(loading_text(&harness.app), "loading");
    let Event::Worker(WorkerEvent::Exchange(record)) = exchange(1) else { panic!("a request") };
    let failed = |seconds| {
        let retry_in = Some(Duration::from_secs(seconds));
        Event::Worker(WorkerEvent::Exchange(RequestRecord { retry_in, ..record.clone() }))
    };
    harness.happen(failed(2));
    assert_eq!(loading_text(&harness.app), "loading", "a short pause is not shown");
    harness.happen(failed(30));
    harness.happen(failed(10));
    assert_eq!(loading_text(&harness.app), "loading: 409, next try in 30 s");
}

#[test]
fn only_the_pause_of_the_awaited_request_is_shown_above_the_results() {
    let mut harness = AppHarness::with_clusters(3);
    let Event::Worker(WorkerEvent::Exchange(record)) = exchange(1) else { panic!("a request") };
    let failed = |purpose, seconds| {
        let retry_in = Some(Duration::from_secs(seconds));
        Event::Worker(WorkerEvent::Exchange(RequestRecord { purpose, retry_in, ..record.clone() }))
    };
    let page = Endpoint::Explore.retry_rule().purpose;
    harness.happen(failed(page, 50));
    harness.wait(1);
    harness.press("f");
    harness.happen(failed(Endpoint::Picture.retry_rule().purpose, 40));
    harness.wait(2);
    let waits = "waiting for a response since 2 s";
    assert_eq!(results_notice(&harness.app).unwrap(), waits);
    harness.happen(failed(page, 30));
    assert_eq!(results_notice(&harness.app).unwrap(), format!("{waits}: 409, next try in 30 s"));
    assert_eq!(harness.app.log().pending_retry(harness.now).unwrap(), "409, next try in 47 s");
}

#[test]
fn the_log_is_bounded() {
    let mut harness = with_status(Status::Ready);
    (0..600).for_each(|number| harness.happen(exchange(number)));
    assert_eq!(harness.app.log().newest_first().count(), 500);
    assert_eq!(
        harness.app.log().newest_first().next().map(|(_, newest)| newest.attempt),
        Some(599)
    );
}

#[test]
fn the_log_shows_the_response_of_the_service() {
    let mut harness = with_status(Status::Ready);
    harness.happen(exchange(2));
    harness.press("@");
    let Some(log) = harness.app.dialog::<CommandList>() else { panic!("the log is open") };
    let newest = log.list.matches()[0];
    assert!(newest.label.as_str().starts_with("409"), "{newest:?}");
    harness.press("enter");
    let Some(sheet) = harness.app.dialog::<FactSheet>() else { panic!("the exchange is shown") };
    assert!(sheet.facts.iter().any(|(_, value)| value.as_str() == "not READY"));
}

#[test]
fn changes_need_a_status_at_most_five_seconds_old() {
    let mut harness = with_status(Status::Ready);
    let starts = |harness: &AppHarness| {
        harness.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::StartJob(_))).count()
    };
    harness.wait(6);
    harness.press("e enter");
    assert_eq!(
        (starts(&harness), harness.app.overlays().submit_pending()),
        (0, true),
        "the status is loaded first"
    );
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert_eq!(starts(&harness), 1);
    harness.wait(6);
    harness.press("e enter");
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    assert_eq!(starts(&harness), 1, "the status has changed: nothing is sent");
    assert!(harness.notice().contains("not available while INDEXING"), "{}", harness.notice());
    assert!(harness.app.dialog::<ExportForm>().is_some(), "the form stays");
}

#[test]
fn nothing_is_sent_when_the_status_is_not_known() {
    let mut harness = with_status(Status::Ready);
    harness.wait(6);
    harness.press("e enter");
    harness.fail(Lane::Datasets, FailureKind::NoResponse);
    assert!(harness.notice().contains("nothing was sent"), "{}", harness.notice());
    assert!(!harness.app.overlays().submit_pending() && harness.app.overlay().is_some());
}

#[test]
fn a_jump_label_focuses_its_pane() {
    let mut harness = with_status(Status::Ready);
    harness.press("ctrl-o");
    let jobs =
        harness.app.jump_targets().into_iter().find(|target| target.pane == Pane::Jobs).unwrap();
    harness.press(jobs.letter.encode_utf8(&mut [0; 4]));
    assert_eq!((harness.app.panes().focus, harness.app.jump_mode()), (Pane::Jobs, false));
    harness.press("ctrl-o esc");
    assert_eq!((harness.app.panes().focus, harness.app.jump_mode()), (Pane::Jobs, false));
    harness.happen(Event::Resize(80, 24));
    harness.press("ctrl-o");
    let letters: Vec<Pane> = harness.app.jump_targets().iter().map(|target| target.pane).collect();
    assert_eq!(letters, Pane::NUMBERED, "on a small screen the names have the letters");
}

#[test]
fn a_dataset_opened_by_id_is_kept_in_the_list() {
    let mut harness = with_status(Status::Ready);
    harness.press("1 I");
    harness.type_text("nonsense");
    harness.press("enter");
    assert!(harness.notice().contains("not a dataset id"), "{}", harness.notice());
    harness.press("ctrl-u");
    let hidden = dataset(7, Status::Ready);
    harness.type_text(&hidden.id.to_string());
    harness.press("enter");
    harness.answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(hidden.clone())));
    assert_eq!(harness.app.results().view().unwrap().search.dataset, hidden.id);
    harness.wait(60);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert_eq!(harness.app.service_data().dataset_list().len(), 2, "the list lacks it; it stays");
    harness
        .answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(dataset(7, Status::Indexing))));
    assert_eq!(harness.app.service_data().dataset(hidden.id).unwrap().status, Status::Indexing);
    // A record that is loaded by itself is followed as one of the list.
    harness.answer_page(page(0, 3));
    harness.press("space");
    harness.wait(60);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(hidden.clone())));
    assert!(harness.notice().contains("1 cluster in the basket may no longer exist"));
    assert!(harness.requests().iter().any(|request| matches!(request, Request::Explore(_))));
    // It is opened again without a request, until it is removed.
    let open_by_id = |harness: &mut AppHarness| {
        harness.press("1 I");
        harness.type_text(&hidden.id.to_string());
        harness.press("enter");
    };
    open_by_id(&mut harness);
    assert_eq!(harness.app.panes().focus, Pane::Results);
    harness.wait(60);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.fail(Lane::Dataset(hidden.id), FailureKind::NotFound);
    assert!(harness.notice().contains("set-7 is not listed any more"), "{}", harness.notice());
    assert_eq!(harness.app.service_data().dataset_list().len(), 1);
    open_by_id(&mut harness);
    harness.fail(Lane::Dataset(hidden.id), FailureKind::NotFound);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
}

#[test]
fn a_dataset_opens_by_id_when_the_list_fails() {
    let mut harness = AppHarness::new();
    harness.fail(Lane::Datasets, FailureKind::NotFound);
    harness.press("I");
    let hidden = dataset(7, Status::Ready);
    harness.type_text(&hidden.id.to_string());
    harness.press("enter");
    harness.answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(hidden.clone())));
    assert_eq!(harness.app.results().view().unwrap().search.dataset, hidden.id);
}
