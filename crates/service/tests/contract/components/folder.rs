//! Scanning folders, detecting changes, comparing a listing with what is known, and opening files without leaving the
//! folder.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::Mode;
use tessera_media::ingest::{
    ANNEX_POINTER, FileStat, FolderPatterns, FolderScan, KnownFile, ListingComparison,
    OriginalFiles as _, SYMBOLIC_LINK, SYSTEM_ENTRY, SandboxedDir, ScannedFile, compare_listing,
    diff, scan_folder,
};

#[test]
fn nothing_outside_the_folder_is_opened() {
    let temp_dir = tempfile::tempdir().unwrap();
    let root = temp_dir.path().join("in");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(temp_dir.path().join("secret"), "s").unwrap();
    std::fs::write(root.join("sub/a.png"), "a").unwrap();
    symlink(temp_dir.path(), root.join("out")).unwrap();
    symlink("../secret", root.join("link")).unwrap();
    symlink("sub", root.join("alias")).unwrap();
    let folder = SandboxedDir::open(&root).unwrap();
    assert!(folder.open_file(Path::new("sub/a.png")).is_ok());
    let outside = [
        "../secret",
        "sub/../../secret",
        "/etc/passwd",
        "out/secret",
        "link",
        "alias/a.png",
        "sub",
        "",
        ".",
        "sub/a.png/x",
        "nothing",
    ];
    for path in outside {
        assert!(folder.open_file(Path::new(path)).is_err(), "{path}");
    }
}

#[test]
fn links_of_a_snapshot_lead_to_the_blobs_of_its_cache() {
    let temp_dir = tempfile::tempdir().unwrap();
    let opened = |repository: &str, place: &str| {
        let repository = temp_dir.path().join(repository);
        let root = repository.join(place);
        std::fs::create_dir_all(root.join("cat")).unwrap();
        std::fs::create_dir_all(repository.join("blobs/deep")).unwrap();
        for file in ["blobs/0a1b", "blobs/deep/0a1b", "secret"] {
            std::fs::write(repository.join(file), "x").unwrap();
        }
        symlink("../secret", repository.join("blobs/away")).unwrap();
        for (link, target) in [
            ("a.jpg", "../../blobs/0a1b"),
            ("cat/b.jpg", "../../../blobs/0a1b"),
            ("c.jpg", "../../secret"),
            ("d.jpg", "../../blobs/../secret"),
            ("e.jpg", "../../blobs/deep/0a1b"),
            ("f.jpg", "../../blobs/away"),
            ("g.jpg", "../../blobs/gone"),
            ("h.jpg", "../../blobs"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let folder = SandboxedDir::open(&root).unwrap();
        let files = scan_folder(&folder, &FolderPatterns::default()).unwrap().files;
        assert!(files.iter().all(|file| folder.open_file(&file.path).is_ok()));
        files.into_iter().map(|file| file.path.display().to_string()).collect::<Vec<_>>()
    };
    for repository in ["models--x", "datasets--x--y"] {
        assert_eq!(opened(repository, "snapshots/0123abcd"), ["a.jpg", "cat/b.jpg"]);
    }
    for (repository, place) in [("photos", "snapshots/1"), ("datasets--z", "other/1")] {
        assert!(opened(repository, place).is_empty(), "{repository}/{place}");
    }
}

#[test]
fn a_fifo_is_rejected_without_blocking() {
    let temp_dir = tempfile::tempdir().unwrap();
    let fifo = temp_dir.path().join("a.jpg");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    let folder = SandboxedDir::open(temp_dir.path()).unwrap();
    assert!(folder.open_file(Path::new("a.jpg")).is_err());
}

#[test]
fn hidden_files_links_and_special_files_are_skipped_with_a_reason() {
    let temp_dir = tempfile::tempdir().unwrap();
    let root = temp_dir.path();
    std::fs::create_dir_all(root.join(".git/deep")).unwrap();
    std::fs::create_dir_all(root.join("b")).unwrap();
    std::fs::create_dir_all(root.join("b/@eaDir/2.jpg")).unwrap();
    let files =
        ["b/2.jpg", "1.jpg", ".git/deep/x.jpg", ".hidden.jpg", "b/@eaDir/2.jpg/S.jpg", "0a1b"];
    for file in files.into_iter().chain(["Thumbs.db"]) {
        std::fs::write(root.join(file), "x").unwrap();
    }
    symlink("/etc", root.join("loop")).unwrap();
    symlink("b", root.join("again")).unwrap();
    symlink("/etc/hostname", root.join("out.jpg")).unwrap();
    symlink("../../outside.jpg", root.join("b/up.jpg")).unwrap();
    symlink("../0a1b", root.join("b/named.jpg")).unwrap();
    symlink(root.join(".git/deep/x.jpg"), root.join("annexed.jpg")).unwrap();
    symlink("../.git/annex/objects/K1/SHA256E-s1.jpg", root.join("b/absent.jpg")).unwrap();
    symlink("1.jpg", root.join("twin.jpg")).unwrap();
    symlink("../twin.jpg", root.join("b/chain.jpg")).unwrap();
    symlink("circle.jpg", root.join("circle.jpg")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let scan = scan_folder(&SandboxedDir::open(root).unwrap(), &FolderPatterns::default()).unwrap();
    let files: Vec<_> = scan.files.iter().map(|found| found.path.to_str().unwrap()).collect();
    assert_eq!(
        files,
        ["1.jpg", "annexed.jpg", "b/2.jpg", "b/chain.jpg", "b/named.jpg", "twin.jpg"]
    );
    let folder = SandboxedDir::open(root).unwrap();
    for file in &scan.files {
        assert_eq!(folder.open_file(&file.path).unwrap().length().unwrap(), 1, "{file:?}");
    }
    let passed: Vec<_> =
        scan.skipped.iter().map(|(path, reason)| (path.to_str().unwrap(), *reason)).collect();
    let expected = [
        (".git", "hidden"),
        (".hidden.jpg", "hidden"),
        ("Thumbs.db", SYSTEM_ENTRY),
        ("again", SYMBOLIC_LINK),
        ("b/@eaDir", SYSTEM_ENTRY),
        ("b/absent.jpg", ANNEX_POINTER),
        ("b/up.jpg", SYMBOLIC_LINK),
        ("circle.jpg", SYMBOLIC_LINK),
        ("loop", SYMBOLIC_LINK),
        ("out.jpg", SYMBOLIC_LINK),
        ("socket", "not a regular file"),
    ];
    assert_eq!(passed, expected);
}

#[test]
fn a_file_of_a_manifest_that_was_not_read_is_read_again() {
    let path = PathBuf::from("a.jpg");
    let scan = FolderScan::of_paths([path.clone()].into_iter());
    let stat = FileStat { size: 0, modified: 0 };
    for (stat, expected) in [(stat, 0), (stat.unread(), 1)] {
        let known = BTreeMap::from([(path.clone(), KnownFile { stat, content_hash: None })]);
        assert_eq!(diff(&scan, known).added_or_modified.len(), expected, "{stat:?}");
    }
}

#[test]
fn previews_masks_and_recycle_bins_are_recognized_by_their_place() {
    let temp_dir = tempfile::tempdir().unwrap();
    for path in [
        "My.photoslibrary/originals/A/1.jpg",
        "My.photoslibrary/resources/derivatives/A/1_105_c.jpg",
        "other/resources/derivatives/2.jpg",
        "Recycled/3.jpg",
        "Recycled/INFO2",
        "classes/Recycled/4.jpg",
        "recycled/5.jpg",
        "RECYCLED/6.jpg",
        "voc/JPEGImages/6.jpg",
        "voc/SegmentationClass/6.png",
        "SegmentationObject/7.png",
    ] {
        let path = temp_dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let folder = SandboxedDir::open(temp_dir.path()).unwrap();
    let scan = scan_folder(&folder, &FolderPatterns::default()).unwrap();
    let skipped: Vec<_> = scan.skipped.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    let masks = "voc/SegmentationClass";
    assert_eq!(skipped, ["My.photoslibrary/resources/derivatives", "Recycled", masks]);
    assert_eq!(scan.files.len(), 7);
}

#[test]
fn added_modified_and_removed_files_are_detected() {
    let found =
        |path: &str, size| ScannedFile { path: path.into(), stat: FileStat { size, modified: 7 } };
    let scan = FolderScan {
        files: vec![found("changed", 2), found("new", 1), found("same", 1)],
        unreadable: ["land".into()].into(),
        ..FolderScan::default()
    };
    let known = ["changed", "gone", "land/kept", "landed", "same"].map(|path| {
        let stat = FileStat { size: 1, modified: 7 };
        (PathBuf::from(path), KnownFile { stat, content_hash: Some([3; 32]) })
    });
    let changes = diff(&scan, BTreeMap::from(known));
    let expected = vec![(found("changed", 2), Some([3; 32])), (found("new", 1), None)];
    assert_eq!(changes.added_or_modified, expected);
    assert_eq!(changes.removed, ["gone", "landed"].map(PathBuf::from));
    assert!(!changes.is_empty());
}

const NAMES: u32 = 1_000_000;
const PART: u32 = 1_000;
/// Far less than the names take up.
const MAX_GROWTH: u64 = 8 << 10;

fn stat(size: u64) -> FileStat {
    FileStat { size, modified: 7 }
}

fn known(path: String, size: u64) -> (PathBuf, KnownFile) {
    (PathBuf::from(path), KnownFile { stat: stat(size), content_hash: None })
}

/// Compares parts of files with files, by path and size.
fn compare(parts: &[&[(&str, u64)]], files: &[(&str, u64)]) -> ListingComparison {
    let scanned = |&(path, size): &(&str, u64)| ScannedFile { path: path.into(), stat: stat(size) };
    let parts = parts.iter().map(|part| Ok(part.iter().map(scanned).collect()));
    let files = files.iter().map(|&(path, size)| Ok(known(path.to_owned(), size)));
    let Ok::<_, Infallible>(compared) = compare_listing(parts, files, |_| false);
    compared
}

#[test]
fn a_listing_is_compared_over_the_ends_of_its_parts() {
    use ListingComparison::{Different, Same, Unordered};
    let all: &[&[(&str, u64)]] = &[&[("a", 1), ("a-b/c", 1)], &[], &[("a/b", 2), ("b", 1)]];
    let files = [("a", 1), ("a-b/c", 1), ("a/b", 2), ("b", 1)];
    assert_eq!(compare(all, &files), Same, "in the order of bytes, not of segments");
    assert_eq!(compare(&[], &[]), Same);
    assert_eq!(compare(all, &files[..3]), Different, "one is new");
    assert_eq!(compare(all, &[&files[..], &[("c", 1)]].concat()), Different, "one is gone");
    assert_eq!(compare(&all[..2], &files), Different);
    assert_eq!(compare(all, &[files[0], files[1], ("a/b", 3), files[3]]), Different, "its size");
    assert_eq!(compare(&[&[("b", 1), ("a", 1)]], &[("a", 1), ("b", 1)]), Unordered);
    assert_eq!(compare(&[&[("b", 1)], &[("a", 1)]], &[("b", 1)]), Unordered);
}

#[test]
fn a_file_that_could_not_be_read_is_different_only_once_it_can_be_read() {
    let file = ScannedFile { path: "a".into(), stat: stat(1) };
    let (path, mut unread) = known("a".to_owned(), 1);
    unread.stat = unread.stat.unread();
    for (is_readable, expected) in
        [(false, ListingComparison::Same), (true, ListingComparison::Different)]
    {
        let (parts, files) = ([Ok(vec![file.clone()])], [Ok((path.clone(), unread))]);
        let compared = compare_listing(parts.into_iter(), files.into_iter(), |_| is_readable);
        let Ok::<_, Infallible>(compared) = compared;
        assert_eq!(compared, expected);
    }
}

/// The most memory that this process had, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn compare_a_million_names() {
    let name = |number: u32| format!("photos/day {:03}/picture-{number:07}.jpg", number / PART);
    let file = |number| ScannedFile { path: name(number).into(), stat: stat(1) };
    let parts = (0..NAMES / PART)
        .map(|part| Ok((part * PART..(part + 1) * PART).map(file).collect::<Vec<_>>()));
    let before = peak();
    let Ok::<_, Infallible>(compared) =
        compare_listing(parts, (0..NAMES).map(|number| Ok(known(name(number), 1))), |_| false);
    assert_eq!(compared, ListingComparison::Same);
    let growth = peak() - before;
    assert!(growth <= MAX_GROWTH, "{growth} KiB");
}

#[test]
fn a_million_names_are_compared_in_eight_mebibytes() {
    let mut inner = Command::new(std::env::current_exe().unwrap());
    let test = "components::folder::compare_a_million_names";
    let output = inner.args(["--exact", test, "--ignored"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "it ran");
}
