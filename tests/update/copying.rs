//! Tests what `y` and a letter copy, and what never reaches the clipboard.

use tessera_config::{DeploymentKind, custom_command::CustomCommand};
use tessera_interface::{
    app::{CopyOutcome, Effect, Event, ReopenCommand},
    message::{CopyableRead, Lane, Payload, Request},
};
use tessera_model::{Link, Status};

use super::way::with_status;
use crate::support::desk::{Desk, dataset, page};

/// Returns the last text in the clipboard.
fn clipboard(desk: &Desk) -> Option<&str> {
    desk.other.iter().rev().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.as_str()),
        _ => None,
    })
}

#[test]
fn y_and_a_letter_copies_what_is_under_the_cursor() {
    let mut desk = with_status(Status::Ready);
    let cluster = desk.app.results().cluster().unwrap().id;
    desk.press("y");
    assert_eq!(desk.app.pending_keys().len(), 1, "the hints show what can follow");
    desk.press("i");
    assert_eq!(clipboard(&desk), Some(cluster.to_string().as_str()));
    desk.press("1 y i");
    assert_eq!(clipboard(&desk), Some(dataset(1, Status::Ready).id.to_string().as_str()));
    desk.press("y f");
    assert_eq!(clipboard(&desk), Some("set-1"));
    desk.press("y d");
    assert_eq!(clipboard(&desk), Some("tessera open /photos"));
    desk.press("2 y j");
    let facts: serde_json::Value = serde_json::from_str(clipboard(&desk).unwrap()).unwrap();
    assert_eq!(facts["cluster_id"], cluster.to_string());
}

#[test]
fn the_command_opens_what_the_pane_shows() {
    let mut desk = with_status(Status::Ready);
    desk.app.setup_mut().reopen_command = ReopenCommand::Prefix("tessera --profile work".into());
    let id = dataset(1, Status::Ready).id;
    for (keys, expected) in [
        ("1 y d", format!("tui {id}")),
        ("2 y d", format!("search browse --dataset {id} --entity images --granularity 2")),
        ("4 y d", "jobs list".to_owned()),
        ("5 y d", format!("selection show {id}")),
    ] {
        desk.press(keys);
        let expected = format!("tessera --profile work {expected}");
        assert_eq!(clipboard(&desk), Some(expected.as_str()), "{keys}");
    }
}

#[test]
fn a_command_of_the_user_reaches_the_same_deployment() {
    let mut desk = with_status(Status::Ready);
    let run = ["sh", "-c", "{tessera} jobs list"].map(str::to_owned).to_vec();
    let command = CustomCommand { name: "My jobs".to_owned(), run, key: None, terminal: true };
    desk.app.setup_mut().settings.commands = vec![command];
    let choose = |desk: &mut Desk| {
        desk.press(":");
        desk.type_text("My jobs");
        desk.press("enter");
    };
    choose(&mut desk);
    assert_eq!(desk.notice(), "other commands cannot reach this deployment");
    desk.press("esc esc");
    desk.app.setup_mut().reopen_command = ReopenCommand::Prefix("tessera --profile work".into());
    choose(&mut desk);
    let (_, request) = desk.take(|lane| *lane == Lane::CustomCommand);
    let Request::RunCustomCommand(run) = request else { panic!("{request:?}") };
    assert_eq!(run.tessera.as_str(), "tessera --profile work");
}

#[test]
fn queries_and_selections_are_copied_as_they_are_sent() {
    let mut desk = with_status(Status::Ready);
    let cluster = desk.app.results().cluster().unwrap().id;
    desk.other.clear();
    desk.press("3 y j");
    assert_eq!((clipboard(&desk), desk.notice()), (None, "no complete filter is on"));
    desk.press("5 y j");
    assert_eq!((clipboard(&desk), desk.notice()), (None, "nothing is selected"));
    desk.press("2 space 5 y j");
    let body: serde_json::Value = serde_json::from_str(clipboard(&desk).unwrap()).unwrap();
    assert_eq!(body["media_selection"][0]["payload"]["cluster_id"], cluster.to_string());
}

#[test]
fn the_link_of_a_local_picture_is_its_file() {
    let mut desk = with_status(Status::Ready);
    desk.app.setup_mut().deployment = DeploymentKind::Local;
    desk.press("y c");
    assert!(desk.notice().contains("only this program reaches the service"), "{}", desk.notice());
    let mut local = page(0, 1);
    let preview = &mut local.clusters[0].previews[0];
    preview.original_path = Some(format!("/photos/a b/{}", preview.file_name).into());
    let uri = format!("file:///photos/a%20b/{}", preview.file_name);
    desk.press("r");
    desk.answer_page(local);
    desk.press("y u");
    assert_eq!(clipboard(&desk), Some(uri.as_str()));
    desk.press("y j");
    let facts: serde_json::Value = serde_json::from_str(clipboard(&desk).unwrap()).unwrap();
    assert_eq!(facts["previews"][0]["media_uri"], uri);
}

#[test]
fn a_signature_is_copied_only_with_the_link_itself() {
    let mut desk = with_status(Status::Ready);
    let mut signed = page(0, 1);
    signed.clusters[0].previews[0].original = Some(Link::new("https://cdn.example/a?sig=canary"));
    desk.press("r");
    desk.answer_page(signed);
    for keys in ["y i", "y f", "y j", "y d"] {
        desk.press(keys);
        assert!(!clipboard(&desk).unwrap().contains("canary"), "{keys}");
    }
    desk.press("y u");
    assert_eq!(clipboard(&desk), Some("https://cdn.example/a?sig=canary"));
    desk.happen(Event::Copied(CopyOutcome::Copied(vec!["the buffer", "the clipboard"])));
    assert!(desk.notice().contains("expires soon") && !desk.notice().contains("canary"));
    assert!(desk.notice().contains("to the buffer and to the clipboard"), "{}", desk.notice());
}

#[test]
fn a_copied_link_cannot_run_a_command_in_the_shell_it_is_pasted_into() {
    let mut desk = with_status(Status::Ready);
    let mut copied = |url: &str| {
        let mut hostile = page(0, 1);
        hostile.clusters[0].previews[0].original = Some(Link::new(url));
        desk.press("r");
        desk.answer_page(hostile);
        desk.other.clear();
        desk.press("2 y u");
        (clipboard(&desk).map(str::to_owned), desk.notice().to_owned())
    };
    let (text, notice) = copied("https://cdn.example/a\nreboot\n?sig=1");
    assert_eq!(text, None);
    assert!(notice.contains("invalid link"), "{notice}");
    let (text, _) = copied("https://cdn.example/\u{202e}a b?sig=1");
    assert_eq!(text.as_deref(), Some("https://cdn.example/%E2%80%AEa%20b?sig=1"));
}

#[test]
fn copied_facts_contain_nothing_that_a_terminal_interprets() {
    let mut desk = with_status(Status::Ready);
    let mut hostile = page(0, 1);
    hostile.clusters[0].previews[0].original =
        Some(Link::new("https://cdn.example/\u{9b}2J\u{202e}"));
    desk.press("r");
    desk.answer_page(hostile);
    desk.press("2 y j");
    let facts = clipboard(&desk).unwrap();
    assert!(facts.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{facts:?}");
}

#[test]
fn the_client_writes_the_curl_command() {
    let mut desk = with_status(Status::Ready);
    desk.press("y c");
    let search = desk.app.results().view().unwrap().search.clone();
    assert!(desk.requests().contains(&&Request::Curl(CopyableRead::Page(search))));
    desk.answer(Lane::Curl, Payload::Curl("curl -sS https://media.example".into()));
    assert_eq!(clipboard(&desk), Some("curl -sS https://media.example"));
}

#[test]
fn the_profiler_command_is_for_on_premises_deployments() {
    let mut desk = with_status(Status::PartialIndex);
    desk.press("1 y s");
    assert!(desk.notice().contains("on-premises"), "{}", desk.notice());
    desk.app.setup_mut().deployment = DeploymentKind::Onprem;
    desk.press("y s");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(clipboard(&desk), Some(format!("run_profiler.sh -o reindex -d {id}").as_str()));
}

#[test]
fn a_text_that_is_too_long_for_a_terminal_is_not_copied() {
    let mut desk = Desk::with_clusters(1);
    desk.press("y c");
    let url: &'static str = String::leak("x".repeat(70_000));
    desk.other.clear();
    desk.answer(Lane::Curl, Payload::Curl(url.into()));
    assert!(!desk.other.iter().any(|effect| matches!(effect, Effect::Copy(_))));
    assert!(desk.notice().contains("too long to copy"), "{}", desk.notice());
}
