//! Extracting archives, including hostile ones.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;
use tessera_client::{ExistingFile, ExtractOptions, OriginalLookup, Originals, extract};
use tessera_model::{Extraction, Failure, FailureKind};

use super::test_zip::{ZipMember, deflated_zeros, stored_member, zip_bytes};

/// Names that must be rejected on every system.
const HOSTILE: [&str; 40] = [
    "",
    ".",
    "..",
    "...",
    "../evil",
    "../../evil",
    "images/../../evil",
    "images/../evil",
    "/evil",
    "//evil",
    "/tmp/evil",
    "C:\\evil",
    "C:evil",
    "c:/evil",
    "\\evil",
    "\\\\host\\share\\evil",
    "images\\..\\evil",
    "..\\evil",
    "a:b",
    "evil\0.jpg",
    "evil\u{1b}[2J.jpg",
    "evil\n.jpg",
    "evil\u{7f}",
    "evil\u{85}",
    "CON",
    "con.txt",
    "PRN",
    "AUX.jpg",
    "images/nul",
    "NUL .txt",
    "COM1",
    "com9.jpg",
    "LPT1.x",
    "evil.",
    "evil ",
    "evil./x",
    ".. /evil",
    ".hidden",
    ".git/config",
    "__MACOSX/x",
];

/// A working folder with an archive.
struct ExtractFixture(TempDir);

impl ExtractFixture {
    fn new(members: &[ZipMember]) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("deep")).unwrap();
        fs::write(home.path().join("x.zip"), zip_bytes(members)).unwrap();
        Self(home)
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("deep/into")
    }

    fn extract(&self, existing: ExistingFile) -> Result<Extraction, Failure> {
        extract(&self.0.path().join("x.zip"), &self.folder(), &ExtractOptions::new(existing, false))
    }

    /// All files in the working folder except the archive, sorted.
    fn files(&self) -> Vec<String> {
        let all = walkdir::WalkDir::new(self.0.path()).sort_by_file_name().into_iter();
        let files = all.map(Result::unwrap).filter(|entry| !entry.file_type().is_dir());
        let below = |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_owned();
        let names = files.map(|entry| below(entry.path()).to_str().unwrap().to_owned());
        names.filter(|name| name != "x.zip").collect()
    }
}

#[test]
fn unsafe_names_are_rejected_and_listed() {
    let mut members: Vec<ZipMember> =
        HOSTILE.iter().map(|name| stored_member(name, b"evil")).collect();
    members.push(stored_member(&"n".repeat(300), b"evil"));
    members.push(stored_member(&"d/".repeat(40), b""));
    members.push(stored_member(&format!("{}x", "d/".repeat(40)), b"evil"));
    members.push(stored_member("images/good.jpg", b"good"));
    let fixture = ExtractFixture::new(&members);
    let done = fixture.extract(ExistingFile::Keep).unwrap();
    assert_eq!(fixture.files(), ["deep/into/images/good.jpg"]);
    assert_eq!((done.files, done.bytes), (1, 4));
    assert_eq!(done.rejected_entries.count, members.len() as u64 - 1);
    let first = done.rejected_entries.first.iter().map(tessera_model::SafeText::as_str);
    assert!(first.clone().any(|name| name == "../evil (its name points outside the folder)"));
    assert!(first.into_iter().all(|name| !name.contains(['\u{1b}', '\n'])));
    assert!(!Path::new("/tmp/evil").exists());
}

#[test]
fn links_devices_and_conflicting_entries_are_rejected() {
    let kind = |name: &str, mode, bytes: &[u8]| ZipMember { mode, ..stored_member(name, bytes) };
    let fixture = ExtractFixture::new(&[
        kind("link", 0o120_777, b"/"),
        kind("fifo", 0o010_644, b""),
        kind("device", 0o020_644, b""),
        stored_member("link/file", b"below"),
        stored_member("a.jpg", b"a"),
        stored_member("A.JPG", b"clash"),
        stored_member("a.jpg", b"twice"),
        stored_member("a.jpg/b", b"a file is in the way"),
        stored_member("link", b"a directory is in the way"),
    ]);
    let done = fixture.extract(ExistingFile::Keep).unwrap();
    assert_eq!(fixture.files(), ["deep/into/a.jpg", "deep/into/link/file"]);
    assert_eq!(done.rejected_entries.count, 7, "{:?}", done.rejected_entries.first);
    assert_eq!(fs::read(fixture.folder().join("a.jpg")).unwrap(), b"a");
}

#[test]
fn a_link_in_the_folder_is_not_followed() {
    let fixture =
        ExtractFixture::new(&[stored_member("images/a.jpg", b"a"), stored_member("b.json", b"[]")]);
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(fixture.folder()).unwrap();
    symlink(outside.path(), fixture.folder().join("images")).unwrap();
    fs::write(outside.path().join("mine"), "mine").unwrap();
    symlink(outside.path().join("mine"), fixture.folder().join("b.json")).unwrap();
    let done = fixture.extract(ExistingFile::Replace).unwrap();
    assert_eq!((done.files, done.rejected_entries.count), (1, 1));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read(outside.path().join("mine")).unwrap(), b"mine");
    assert_eq!(fs::read(fixture.folder().join("b.json")).unwrap(), b"[]");
}

#[test]
fn nothing_is_written_if_one_file_exists() {
    let fixture = ExtractFixture::new(&[
        stored_member("a.json", b"[]"),
        stored_member("images/b.jpg", b"new"),
    ]);
    fs::create_dir_all(fixture.folder().join("images")).unwrap();
    fs::write(fixture.folder().join("images/b.jpg"), "mine").unwrap();
    let failure = fixture.extract(ExistingFile::Keep).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local);
    assert!(failure.to_string().contains("b.jpg: already exists"), "{failure}");
    assert_eq!(fixture.files(), ["deep/into/images/b.jpg"]);
    fixture.extract(ExistingFile::Replace).unwrap();
    assert_eq!(fs::read(fixture.folder().join("images/b.jpg")).unwrap(), b"new");
}

#[test]
fn what_is_damaged_replaces_no_file() {
    let fixture = ExtractFixture::new(&[
        stored_member("images/a.jpg", b"new picture"),
        stored_member("metadata.json", b"[{"),
    ]);
    let archive = fixture.0.path().join("x.zip");
    let mut bytes = fs::read(&archive).unwrap();
    let content = bytes.windows(3).position(|window| window == b"new").unwrap();
    bytes[content] = b'N';
    fs::write(&archive, bytes).unwrap();
    fs::create_dir_all(fixture.folder().join("images")).unwrap();
    let mine = ["images/a.jpg", "metadata.jsonl", "rows.jsonl"];
    for name in mine {
        fs::write(fixture.folder().join(name), "mine").unwrap();
    }
    let options = ExtractOptions::new(ExistingFile::Replace, true);
    let done = extract(&archive, &fixture.folder(), &options).unwrap();
    assert_eq!((done.files, done.rejected_entries.count), (1, 1));
    assert!(done.index_failure.is_some());
    for name in mine {
        assert_eq!(fs::read(fixture.folder().join(name)).unwrap(), b"mine", "{name}");
    }
    assert_eq!(fixture.files().len(), 4, "no part stays: {:?}", fixture.files());
}

#[test]
fn a_folder_with_pictures_that_the_archive_lacks_is_refused() {
    let fixture = ExtractFixture::new(&[
        stored_member("data.yaml", b"names:"),
        stored_member("images/a.jpg", b"new"),
        stored_member("labels/a.txt", b""),
    ]);
    fixture.extract(ExistingFile::Keep).unwrap();
    fs::write(fixture.folder().join(".hidden"), "").unwrap();
    fs::copy(fixture.0.path().join("x.zip"), fixture.folder().join("x.zip")).unwrap();
    let inside = fixture.folder().join("x.zip");
    let options = ExtractOptions::new(ExistingFile::Replace, false);
    assert_eq!(extract(&inside, &fixture.folder(), &options).unwrap().files, 3);
    fs::remove_file(inside).unwrap();

    fs::write(fixture.folder().join("images/a.jpg"), "old").unwrap();
    for name in ["images/A.jpg", "labels/A.txt"] {
        fs::write(fixture.folder().join(name), "old").unwrap();
    }
    let failure = fixture.extract(ExistingFile::Replace).unwrap_err().to_string();
    let expected = "into: 2 files are not in the archive: images/A.jpg, labels/A.txt. \
                    Choose another folder, or remove these files";
    assert!(failure.ends_with(expected), "{failure}");
    assert_eq!(fs::read(fixture.folder().join("images/a.jpg")).unwrap(), b"old");

    for (member, is_refused) in [("shard-000000.tar", true), ("metadata.json", false)] {
        let other = ExtractFixture::new(&[stored_member(member, b"")]);
        fs::create_dir_all(other.folder()).unwrap();
        fs::write(other.folder().join("shard-000001.tar"), "old").unwrap();
        assert_eq!(other.extract(ExistingFile::Replace).is_err(), is_refused, "{member}");
    }
}

#[test]
fn refused_entries_count_toward_the_limit_of_the_archive() {
    let members = [deflated_zeros("bomb", 80 << 20), deflated_zeros("small", 3_000)];
    let done = ExtractFixture::new(&members).extract(ExistingFile::Keep).unwrap();
    assert_eq!((done.files, done.rejected_entries.count), (0, 2));
}

/// `/proc` is on a disk of its own.
#[cfg(target_os = "linux")]
#[test]
fn only_links_to_originals_on_the_same_disk_need_no_room() {
    // The declared size of all pictures exceeds every disk.
    let member = |n: usize| ZipMember {
        size: u32::MAX - 1,
        comment: "00000000-0000-0000-0000-000000000001",
        ..deflated_zeros(&format!("images/{n}.png"), 0)
    };
    let fixture = ExtractFixture::new(&(0..5_000).map(member).collect::<Vec<_>>());
    let archive = fixture.0.path().join("x.zip");
    let extract_with = |original: &Path| {
        let original = original.to_owned();
        let lookup: OriginalLookup = Arc::new(move |_| Some(original.clone()));
        let originals = Some(Originals { lookup, hard_links: true });
        let options =
            ExtractOptions { originals, ..ExtractOptions::new(ExistingFile::Keep, false) };
        extract(&archive, &fixture.folder(), &options)
    };
    let failure = extract_with("/proc/version".as_ref()).unwrap_err().to_string();
    assert!(failure.contains("MiB are free"), "{failure}");
    let done = extract_with(&archive).unwrap();
    assert_eq!(done.files, 5_000);
}

#[test]
fn only_originals_with_the_same_content_are_linked() {
    let member = |name: &str, bytes: &[u8]| ZipMember {
        comment: "00000000-0000-0000-0000-000000000001",
        ..stored_member(name, bytes)
    };
    let fixture =
        ExtractFixture::new(&[member("images/same.png", b"abc"), member("images/new.png", b"abd")]);
    let original = fixture.0.path().join("original.png");
    fs::write(&original, b"abc").unwrap();
    let known = original.clone();
    let lookup: OriginalLookup = Arc::new(move |_| Some(known.clone()));
    let originals = Some(Originals { lookup, hard_links: true });
    let options = ExtractOptions { originals, ..ExtractOptions::new(ExistingFile::Keep, false) };
    let done = extract(&fixture.0.path().join("x.zip"), &fixture.folder(), &options).unwrap();
    assert_eq!((done.files, done.shared_files, done.bytes), (2, 1, 6));
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    let images = fixture.folder().join("images");
    assert_eq!(inode(&images.join("same.png")), inode(&original));
    assert_eq!(fs::read(images.join("new.png")).unwrap(), b"abd");
}

#[test]
fn rows_are_joined_with_the_paths_of_their_pictures() {
    let rows = br#"{"media_items": [{"image_filename": "a.jpg", "z": 1, "a": [2]},
        {"image_filename": "gone.jpg"}, {"image_filename": "../x.zip"}, {"other": null}]}"#;
    let fixture =
        ExtractFixture::new(&[stored_member("m.json", rows), stored_member("images/a.jpg", b"a")]);
    let archive = fixture.0.path().join("x.zip");
    let done = extract(&archive, &fixture.folder(), &ExtractOptions::new(ExistingFile::Keep, true))
        .unwrap();
    let text = fs::read_to_string(done.index_file.unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"image_filename":"a.jpg","z":1,"a":[2],"_path":"images/a.jpg"}"#,
            r#"{"image_filename":"gone.jpg","_path":null}"#,
            r#"{"image_filename":"../x.zip","_path":null}"#,
            r#"{"other":null,"_path":null}"#,
        ]
    );
}

#[test]
fn pictures_with_json_become_an_image_folder() {
    let rows =
        br#"{"media_items": [{"media_id": "m", "image_filename": "a.jpg", "file_name": "x.jpg",
        "metadata_items": [{"type": "image_label", "properties": {"category_name": "cat"}}]}]}"#;
    let members = [
        stored_member("images/", b""),
        stored_member("images/a.jpg", b"a"),
        stored_member("metadata.json", rows),
    ];
    let fixture = ExtractFixture::new(&members);
    let done = fixture.extract(ExistingFile::Keep).unwrap();
    assert_eq!((done.files, done.index_failure), (2, None));
    assert_eq!((done.folder, done.shared_files), (fixture.folder(), 0));
    let table = fixture.folder().join("metadata.jsonl");
    let row: serde_json::Value = serde_json::from_slice(&fs::read(&table).unwrap()).unwrap();
    assert_eq!((&row["file_name"], &row["labels"][0]), (&"images/a.jpg".into(), &"cat".into()));

    let other = ExtractFixture::new(&members);
    fs::create_dir_all(other.folder()).unwrap();
    fs::write(other.folder().join("metadata.jsonl"), "mine").unwrap();
    let failure = other.extract(ExistingFile::Keep).unwrap_err();
    assert!(failure.to_string().contains("metadata.jsonl: already exists"), "{failure}");
    assert_eq!(fs::read(other.folder().join("metadata.jsonl")).unwrap(), b"mine");

    let plain = ExtractFixture::new(&[stored_member("metadata.json", rows)]);
    fs::create_dir_all(plain.folder()).unwrap();
    fs::write(plain.folder().join("metadata.jsonl"), "mine").unwrap();
    plain.extract(ExistingFile::Keep).unwrap();
    let table = fs::read(plain.folder().join("metadata.jsonl")).unwrap();
    assert_eq!(table, b"mine", "no table without pictures");
}

#[test]
fn the_umask_decides_who_can_read_what_is_extracted() {
    let rows = br#"{"media_items": [{"image_filename": "a.jpg"}]}"#;
    let fixture =
        ExtractFixture::new(&[stored_member("m.json", rows), stored_member("images/a.jpg", b"a")]);
    let archive = fixture.0.path().join("x.zip");
    extract(&archive, &fixture.folder(), &ExtractOptions::new(ExistingFile::Keep, true)).unwrap();
    let other = fixture.0.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("file"), "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for entry in walkdir::WalkDir::new(fixture.folder()) {
        let entry = entry.unwrap();
        let expected =
            if entry.file_type().is_dir() { mode(&other) } else { mode(&other.join("file")) };
        assert_eq!(mode(entry.path()), expected, "{}", entry.path().display());
    }
}

#[test]
fn rejected_entries_are_reported_although_the_rows_cannot_be_joined() {
    let fixture = ExtractFixture::new(&[
        stored_member("m.json", br#"{"media_items": [{"a": 1e}]}"#),
        stored_member("../evil", b"evil"),
        stored_member("images/a.jpg", b"a"),
    ]);
    let archive = fixture.0.path().join("x.zip");
    let done = extract(&archive, &fixture.folder(), &ExtractOptions::new(ExistingFile::Keep, true))
        .unwrap();
    assert_eq!((done.files, done.rejected_entries.count), (2, 1));
    assert_eq!(done.index_file, None);
    assert!(done.index_failure.is_some());
}
