//! Tests the check of a dataset: what is asked of the worker, what the table offers, and the command that does the
//! same.

use tessera::usecase::file_actions::selection_of_media;
use tessera_interface::{
    app::{Effect, Pane, overlay::check::QualityCheck},
    message::{Lane, Payload, Request},
};
use tessera_model::{
    DatasetId, FailureKind, Filter, MediaId, SafeText, Selection, Status,
    check::{Condition, ConditionResult, Limit, Rule},
    vql::{IssueKind, IssueMode},
};
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset};

fn id() -> DatasetId {
    dataset(1, Status::Ready).id
}

fn lane() -> Lane {
    Lane::Check(id())
}

fn form() -> AppHarness {
    AppHarness::with_clusters(3).pressing("g c")
}

fn media(count: u128) -> Selection {
    let media = (1..=count).map(|number| (MediaId(Uuid::from_u128(number)), "a\u{1b}.jpg".into()));
    selection_of_media(&media.collect::<Vec<_>>())
}

fn result(rule: Rule, found: u128, passed: bool) -> ConditionResult {
    ConditionResult {
        rule,
        name: SafeText::name(rule.id()),
        limit: "at most 1%".to_owned(),
        found: usize::try_from(found).unwrap(),
        passed,
        media: media(found),
    }
}

fn checked() -> AppHarness {
    let mut harness = form();
    harness.press("enter");
    let results = vec![
        result(Rule::Blur, 2, false),
        result(Rule::Captions, 3, false),
        result(Rule::Dark, 0, true),
    ];
    harness.answer(lane(), Payload::Checked(results));
    harness
}

#[test]
fn the_form_sends_its_limits() {
    let mut harness = form();
    harness.press("ctrl-u");
    harness.type_text("7");
    harness.press("tab ctrl-u tab ctrl-u tab ctrl-u");
    harness.press("shift-tab shift-tab shift-tab shift-tab");
    harness.type_text("train");
    harness.press("enter");
    assert!(harness.notice().contains("no leaks: give two parts"), "{}", harness.notice());
    harness.type_text(" val selection:c");
    harness.press("shift-tab space enter");
    let leaks = |a: &str, b: &str| Condition::NoLeaks([a.to_owned(), b.to_owned()]);
    let conditions = vec![
        Condition::AtMost(Rule::Duplicates, Limit::Count(7)),
        Condition::AtMost(Rule::Labels, Limit::ZERO),
        leaks("train", "val"),
        leaks("train", "selection:c"),
        leaks("val", "selection:c"),
    ];
    assert_eq!(harness.requests(), [&Request::Check(id(), conditions)]);
    harness.fail(lane(), FailureKind::NotFound);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    assert!(harness.app.dialog::<QualityCheck>().is_some(), "the form stays");
}

#[test]
fn nothing_and_wrong_limits_are_refused() {
    let mut harness = form();
    harness.press("x enter");
    assert!(harness.notice().contains("duplicates: expected a number"), "{}", harness.notice());
    harness.press("ctrl-u tab ctrl-u tab ctrl-u tab ctrl-u enter");
    assert!(harness.notice().contains("nothing to check"), "{}", harness.notice());
    harness.press("tab tab tab");
    harness.type_text("many");
    harness.press("enter");
    assert!(harness.notice().contains("media: expected a number"), "{}", harness.notice());
    assert!(harness.requests().is_empty());
    harness.press("ctrl-u");
    harness.type_text("100");
    harness.press("enter");
    assert_eq!(harness.requests(), [&Request::Check(id(), vec![Condition::AtLeast(100)])]);
}

#[test]
fn enter_on_a_result_shows_what_counts() {
    let mut harness = checked();
    assert!(
        harness.notice().contains("failed 2 of 3 checks: blur, captions"),
        "{}",
        harness.notice()
    );
    harness.press("enter");
    let blurred = Filter::issue(IssueKind::Blur, IssueMode::In, None, None).unwrap();
    assert_eq!(harness.app.results().view().unwrap().search.filters, [blurred]);
    let mut harness = checked();
    harness.press("j enter");
    assert_eq!(harness.app.panes().focus, Pane::Basket);
    assert_eq!(harness.app.baskets().selection(harness.app.results()), Some(&media(3)));
    harness.press("u");
    assert!(harness.app.baskets().selection(harness.app.results()).unwrap().is_empty());
    let mut harness = checked();
    harness.press("G j j enter");
    assert!(harness.notice().contains("no media item counts"), "{}", harness.notice());
}

#[test]
fn the_command_of_a_check_is_copied_and_the_limits_are_kept() {
    let mut harness = checked();
    harness.press("y");
    let command = harness.other.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.as_str()),
        _ => None,
    });
    let expected = format!(
        "tessera check {} --max-duplicates '1%' --max-blur '2%' --max-dark '2%' --max-bright '2%'",
        id()
    );
    assert_eq!(command, Some(expected.as_str()));
    harness.press("esc backspace backspace");
    harness.type_text("3%");
    harness.press("enter");
    let Request::Check(_, conditions) = harness.requests()[0] else { panic!() };
    assert_eq!(conditions[0], Condition::AtMost(Rule::Duplicates, Limit::Percent(3.0)));
    harness.press("esc");
    harness.answer(lane(), Payload::Checked(vec![result(Rule::Dark, 0, true)]));
    assert!(harness.app.overlay().is_none());
    assert!(harness.notice().contains("passed 1 check"), "{}", harness.notice());
}
