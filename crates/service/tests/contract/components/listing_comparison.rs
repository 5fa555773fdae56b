//! Comparing a listing with what is known, part by part.

use std::{convert::Infallible, fs, path::PathBuf, process::Command};

use tessera_media::ingest::{FileStat, KnownFile, ListingComparison, ScannedFile, compare_listing};

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
    let test = "components::listing_comparison::compare_a_million_names";
    let output = inner.args(["--exact", test, "--ignored"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "it ran");
}
