//! Tests fields with a path: Tab completes, and Ctrl-F opens the picker, in every form that has such a field.

use tessera_interface::{
    app::{
        Event,
        overlay::{
            add_media::{AddMediaForm, SourceCheck},
            export::{ExportField, ExportForm},
            file_picker::FilePicker,
            prompt::TextPrompt,
        },
    },
    message::{Lane, Payload, Request},
};
use tessera_model::{FailureKind, Preflight};

use super::region::list;
use crate::support::app_harness::{AppHarness, folder_query};

fn adding(typed: &str) -> AppHarness {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("A");
    harness.type_text(typed);
    harness
}

fn paths(harness: &AppHarness) -> &str {
    harness.app.dialog::<AddMediaForm>().expect("the form is open").location().value()
}

#[test]
fn tab_completes_the_last_path_as_far_as_it_is_unique() {
    let names = ["photos 2024/", "phone.zip", "video/"];
    for (typed, prefix, completed) in [
        ("/p/photo", "photo", "'/p/photos 2024/'"),
        ("/q /p/vi", "vi", "/q /p/video/"),
        ("/q '/p/photos", "photos", "/q '/p/photos 2024/'"),
        ("/p/ph", "ph", "/p/pho"),
        ("/p/PHONE", "PHONE", "/p/phone.zip"),
    ] {
        let mut harness = adding(typed);
        harness.press("tab");
        assert_eq!(harness.requests(), [&Request::Folder(folder_query("/p/", prefix))], "{typed}");
        assert_eq!(paths(&harness), typed, "the worker reads the folder");
        list(&mut harness, "/p/", &names);
        assert_eq!(paths(&harness), completed, "{typed}");
    }
}

#[test]
fn tab_goes_to_the_next_field_where_nothing_is_begun_or_continues_the_path() {
    let is_in_next_field = |harness: &mut AppHarness, typed: &str| {
        harness.press("x");
        paths(harness) == typed
    };
    for typed in ["", "/p/", "/q "] {
        let mut harness = adding(typed);
        harness.press("tab");
        assert!(harness.requests().is_empty());
        assert!(is_in_next_field(&mut harness, typed), "{typed}");
    }
    for typed in ["/p/none", "/p/video"] {
        let mut harness = adding(typed);
        harness.press("tab");
        list(&mut harness, "/p/", &["video/", "videos/"]);
        assert!(is_in_next_field(&mut harness, typed), "{typed}");
    }
    let mut harness = adding("/none/x");
    harness.press("tab");
    harness.fail(Lane::Folder(folder_query("/none/", "x")), FailureKind::Local);
    assert!(is_in_next_field(&mut harness, "/none/x"));
}

#[test]
fn tab_passes_over_a_path_that_nobody_has_typed() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("e tab tab tab");
    assert!(harness.requests().is_empty());
    assert_eq!(harness.app.dialog::<ExportForm>().unwrap().field, ExportField::Images);
    harness.press("up up end x tab");
    assert_eq!(
        harness.requests(),
        [&Request::Folder(folder_query("/", "downloadsx"))],
        "now it is typed"
    );
}

#[test]
fn the_first_typed_character_replaces_a_default_and_other_keys_edit_it() {
    let default = "/downloads/set-1.json";
    for (keys, text) in [
        ("x y", "xy".to_owned()),
        ("end x", format!("{default}x")),
        ("left x", "/downloads/set-1.jsoxn".to_owned()),
        ("backspace x", "/downloads/set-1.jsox".to_owned()),
        ("f1 esc x", "x".to_owned()),
    ] {
        let mut harness = AppHarness::with_clusters(1);
        harness.press("space 5 w");
        harness.press(keys);
        assert_eq!(harness.app.dialog::<TextPrompt>().unwrap().text.value(), text, "{keys}");
    }
    let mut harness = AppHarness::with_clusters(1);
    harness.press("e");
    harness.happen(Event::Paste("night".into()));
    harness.press("tab");
    harness.happen(Event::Paste("/best".into()));
    let form = harness.app.dialog::<ExportForm>().unwrap();
    assert_eq!((form.name.value(), form.folder.value()), ("night", "/best"));
}

#[test]
fn a_key_withdraws_a_completion() {
    let mut harness = adding("/p/vi");
    harness.press("tab s");
    assert!(harness.cancelled.contains(&Lane::Folder(folder_query("/p/", "vi"))));
    assert_eq!(paths(&harness), "/p/vis");
}

#[test]
fn several_continuations_are_shown_by_the_picker() {
    let mut harness = adding("/q /p/video");
    harness.press("backspace tab");
    list(&mut harness, "/p/", &["vide-1/", "vide-2/", "vide-2/"]);
    assert_eq!(paths(&harness), "/q /p/vide-");
    harness.press("tab");
    list(&mut harness, "/p/", &["vide-1/", "vide-2/"]);
    let picker = harness.app.dialog::<FilePicker>().expect("the picker is open");
    assert_eq!(picker.picker.path.text.value(), "/p/vide-");
    list(&mut harness, "/p/", &["vide-1/", "vide-2/"]);
    harness.press("down enter");
    assert_eq!(paths(&harness), "/q /p/vide-2");
}

#[test]
fn the_picker_begins_at_home_and_chooses_a_folder_or_a_file() {
    let mut harness = adding("");
    harness.press("ctrl-f");
    assert_eq!(harness.requests(), [&Request::Folder(folder_query("/home/me/", ""))]);
    let names = ["my photos/", "old.jpg"];
    list(&mut harness, "/home/me/", &names);
    harness.press("enter");
    assert_eq!(paths(&harness), "~/", "this folder comes first");
    harness.press("ctrl-f");
    list(&mut harness, "/home/me/", &names);
    harness.press("down tab");
    list(&mut harness, "/home/me/my photos/", &["a.jpg"]);
    harness.press("down enter");
    assert_eq!(paths(&harness), "~/'my photos/a.jpg'");
    harness.press("ctrl-f esc");
    assert_eq!(paths(&harness), "~/'my photos/a.jpg'", "Esc changes nothing");
}

#[test]
fn every_path_of_this_machine_has_the_picker() {
    let mut harness = AppHarness::with_clusters(1);
    harness.press("A up left down ctrl-f");
    assert!(harness.app.dialog::<FilePicker>().is_none(), "storage is not on this machine");
    harness.press("up left down ctrl-f");
    assert!(harness.app.dialog::<FilePicker>().is_some(), "an archive");
    harness.press("esc esc e down ctrl-f");
    assert!(harness.app.dialog::<FilePicker>().is_some(), "the folder of an export");
    list(&mut harness, "/", &["downloads/", "downloads.txt"]);
    let picker = harness.app.dialog::<FilePicker>().unwrap();
    assert_eq!(picker.candidates(&harness.app).len(), 1, "only folders are offered");
    harness.press("esc");
    assert!(harness.app.dialog::<ExportForm>().is_some());
    let mut harness = AppHarness::with_clusters(1);
    harness.press("space 5 w");
    assert!(harness.app.dialog::<TextPrompt>().is_some());
    harness.press("ctrl-f");
    assert!(harness.app.dialog::<FilePicker>().is_some(), "a selection file");
}

#[test]
fn a_check_that_ends_below_the_picker_is_not_lost() {
    let mut harness = adding("/p/a.jpg");
    harness.press("enter ctrl-f");
    harness.answer(
        Lane::Preflight,
        Payload::Preflight(Preflight { images: 1, ..Preflight::default() }),
    );
    harness.press("esc");
    let form = harness.app.dialog::<AddMediaForm>().expect("the form is open");
    assert!(matches!(form.check, SourceCheck::Done(..)), "{:?}", form.check);
}
