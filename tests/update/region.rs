//! Searching by a picture: choosing a file.

use tessera::{
    app::{Event, Overlay},
    message::{Answer, Lane, Request},
    model::{Folder, FolderEntry, PictureSource, SafeText},
    picture::{Part, Protocol, Subject},
};

use crate::desk::Desk;

/// Answers with a listing; a name that ends in `/` is a folder.
fn list(desk: &mut Desk, folder: &str, names: &[&str]) {
    let entry = |name: &&str| FolderEntry {
        name: SafeText::file(name.trim_end_matches('/')),
        file_name: name.trim_end_matches('/').into(),
        is_folder: name.ends_with('/'),
        bytes: 9,
    };
    let entries = names.iter().map(entry).collect();
    let listed = Folder { path: folder.into(), entries, left_off: 0 };
    desk.answer(Lane::Folder(folder.into()), Answer::Folder(listed));
}

/// The file that is being registered.
fn registered(desk: &Desk) -> Option<&Request> {
    desk.requests().into_iter().find(|request| matches!(request, Request::RegisterAnchor { .. }))
}

fn typed(desk: &Desk) -> &str {
    match &desk.app.overlay {
        Some(Overlay::File(picker)) => picker.path.line.value(),
        _ => panic!("no picker"),
    }
}

#[test]
fn p13_a_path_is_completed_from_its_folder() {
    let mut desk = Desk::with_clusters(1);
    desk.press("F");
    list(&mut desk, ".", &["notes.txt"]);
    desk.type_text("~/p");
    assert_eq!(desk.requests(), [&Request::Folder("/home/me/".into())]);
    list(&mut desk, "/home/me/", &["pics-of-2024/", "pictures/", "x.jpg"]);
    desk.press("tab");
    assert_eq!(typed(&desk), "~/pic");
    desk.press("down enter");
    assert_eq!(typed(&desk), "~/pictures/");
    list(&mut desk, "/home/me/pictures/", &["car.jpg", "van.jpg"]);
    desk.press("down enter");
    let Some(Request::RegisterAnchor { image, .. }) = registered(&desk) else {
        panic!("nothing is registered")
    };
    assert_eq!(*image, PictureSource::File("/home/me/pictures/van.jpg".into()));
}

#[test]
fn p13_a_folder_that_is_left_is_not_waited_for_and_a_typed_path_needs_no_list() {
    let mut desk = Desk::with_clusters(1);
    desk.press("F");
    desk.type_text("/a/b");
    assert!(desk.cancelled.contains(&Lane::Folder(".".into())));
    assert_eq!(desk.requests(), [&Request::Folder("/a/".into())]);
    desk.press("enter");
    assert!(registered(&desk).is_some());
    assert!(desk.cancelled.contains(&Lane::Folder("/a/".into())));
}

#[test]
fn p13_a_dropped_path_replaces_what_is_typed() {
    let mut desk = Desk::with_clusters(1);
    desk.press("F");
    desk.type_text("half");
    desk.happen(Event::Paste("file:///tmp/a%20van.jpg\n".to_owned()));
    assert_eq!(typed(&desk), "/tmp/a van.jpg");
}

#[test]
fn p13_the_picture_under_the_cursor_is_seen_and_let_go() {
    let mut desk = Desk::with_pictures(Protocol::HalfBlock);
    desk.answer(Lane::Datasets, Answer::Datasets(vec![], 0));
    desk.press("F");
    assert_eq!(desk.notice(), "open a dataset first");
    let mut desk = Desk::with_clusters(1);
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    desk.press("F");
    list(&mut desk, ".", &["a.jpg", "b.txt"]);
    let local = |desk: &Desk| {
        desk.requests().iter().any(|request| {
            matches!(request, Request::Picture(PictureSource::File(path), Part::Whole, _)
                if path.ends_with("a.jpg"))
        })
    };
    assert!(local(&desk));
    desk.press("down");
    assert!(!local(&desk));
    let gone = |lane: &Lane| matches!(lane, Lane::Picture(sight, _) if matches!(sight.of, Subject::File(_)));
    assert!(desk.cancelled.iter().any(gone));
}
