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

use crate::support::desk::{Desk, dataset};

fn id() -> DatasetId {
    dataset(1, Status::Ready).id
}

fn lane() -> Lane {
    Lane::Check(id())
}

fn form() -> Desk {
    Desk::with_clusters(3).pressing("g c")
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

fn checked() -> Desk {
    let mut desk = form();
    desk.press("enter");
    let results = vec![
        result(Rule::Blur, 2, false),
        result(Rule::Captions, 3, false),
        result(Rule::Dark, 0, true),
    ];
    desk.answer(lane(), Payload::Checked(results));
    desk
}

#[test]
fn the_form_sends_its_limits() {
    let mut desk = form();
    desk.press("ctrl-u");
    desk.type_text("7");
    desk.press("tab ctrl-u tab ctrl-u tab ctrl-u");
    desk.press("shift-tab shift-tab shift-tab shift-tab");
    desk.type_text("train");
    desk.press("enter");
    assert!(desk.notice().contains("no leaks: give two parts"), "{}", desk.notice());
    desk.type_text(" val selection:c");
    desk.press("shift-tab space enter");
    let leaks = |a: &str, b: &str| Condition::NoLeaks([a.to_owned(), b.to_owned()]);
    let conditions = vec![
        Condition::AtMost(Rule::Duplicates, Limit::Count(7)),
        Condition::AtMost(Rule::Labels, Limit::ZERO),
        leaks("train", "val"),
        leaks("train", "selection:c"),
        leaks("val", "selection:c"),
    ];
    assert_eq!(desk.requests(), [&Request::Check(id(), conditions)]);
    desk.fail(lane(), FailureKind::NotFound);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
    assert!(desk.app.dialog::<QualityCheck>().is_some(), "the form stays");
}

#[test]
fn nothing_and_wrong_limits_are_refused() {
    let mut desk = form();
    desk.press("x enter");
    assert!(desk.notice().contains("duplicates: expected a number"), "{}", desk.notice());
    desk.press("ctrl-u tab ctrl-u tab ctrl-u tab ctrl-u enter");
    assert!(desk.notice().contains("nothing to check"), "{}", desk.notice());
    desk.press("tab tab tab");
    desk.type_text("many");
    desk.press("enter");
    assert!(desk.notice().contains("media: expected a number"), "{}", desk.notice());
    assert!(desk.requests().is_empty());
    desk.press("ctrl-u");
    desk.type_text("100");
    desk.press("enter");
    assert_eq!(desk.requests(), [&Request::Check(id(), vec![Condition::AtLeast(100)])]);
}

#[test]
fn enter_on_a_result_shows_what_counts() {
    let mut desk = checked();
    assert!(desk.notice().contains("failed 2 of 3 checks: blur, captions"), "{}", desk.notice());
    desk.press("enter");
    let blurred = Filter::issue(IssueKind::Blur, IssueMode::In, None, None).unwrap();
    assert_eq!(desk.app.results().view().unwrap().search.filters, [blurred]);
    let mut desk = checked();
    desk.press("j enter");
    assert_eq!(desk.app.panes().focus, Pane::Basket);
    assert_eq!(desk.app.baskets().selection(desk.app.results()), Some(&media(3)));
    desk.press("u");
    assert!(desk.app.baskets().selection(desk.app.results()).unwrap().is_empty());
    let mut desk = checked();
    desk.press("G j j enter");
    assert!(desk.notice().contains("no media item counts"), "{}", desk.notice());
}

#[test]
fn the_command_of_a_check_is_copied_and_the_limits_are_kept() {
    let mut desk = checked();
    desk.press("y");
    let command = desk.other.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.as_str()),
        _ => None,
    });
    let expected = format!(
        "tessera check {} --max-duplicates '1%' --max-blur '2%' --max-dark '2%' --max-bright '2%'",
        id()
    );
    assert_eq!(command, Some(expected.as_str()));
    desk.press("esc backspace backspace");
    desk.type_text("3%");
    desk.press("enter");
    let Request::Check(_, conditions) = desk.requests()[0] else { panic!() };
    assert_eq!(conditions[0], Condition::AtMost(Rule::Duplicates, Limit::Percent(3.0)));
    desk.press("esc");
    desk.answer(lane(), Payload::Checked(vec![result(Rule::Dark, 0, true)]));
    assert!(desk.app.overlay().is_none());
    assert!(desk.notice().contains("passed 1 check"), "{}", desk.notice());
}
