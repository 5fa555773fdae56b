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

use crate::support::desk::{Desk, dataset, page};

fn id() -> DatasetId {
    dataset(1, Status::Ready).id
}

fn lane() -> Lane {
    Lane::Split(id())
}

/// Opens the form for a dataset of a local folder, whose tags are known.
fn form() -> Desk {
    let mut desk = Desk::new().opening_folder(vec![dataset(1, Status::Ready)]);
    desk.press("g S");
    let tag = |name: &str, count| DatasetTag {
        id: TagId(Uuid::nil()),
        name: SafeText::name(name),
        color: Some(TagColor::Red),
        count,
    };
    let tags = vec![tag("unused", 0), tag("night", 3), tag("rejected", 40)];
    let tags = DatasetTags { tags, ..DatasetTags::default() };
    desk.answer(Lane::Tags(id()), Payload::Tags(tags));
    desk
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
    let mut desk = form();
    desk.press("enter");
    let usual = plan(&[("train", 80.0), ("val", 10.0), ("test", 10.0)]);
    assert_eq!(desk.requests(), [&request(usual, false)]);
    let reason = unavailable_reason(&desk.app, Action::Split).unwrap();
    assert!(reason.contains("running already"), "{reason}");
    let sets = [("train", 1_192), ("val", 24), ("test", 24)];
    let sets = sets.map(|(name, media)| saved(name, media, None));
    desk.answer(lane(), Payload::SetsSaved(sets.to_vec()));
    assert!(desk.app.overlay().is_none());
    let text = "divided 1 240 media items: train 1 192, val 24, test 24; in the basket (5), o";
    assert!(desk.notice().starts_with(text), "{}", desk.notice());
}

#[test]
fn the_form_sends_what_was_typed_and_chosen() {
    let mut desk = form();
    desk.press("ctrl-u");
    desk.type_text("2/1/1/1");
    desk.press("enter");
    assert!(desk.notice().contains("names: give 4 different names"), "{}", desk.notice());
    desk.press("tab");
    desk.type_text("a, b,c,d");
    desk.press("tab space tab");
    desk.type_text("rejected, dusk");
    desk.press("enter");
    assert!(desk.notice().contains("no media item has the tag dusk"), "{}", desk.notice());
    desk.press("backspace backspace backspace backspace");
    desk.type_text("night");
    desk.press("enter");
    let named = plan(&[("a", 2.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]);
    let without = ["rejected", "night"].map(str::to_owned).to_vec();
    let chosen = SplitPlan { balance: Balance::Labels, without, ..named };
    assert_eq!(desk.requests(), [&request(chosen, false)]);
    desk.fail(lane(), FailureKind::Local);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
    desk.press("ctrl-u enter");
    let Request::Split { plan, .. } = desk.requests()[0] else { panic!() };
    assert!(plan.without.is_empty(), "a failure keeps the form");
}

#[test]
fn saved_selections_are_replaced_only_after_y() {
    let mut desk = form();
    desk.press("enter");
    desk.answer(lane(), Payload::SetNamesTaken(names(&["train", "val"])));
    assert!(desk.app.dialog::<ReplaceSets>().is_some());
    desk.press("enter esc");
    assert!(desk.app.dialog::<SplitForm>().is_some(), "Enter replaces nothing, Esc goes back");
    assert!(desk.requests().is_empty());
    desk.press("enter");
    // A change of the form after it was sent does not become part of what is replaced.
    desk.press("backspace");
    desk.answer(lane(), Payload::SetNamesTaken(names(&["train"])));
    desk.press("y");
    let usual = plan(&[("train", 80.0), ("val", 10.0), ("test", 10.0)]);
    assert_eq!(desk.requests(), [&request(usual, true)]);
    let sets = vec![saved("train", 3, None), saved("val", 0, Some("val is empty, because"))];
    desk.answer(lane(), Payload::SetsSaved(sets));
    let text = "saved train 3, val 0; val is empty, because";
    assert!(desk.notice().contains(text), "{}", desk.notice());
}

#[test]
fn what_is_taken_is_said_without_the_form() {
    let mut desk = form();
    desk.press("enter esc");
    desk.answer(lane(), Payload::SetNamesTaken(names(&["train"])));
    assert!(desk.app.overlay().is_none());
    assert!(desk.notice().contains("A selection train is saved already"), "{}", desk.notice());
}

#[test]
fn a_dataset_that_cannot_be_exported_is_not_divided() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::PartialIndex)], 0));
    desk.answer_page(page(0, 3));
    for (action, keys) in [(Action::Split, "g S"), (Action::Check, "g c")] {
        let reason = unavailable_reason(&desk.app, action).unwrap();
        assert!(reason.contains("not available while PARTIAL INDEX"), "{reason}");
        desk.press(keys);
        assert!(desk.app.overlay().is_none());
    }
}
