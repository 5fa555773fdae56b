use tessera_model::{folder::*, *};

#[test]
fn pictures_are_recognized_by_extension() {
    let is_picture = |name: &str, is_folder| {
        let entry = FolderEntry {
            name: SafeText::file_name(name),
            file_name: name.into(),
            is_folder,
            bytes: 1,
        };
        entry.is_picture()
    };
    assert!(is_picture("van.JPG", false) && is_picture("a.b.webp", false));
    assert!(!is_picture("jpg", false) && !is_picture("notes.txt", false));
    assert!(!is_picture("folder.png", true));
}
