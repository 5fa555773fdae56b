//! Tests the tagging mode: what a key changes, undo, and changes that are sent one after the other.

use tessera_config::input::Action;
use tessera_interface::{
    app::{
        Event, Pane,
        availability::unavailable_reason,
        overlay::{
            command_list::CommandList,
            pick_list::{Command, PickItem},
            prompt::TextPrompt,
            tag_list::HiddenSelectionTagging,
        },
        unfinished_writes,
    },
    message::{Lane, Payload, Request, Ticket},
    ui::tag_marks,
};
use tessera_model::{
    Dataset, DatasetTag, DatasetTags, Failure, FailureKind, SafeText, SelectionItem, Status, Tag,
    TagChange, TagChangeId, TagColor, TagDefinitionChange, TagEdit, TagId, TagTarget,
};
use tessera_picture::Protocol;
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, cluster, dataset, page};

fn open() -> Dataset {
    dataset(1, Status::Ready)
}

/// Opens a dataset of a local folder in the tagging mode, with the tags `night` and `wet`.
fn tagging() -> AppHarness {
    let colors = [TagColor::Red, TagColor::Green, TagColor::Blue].map(Some);
    let names = ["night", "picked", "wet", "of a sidecar"];
    tagging_with(names.into_iter().zip(colors.into_iter().chain([None])))
}

fn tagging_with<'a>(tags: impl IntoIterator<Item = (&'a str, Option<TagColor>)>) -> AppHarness {
    let mut harness = AppHarness::new().opening_folder(vec![open()]);
    harness.press("2 ;");
    harness.answer(Lane::Tags(open().id), Payload::Tags(listed(tags)));
    harness
}

fn two_tags() -> DatasetTags {
    listed([("night", Some(TagColor::Red)), ("wet", Some(TagColor::Blue))])
}

fn listed<'a>(tags: impl IntoIterator<Item = (&'a str, Option<TagColor>)>) -> DatasetTags {
    let tag = |(number, (name, color))| DatasetTag {
        id: TagId(Uuid::from_u128(number)),
        name: SafeText::name(name),
        color,
        count: 1,
    };
    let tags = (1..).zip(tags).map(tag).collect();
    DatasetTags { tags, ..DatasetTags::default() }
}

fn change(number: u128, changed: u64) -> Payload {
    let id = Some(TagChangeId(Uuid::from_u128(number)));
    Payload::TagsChanged(TagChange { id, changed, ..TagChange::default() })
}

/// Returns the change that was sent.
fn sent(harness: &AppHarness) -> (TagTarget, TagEdit) {
    match harness.requests()[..] {
        [Request::ChangeTags(id, target, edit)] if *id == open().id => {
            (target.clone(), edit.clone())
        }
        ref other => panic!("{other:?}"),
    }
}

fn edit(add: &[&str], remove: &[&str], rating: Option<u8>) -> TagEdit {
    TagEdit::new(add, remove, rating).unwrap()
}

#[test]
fn keys_tag_pick_reject_and_rate_the_cluster_under_the_cursor() {
    for (key, expected) in [
        ("1", TagEdit { only_existing: true, ..edit(&["night"], &[], None) }),
        ("2", TagEdit { only_existing: true, ..edit(&["wet"], &[], None) }),
        ("p", edit(&["picked"], &[], None)),
        ("x", edit(&["rejected"], &[], None)),
        ("alt-4", edit(&[], &[], Some(4))),
        ("alt-0", edit(&[], &[], Some(0))),
    ] {
        let mut harness = tagging();
        harness.press("l");
        harness.press(key);
        let (target, edit) = sent(&harness);
        assert_eq!(edit, expected, "{key}");
        let TagTarget::Selection(items) = target else { panic!("{target:?}") };
        let second = cluster(1).id;
        assert!(
            matches!(&items[..], [SelectionItem::Cluster { cluster, .. }] if *cluster == second)
        );
    }
    let mut harness = tagging();
    harness.press("3");
    assert!(harness.notice().contains("no tag has this key"), "{}", harness.notice());
}

#[test]
fn a_second_press_takes_the_tag_back_and_the_tile_shows_both() {
    let mut harness = tagging();
    harness.press("p");
    harness.answer(Lane::ChangeTags(open().id), change(1, 9));
    assert_eq!(harness.notice(), "tagged picked: 9 media items");
    let shown = |harness: &AppHarness| {
        let preview = harness.app.results().preview().unwrap();
        preview.tags.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(shown(&harness), ["picked"]);
    assert_eq!(harness.app.results().cluster().unwrap().tags[0].name.as_str(), "picked");
    harness.answer(Lane::Tags(open().id), Payload::Tags(DatasetTags::default()));
    harness.press("x");
    harness.answer(Lane::ChangeTags(open().id), change(2, 9));
    assert_eq!(shown(&harness), ["rejected"]);
    assert!(
        harness.app.results().cluster().unwrap().tags.iter().all(|it| it.name.as_str() != "picked")
    );
    harness.answer(Lane::Tags(open().id), Payload::Tags(DatasetTags::default()));
    harness.press("x");
    assert_eq!(sent(&harness).1, edit(&[], &["rejected"], None));
}

#[test]
fn a_second_press_takes_back_a_tag_that_is_not_answered_yet() {
    let mut harness = tagging();
    harness.press("p p x x");
    let expected = [
        edit(&["picked"], &[], None),
        edit(&[], &["picked"], None),
        edit(&["rejected"], &[], None),
        edit(&[], &["rejected"], None),
    ];
    for (number, expected) in (1..).zip(expected) {
        let (ticket, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
        assert!(matches!(request, Request::ChangeTags(_, _, edit) if edit == expected));
        harness.respond(ticket, Ok(change(number, 9)));
    }
}

#[test]
fn a_name_with_an_invisible_character_is_sent_as_it_is_and_taken_back() {
    let name = "a\u{200c}b";
    let mut harness = tagging_with([(name, Some(TagColor::Red))]);
    let (none, one) = (&[][..], &[name.to_owned()][..]);
    for (add, remove) in [(one, none), (none, one)] {
        harness.press("1");
        let (ticket, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
        let Request::ChangeTags(_, _, sent) = request else { panic!("{request:?}") };
        assert_eq!((&sent.add[..], &sent.remove[..]), (add, remove));
        harness.respond(ticket, Ok(change(1, 9)));
    }
}

#[test]
fn a_refresh_and_a_refused_change_load_the_tags_again() {
    let mut harness = tagging();
    harness.press("r");
    harness.take(|lane| matches!(lane, Lane::Tags(_)));
    let mut harness = tagging();
    harness.press("1");
    harness.fail(Lane::ChangeTags(open().id), FailureKind::Invalid);
    harness.take(|lane| matches!(lane, Lane::Tags(_)));
}

#[test]
fn the_selection_or_the_whole_search_is_changed() {
    let mut harness = tagging();
    harness.press("space l space p");
    let (target, _) = sent(&harness);
    assert!(matches!(target, TagTarget::Selection(items) if items.len() == 2));
    harness.answer(Lane::ChangeTags(open().id), change(1, 18));
    let mut harness = tagging();
    harness.press("a p");
    let (target, _) = sent(&harness);
    assert!(matches!(target, TagTarget::Search(search) if search.dataset == open().id));
    harness.answer(Lane::ChangeTags(open().id), change(1, 27));
    harness.answer_page(page(0, 3));
    harness.answer(Lane::Tags(open().id), Payload::Tags(DatasetTags::default()));
    harness.press("x");
    assert!(matches!(sent(&harness).0, TagTarget::Selection(_)), "only the next key");
}

#[test]
fn a_selection_that_is_not_on_the_page_is_tagged_only_after_a_question() {
    let mut harness = tagging();
    harness.press("space r");
    harness.answer_page(page(5, 3));
    let is_sent =
        |harness: &AppHarness| harness.app.tickets().is_open(&Lane::ChangeTags(open().id));
    harness.press("p");
    assert!(harness.app.dialog::<HiddenSelectionTagging>().is_some() && !is_sent(&harness));
    harness.press("esc x");
    assert!(!is_sent(&harness));
    harness.press("y");
    let (_, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
    let Request::ChangeTags(_, TagTarget::Selection(items), rejection) = request else {
        panic!("{request:?}")
    };
    assert_eq!((items.len(), rejection), (1, edit(&["rejected"], &[], None)));
    harness.press("a p");
    assert!(harness.app.overlay().is_none(), "the whole search needs no selection");
}

#[test]
fn the_mode_starts_in_the_results_and_again_where_its_keys_do_nothing() {
    let mut harness = AppHarness::new().opening_folder(vec![open()]);
    for (action, focus, is_on) in [
        (Action::FocusDatasets, Pane::Results, true),
        (Action::FocusDatasets, Pane::Results, true),
        (Action::FocusDetail, Pane::Detail, false),
        (Action::FocusDetail, Pane::Detail, true),
    ] {
        harness.happen(Event::Action(action));
        harness.press(";");
        let app = &harness.app;
        assert_eq!((app.panes().focus, app.tagging().is_on), (focus, is_on), "{action:?}");
    }
}

#[test]
fn the_palette_loads_the_tags_and_names_those_that_exist() {
    let mut harness = AppHarness::new().opening_folder(vec![open()]);
    harness.press("2 :");
    harness.answer(Lane::Tags(open().id), Payload::Tags(two_tags()));
    let palette = harness.app.dialog::<CommandList>().unwrap();
    let is_of_key = |item: &&PickItem| matches!(item.command, Command::Action(action) if action.tag_key().is_some());
    let listed = palette.list.items.iter().filter(is_of_key);
    let listed: Vec<_> = listed.map(|it| (it.prefix.as_str(), it.note.as_str())).collect();
    let expected =
        [("; 1", "Add the tag night, or remove it"), ("; 2", "Add the tag wet, or remove it")];
    assert_eq!(listed, expected);
    harness.type_text("tag 1");
    harness.press("enter");
    assert_eq!(sent(&harness).1.add, ["night"]);
}

#[test]
fn quick_keys_are_sent_one_after_the_other_and_each_is_undone() {
    let mut harness = tagging();
    harness.press("p l x");
    assert_eq!(sent(&harness).1, edit(&["picked"], &[], None));
    harness.answer(Lane::ChangeTags(open().id), change(1, 9));
    let (ticket, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
    assert!(matches!(request, Request::ChangeTags(_, _, edit) if edit.add == ["rejected"]));
    harness.respond(ticket, Ok(change(2, 9)));
    for number in [2, 1] {
        harness.press("u");
        let (ticket, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
        let id = TagChangeId(Uuid::from_u128(number));
        assert_eq!(request, Request::UndoTags(open().id, id));
        let undone = Some(SafeText::detail("add picked (9 media items)"));
        let undone = TagChange { changed: 8, kept: 1, undone, ..TagChange::default() };
        harness.respond(ticket, Ok(Payload::TagsChanged(undone)));
        let text = "undone: add picked (9 media items); 1 media item keeps its tags, because they";
        assert!(harness.notice().starts_with(text), "{}", harness.notice());
    }
    let reason = unavailable_reason(&harness.app, Action::UndoTags).unwrap();
    assert!(reason.contains("no tag was changed"), "{reason}");
}

#[test]
fn changes_that_the_end_of_the_program_would_lose_are_counted() {
    let mut harness = tagging();
    harness.press("p l x p");
    let lines = unfinished_writes(&harness.app);
    assert!(lines[0].contains("before this was finished: changing tags"), "{lines:?}");
    assert_eq!(lines[1], "2 changes of tags were not sent");
}

#[test]
fn a_failed_change_is_reported_and_the_next_one_is_sent() {
    let mut harness = tagging();
    harness.press("p l x");
    harness.fail(Lane::ChangeTags(open().id), FailureKind::Unreachable);
    let (_, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
    assert!(matches!(request, Request::ChangeTags(_, _, edit) if edit.add == ["rejected"]));
}

#[test]
fn an_undo_waits_for_the_change_that_it_is_meant_for() {
    let mut harness = tagging();
    harness.press("p");
    harness.answer(Lane::ChangeTags(open().id), change(1, 9));
    harness.press("1 u");
    assert!(harness.notice().contains("a change of tags is not finished"), "{}", harness.notice());
    harness.answer(Lane::ChangeTags(open().id), change(2, 9));
    harness.press("u u");
    for number in [2, 1] {
        let undo = Request::UndoTags(open().id, TagChangeId(Uuid::from_u128(number)));
        assert!(harness.requests().contains(&&undo), "{number}");
        harness.answer(Lane::ChangeTags(open().id), change(number, 9));
    }
}

#[test]
fn a_failed_undo_is_tried_again_until_the_service_has_no_such_change() {
    let mut harness = tagging();
    harness.press("p");
    harness.answer(Lane::ChangeTags(open().id), change(1, 9));
    let undo = Request::UndoTags(open().id, TagChangeId(Uuid::from_u128(1)));
    for kind in [FailureKind::Unreachable, FailureKind::NotFound] {
        harness.press("u");
        assert!(unavailable_reason(&harness.app, Action::UndoTags).is_some(), "it is being undone");
        let (ticket, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
        assert_eq!(request, undo);
        harness.respond(ticket, Err(Failure::new(kind, "no")));
    }
    assert!(unavailable_reason(&harness.app, Action::UndoTags).is_some());
}

#[test]
fn a_tag_is_created_and_a_problem_of_the_file_is_said_once() {
    let mut harness = tagging();
    harness.press("+");
    harness.type_text("late ");
    harness.press("enter");
    let define = TagDefinitionChange::Create(None);
    assert_eq!(harness.requests(), [&Request::DefineTag(open().id, "late".to_owned(), define)]);
    let problem = SafeText::detail("the tags are kept only in the index, because it is read-only");
    let created = || {
        let file_problems = vec![problem.clone()];
        Payload::TagsChanged(TagChange { file_problems, ..TagChange::default() })
    };
    harness.answer(Lane::ChangeTags(open().id), created());
    assert!(harness.notice().contains("only in the index"), "{}", harness.notice());
    harness.answer(Lane::Tags(open().id), Payload::Tags(DatasetTags::default()));
    harness.answer_page(page(0, 3));
    harness.press("esc ; p");
    harness.answer(Lane::ChangeTags(open().id), created());
    assert!(harness.notice().contains("tagged picked"), "{}", harness.notice());
}

#[test]
fn the_mode_ends_with_esc() {
    let mut harness = tagging();
    harness.press("esc");
    assert!(!harness.app.tagging().is_on);
    harness.press("p");
    assert_eq!(harness.requests(), Vec::<&Request>::new(), "p goes to the previous page again");
    harness.app.setup_mut().read_only = true;
    assert!(unavailable_reason(&harness.app, Action::Pick).unwrap().contains("--read-only"));
}

#[test]
fn the_key_that_the_notification_names_ends_the_mode_in_the_full_size_view_as_well() {
    let mut harness = tagging();
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness.press("s");
    let text = "tagging in the results and the detail; press ; again to end it";
    assert_eq!((harness.notice(), harness.app.viewer().is_some()), (text, true));
    harness.press(";");
    assert!(!harness.app.tagging().is_on);
}

/// Returns the definition of a tag that was sent.
fn defined(harness: &AppHarness) -> (String, TagDefinitionChange) {
    match harness.requests()[..] {
        [Request::DefineTag(id, name, definition)] if *id == open().id => {
            (name.clone(), definition.clone())
        }
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn the_list_of_tags_renames_recolors_and_deletes() {
    let mut harness = tagging();
    harness.press("t f2 ctrl-u d a r k enter");
    assert_eq!(defined(&harness), ("night".into(), TagDefinitionChange::Rename("dark".into())));
    harness.answer(Lane::ChangeTags(open().id), change(1, 3));
    assert_eq!(harness.notice(), "renamed the tag night to dark; u undoes this");

    let mut harness = tagging();
    harness.press("t 2 b l u enter");
    let blue = TagDefinitionChange::Create(Some(TagColor::Blue));
    assert_eq!(defined(&harness), ("wet".into(), blue));
    harness.answer(Lane::ChangeTags(open().id), change(1, 0));
    assert_eq!(harness.notice(), "the tag wet is blue; u undoes this");

    // The tags with keys of their own are below those with digits, and tags of sidecars are not listed.
    let mut harness = tagging();
    harness.press("t down down down delete");
    assert_eq!(defined(&harness), ("picked".into(), TagDefinitionChange::Delete));
    harness.answer(Lane::ChangeTags(open().id), change(1, 3));
    assert_eq!(harness.notice(), "deleted the tag picked of 3 media items; u undoes this");
}

#[test]
fn tags_are_listed_only_after_they_are_loaded() {
    let mut harness = AppHarness::new().opening_folder(vec![open()]);
    harness.press("2 ;");
    assert_eq!(
        unavailable_reason(&harness.app, Action::ManageTags).unwrap(),
        "the tags are loading"
    );
}

#[test]
fn the_list_of_tags_opens_again_for_the_next_change() {
    let mut harness = tagging();
    harness.press("t delete delete esc 1");
    assert!(harness.notice().contains("no tag has this key"), "{}", harness.notice());
    for name in ["night", "wet"] {
        assert_eq!(defined(&harness), (name.into(), TagDefinitionChange::Delete));
        harness.answer(Lane::ChangeTags(open().id), change(1, 3));
        harness.open.retain(|(ticket, _)| matches!(ticket.lane, Lane::ChangeTags(_)));
    }
    let mut harness = tagging();
    harness.press("t f2 ctrl-u w e t enter f2");
    assert!(
        harness.app.dialog::<TextPrompt>().unwrap().text.value() == "wet",
        "the other was merged"
    );
}

#[test]
fn the_list_of_tags_keeps_its_row_at_each_change() {
    for (keys, expected) in [
        ("t down f2 x enter f2", "wetx"),
        ("t down enter b l u enter f2", "wet"),
        ("t delete f2", "wet"),
    ] {
        let mut harness = tagging();
        harness.press(keys);
        assert_eq!(harness.app.dialog::<TextPrompt>().unwrap().text.value(), expected, "{keys}");
    }
}

#[test]
fn a_change_makes_all_pages_stale_but_the_one_that_shows_it() {
    let mut harness = tagging();
    harness.press("f");
    harness.answer_page(page(0, 3));
    harness.press("p");
    harness.answer(Lane::ChangeTags(open().id), change(1, 9));
    let pages = |harness: &AppHarness| {
        harness.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::Page(_))).count()
    };
    assert_eq!(pages(&harness), 0);
    harness.press("backspace backspace");
    assert_eq!(pages(&harness), 1);
}

#[test]
fn what_was_requested_before_a_change_is_requested_again() {
    let mut harness = tagging();
    harness.press("p r");
    let reads = |lane: &Lane| matches!(lane, Lane::Page(_) | Lane::Tags(_));
    let older: Vec<Ticket> = [0, 1].map(|_| harness.take(reads).0).into();
    harness.answer(Lane::ChangeTags(open().id), change(1, 9));
    for ticket in older {
        assert!(!harness.app.tickets().is_current(&ticket), "its response may have the old tags");
        harness.take(|again| *again == ticket.lane);
    }
}

#[test]
fn a_key_removes_only_what_all_members_are_known_to_have() {
    let mut harness = tagging();
    let mut found = page(0, 1);
    found.clusters[0].n_images = Some(9);
    for preview in &mut found.clusters[0].previews {
        preview.tags = vec![SafeText::name("picked")];
    }
    harness.press("r");
    harness.answer_page(found);
    let is_marked_whole = |harness: &AppHarness| {
        let marks = tag_marks(&harness.app, harness.app.results().cluster().unwrap(), None);
        marks.iter().any(|(mark, is_whole)| format!("{mark:?}") == "Picked" && *is_whole)
    };
    assert!(!is_marked_whole(&harness), "some members are not loaded");
    let (add, remove) = (edit(&["picked"], &[], None), edit(&[], &["picked"], None));
    for (key, expected) in [("p", &add), ("p", &remove), ("p", &add), ("i p", &remove)] {
        harness.press(key);
        let (ticket, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
        assert!(matches!(&request, Request::ChangeTags(_, _, edit) if edit == expected), "{key}");
        harness.respond(ticket, Ok(change(1, 9)));
        if key == "p" {
            assert_eq!(is_marked_whole(&harness), *expected == add, "{key}");
        }
    }
}

#[test]
fn a_new_tag_does_not_forget_what_all_members_have_and_no_change_is_said() {
    let mut harness = tagging();
    let mut found = page(0, 1);
    found.clusters[0].n_images = Some(9);
    harness.press("r");
    harness.answer_page(found);
    harness.press("x");
    harness.answer(Lane::ChangeTags(open().id), change(1, 0));
    assert_eq!(harness.notice(), "already tagged rejected: nothing has changed");
    harness.press("+ d r y enter");
    harness.answer(Lane::ChangeTags(open().id), change(2, 0));
    harness.press("x");
    let (_, request) = harness.take(|lane| matches!(lane, Lane::ChangeTags(_)));
    let remove = edit(&[], &["rejected"], None);
    assert!(matches!(&request, Request::ChangeTags(_, _, edit) if *edit == remove), "{request:?}");
}

#[test]
fn a_whole_search_is_not_tagged_while_a_filter_hides_results() {
    let mut harness = tagging();
    harness.press("a / 1 enter");
    for action in [Action::Pick, Action::Tag1, Action::Rate5] {
        assert!(unavailable_reason(&harness.app, action).unwrap().contains("filter"), "{action:?}");
    }
    harness.press("a");
    assert_eq!(unavailable_reason(&harness.app, Action::Pick), None);
    assert!(unavailable_reason(&harness.app, Action::TagWholeSearch).is_some());
    harness.press("backspace backspace");
    assert_eq!(unavailable_reason(&harness.app, Action::TagWholeSearch), None);
}

#[test]
fn a_search_by_a_deleted_tag_names_the_tag_and_what_to_do() {
    let mut harness = tagging();
    let id = TagId(Uuid::from_u128(7));
    let mut found = page(0, 1);
    found.clusters[0].tags = vec![Tag { id: Some(id), name: SafeText::name("night") }];
    harness.press("r");
    harness.answer_page(found);
    harness.press("r");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    let detail = SafeText::detail(&format!("the dataset has no tag with the ID {id}; see"));
    let failure = Failure::new(FailureKind::Invalid, "refused").with_detail(Some(detail));
    let failure = Failure { code: Some("unknown_tag"), ..failure };
    harness.respond(ticket, Err(failure));
    let shown = harness.app.results().requested_failure().unwrap().to_string();
    assert!(shown.starts_with("the dataset has no tag night any more"), "{shown}");
    assert!(!shown.contains(&id.to_string()), "{shown}");
}
