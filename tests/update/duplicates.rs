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
    desk::{Desk, dataset},
    duplicates::{group, local_desk, reviewing},
};

fn lane() -> Lane {
    Lane::FileAction(dataset(1, Status::Ready).id)
}

fn review(desk: &Desk) -> &DuplicateReview {
    desk.app.dialog().expect("the review is open")
}

/// Returns the names of the files that go.
fn going(desk: &Desk) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    review(desk).found.going().map(|image| name(&image.image.original.path)).collect()
}

#[test]
fn a_review_asks_for_the_groups_and_lists_the_one_that_frees_most_first() {
    let mut desk = local_desk(120, 40);
    desk.press("g d");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(desk.requests().last(), Some(&&Request::FindDuplicates(id, KeepRule::Largest)));
    desk.press("x f enter");
    assert_eq!(review(&desk).stage, ReviewStage::List, "nothing is reviewed before it is found");
    desk.answer(lane(), Payload::Duplicates(vec![group(1, &[10, 9]), group(4, &[50, 40, 30])]));
    let first: Vec<usize> =
        review(&desk).found.groups.iter().map(|group| group.images.len()).collect();
    assert_eq!(first, [3, 2]);
    assert_eq!(going(&desk), ["5.jpg", "6.jpg", "2.jpg"]);
}

#[test]
fn a_failure_is_reported_and_closes_the_empty_review() {
    let mut desk = local_desk(120, 40);
    desk.press("g d");
    desk.fail(lane(), FailureKind::Local);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
    assert!(desk.app.dialog::<DuplicateReview>().is_none());
}

#[test]
fn x_toggles_an_image_and_u_undoes_it_in_its_group() {
    let mut desk = reviewing(120, 40);
    desk.press("enter x");
    assert_eq!(going(&desk), ["6.jpg", "2.jpg"], "the selected image stays after all");
    desk.press("n x u");
    assert_eq!((review(&desk).group, going(&desk).len()), (1, 2));
    desk.press("u");
    assert_eq!((review(&desk).group, going(&desk).len()), (0, 3));
    desk.press("u");
    assert_eq!(going(&desk), ["5.jpg", "6.jpg", "2.jpg"], "nothing more is undone");
}

#[test]
fn the_last_image_of_a_group_stays() {
    let mut desk = reviewing(120, 40);
    desk.press("enter k x");
    assert_eq!(going(&desk), ["5.jpg", "6.jpg", "2.jpg"]);
    desk.press("j j o");
    assert_eq!(going(&desk), ["4.jpg", "5.jpg", "2.jpg"], "only the selected image stays");
    desk.press("a");
    assert_eq!(going(&desk), ["2.jpg"], "all images of the group stay");
    desk.press("u u");
    assert_eq!(going(&desk), ["5.jpg", "6.jpg", "2.jpg"]);
}

#[test]
fn another_rule_keeps_the_decisions_unless_they_would_keep_nothing() {
    let mut desk = reviewing(120, 40);
    desk.press("n n enter j x esc r");
    let id = dataset(1, Status::Ready).id;
    let of_rule = Request::FindDuplicates(id, KeepRule::BestQuality);
    assert_eq!(desk.requests().last(), Some(&&of_rule));
    desk.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30]), group(1, &[10, 9])]));
    assert_eq!(going(&desk), ["5.jpg", "2.jpg"], "6.jpg stays, as the user has decided");
    desk.press("R");
    desk.type_text("newest");
    desk.press("enter esc R");
    desk.type_text("in:originals");
    desk.press("enter");
    let of_rule = Request::FindDuplicates(id, KeepRule::InFolder("originals".into()));
    assert_eq!(desk.requests().last(), Some(&&of_rule));
    // The image that the user has kept is now in a group in which all other images go.
    let DuplicateGroup { kept, others } = group(4, &[50, 40, 30]);
    let alone = DuplicateGroup { kept: vec![others[0].image.clone()], others: vec![] };
    desk.answer(lane(), Payload::Duplicates(vec![DuplicateGroup { kept, others }, alone]));
    assert_eq!(review(&desk).found.groups.len(), 1, "a group has at least two images");
}

#[test]
fn another_rule_keeps_the_group_and_the_view_of_it_while_the_group_exists() {
    let position = |desk: &Desk| (review(desk).stage, review(desk).group);
    for (keys, stage) in [("j r", ReviewStage::List), ("j enter r", ReviewStage::Group)] {
        let mut desk = reviewing(120, 40);
        desk.press(keys);
        let other = group(7, &[5, 4]);
        let DuplicateGroup { kept, others } = group(1, &[10, 9]);
        let others_first = DuplicateGroup {
            kept: vec![others[0].image.clone()],
            others: vec![OtherImage { image: kept[0].clone(), ..others[0].clone() }],
        };
        let groups = vec![group(4, &[50, 40, 30]), others_first, group(9, &[90, 80])];
        desk.answer(lane(), Payload::Duplicates(groups));
        assert_eq!(position(&desk), (stage, 2), "the group frees less than two others");
        desk.press("r");
        desk.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30]), other]));
        assert_eq!(position(&desk), (ReviewStage::List, 0), "the group is gone");
    }
}

#[test]
fn a_cancelled_action_goes_back_to_the_end_of_the_same_review() {
    let folder = tempfile::tempdir().unwrap();
    for keys in ["t", "m / b e s t enter"] {
        let mut desk = reviewing(120, 40);
        desk.press("enter x esc r");
        desk.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
        desk.press("f");
        desk.press(keys);
        desk.press("x u t");
        assert_eq!(going(&desk), ["6.jpg"], "no key changes what is being planned");
        let planned = preview(folder.path());
        desk.answer(lane(), Payload::FileActionPlanned(Box::new(planned)));
        assert!(desk.app.dialog::<FileActionConfirmation>().is_some(), "{keys}");
        desk.press("esc");
        let of_end = (ReviewStage::End, KeepRule::BestQuality);
        assert_eq!((review(&desk).stage, review(&desk).rule.clone()), of_end, "{keys}");
        assert_eq!(going(&desk), ["6.jpg"], "{keys}");
    }
    let mut desk = reviewing(120, 40);
    desk.press("f m esc");
    assert_eq!(review(&desk).stage, ReviewStage::End, "Esc in the prompt of the folder");
    desk.press("t");
    desk.fail(lane(), FailureKind::Local);
    assert_eq!(review(&desk).stage, ReviewStage::End, "a failure is reported");
}

#[test]
fn groups_in_which_the_rule_keeps_nothing_are_undecided() {
    let mut desk = reviewing(120, 40);
    desk.press("r");
    let DuplicateGroup { mut kept, others } = group(1, &[10, 9]);
    kept.extend(others.into_iter().map(|other| other.image));
    let undecided = DuplicateGroup { kept, others: Vec::new() };
    desk.answer(lane(), Payload::Duplicates(vec![undecided, group(4, &[50, 40, 30])]));
    let is_undecided = |desk: &Desk| -> Vec<bool> {
        let found = &review(desk).found;
        found.groups.iter().map(|group| found.is_undecided(group)).collect()
    };
    assert_eq!(is_undecided(&desk), [false, true]);
    desk.press("j enter x");
    assert_eq!(is_undecided(&desk), [false, false], "the user decides");
}

#[test]
fn the_rule_and_the_decisions_survive_closing_the_review() {
    let mut desk = reviewing(120, 40);
    desk.press("enter x esc r");
    desk.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
    desk.press("esc");
    assert!(desk.app.dialog::<DuplicateReview>().is_none());
    desk.press("g d");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(desk.requests().last(), Some(&&Request::FindDuplicates(id, KeepRule::BestQuality)));
    desk.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
    assert_eq!(going(&desk), ["6.jpg"]);
}

#[test]
fn the_end_exports_every_image_that_does_not_go() {
    let mut desk = reviewing(120, 40);
    desk.press("f e enter");
    let (_, request) = desk.take(|lane| matches!(lane, Lane::StartJob(_)));
    let Request::StartSelectionExport { selection, .. } = request else { panic!("{request:?}") };
    let [SelectionItem::Media(media)] = &selection.items[..] else { panic!("{selection:?}") };
    assert_eq!(media.len(), 3, "the files that go are omitted");
    assert_eq!(selection.rest_of, Some(Search::browse(dataset(1, Status::Ready).id)));
}

#[test]
fn the_end_selects_what_goes_and_plans_the_action_on_it() {
    let mut desk = reviewing(120, 40);
    desk.press("enter n n");
    assert_eq!(review(&desk).stage, ReviewStage::End);
    desk.press("t");
    let planned = desk.requests().into_iter().find_map(|request| match request {
        Request::PlanDuplicateAction(_, groups, FileAction::Trash) => Some(groups.clone()),
        _ => None,
    });
    let counts = planned.unwrap().into_iter().map(|it| (it.kept.len(), it.others.len()));
    assert_eq!(counts.collect::<Vec<_>>(), [(1, 2), (1, 1)]);
}

#[test]
fn only_the_end_that_selects_replaces_the_selection() {
    for (key, replaces) in [("t", false), ("m", false), ("e", true), ("s", true)] {
        let mut desk = local_desk(120, 40);
        desk.press("space g d");
        desk.answer(lane(), Payload::Duplicates(vec![group(4, &[50, 40, 30])]));
        let selected =
            |desk: &Desk| desk.app.baskets().selection(desk.app.results()).unwrap().clone();
        let before = selected(&desk);
        assert_eq!(before.len(), 1);
        desk.press("f");
        desk.press(key);
        desk.press(if key == "m" { "esc esc esc" } else { "esc" });
        assert_eq!(selected(&desk) != before, replaces, "{key}");
        assert_eq!(desk.notice().contains("selected 2 files that go"), replaces, "{key}");
        desk.press("u");
        assert_eq!(selected(&desk) == before, replaces, "{key}: u undoes the last selection");
    }
}

#[test]
fn the_end_lists_what_goes_in_the_basket_and_does_nothing_without_files() {
    let mut desk = reviewing(120, 40);
    desk.press("enter a n a n s");
    assert_eq!(review(&desk).stage, ReviewStage::End, "no file goes");
    desk.press("u s");
    assert_eq!(desk.app.panes().focus, Pane::Basket);
    let selection = desk.app.baskets().selection(desk.app.results()).unwrap();
    assert_eq!(selection.len(), 1);
}

#[test]
fn both_halves_show_the_same_part_at_the_same_size() {
    let mut desk = reviewing(120, 40);
    desk.happen(tessera_interface::app::Event::Terminal(Protocol::HalfBlock, (10, 20)));
    desk.press("enter");
    let pictures = |desk: &Desk| -> Vec<(u16, u16)> {
        let lanes = desk.open.iter().filter_map(|(ticket, _)| match &ticket.lane {
            Lane::Picture(view, canvas) if matches!(view.crop, Crop::Zoomed(..)) => {
                Some((canvas.columns, canvas.rows))
            }
            _ => None,
        });
        lanes.collect()
    };
    let shown = pictures(&desk);
    assert_eq!(shown.len(), 2, "{:?}", desk.open);
    assert_eq!(shown[0], shown[1]);
    desk.press("d");
    let differs = |(_, request): &(_, Request)| matches!(request, Request::Difference(..));
    assert_eq!(desk.open.iter().filter(|open| differs(open)).count(), 1);
}

#[test]
fn a_review_of_the_command_line_waits_until_the_dataset_is_ready() {
    let mut desk = Desk::with_pictures(Protocol::None);
    desk.app.setup_mut().deployment = DeploymentKind::Local;
    desk.app.setup_mut().start.review = true;
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    assert!(desk.app.dialog::<DuplicateReview>().is_none());
    desk.press("r");
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert!(desk.app.dialog::<DuplicateReview>().is_some());
    desk.press("esc r");
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert!(desk.app.dialog::<DuplicateReview>().is_none(), "it opens only once");
}
