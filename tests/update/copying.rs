//! Tests what `y` and a letter copy, and what never reaches the clipboard.

use tessera_config::{DeploymentKind, custom_command::CustomCommand};
use tessera_interface::{
    app::{CopyOutcome, Effect, Event, ReopenCommand},
    message::{CopyableRead, Lane, Payload, Request},
};
use tessera_model::{Link, Status};

use super::way::with_status;
use crate::support::app_harness::{AppHarness, dataset, page};

/// Returns the last text in the clipboard.
fn clipboard(harness: &AppHarness) -> Option<&str> {
    harness.other.iter().rev().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.as_str()),
        _ => None,
    })
}

#[test]
fn y_and_a_letter_copies_what_is_under_the_cursor() {
    let mut harness = with_status(Status::Ready);
    let cluster = harness.app.results().cluster().unwrap().id;
    harness.press("y");
    assert_eq!(harness.app.pending_keys().len(), 1, "the hints show what can follow");
    harness.press("i");
    assert_eq!(clipboard(&harness), Some(cluster.to_string().as_str()));
    harness.press("1 y i");
    assert_eq!(clipboard(&harness), Some(dataset(1, Status::Ready).id.to_string().as_str()));
    harness.press("y f");
    assert_eq!(clipboard(&harness), Some("set-1"));
    harness.press("y d");
    assert_eq!(clipboard(&harness), Some("tessera open /photos"));
    harness.press("2 y j");
    let facts: serde_json::Value = serde_json::from_str(clipboard(&harness).unwrap()).unwrap();
    assert_eq!(facts["cluster_id"], cluster.to_string());
}

#[test]
fn the_command_opens_what_the_pane_shows() {
    let mut harness = with_status(Status::Ready);
    harness.app.setup_mut().reopen_command = ReopenCommand::Prefix("tessera --profile work".into());
    let id = dataset(1, Status::Ready).id;
    for (keys, expected) in [
        ("1 y d", format!("tui {id}")),
        ("2 y d", format!("search browse --dataset {id} --entity images --granularity 2")),
        ("4 y d", "jobs list".to_owned()),
        ("5 y d", format!("selection show {id}")),
    ] {
        harness.press(keys);
        let expected = format!("tessera --profile work {expected}");
        assert_eq!(clipboard(&harness), Some(expected.as_str()), "{keys}");
    }
}

#[test]
fn a_command_of_the_user_reaches_the_same_deployment() {
    let mut harness = with_status(Status::Ready);
    let run = ["sh", "-c", "{tessera} jobs list"].map(str::to_owned).to_vec();
    let command = CustomCommand { name: "My jobs".to_owned(), run, key: None, terminal: true };
    harness.app.setup_mut().settings.commands = vec![command];
    let choose = |harness: &mut AppHarness| {
        harness.press(":");
        harness.type_text("My jobs");
        harness.press("enter");
    };
    choose(&mut harness);
    assert_eq!(harness.notice(), "other commands cannot reach this deployment");
    harness.press("esc esc");
    harness.app.setup_mut().reopen_command = ReopenCommand::Prefix("tessera --profile work".into());
    choose(&mut harness);
    let (_, request) = harness.take(|lane| *lane == Lane::CustomCommand);
    let Request::RunCustomCommand(run) = request else { panic!("{request:?}") };
    assert_eq!(run.tessera.as_str(), "tessera --profile work");
}

#[test]
fn queries_and_selections_are_copied_as_they_are_sent() {
    let mut harness = with_status(Status::Ready);
    let cluster = harness.app.results().cluster().unwrap().id;
    harness.other.clear();
    harness.press("3 y j");
    assert_eq!((clipboard(&harness), harness.notice()), (None, "no complete filter is on"));
    harness.press("5 y j");
    assert_eq!((clipboard(&harness), harness.notice()), (None, "nothing is selected"));
    harness.press("2 space 5 y j");
    let body: serde_json::Value = serde_json::from_str(clipboard(&harness).unwrap()).unwrap();
    assert_eq!(body["media_selection"][0]["payload"]["cluster_id"], cluster.to_string());
}

#[test]
fn the_link_of_a_local_picture_is_its_file() {
    let mut harness = with_status(Status::Ready);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.press("y c");
    assert!(
        harness.notice().contains("only this program reaches the service"),
        "{}",
        harness.notice()
    );
    let mut local = page(0, 1);
    let preview = &mut local.clusters[0].previews[0];
    preview.original_path = Some(format!("/photos/a b/{}", preview.file_name).into());
    let uri = format!("file:///photos/a%20b/{}", preview.file_name);
    harness.press("r");
    harness.answer_page(local);
    harness.press("y u");
    assert_eq!(clipboard(&harness), Some(uri.as_str()));
    harness.press("y j");
    let facts: serde_json::Value = serde_json::from_str(clipboard(&harness).unwrap()).unwrap();
    assert_eq!(facts["previews"][0]["media_uri"], uri);
}

#[test]
fn a_signature_is_copied_only_with_the_link_itself() {
    let mut harness = with_status(Status::Ready);
    let mut signed = page(0, 1);
    signed.clusters[0].previews[0].original = Some(Link::new("https://cdn.example/a?sig=canary"));
    harness.press("r");
    harness.answer_page(signed);
    for keys in ["y i", "y f", "y j", "y d"] {
        harness.press(keys);
        assert!(!clipboard(&harness).unwrap().contains("canary"), "{keys}");
    }
    harness.press("y u");
    assert_eq!(clipboard(&harness), Some("https://cdn.example/a?sig=canary"));
    harness.happen(Event::Copied(CopyOutcome::Copied(vec!["the buffer", "the clipboard"])));
    assert!(harness.notice().contains("expires soon") && !harness.notice().contains("canary"));
    assert!(
        harness.notice().contains("to the buffer and to the clipboard"),
        "{}",
        harness.notice()
    );
}

#[test]
fn a_copied_link_cannot_run_a_command_in_the_shell_it_is_pasted_into() {
    let mut harness = with_status(Status::Ready);
    let mut copied = |url: &str| {
        let mut hostile = page(0, 1);
        hostile.clusters[0].previews[0].original = Some(Link::new(url));
        harness.press("r");
        harness.answer_page(hostile);
        harness.other.clear();
        harness.press("2 y u");
        (clipboard(&harness).map(str::to_owned), harness.notice().to_owned())
    };
    let (text, notice) = copied("https://cdn.example/a\nreboot\n?sig=1");
    assert_eq!(text, None);
    assert!(notice.contains("invalid link"), "{notice}");
    let (text, _) = copied("https://cdn.example/\u{202e}a b?sig=1");
    assert_eq!(text.as_deref(), Some("https://cdn.example/%E2%80%AEa%20b?sig=1"));
}

#[test]
fn copied_facts_contain_nothing_that_a_terminal_interprets() {
    let mut harness = with_status(Status::Ready);
    let mut hostile = page(0, 1);
    hostile.clusters[0].previews[0].original =
        Some(Link::new("https://cdn.example/\u{9b}2J\u{202e}"));
    harness.press("r");
    harness.answer_page(hostile);
    harness.press("2 y j");
    let facts = clipboard(&harness).unwrap();
    assert!(facts.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{facts:?}");
}

#[test]
fn the_client_writes_the_curl_command() {
    let mut harness = with_status(Status::Ready);
    harness.press("y c");
    let search = harness.app.results().view().unwrap().search.clone();
    assert!(harness.requests().contains(&&Request::Curl(CopyableRead::Page(search))));
    harness.answer(Lane::Curl, Payload::Curl("curl -sS https://media.example".into()));
    assert_eq!(clipboard(&harness), Some("curl -sS https://media.example"));
}

#[test]
fn the_profiler_command_is_for_on_premises_deployments() {
    let mut harness = with_status(Status::PartialIndex);
    harness.press("1 y s");
    assert!(harness.notice().contains("on-premises"), "{}", harness.notice());
    harness.app.setup_mut().deployment = DeploymentKind::Onprem;
    harness.press("y s");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(clipboard(&harness), Some(format!("run_profiler.sh -o reindex -d {id}").as_str()));
}

#[test]
fn a_text_that_is_too_long_for_a_terminal_is_not_copied() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("y c");
    let url: &'static str = String::leak("x".repeat(70_000));
    harness.other.clear();
    harness.answer(Lane::Curl, Payload::Curl(url.into()));
    assert!(!harness.other.iter().any(|effect| matches!(effect, Effect::Copy(_))));
    assert!(harness.notice().contains("too long to copy"), "{}", harness.notice());
}
