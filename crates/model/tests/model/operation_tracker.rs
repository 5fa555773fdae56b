use uuid::Uuid;

use tessera_model::{AdditionJob, DatasetId};
use tessera_model::{operation_tracker::*, *};

fn dataset(status: &str, images: u64) -> Dataset {
    Dataset {
        id: DatasetId(Uuid::nil()),
        name: SafeText::name("x"),
        status: Status::parse(status),
        status_is_legacy: false,
        legacy_status: None,
        progress: Some(50),
        owner: None,
        created_at: None,
        n_images: Some(images),
        n_videos: None,
        n_objects: None,
        error: None,
    }
}

fn addition(auto_reindex: bool) -> JobKind {
    let text = SafeText::name("x");
    JobKind::AddMedia(AdditionJob { source: text.clone(), cli_options: text, auto_reindex })
}

/// Walks a path, a second a status, and gives the index where it was over.
fn over(kind: &JobKind, path: &[&str]) -> Option<usize> {
    let mut tracker = OperationTracker::starting_from(Some(&dataset(path[0], 10)));
    (0..).zip(path).find_map(|(second, status)| {
        let status = tracker.observe(kind, Timestamp::from_secs(second), &dataset(status, 10));
        let index = usize::try_from(second).unwrap();
        (status != OperationStatus::Running).then_some(index)
    })
}

#[test]
fn an_addition_finishes_in_partial_index_unless_a_reindex_follows() {
    let path = ["READY", "READY", "READ ONLY", "READ ONLY", "PARTIAL INDEX"];
    assert_eq!(over(&addition(false), &path), Some(4));
    assert_eq!(over(&addition(true), &path), None);
    let path = ["READY", "READ ONLY", "PARTIAL INDEX", "INDEXING", "READY"];
    assert_eq!(over(&addition(true), &path), Some(4));
    let again = ["PARTIAL INDEX", "PARTIAL INDEX", "READ ONLY", "PARTIAL INDEX"];
    assert_eq!(over(&addition(false), &again), Some(3));
}

#[test]
fn an_unobserved_addition_finishes_after_a_minute_with_more_media() {
    let mut tracker = OperationTracker::starting_from(Some(&dataset("READY", 10)));
    let mut see = |second, images| {
        tracker.observe(&addition(true), Timestamp::from_secs(second), &dataset("READY", images))
    };
    assert_eq!(see(1, 10), OperationStatus::Running);
    assert_eq!(see(100, 10), OperationStatus::Running, "nothing came");
    assert_eq!(see(59, 12), OperationStatus::Running, "too early");
    assert_eq!(see(60, 12), OperationStatus::Finished(SafeText::name("READY")));
}

#[test]
fn a_reindex_passes_read_only_and_indexing() {
    let path = ["PARTIAL INDEX", "PARTIAL INDEX", "READ ONLY", "INDEXING", "READY"];
    assert_eq!(over(&JobKind::Reindex, &path), Some(4));
    assert_eq!(over(&JobKind::Reindex, &["PARTIAL INDEX", "READY"]), Some(1));
}

#[test]
fn an_error_status_fails_with_the_message_of_the_service() {
    let mut tracker = OperationTracker::starting_from(Some(&dataset("READY", 1)));
    let broken = Dataset { error: Some(SafeText::detail("disk full")), ..dataset("ERROR", 1) };
    let OperationStatus::Failed(failure) =
        tracker.observe(&addition(false), Timestamp::ZERO, &broken)
    else {
        panic!("it goes on");
    };
    assert!(failure.to_string().contains("disk full"), "{failure}");
}
