//! Tests that every action can be reached by its name and by its keys, and leads to text.

use std::collections::BTreeSet;

use tessera::accessible::TypedLine;
use tessera_config::{DeploymentKind, input::Action};
use tessera_interface::{
    app::{
        App, Event,
        availability::{drawing_reason, unavailable_reason},
    },
    message::{JobId, Lane, Payload},
};
use tessera_model::{Anchor, AnchorKind, MediaId, Status, TagChange, TagChangeId};
use tessera_picture::Protocol;
use uuid::Uuid;

use super::TextSession;
use crate::support::{
    app_harness::{AppHarness, dataset, page, task},
    frames::frames,
    scene,
};

/// Actions whose text arrives with a response that is not a page, or that act outside of the
/// program.
const WITHOUT_TEXT_OF_THEIR_OWN: [Action; 20] = [
    // Another program shows the picture.
    Action::OpenExternally,
    // These actions are announced by their response.
    Action::Record,
    Action::CopyCurl,
    Action::SimilarToFile,
    Action::Rescan,
    Action::CancelIndexing,
    Action::CancelExport,
    Action::ChooseFiles,
    Action::RemoveDataset,
    Action::TrashFiles,
    Action::UndoFileAction,
    Action::Pick,
    Action::Reject,
    Action::Rate0,
    Action::Rate1,
    Action::Rate2,
    Action::Rate3,
    Action::Rate4,
    Action::Rate5,
    Action::UndoTags,
];

const SIZE: (u16, u16) = (120, 40);

/// States of the interface. Each of them makes other actions available.
const STATES: [fn() -> AppHarness; 34] = [
    || scene::browsing(SIZE.0, SIZE.1),
    || browsing_and("ctrl-t"),
    || scene::datasets(SIZE.0, SIZE.1),
    || scene::similar(SIZE.0, SIZE.1),
    || scene::with_marks(SIZE.0, SIZE.1),
    || query(SIZE.0, SIZE.1),
    || browsing_and("3"),
    || browsing_and("j s"),
    || browsing_and("j m"),
    || browsing_and("j m n"),
    || browsing_and("j enter"),
    || browsing_and("space enter l"),
    || jobs(SIZE.0, SIZE.1, "G"),
    || jobs(SIZE.0, SIZE.1, "j j"),
    || scene::marked_and(SIZE.0, SIZE.1, "5"),
    || scene::marked_and(SIZE.0, SIZE.1, "5 u"),
    || scene::marked_and(SIZE.0, SIZE.1, "2 u"),
    || scene::detail(SIZE.0, SIZE.1),
    || boxes(SIZE.0, SIZE.1),
    || frames(SIZE.0, SIZE.1),
    || pressed(frames(SIZE.0, SIZE.1), "l"),
    || pressed(scene::similar(SIZE.0, SIZE.1), "esc"),
    || pressed(scene::caption_line(SIZE.0, SIZE.1), "esc"),
    || pressed(scene::chips(SIZE.0, SIZE.1), "2"),
    paged,
    tabs,
    ready_export,
    hosted,
    uploaded,
    partial,
    || scene::local(SIZE.0, SIZE.1),
    || scene::offering_model(SIZE.0, SIZE.1),
    local_selection,
    tagged,
];

/// Selects a cluster of a local folder.
fn local_selection() -> AppHarness {
    let mut harness = scene::browsing(SIZE.0, SIZE.1);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.press("space");
    harness
}

fn pressed(mut harness: AppHarness, keys: &str) -> AppHarness {
    harness.press(keys);
    harness
}

fn browsing_and(keys: &str) -> AppHarness {
    scene::browsing_and(SIZE.0, SIZE.1, keys)
}

/// Opens the second of several pages.
fn paged() -> AppHarness {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    harness.answer_page(page(100, 100));
    harness.app.setup_mut().deployment = DeploymentKind::Onprem;
    harness
}

/// Opens nine tabs and goes to the first one.
fn tabs() -> AppHarness {
    let mut harness = scene::browsing(SIZE.0, SIZE.1);
    for _ in 0..8 {
        harness.press("ctrl-t");
    }
    harness.press("alt-1");
    harness
}

fn jobs(columns: u16, rows: u16, keys: &str) -> AppHarness {
    scene::with_jobs(columns, rows).pressing(&format!("esc 4 {keys}"))
}

/// Prepares an export that is ready, but not downloaded.
fn ready_export() -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.app.setup_mut().settings.export.auto_download = false;
    harness.press("e enter");
    harness.answer(Lane::StartJob(JobId(0)), Payload::Export(task("COMPLETED")));
    harness.press("4");
    harness
}

/// Shows a picture with an object in it at full size.
fn boxes(columns: u16, rows: u16) -> AppHarness {
    scene::framed_detail(columns, rows).pressing("s")
}

fn query(columns: u16, rows: u16) -> AppHarness {
    scene::query(columns, rows).pressing("esc")
}

fn hosted() -> AppHarness {
    AppHarness::hosted(Protocol::None, "ak_1").opening_clusters(3)
}

/// Shows the results of a search by an uploaded picture.
fn uploaded() -> AppHarness {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("b 3 enter");
    let anchor = Anchor { media: MediaId(Uuid::from_u128(5)), kind: AnchorKind::Upload };
    harness.answer(Lane::Anchor, Payload::Anchor(anchor));
    harness.answer_page(page(0, 2));
    harness
}

/// Opens a dataset that can be reindexed.
fn partial() -> AppHarness {
    let mut harness = AppHarness::new();
    let datasets = vec![dataset(1, Status::PartialIndex)];
    harness.answer(Lane::Datasets, Payload::Datasets(datasets, 0));
    harness.answer_page(page(0, 3));
    harness
}

/// A local folder in which a tag was added.
fn tagged() -> AppHarness {
    let mut harness = pressed(scene::local(SIZE.0, SIZE.1), "2 ; p");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
    let id = Some(TagChangeId(Uuid::nil()));
    let change = TagChange { id, changed: 1, ..TagChange::default() };
    harness.respond(ticket, Ok(Payload::TagsChanged(change)));
    harness
}

fn parsed(app: &App, line: &str) -> TypedLine {
    TypedLine::parse(app, line)
}

#[test]
fn every_action_is_reached_by_its_name_and_leads_to_text_or_to_a_reason() {
    let mut missing: BTreeSet<&str> = BTreeSet::new();
    for &action in Action::ALL {
        if drawing_reason(action).is_some() || WITHOUT_TEXT_OF_THEIR_OWN.contains(&action) {
            continue;
        }
        let leads_to_text = STATES.iter().any(|state| {
            let mut session = TextSession::start(state());
            let app = &session.harness.app;
            if app.overlay().is_some()
                || app.query().is_editing_query(app.panes().focus, app.results())
            {
                return false;
            }
            let expected = match action {
                // The key does more than the action.
                Action::Back => parsed(app, "0"),
                action => TypedLine::Events(vec![Event::Action(action)]),
            };
            assert_eq!(parsed(app, action.name()), expected, "{}", action.name());
            if unavailable_reason(app, action).is_some() {
                return false;
            }
            let lines = session.type_line(action.name());
            if session.harness.open.iter().any(|(ticket, _)| matches!(ticket.lane, Lane::Page(_))) {
                session.harness.answer_page(page(500, 100));
            }
            !lines.is_empty() || !session.announce().is_empty()
        });
        if !leads_to_text {
            missing.insert(action.name());
        }
    }
    assert!(missing.is_empty(), "no text: {missing:?}");
}

#[test]
fn actions_on_a_drawing_say_why_they_do_nothing() {
    let drawn = Action::ALL.iter().filter_map(|&action| Some((action, drawing_reason(action)?)));
    for (action, reason) in drawn {
        let mut session = TextSession::start(scene::browsing(120, 40));
        assert_eq!(
            session.type_line(action.name()),
            [format!("status: {reason}")],
            "{}",
            action.name()
        );
        let drawn = scene::browsing(120, 40);
        assert_ne!(unavailable_reason(&drawn.app, action).as_deref(), Some(reason));
    }
}

#[test]
fn no_form_for_a_secret_opens() {
    let mut session = TextSession::start(hosted());
    let lines = session.type_line("login");
    assert!(session.harness.app.overlay().is_none());
    assert!(lines.concat().contains("tessera auth import"), "{lines:?}");
}

#[test]
fn every_key_that_is_not_a_digit_is_its_action() {
    for state in STATES {
        let harness = state();
        let app = &harness.app;
        if app.overlay().is_some() || app.query().is_editing_query(app.panes().focus, app.results())
        {
            continue;
        }
        let [inner, _] = app.contexts();
        for &action in Action::ALL {
            for key in app.setup().keymap.keys_of(&[inner], action) {
                let is_number = key.parse::<usize>().is_ok();
                let expected = TypedLine::Events(vec![Event::Action(action)]);
                assert!(is_number || parsed(app, &key) == expected, "{key} in {inner:?}");
            }
        }
    }
}
