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

use crate::support::desk::{Desk, dataset, page};

/// Creates a core with one dataset of this status open.
pub(super) fn with_status(status: Status) -> Desk {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
    desk.answer_page(page(0, 9));
    desk
}

/// Returns the items of the open menu: each with its action and whether it is disabled.
fn menu(desk: &Desk) -> Vec<(Action, bool)> {
    let Some(menu) = desk.app.dialog::<CommandList>() else { panic!("no menu is open") };
    menu.list.items.iter().map(|item| (action(item), item.disabled)).collect()
}

fn action(item: &PickItem) -> Action {
    let Command::Action(action) = item.command else { panic!("not an action: {item:?}") };
    action
}

#[test]
fn the_menu_lists_unavailable_actions_with_reasons() {
    let mut desk = with_status(Status::Indexing);
    desk.press(".");
    assert!(menu(&desk).contains(&(Action::Export, true)));
    assert!(menu(&desk).contains(&(Action::Refresh, false)));
    assert!(menu(&desk).contains(&(Action::NextPane, false)), "moving around is listed as well");
    let Some(open) = desk.app.dialog::<CommandList>() else { unreachable!() };
    let export = open.list.items.iter().find(|item| action(item) == Action::Export).unwrap();
    assert!(export.note.as_str().contains("not available while INDEXING"), "{}", export.note);
}

#[test]
fn an_unavailable_action_is_explained_with_a_suggestion() {
    let mut desk = with_status(Status::Indexing);
    desk.press(".");
    desk.type_text("Export the dataset");
    desk.press("enter");
    let Some(explained) = desk.app.dialog::<CommandList>() else { panic!("it is explained") };
    assert!(
        explained.title.as_str().contains("not available while INDEXING"),
        "{}",
        explained.title
    );
    assert_eq!(menu(&desk), [(Action::Refresh, false), (Action::Menu, false)]);
    desk.press("enter");
    assert!(desk.app.overlay().is_none());
    desk.take(|lane| *lane == Lane::Datasets);
}

#[test]
fn an_action_whose_keys_were_taken_stays_in_the_menu() {
    let mut desk = with_status(Status::Ready);
    let (keymap, lost) =
        Keymap::built_in().unwrap().with_overrides("[everywhere]\nquit = ['c']").unwrap();
    assert_eq!(lost, [Action::Caption]);
    desk.app.setup_mut().keymap = keymap;
    desk.press(".");
    assert!(menu(&desk).iter().any(|(action, _)| *action == Action::Caption));
}

#[test]
fn a_right_click_opens_the_menu_of_what_is_under_it() {
    let mut desk = with_status(Status::Ready);
    let area = desk.app.areas().pane(Pane::Datasets).unwrap();
    let at = Mouse { column: area.x + 3, row: area.y, kind: MouseKind::RightClick };
    desk.happen(Event::Mouse(at));
    assert_eq!(desk.app.panes().focus, Pane::Datasets);
    assert!(!menu(&desk).is_empty());
    desk.press("esc");
    assert!(desk.app.overlay().is_none());
}

#[test]
fn the_palette_finds_actions_datasets_and_themes() {
    let mut desk = Desk::new();
    let list = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    desk.answer(Lane::Datasets, Payload::Datasets(list, 0));
    desk.press(":");
    desk.type_text("ds set-2");
    desk.press("enter");
    assert_eq!(desk.app.results().view().unwrap().search.dataset, dataset(2, Status::Ready).id);
    desk.press("ctrl-p");
    desk.type_text("theme plain");
    desk.press("enter");
    assert_eq!(desk.app.panes().theme, ThemeChoice::Plain);
    desk.press(":");
    desk.type_text("zoom");
    desk.press("enter");
    assert!(desk.app.panes().zoomed);
}

#[test]
fn the_palette_and_the_menu_find_actions_by_other_words() {
    let mut desk = Desk::with_clusters(3);
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
        desk.press(":");
        desk.type_text(word);
        let palette = palette(&desk).unwrap();
        let labels: Vec<&str> =
            palette.list.matches().iter().map(|item| item.label.as_str()).collect();
        assert!(labels.contains(&name), "{word}: {labels:?}");
        desk.press("esc .");
        desk.type_text(word);
        let menu = desk.app.dialog::<CommandList>().unwrap();
        let help = Action::by_name(&name.replace(' ', "-")).unwrap().help();
        assert!(menu.list.matches().iter().any(|item| item.label.as_str() == help), "{word}");
        desk.press("esc");
    }
}

fn palette(desk: &Desk) -> Option<&CommandList> {
    desk.app.dialog::<CommandList>().filter(|list| list.kind == ListKind::Palette)
}

#[test]
fn the_palette_lists_what_was_picked_most_first() {
    let mut desk = Desk::with_clusters(3);
    let first = |desk: &Desk| {
        let Some(palette) = palette(desk) else { panic!("no palette") };
        palette.list.matches()[0].label.to_string()
    };
    for action in ["footer", "copy name", "copy name"] {
        desk.press(":");
        desk.type_text(action);
        desk.press("enter");
    }
    desk.press(":");
    assert_eq!(first(&desk), "copy name");
    // Among equal matches, the action that was picked most also comes first.
    desk.type_text("copy");
    assert_eq!(first(&desk), "copy name");
}

#[test]
fn the_palette_shows_reasons_and_keeps_its_history() {
    let mut desk = with_status(Status::Indexing);
    desk.press(":");
    desk.type_text("export");
    let Some(palette) = palette(&desk) else { panic!("the palette is open") };
    let first = palette.list.matches()[0];
    assert!(
        first.disabled && first.note.as_str().contains("not available while INDEXING"),
        "{first:?}"
    );
    desk.press("enter");
    let explains = |desk: &Desk| {
        desk.app.dialog::<CommandList>().is_some_and(|list| list.kind == ListKind::Actions)
    };
    assert!(explains(&desk), "it is explained");
    desk.press("esc : up enter");
    assert!(explains(&desk), "↑ brings `export` back");
}

#[test]
fn the_help_is_searched_and_closed_step_by_step() {
    let mut desk = with_status(Status::Ready);
    desk.press("? /");
    desk.type_text("granularity");
    desk.press("enter");
    let Some(help) = desk.app.dialog::<Help>() else { panic!("the help is open") };
    assert_eq!((help.query.value(), help.searching), ("granularity", false));
    desk.press("esc");
    assert!(desk.app.overlay().is_some(), "Esc takes the search back first");
    desk.press("esc");
    assert!(desk.app.overlay().is_none());
}

#[test]
fn the_help_of_a_dialog_returns_to_it() {
    let mut desk = with_status(Status::PartialIndex);
    for close in ["esc", "?", "q", "enter"] {
        desk.press("R ?");
        assert!(desk.app.dialog::<Help>().is_some());
        desk.press(close);
        assert!(desk.app.dialog::<ReindexConfirmation>().is_some(), "{close}");
        desk.press("esc");
    }
    desk.press(": ?");
    let Some(open) = palette(&desk) else { panic!("a text field takes letters") };
    assert_eq!(open.list.filter.value(), "?");
    desk.press("f1");
    assert!(desk.app.dialog::<Help>().is_some());
    desk.press("q");
    assert!(palette(&desk).is_some());
}

#[test]
fn the_mouse_and_the_footer_can_be_disabled() {
    let mut desk = with_status(Status::Ready);
    desk.press("alt-m");
    assert!(desk.other.contains(&Effect::CaptureMouse(false)));
    assert!(desk.notice().contains("mouse released"));
    let before = desk.app.areas().pane(Pane::Results).unwrap().height;
    desk.press("alt-f");
    assert_eq!(desk.app.areas().pane(Pane::Results).unwrap().height, before + 1);
    desk.press("T");
    assert_eq!(desk.app.panes().theme, ThemeChoice::Dark);
}

#[test]
fn the_next_theme_is_one_that_the_background_leaves_readable() {
    let mut desk = Desk::configured(Protocol::None, |setup| {
        setup.unreadable_theme = Some(ThemeChoice::Light);
    });
    let themes = [(); 3].map(|()| {
        desk.press("T");
        desk.app.panes().theme.clone()
    });
    assert_eq!(themes, [ThemeChoice::Dark, ThemeChoice::Plain, ThemeChoice::Auto]);
}

#[test]
fn the_last_counts_stay_with_their_age() {
    let mut desk = with_status(Status::Indexing);
    desk.wait(5);
    let mut later = dataset(1, Status::Ready);
    later.n_images = None;
    desk.answer(Lane::Datasets, Payload::Datasets(vec![later], 0));
    let past = desk.app.service_data().observed.get(dataset(1, Status::Ready).id).unwrap();
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
    let mut desk = with_status(Status::Indexing);
    desk.wait(5);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Error)], 0));
    let past = desk.app.service_data().observed.get(dataset(1, Status::Ready).id).unwrap();
    assert_eq!(past.last_good_status, Some((Status::Indexing, Duration::ZERO)));
}

#[test]
fn enrichments_are_requested_once_and_may_be_missing() {
    let mut desk = with_status(Status::Ready);
    let id = dataset(1, Status::Ready).id;
    desk.fail(Lane::Enrichment(id), FailureKind::NotFound);
    assert_eq!((desk.notice(), desk.app.service_data().enrichment(id)), ("", None));
    desk.wait(10);
    let again = desk.open.iter().any(|(_, request)| *request == Request::Enrichment(id));
    assert!(!again, "not again and again");
}

#[test]
fn w_pauses_and_resumes_automatic_refresh() {
    let mut desk = with_status(Status::Indexing);
    desk.press("1 w");
    desk.wait(60);
    assert!(!desk.requests().contains(&&Request::Datasets));
    desk.press("r");
    assert!(desk.requests().contains(&&Request::Datasets), "r refreshes anyway");
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.press("w");
    desk.wait(60);
    assert!(desk.requests().contains(&&Request::Datasets));
}

#[test]
fn the_record_shows_unknown_fields() {
    let mut desk = with_status(Status::Ready);
    desk.press("1 i");
    let id = dataset(1, Status::Ready).id;
    let field = |name: &str, value: &str| RecordField {
        name: SafeText::name(name),
        value: SafeText::detail(value),
    };
    let fields = vec![field("created_at", "2026-11-21T09:00:00"), field("flux_level", "7")];
    desk.answer(Lane::Record(id), Payload::Record(fields));
    let Some(sheet) = desk.app.dialog::<FactSheet>() else { panic!("the record is shown") };
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
    let mut desk = Desk::new();
    assert_eq!(loading_text(&desk.app), "loading");
    let Event::Worker(WorkerEvent::Exchange(record)) = exchange(1) else { panic!("a request") };
    let failed = |seconds| {
        let retry_in = Some(Duration::from_secs(seconds));
        Event::Worker(WorkerEvent::Exchange(RequestRecord { retry_in, ..record.clone() }))
    };
    desk.happen(failed(2));
    assert_eq!(loading_text(&desk.app), "loading", "a short pause is not shown");
    desk.happen(failed(30));
    desk.happen(failed(10));
    assert_eq!(loading_text(&desk.app), "loading: 409, next try in 30 s");
}

#[test]
fn only_the_pause_of_the_awaited_request_is_shown_above_the_results() {
    let mut desk = Desk::with_clusters(3);
    let Event::Worker(WorkerEvent::Exchange(record)) = exchange(1) else { panic!("a request") };
    let failed = |purpose, seconds| {
        let retry_in = Some(Duration::from_secs(seconds));
        Event::Worker(WorkerEvent::Exchange(RequestRecord { purpose, retry_in, ..record.clone() }))
    };
    let page = Endpoint::Explore.retry_rule().purpose;
    desk.happen(failed(page, 50));
    desk.wait(1);
    desk.press("f");
    desk.happen(failed(Endpoint::Picture.retry_rule().purpose, 40));
    desk.wait(2);
    let waits = "waiting for a response since 2 s";
    assert_eq!(results_notice(&desk.app).unwrap(), waits);
    desk.happen(failed(page, 30));
    assert_eq!(results_notice(&desk.app).unwrap(), format!("{waits}: 409, next try in 30 s"));
    assert_eq!(desk.app.log().pending_retry(desk.now).unwrap(), "409, next try in 47 s");
}

#[test]
fn the_log_is_bounded() {
    let mut desk = with_status(Status::Ready);
    (0..600).for_each(|number| desk.happen(exchange(number)));
    assert_eq!(desk.app.log().newest_first().count(), 500);
    assert_eq!(desk.app.log().newest_first().next().map(|(_, newest)| newest.attempt), Some(599));
}

#[test]
fn the_log_shows_the_response_of_the_service() {
    let mut desk = with_status(Status::Ready);
    desk.happen(exchange(2));
    desk.press("@");
    let Some(log) = desk.app.dialog::<CommandList>() else { panic!("the log is open") };
    let newest = log.list.matches()[0];
    assert!(newest.label.as_str().starts_with("409"), "{newest:?}");
    desk.press("enter");
    let Some(sheet) = desk.app.dialog::<FactSheet>() else { panic!("the exchange is shown") };
    assert!(sheet.facts.iter().any(|(_, value)| value.as_str() == "not READY"));
}

#[test]
fn changes_need_a_status_at_most_five_seconds_old() {
    let mut desk = with_status(Status::Ready);
    let starts = |desk: &Desk| {
        desk.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::StartJob(_))).count()
    };
    desk.wait(6);
    desk.press("e enter");
    assert_eq!(
        (starts(&desk), desk.app.overlays().submit_pending()),
        (0, true),
        "the status is loaded first"
    );
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert_eq!(starts(&desk), 1);
    desk.wait(6);
    desk.press("e enter");
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    assert_eq!(starts(&desk), 1, "the status has changed: nothing is sent");
    assert!(desk.notice().contains("not available while INDEXING"), "{}", desk.notice());
    assert!(desk.app.dialog::<ExportForm>().is_some(), "the form stays");
}

#[test]
fn nothing_is_sent_when_the_status_is_not_known() {
    let mut desk = with_status(Status::Ready);
    desk.wait(6);
    desk.press("e enter");
    desk.fail(Lane::Datasets, FailureKind::NoResponse);
    assert!(desk.notice().contains("nothing was sent"), "{}", desk.notice());
    assert!(!desk.app.overlays().submit_pending() && desk.app.overlay().is_some());
}

#[test]
fn a_jump_label_focuses_its_pane() {
    let mut desk = with_status(Status::Ready);
    desk.press("ctrl-o");
    let jobs =
        desk.app.jump_targets().into_iter().find(|target| target.pane == Pane::Jobs).unwrap();
    desk.press(jobs.letter.encode_utf8(&mut [0; 4]));
    assert_eq!((desk.app.panes().focus, desk.app.jump_mode()), (Pane::Jobs, false));
    desk.press("ctrl-o esc");
    assert_eq!((desk.app.panes().focus, desk.app.jump_mode()), (Pane::Jobs, false));
    desk.happen(Event::Resize(80, 24));
    desk.press("ctrl-o");
    let letters: Vec<Pane> = desk.app.jump_targets().iter().map(|target| target.pane).collect();
    assert_eq!(letters, Pane::NUMBERED, "on a small screen the names have the letters");
}

#[test]
fn a_dataset_opened_by_id_is_kept_in_the_list() {
    let mut desk = with_status(Status::Ready);
    desk.press("1 I");
    desk.type_text("nonsense");
    desk.press("enter");
    assert!(desk.notice().contains("not a dataset id"), "{}", desk.notice());
    desk.press("ctrl-u");
    let hidden = dataset(7, Status::Ready);
    desk.type_text(&hidden.id.to_string());
    desk.press("enter");
    desk.answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(hidden.clone())));
    assert_eq!(desk.app.results().view().unwrap().search.dataset, hidden.id);
    desk.wait(60);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert_eq!(desk.app.service_data().dataset_list().len(), 2, "the list lacks it; it stays");
    desk.answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(dataset(7, Status::Indexing))));
    assert_eq!(desk.app.service_data().dataset(hidden.id).unwrap().status, Status::Indexing);
    // A record that is loaded by itself is followed as one of the list.
    desk.answer_page(page(0, 3));
    desk.press("space");
    desk.wait(60);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(hidden.clone())));
    assert!(desk.notice().contains("1 cluster in the basket may no longer exist"));
    assert!(desk.requests().iter().any(|request| matches!(request, Request::Explore(_))));
    // It is opened again without a request, until it is removed.
    let open_by_id = |desk: &mut Desk| {
        desk.press("1 I");
        desk.type_text(&hidden.id.to_string());
        desk.press("enter");
    };
    open_by_id(&mut desk);
    assert_eq!(desk.app.panes().focus, Pane::Results);
    desk.wait(60);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.fail(Lane::Dataset(hidden.id), FailureKind::NotFound);
    assert!(desk.notice().contains("set-7 is not listed any more"), "{}", desk.notice());
    assert_eq!(desk.app.service_data().dataset_list().len(), 1);
    open_by_id(&mut desk);
    desk.fail(Lane::Dataset(hidden.id), FailureKind::NotFound);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
}

#[test]
fn a_dataset_opens_by_id_when_the_list_fails() {
    let mut desk = Desk::new();
    desk.fail(Lane::Datasets, FailureKind::NotFound);
    desk.press("I");
    let hidden = dataset(7, Status::Ready);
    desk.type_text(&hidden.id.to_string());
    desk.press("enter");
    desk.answer(Lane::Dataset(hidden.id), Payload::Dataset(Box::new(hidden.clone())));
    assert_eq!(desk.app.results().view().unwrap().search.dataset, hidden.id);
}
