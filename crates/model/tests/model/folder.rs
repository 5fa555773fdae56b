use tessera_model::{local_files::*, *};

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

#[test]
fn the_path_of_an_entry_is_built_from_its_name_in_the_file_system() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path};
    let raw = OsStr::from_bytes(b"bell\x07\xff.png");
    let entry = FolderEntry {
        name: SafeText::file_name(&raw.to_string_lossy()),
        file_name: raw.to_owned(),
        is_folder: false,
        bytes: 1,
    };
    let listing = FolderListing { path: "/photos".into(), entries: vec![], omitted: 0 };
    assert_eq!(listing.entry_path(&entry), Path::new("/photos").join(raw));
}
