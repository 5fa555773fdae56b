//! Tests the division of a dataset into sets: what is asked of the worker, and what is never replaced unasked.

use tessera_config::input::Action;
use tessera_interface::{
    app::{
        availability::unavailable_reason,
        overlay::split::{ReplaceSets, SplitForm},
    },
    message::{Lane, Payload, Request, SavedSet},
};
use tessera_model::{
    DatasetId, DatasetTag, DatasetTags, FailureKind, SafeText, Status, TagColor, TagId,
    split::{Balance, SplitPlan, SplitSet},
};
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset, page};

fn id() -> DatasetId {
    dataset(1, Status::Ready).id
}

fn lane() -> Lane {
    Lane::Split(id())
}

/// Opens the form for a dataset of a local folder, whose tags are known.
fn form() -> AppHarness {
    let mut harness = AppHarness::new().opening_folder(vec![dataset(1, Status::Ready)]);
    harness.press("g S");
    let tag = |name: &str, count| DatasetTag {
        id: TagId(Uuid::nil()),
        name: SafeText::name(name),
        color: Some(TagColor::Red),
        count,
    };
    let tags = vec![tag("unused", 0), tag("night", 3), tag("rejected", 40)];
    let tags = DatasetTags { tags, ..DatasetTags::default() };
    harness.answer(Lane::Tags(id()), Payload::Tags(tags));
    harness
}

fn plan(sets: &[(&str, f64)]) -> SplitPlan {
    let set = |(name, share): &(&str, f64)| SplitSet { name: (*name).to_owned(), share: *share };
    SplitPlan {
        sets: sets.iter().map(set).collect(),
        balance: Balance::Size,
        without: Vec::new(),
        seed: 0,
    }
}

fn request(plan: SplitPlan, replaces: bool) -> Request {
    Request::Split { dataset: id(), plan, replaces }
}

fn names(names: &[&str]) -> Vec<SafeText> {
    names.iter().map(|name| SafeText::name(name)).collect()
}

fn saved(name: &str, media: usize, why_empty: Option<&str>) -> SavedSet {
    SavedSet { name: SafeText::name(name), media, why_empty: why_empty.map(SafeText::name) }
}

#[test]
fn the_defaults_divide_the_whole_dataset_into_the_usual_sets() {
    let mut harness = form();
    harness.press("enter");
    let usual = plan(&[("train", 80.0), ("val", 10.0), ("test", 10.0)]);
    assert_eq!(harness.requests(), [&request(usual, false)]);
    let reason = unavailable_reason(&harness.app, Action::Split).unwrap();
    assert!(reason.contains("running already"), "{reason}");
    let sets = [("train", 1_192), ("val", 24), ("test", 24)];
    let sets = sets.map(|(name, media)| saved(name, media, None));
    harness.answer(lane(), Payload::SetsSaved(sets.to_vec()));
    assert!(harness.app.overlay().is_none());
    let text = "divided 1 240 media items: train 1 192, val 24, test 24; in the basket (5), o";
    assert!(harness.notice().starts_with(text), "{}", harness.notice());
}

#[test]
fn the_form_sends_what_was_typed_and_chosen() {
    let mut harness = form();
    harness.press("ctrl-u");
    harness.type_text("2/1/1/1");
    harness.press("enter");
    assert!(harness.notice().contains("names: give 4 different names"), "{}", harness.notice());
    harness.press("tab");
    harness.type_text("a, b,c,d");
    harness.press("tab space tab");
    harness.type_text("rejected, dusk");
    harness.press("enter");
    assert!(harness.notice().contains("no media item has the tag dusk"), "{}", harness.notice());
    harness.press("backspace backspace backspace backspace");
    harness.type_text("night");
    harness.press("enter");
    let named = plan(&[("a", 2.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]);
    let without = ["rejected", "night"].map(str::to_owned).to_vec();
    let chosen = SplitPlan { balance: Balance::Labels, without, ..named };
    assert_eq!(harness.requests(), [&request(chosen, false)]);
    harness.fail(lane(), FailureKind::Local);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    harness.press("ctrl-u enter");
    let Request::Split { plan, .. } = harness.requests()[0] else { panic!() };
    assert!(plan.without.is_empty(), "a failure keeps the form");
}

#[test]
fn saved_selections_are_replaced_only_after_y() {
    let mut harness = form();
    harness.press("enter");
    harness.answer(lane(), Payload::SetNamesTaken(names(&["train", "val"])));
    assert!(harness.app.dialog::<ReplaceSets>().is_some());
    harness.press("enter esc");
    assert!(harness.app.dialog::<SplitForm>().is_some(), "Enter replaces nothing, Esc goes back");
    assert!(harness.requests().is_empty());
    harness.press("enter");
    // A change of the form after it was sent does not become part of what is replaced.
    harness.press("backspace");
    harness.answer(lane(), Payload::SetNamesTaken(names(&["train"])));
    harness.press("y");
    let usual = plan(&[("train", 80.0), ("val", 10.0), ("test", 10.0)]);
    assert_eq!(harness.requests(), [&request(usual, true)]);
    let sets = vec![saved("train", 3, None), saved("val", 0, Some("val is empty, because"))];
    harness.answer(lane(), Payload::SetsSaved(sets));
    let text = "saved train 3, val 0; val is empty, because";
    assert!(harness.notice().contains(text), "{}", harness.notice());
}

#[test]
fn what_is_taken_is_said_without_the_form() {
    let mut harness = form();
    harness.press("enter esc");
    harness.answer(lane(), Payload::SetNamesTaken(names(&["train"])));
    assert!(harness.app.overlay().is_none());
    assert!(
        harness.notice().contains("A selection train is saved already"),
        "{}",
        harness.notice()
    );
}

#[test]
fn a_dataset_that_cannot_be_exported_is_not_divided() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::PartialIndex)], 0));
    harness.answer_page(page(0, 3));
    for (action, keys) in [(Action::Split, "g S"), (Action::Check, "g c")] {
        let reason = unavailable_reason(&harness.app, action).unwrap();
        assert!(reason.contains("not available while PARTIAL INDEX"), "{reason}");
        harness.press(keys);
        assert!(harness.app.overlay().is_none());
    }
}
