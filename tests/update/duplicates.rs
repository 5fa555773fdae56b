//! Tests the review of duplicates: what is found, decided, undone and handed on.

use std::path::Path;

use tessera_config::DeploymentKind;
use tessera_curation::{
    FileAction,
    duplicates::{DuplicateGroup, KeepRule, OtherImage},
};
use tessera_interface::{
    app::{
        Pane,
        overlay::{
            duplicate_review::{DuplicateReview, ReviewStage},
            file_actions::FileActionConfirmation,
        },
    },
    message::{Lane, Payload, Request},
};
use tessera_model::{FailureKind, Search, SelectionItem, Status};
use tessera_picture::{Crop, Protocol};

use super::file_actions::preview;
use crate::support::{
    app_harness::{AppHarness, dataset},
    duplicates::{group, local_desk, reviewing},
};

fn lane() -> Lane {
    Lane::FileAction(dataset(1, Status::Ready).id)
}

fn review(harness: &AppHarness) -> &DuplicateReview {
    harness.app.dialog().expect("the review is open")
}

/// Returns the names of the files that go.
fn going(harness: &AppHarness) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    review(harness).found.going().map(|image| name(&image.image.original.path)).collect()
}

#[test]
fn a_review_asks_for_the_groups_and_lists_the_one_that_frees_most_first() {
    let mut harness = local_desk(120, 40);
    harness.press("g d");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(harness.requests().last(), Some(&&Request::FindDuplicates(id, KeepRule::Largest)));
    harness.press("x f enter");
    assert_eq!(review(&harness).stage, ReviewStage::List, "nothing is reviewed before it is found");
    harness.answer(lane(), Payload::Duplicates(vec![group(1, &[10, 9]), group(4, &[50, 40, 30])]));
    let first: Vec<usize> =
        review(&harness).found.groups.iter().map(|group| group.images.len()).collect();
    assert_eq!(first, [3, 2]);
    assert_eq!(going(&harness), ["5.jpg", "6.jpg", "2.jpg"]);
}

#[test]
fn a_failure_is_reported_and_closes_the_empty_review() {
    let mut harness = local_desk(120, 40);
    harness.press("g d");
    harness.fail(lane(), FailureKind::Local);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    assert!(harness.app.dialog::<DuplicateReview>().is_none());
}

#[test]
fn x_toggles_an_image_and_u_undoes_it_in_its_group() {
    let mut harness = reviewing(120, 40);
    harness.press("enter x");
    assert_eq!(going(&harness), ["6.jpg", "2.jpg"], "the selected image stays after all");
    harness.press("n x u");
    assert_eq!((review(&harness).group, going(&harness).len()), (1, 2));
    harness.press("u");
    assert_eq!((review(&harness).group, going(&harness).len()), (0, 3));
    harness.press("u");
    assert_eq!(going(&harness), ["5.jpg", "6.jpg", "2.jpg"], "nothing more is undone");
}

#[test]
fn the_last_image_of_a_group_stays() {
    let mut harness = reviewing(120, 40);
    harness.press("enter k x");
    assert_eq!(going(&harness), ["5.jpg", "6.jpg", "2.jpg"]);
    harness.press("j j o");
    assert_eq!(going(&harness), ["4.jpg", "5.jpg", "2.jpg"], "only the selected image stays");
    harness.press("a");
    assert_eq!(going(&harness), ["2.jpg"], "all images of the group stay");
    harness.press("u u");
    assert_eq!(going(&harness), ["5.jpg", "6.jpg", "2.jpg"]);
}

#[test]
fn another_rule_keeps_the_decisions_unless_they_would_keep_nothing() {
    let mut harness = reviewing(120, 40);
    harness.press("n n enter j x esc r");
    let id = dataset(1, Status::Ready).id;
    let of_rule = Request::FindDuplicates(id, KeepRule::BestQuality);
    assert_eq!(harness.requests().last(), Some(&&of_rule));
    harness.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30]), group(1, &[10, 9])]));
    assert_eq!(going(&harness), ["5.jpg", "2.jpg"], "6.jpg stays, as the user has decided");
    harness.press("R");
    harness.type_text("newest");
    harness.press("enter esc R");
    harness.type_text("in:originals");
    harness.press("enter");
    let of_rule = Request::FindDuplicates(id, KeepRule::InFolder("originals".into()));
    assert_eq!(harness.requests().last(), Some(&&of_rule));
    // The image that the user has kept is now in a group in which all other images go.
    let DuplicateGroup { kept, others } = group(4, &[50, 40, 30]);
    let alone = DuplicateGroup { kept: vec![others[0].image.clone()], others: vec![] };
    harness.answer(lane(), Payload::Duplicates(vec![DuplicateGroup { kept, others }, alone]));
    assert_eq!(review(&harness).found.groups.len(), 1, "a group has at least two images");
}

#[test]
fn another_rule_keeps_the_group_and_the_view_of_it_while_the_group_exists() {
    let position = |harness: &AppHarness| (review(harness).stage, review(harness).group);
    for (keys, stage) in [("j r", ReviewStage::List), ("j enter r", ReviewStage::Group)] {
        let mut harness = reviewing(120, 40);
        harness.press(keys);
        let other = group(7, &[5, 4]);
        let DuplicateGroup { kept, others } = group(1, &[10, 9]);
        let others_first = DuplicateGroup {
            kept: vec![others[0].image.clone()],
            others: vec![OtherImage { image: kept[0].clone(), ..others[0].clone() }],
        };
        let groups = vec![group(4, &[50, 40, 30]), others_first, group(9, &[90, 80])];
        harness.answer(lane(), Payload::Duplicates(groups));
        assert_eq!(position(&harness), (stage, 2), "the group frees less than two others");
        harness.press("r");
        harness.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30]), other]));
        assert_eq!(position(&harness), (ReviewStage::List, 0), "the group is gone");
    }
}

#[test]
fn a_cancelled_action_goes_back_to_the_end_of_the_same_review() {
    let folder = tempfile::tempdir().unwrap();
    for keys in ["t", "m / b e s t enter"] {
        let mut harness = reviewing(120, 40);
        harness.press("enter x esc r");
        harness.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
        harness.press("f");
        harness.press(keys);
        harness.press("x u t");
        assert_eq!(going(&harness), ["6.jpg"], "no key changes what is being planned");
        let planned = preview(folder.path());
        harness.answer(lane(), Payload::FileActionPlanned(Box::new(planned)));
        assert!(harness.app.dialog::<FileActionConfirmation>().is_some(), "{keys}");
        harness.press("esc");
        let of_end = (ReviewStage::End, KeepRule::BestQuality);
        assert_eq!((review(&harness).stage, review(&harness).rule.clone()), of_end, "{keys}");
        assert_eq!(going(&harness), ["6.jpg"], "{keys}");
    }
    let mut harness = reviewing(120, 40);
    harness.press("f m esc");
    assert_eq!(review(&harness).stage, ReviewStage::End, "Esc in the prompt of the folder");
    harness.press("t");
    harness.fail(lane(), FailureKind::Local);
    assert_eq!(review(&harness).stage, ReviewStage::End, "a failure is reported");
}

#[test]
fn groups_in_which_the_rule_keeps_nothing_are_undecided() {
    let mut harness = reviewing(120, 40);
    harness.press("r");
    let DuplicateGroup { mut kept, others } = group(1, &[10, 9]);
    kept.extend(others.into_iter().map(|other| other.image));
    let undecided = DuplicateGroup { kept, others: Vec::new() };
    harness.answer(lane(), Payload::Duplicates(vec![undecided, group(4, &[50, 40, 30])]));
    let is_undecided = |harness: &AppHarness| -> Vec<bool> {
        let found = &review(harness).found;
        found.groups.iter().map(|group| found.is_undecided(group)).collect()
    };
    assert_eq!(is_undecided(&harness), [false, true]);
    harness.press("j enter x");
    assert_eq!(is_undecided(&harness), [false, false], "the user decides");
}

#[test]
fn the_rule_and_the_decisions_survive_closing_the_review() {
    let mut harness = reviewing(120, 40);
    harness.press("enter x esc r");
    harness.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
    harness.press("esc");
    assert!(harness.app.dialog::<DuplicateReview>().is_none());
    harness.press("g d");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(
        harness.requests().last(),
        Some(&&Request::FindDuplicates(id, KeepRule::BestQuality))
    );
    harness.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
    assert_eq!(going(&harness), ["6.jpg"]);
}

#[test]
fn the_end_exports_every_image_that_does_not_go() {
    let mut harness = reviewing(120, 40);
    harness.press("f e enter");
    let (_, request) = harness.take(|lane| matches!(lane, Lane::StartJob(_)));
    let Request::StartSelectionExport { selection, .. } = request else { panic!("{request:?}") };
    let [SelectionItem::Media(media)] = &selection.items[..] else { panic!("{selection:?}") };
    assert_eq!(media.len(), 3, "the files that go are omitted");
    assert_eq!(selection.rest_of, Some(Search::browse(dataset(1, Status::Ready).id)));
}

#[test]
fn the_end_selects_what_goes_and_plans_the_action_on_it() {
    let mut harness = reviewing(120, 40);
    harness.press("enter n n");
    assert_eq!(review(&harness).stage, ReviewStage::End);
    harness.press("t");
    let planned = harness.requests().into_iter().find_map(|request| match request {
        Request::PlanDuplicateAction(_, groups, FileAction::Trash) => Some(groups.clone()),
        _ => None,
    });
    let counts = planned.unwrap().into_iter().map(|it| (it.kept.len(), it.others.len()));
    assert_eq!(counts.collect::<Vec<_>>(), [(1, 2), (1, 1)]);
}

#[test]
fn only_the_end_that_selects_replaces_the_selection() {
    for (key, replaces) in [("t", false), ("m", false), ("e", true), ("s", true)] {
        let mut harness = local_desk(120, 40);
        harness.press("space g d");
        harness.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
        let selected = |harness: &AppHarness| {
            harness.app.baskets().selection(harness.app.results()).unwrap().clone()
        };
        let before = selected(&harness);
        assert_eq!(before.len(), 1);
        harness.press("f");
        harness.press(key);
        harness.press(if key == "m" { "esc esc esc" } else { "esc" });
        assert_eq!(selected(&harness) != before, replaces, "{key}");
        assert_eq!(harness.notice().contains("selected 2 files that go"), replaces, "{key}");
        harness.press("u");
        assert_eq!(selected(&harness) == before, replaces, "{key}: u undoes the last selection");
    }
}

#[test]
fn the_end_lists_what_goes_in_the_basket_and_does_nothing_without_files() {
    let mut harness = reviewing(120, 40);
    harness.press("enter a n a n s");
    assert_eq!(review(&harness).stage, ReviewStage::End, "no file goes");
    harness.press("u s");
    assert_eq!(harness.app.panes().focus, Pane::Basket);
    let selection = harness.app.baskets().selection(harness.app.results()).unwrap();
    assert_eq!(selection.len(), 1);
}

#[test]
fn both_halves_show_the_same_part_at_the_same_size() {
    let mut harness = reviewing(120, 40);
    harness.happen(tessera_interface::app::Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness.press("enter");
    let pictures = |harness: &AppHarness| -> Vec<(u16, u16)> {
        let lanes = harness.open.iter().filter_map(|(ticket, _)| match &ticket.lane {
            Lane::Picture(view, canvas) if matches!(view.crop, Crop::Zoomed(..)) => {
                Some((canvas.columns, canvas.rows))
            }
            _ => None,
        });
        lanes.collect()
    };
    let shown = pictures(&harness);
    assert_eq!(shown.len(), 2, "{:?}", harness.open);
    assert_eq!(shown[0], shown[1]);
    harness.press("d");
    let differs = |(_, request): &(_, Request)| matches!(request, Request::Difference(..));
    assert_eq!(harness.open.iter().filter(|open| differs(open)).count(), 1);
}

#[test]
fn a_review_of_the_command_line_waits_until_the_dataset_is_ready() {
    let mut harness = AppHarness::with_pictures(Protocol::None);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.app.setup_mut().start.review = true;
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    assert!(harness.app.dialog::<DuplicateReview>().is_none());
    harness.press("r");
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert!(harness.app.dialog::<DuplicateReview>().is_some());
    harness.press("esc r");
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert!(harness.app.dialog::<DuplicateReview>().is_none(), "it opens only once");
}
