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
    desk::{Desk, dataset, page, task},
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
const STATES: [fn() -> Desk; 34] = [
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
fn local_selection() -> Desk {
    let mut desk = scene::browsing(SIZE.0, SIZE.1);
    desk.app.setup_mut().deployment = DeploymentKind::Local;
    desk.press("space");
    desk
}

fn pressed(mut desk: Desk, keys: &str) -> Desk {
    desk.press(keys);
    desk
}

fn browsing_and(keys: &str) -> Desk {
    scene::browsing_and(SIZE.0, SIZE.1, keys)
}

/// Opens the second of several pages.
fn paged() -> Desk {
    let mut desk = Desk::with_clusters(100);
    desk.press("n");
    desk.answer_page(page(100, 100));
    desk.app.setup_mut().deployment = DeploymentKind::Onprem;
    desk
}

/// Opens nine tabs and goes to the first one.
fn tabs() -> Desk {
    let mut desk = scene::browsing(SIZE.0, SIZE.1);
    for _ in 0..8 {
        desk.press("ctrl-t");
    }
    desk.press("alt-1");
    desk
}

fn jobs(columns: u16, rows: u16, keys: &str) -> Desk {
    scene::with_jobs(columns, rows).pressing(&format!("esc 4 {keys}"))
}

/// Prepares an export that is ready, but not downloaded.
fn ready_export() -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.app.setup_mut().settings.export.auto_download = false;
    desk.press("e enter");
    desk.answer(Lane::StartJob(JobId(0)), Payload::Export(task("COMPLETED")));
    desk.press("4");
    desk
}

/// Shows a picture with an object in it at full size.
fn boxes(columns: u16, rows: u16) -> Desk {
    scene::framed_detail(columns, rows).pressing("s")
}

fn query(columns: u16, rows: u16) -> Desk {
    scene::query(columns, rows).pressing("esc")
}

fn hosted() -> Desk {
    Desk::hosted(Protocol::None, "ak_1").opening_clusters(3)
}

/// Shows the results of a search by an uploaded picture.
fn uploaded() -> Desk {
    let mut desk = Desk::with_clusters(1);
    desk.press("b 3 enter");
    let anchor = Anchor { media: MediaId(Uuid::from_u128(5)), kind: AnchorKind::Upload };
    desk.answer(Lane::Anchor, Payload::Anchor(anchor));
    desk.answer_page(page(0, 2));
    desk
}

/// Opens a dataset that can be reindexed.
fn partial() -> Desk {
    let mut desk = Desk::new();
    let datasets = vec![dataset(1, Status::PartialIndex)];
    desk.answer(Lane::Datasets, Payload::Datasets(datasets, 0));
    desk.answer_page(page(0, 3));
    desk
}

/// A local folder in which a tag was added.
fn tagged() -> Desk {
    let mut desk = pressed(scene::local(SIZE.0, SIZE.1), "2 ; p");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::ChangeTags(_)));
    let id = Some(TagChangeId(Uuid::nil()));
    let change = TagChange { id, changed: 1, ..TagChange::default() };
    desk.respond(ticket, Ok(Payload::TagsChanged(change)));
    desk
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
            let app = &session.desk.app;
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
            if session.desk.open.iter().any(|(ticket, _)| matches!(ticket.lane, Lane::Page(_))) {
                session.desk.answer_page(page(500, 100));
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
    assert!(session.desk.app.overlay().is_none());
    assert!(lines.concat().contains("tessera auth import"), "{lines:?}");
}

#[test]
fn every_key_that_is_not_a_digit_is_its_action() {
    for state in STATES {
        let desk = state();
        let app = &desk.app;
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
