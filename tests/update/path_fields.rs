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
use crate::support::desk::{Desk, folder_query};

fn adding(typed: &str) -> Desk {
    let mut desk = Desk::with_clusters(1);
    desk.press("A");
    desk.type_text(typed);
    desk
}

fn paths(desk: &Desk) -> &str {
    desk.app.dialog::<AddMediaForm>().expect("the form is open").location().value()
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
        let mut desk = adding(typed);
        desk.press("tab");
        assert_eq!(desk.requests(), [&Request::Folder(folder_query("/p/", prefix))], "{typed}");
        assert_eq!(paths(&desk), typed, "the worker reads the folder");
        list(&mut desk, "/p/", &names);
        assert_eq!(paths(&desk), completed, "{typed}");
    }
}

#[test]
fn tab_goes_to_the_next_field_where_nothing_is_begun_or_continues_the_path() {
    let is_in_next_field = |desk: &mut Desk, typed: &str| {
        desk.press("x");
        paths(desk) == typed
    };
    for typed in ["", "/p/", "/q "] {
        let mut desk = adding(typed);
        desk.press("tab");
        assert!(desk.requests().is_empty());
        assert!(is_in_next_field(&mut desk, typed), "{typed}");
    }
    for typed in ["/p/none", "/p/video"] {
        let mut desk = adding(typed);
        desk.press("tab");
        list(&mut desk, "/p/", &["video/", "videos/"]);
        assert!(is_in_next_field(&mut desk, typed), "{typed}");
    }
    let mut desk = adding("/none/x");
    desk.press("tab");
    desk.fail(Lane::Folder(folder_query("/none/", "x")), FailureKind::Local);
    assert!(is_in_next_field(&mut desk, "/none/x"));
}

#[test]
fn tab_passes_over_a_path_that_nobody_has_typed() {
    let mut desk = Desk::with_clusters(1);
    desk.press("e tab tab tab");
    assert!(desk.requests().is_empty());
    assert_eq!(desk.app.dialog::<ExportForm>().unwrap().field, ExportField::Images);
    desk.press("up up end x tab");
    assert_eq!(
        desk.requests(),
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
        let mut desk = Desk::with_clusters(1);
        desk.press("space 5 w");
        desk.press(keys);
        assert_eq!(desk.app.dialog::<TextPrompt>().unwrap().text.value(), text, "{keys}");
    }
    let mut desk = Desk::with_clusters(1);
    desk.press("e");
    desk.happen(Event::Paste("night".into()));
    desk.press("tab");
    desk.happen(Event::Paste("/best".into()));
    let form = desk.app.dialog::<ExportForm>().unwrap();
    assert_eq!((form.name.value(), form.folder.value()), ("night", "/best"));
}

#[test]
fn a_key_withdraws_a_completion() {
    let mut desk = adding("/p/vi");
    desk.press("tab s");
    assert!(desk.cancelled.contains(&Lane::Folder(folder_query("/p/", "vi"))));
    assert_eq!(paths(&desk), "/p/vis");
}

#[test]
fn several_continuations_are_shown_by_the_picker() {
    let mut desk = adding("/q /p/video");
    desk.press("backspace tab");
    list(&mut desk, "/p/", &["vide-1/", "vide-2/", "vide-2/"]);
    assert_eq!(paths(&desk), "/q /p/vide-");
    desk.press("tab");
    list(&mut desk, "/p/", &["vide-1/", "vide-2/"]);
    let picker = desk.app.dialog::<FilePicker>().expect("the picker is open");
    assert_eq!(picker.picker.path.text.value(), "/p/vide-");
    list(&mut desk, "/p/", &["vide-1/", "vide-2/"]);
    desk.press("down enter");
    assert_eq!(paths(&desk), "/q /p/vide-2");
}

#[test]
fn the_picker_begins_at_home_and_chooses_a_folder_or_a_file() {
    let mut desk = adding("");
    desk.press("ctrl-f");
    assert_eq!(desk.requests(), [&Request::Folder(folder_query("/home/me/", ""))]);
    let names = ["my photos/", "old.jpg"];
    list(&mut desk, "/home/me/", &names);
    desk.press("enter");
    assert_eq!(paths(&desk), "~/", "this folder comes first");
    desk.press("ctrl-f");
    list(&mut desk, "/home/me/", &names);
    desk.press("down tab");
    list(&mut desk, "/home/me/my photos/", &["a.jpg"]);
    desk.press("down enter");
    assert_eq!(paths(&desk), "~/'my photos/a.jpg'");
    desk.press("ctrl-f esc");
    assert_eq!(paths(&desk), "~/'my photos/a.jpg'", "Esc changes nothing");
}

#[test]
fn every_path_of_this_machine_has_the_picker() {
    let mut desk = Desk::with_clusters(1);
    desk.press("A up left down ctrl-f");
    assert!(desk.app.dialog::<FilePicker>().is_none(), "storage is not on this machine");
    desk.press("up left down ctrl-f");
    assert!(desk.app.dialog::<FilePicker>().is_some(), "an archive");
    desk.press("esc esc e down ctrl-f");
    assert!(desk.app.dialog::<FilePicker>().is_some(), "the folder of an export");
    list(&mut desk, "/", &["downloads/", "downloads.txt"]);
    let picker = desk.app.dialog::<FilePicker>().unwrap();
    assert_eq!(picker.candidates(&desk.app).len(), 1, "only folders are offered");
    desk.press("esc");
    assert!(desk.app.dialog::<ExportForm>().is_some());
    let mut desk = Desk::with_clusters(1);
    desk.press("space 5 w");
    assert!(desk.app.dialog::<TextPrompt>().is_some());
    desk.press("ctrl-f");
    assert!(desk.app.dialog::<FilePicker>().is_some(), "a selection file");
}

#[test]
fn a_check_that_ends_below_the_picker_is_not_lost() {
    let mut desk = adding("/p/a.jpg");
    desk.press("enter ctrl-f");
    desk.answer(
        Lane::Preflight,
        Payload::Preflight(Preflight { images: 1, ..Preflight::default() }),
    );
    desk.press("esc");
    let form = desk.app.dialog::<AddMediaForm>().expect("the form is open");
    assert!(matches!(form.check, SourceCheck::Done(..)), "{:?}", form.check);
}
