//! Tests the parts of the core by themselves: text area, filter rows, notifications, tickets,
//! remote values, caches, job history, cursors and tabs.

use std::{sync::Arc, time::Duration};

use tessera_interface::{
    app::{
        JobHistory, Level, Notifications, PageCache, Remote, ServiceData, Tab, Tabs, Tickets,
        Uptime, View,
        overlay::fields,
        pane::{moved_cursor, scroll_top},
        query::{FilterKind, FilterRow, TextArea},
    },
    message::Lane,
};
use tessera_model::{
    DatasetId, Failure, FailureKind, MediaId, Page, SafeText, Search, StateKey, Timestamp,
};
use tessera_picture::{Canvas, Encoded, PictureView, Protocol, Thumbnail};
use tui_input::Input;
use uuid::Uuid;

fn press(text: &mut TextArea, keys: &str) {
    for key in keys.split(' ') {
        text.handle_key(key.parse().unwrap());
    }
}

#[test]
fn lines_are_split_joined_and_written_between() {
    let mut text = TextArea::new("[ü]\n[]");
    press(&mut text, "right right x enter");
    assert_eq!(text.text(), "[üx\n]\n[]");
    press(&mut text, "backspace backspace");
    assert_eq!(text.text(), "[ü]\n[]");
    press(&mut text, "end delete");
    assert_eq!((text.text().as_str(), text.line, text.column), ("[ü][]", 0, 3));
    press(&mut text, "down down home left up");
    assert_eq!((text.line, text.column), (0, 0));
}

#[test]
fn control_characters_are_not_written() {
    let mut text = TextArea::new("");
    assert!(text.insert("a\u{1b}[31mb"));
    assert_eq!(text.text(), "a[31mb");
}

#[test]
fn a_text_is_inserted_in_whole_or_not_at_all() {
    let mut text = TextArea::new("[]");
    press(&mut text, "right");
    assert!(text.insert("ü,\nb\n\nc"));
    assert_eq!((text.text().as_str(), text.line, text.column), ("[ü,\nb\n\nc]", 3, 1));
    assert!(!text.insert(&"\n".repeat(64 * 1024)), "line breaks count as well");
    assert!(text.insert(&"\n".repeat(60 * 1024)));
    assert_eq!((text.line, text.column), (3 + 60 * 1024, 0));
}

fn row(key: FilterKind, choice: usize, texts: &[&str]) -> FilterRow {
    let mut row = FilterRow::new(key);
    row.choice = choice;
    for (field, text) in texts.iter().enumerate() {
        *row.input_mut(field).unwrap() = (*text).into();
    }
    row
}

#[test]
fn every_filter_survives_the_round_trip_through_a_row() {
    let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
    for row in [
        row(FilterKind::Text, 0, &["red van", "0.35"]),
        row(FilterKind::Text, 1, &["red AND van", "0.35"]),
        row(FilterKind::Labels, 3, &["van"]),
        row(FilterKind::Tags, 0, &[id]),
        row(FilterKind::Issues, 1, &["blur", "0.2", "0.9"]),
        row(FilterKind::Issues, 0, &["grain"]),
        row(FilterKind::Duplicates, 0, &["0.95"]),
        row(FilterKind::Uniqueness, 0, &["0.8"]),
        row(FilterKind::Similarity, 1, &[id, ""]),
    ] {
        let filter = row.filter().unwrap();
        assert_eq!(FilterRow::from_filter(&filter).filter().unwrap(), filter);
    }
}

#[test]
fn an_invalid_number_is_reported_with_its_field() {
    let wrong = row(FilterKind::Duplicates, 0, &["0.9x"]).filter().unwrap_err();
    assert_eq!(wrong.to_string(), "value: must be a number");
    let wrong = row(FilterKind::Text, 0, &["van", "high"]).filter().unwrap_err();
    assert_eq!(wrong.field, "threshold");
}

#[test]
fn a_tag_that_is_not_an_id_is_rejected() {
    let wrong = row(FilterKind::Tags, 0, &["night"]).filter().unwrap_err().to_string();
    assert!(wrong.contains("“night” is not a tag id"), "{wrong}");
}

#[test]
fn errors_stay_until_dismissed_and_others_expire() {
    let mut notifications = Notifications::default();
    notifications.push(Uptime::ZERO, Level::Error, "broken");
    notifications.push(Uptime::ZERO, Level::Success, "done");
    assert_eq!(notifications.next_expiry(), Some(Uptime::from_secs(4)));
    notifications.remove_expired(Uptime::from_secs(4));
    assert_eq!(notifications.current().unwrap().text.as_str(), "broken");
    assert!(notifications.dismiss() && !notifications.dismiss());
}

#[test]
fn the_same_notification_is_shown_once() {
    let mut notifications = Notifications::default();
    for second in 0..3 {
        notifications.push(Uptime::from_secs(second), Level::Warning, "needs READY");
    }
    assert_eq!(notifications.count(), 1);
}

#[test]
fn only_the_newest_response_of_a_lane_is_used_unless_it_writes() {
    let mut tickets = Tickets::default();
    let first = tickets.open(Lane::Datasets, Uptime::ZERO);
    let second = tickets.open(Lane::Datasets, Uptime::ZERO);
    assert!(!tickets.close(&first));
    assert_eq!(tickets.outstanding(), 1);
    assert!(tickets.close(&second));
    assert!(!tickets.close(&second), "a response is used once");
    let third = tickets.open(Lane::Anchor, Uptime::ZERO);
    assert!(tickets.cancel(&Lane::Anchor) && !tickets.close(&third));
    assert_eq!(tickets.outstanding(), 0);
    for (lane, is_used) in [
        (Lane::Manage(DatasetId(Uuid::nil())), true),
        (Lane::CustomCommand, true),
        (Lane::SaveState(StateKey::Views), false),
    ] {
        let [older, newer] = [(); 2].map(|()| tickets.open(lane.clone(), Uptime::ZERO));
        assert_eq!(tickets.close(&older), is_used, "{lane:?}");
        assert!(tickets.is_open(&lane) && tickets.close(&newer) && !tickets.is_open(&lane));
    }
}

#[test]
fn a_failure_keeps_the_last_good_value() {
    let mut remote = Remote::default();
    assert_eq!(remote.due(None), Some(Uptime::ZERO));
    remote.finish(Uptime::from_secs(1), Ok("good"));
    remote.finish(Uptime::from_secs(2), Err(Failure::new(FailureKind::Server, "broken")));
    assert_eq!(
        (remote.value(), remote.failures(), remote.updated_at().as_secs()),
        (Some(&"good"), 1, 1)
    );
    assert_eq!(remote.due(Some(Duration::from_secs(5))), Some(Uptime::from_secs(7)));
    remote.finish(Uptime::from_secs(9), Ok("better"));
    assert_eq!((remote.failure(), remote.failures()), (None, 0));
    assert_eq!(remote.due(None), None);
    remote.invalidate();
    assert_eq!(remote.due(None), Some(Uptime::ZERO));
}

#[test]
fn no_end_is_estimated_before_three_samples_of_one_state() {
    let mut history = JobHistory::default();
    let at = Timestamp::from_secs;
    assert!(history.record(at(0), "INDEXING", Some((10, 100))));
    assert!(!history.record(at(10), "INDEXING", Some((20, 100))));
    assert_eq!(history.time_left(), None);
    history.record(at(20), "INDEXING", Some((30, 100)));
    assert_eq!(history.time_left(), Some(Duration::from_secs(70)));
    assert!(history.record(at(30), "CLUSTERING", Some((0, 100))));
    assert_eq!((history.time_left(), history.rate()), (None, None), "a new state starts over");
    assert_eq!(history.duration_of(0, at(99)), Duration::from_secs(30));
    assert_eq!(history.duration_of(1, at(99)), Duration::from_secs(69));
}

#[test]
fn alternating_states_do_not_fill_the_memory() {
    let mut history = JobHistory::default();
    for second in 0..1_000 {
        history.record(Timestamp::from_secs(second), if second % 2 == 0 { "A" } else { "B" }, None);
    }
    assert_eq!(history.transitions().len(), 100);
    assert_eq!(history.transitions()[0].entered_at, Timestamp::ZERO, "the beginning is kept");
}

#[test]
fn cursors_stay_on_their_rows_and_in_view() {
    assert_eq!(moved_cursor(0, -1, 5), 0);
    assert_eq!(moved_cursor(3, 9, 5), 4);
    assert_eq!(moved_cursor(0, 1, 0), 0);
    assert_eq!(scroll_top(0, 7, 5), 3);
    assert_eq!(scroll_top(6, 2, 5), 2);
    assert_eq!(scroll_top(1, 3, 5), 1);
}

fn view(page: u32) -> View {
    let dataset = DatasetId(Uuid::nil());
    View::new(Search { page, ..Search::browse(dataset) })
}

#[test]
fn back_and_forward_visit_the_same_views() {
    let mut tab = Tab::new(view(0));
    tab.push(view(1));
    tab.push(view(2));
    assert!(tab.back() && tab.back() && !tab.back());
    assert!(tab.forward());
    assert_eq!(tab.view, view(1));
    tab.push(view(9));
    assert!(!tab.forward(), "a new view clears the forward history");
    assert_eq!(tab.back_stack, [view(0), view(1)]);
}

#[test]
fn there_is_always_a_tab_and_never_more_than_keys() {
    let mut tabs = Tabs::new(Search::browse(DatasetId(Uuid::nil())));
    for page in 1..20 {
        assert_eq!(tabs.add(view(page)), page < 9);
    }
    tabs.go_to(3);
    tabs.go_to(30);
    assert_eq!((tabs.active(), tabs.tab().view.search.page), (3, 3));
    for _ in 0..20 {
        tabs.close();
    }
    assert_eq!((tabs.all().len(), tabs.active()), (1, 0));
}

#[test]
fn dropped_paths_are_split_like_in_a_shell() {
    for (typed, paths) in [
        (r"/a/b.jpg '/a/my c.jpg'  /d\ e.jpg", &["/a/b.jpg", "/a/my c.jpg", "/d e.jpg"][..]),
        ("~/x\"y z\"", &["~/xy z"]),
        ("  ", &[]),
        ("/a/it's.jpg", &["/a/it's.jpg"]),
        ("#1 van.jpg", &["#1 van.jpg"]),
    ] {
        assert_eq!(fields::split_words(typed), paths, "{typed}");
    }
}

#[test]
fn a_paste_is_one_clean_line() {
    let mut input = Input::default();
    fields::paste(&mut input, "/tmp/a\u{1b}[201~b\n");
    assert_eq!(input.value(), "/tmp/a[201~b");
    input = input.with_cursor(5);
    fields::paste(&mut input, &"é".repeat(100_000));
    fields::paste(&mut input, " c ");
    assert_eq!(input.value(), format!("/tmp/{}ca[201~b", "é".repeat(100_000)));
}

#[test]
fn pictures_stay_within_their_budget_and_the_seen_ones_stay() {
    const CANVAS: Canvas = Canvas { columns: 9, rows: 9, cell: (8, 16), protocol: Protocol::Kitty };
    let mut pictures = ServiceData::default().pictures;
    let payload: Arc<str> = "x".repeat(1 << 20).into();
    let view = |number| PictureView::from(MediaId(Uuid::from_u128(number)));
    for number in 0..100 {
        let encoded = Encoded::Kitty { payload: Arc::clone(&payload), size: (9, 9) };
        let thumbnail =
            Thumbnail { cells: (9, 9), original: (9, 9), encoded, differing_pixels: None };
        pictures.insert(view(number), CANVAS, Ok(thumbnail));
        pictures.touch(view(0), CANVAS);
    }
    let kept = (0..100).filter(|&number| pictures.get(&view(number), CANVAS).is_some()).count();
    assert!((44..=48).contains(&kept), "48 MiB of pictures of 1 MiB: {kept}");
    assert!(pictures.get(&view(0), CANVAS).is_some());
    assert!(pictures.get(&view(1), CANVAS).is_none());
}

#[test]
fn a_failure_does_not_replace_a_picture() {
    const CANVAS: Canvas = Canvas { columns: 9, rows: 9, cell: (8, 16), protocol: Protocol::Kitty };
    let mut pictures = ServiceData::default().pictures;
    let view = PictureView::from(MediaId(Uuid::from_u128(1)));
    let failure = || Err(SafeText::name("truncated JPEG"));
    pictures.insert(view.clone(), CANVAS, failure());
    assert!(pictures.get(&view, CANVAS).is_some_and(Result::is_err));
    let encoded = Encoded::Kitty { payload: "x".into(), size: (9, 9) };
    let thumbnail = Thumbnail { cells: (9, 9), original: (9, 9), encoded, differing_pixels: None };
    pictures.insert(view.clone(), CANVAS, Ok(thumbnail));
    pictures.insert(view.clone(), CANVAS, failure());
    assert!(pictures.get(&view, CANVAS).is_some_and(Result::is_ok));
}

#[test]
fn pages_are_kept_by_age() {
    let mut pages = PageCache::default();
    let browse = Search::browse(DatasetId(Uuid::from_u128(1)));
    for page in 0..40 {
        let search = Search { page, ..browse.clone() };
        pages.entry(search).finish(Duration::ZERO, Ok(Page::default()));
    }
    assert!(pages.get(&browse).is_none());
    assert_eq!(pages.pages_of(&browse).len(), 24);
}
