use crate::dataset::record;
use tessera_model::AdditionJob;
use tessera_model::{task_tracker::*, *};

fn dataset(status: &str, images: u64) -> Dataset {
    Dataset { progress: Some(50), ..record(status, Some(images)) }
}

fn addition(auto_reindex: bool) -> JobKind {
    let text = SafeText::name("x");
    JobKind::AddMedia(AdditionJob { source: text.clone(), cli_options: text, auto_reindex })
}

/// Walks a path, a second a status, and gives the index where it was over.
fn over(kind: &JobKind, path: &[&str]) -> Option<usize> {
    let mut tracker = TaskTracker::starting_from(Some(&dataset(path[0], 10)));
    (0..).zip(path).find_map(|(second, status)| {
        let status = tracker.observe(kind, Timestamp::from_secs(second), &dataset(status, 10));
        let index = usize::try_from(second).unwrap();
        (status != TaskStatus::Running).then_some(index)
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
    let mut tracker = TaskTracker::starting_from(Some(&dataset("READY", 10)));
    let mut see = |second, images| {
        tracker.observe(&addition(true), Timestamp::from_secs(second), &dataset("READY", images))
    };
    assert_eq!(see(1, 10), TaskStatus::Running);
    assert_eq!(see(100, 10), TaskStatus::Running, "nothing came");
    assert_eq!(see(59, 12), TaskStatus::Running, "too early");
    assert_eq!(see(60, 12), TaskStatus::Finished(SafeText::name("READY")));
}

#[test]
fn a_reindex_passes_read_only_and_indexing() {
    let path = ["PARTIAL INDEX", "PARTIAL INDEX", "READ ONLY", "INDEXING", "READY"];
    assert_eq!(over(&JobKind::Reindex, &path), Some(4));
    assert_eq!(over(&JobKind::Reindex, &["PARTIAL INDEX", "READY"]), Some(1));
}

#[test]
fn a_reindex_that_falls_back_to_partial_index_fails() {
    let path = ["PARTIAL INDEX", "PARTIAL INDEX", "INDEXING", "INDEXING", "PARTIAL INDEX"];
    assert_eq!(over(&JobKind::Reindex, &path), Some(4));
    assert_eq!(over(&JobKind::Reindex, &["READY", "READ ONLY", "PARTIAL INDEX"]), Some(2));
    // The first task is the one that was running before, and the second one is the addition.
    let forced = ["READ ONLY", "READ ONLY", "PARTIAL INDEX", "PARTIAL INDEX"];
    assert_eq!(over(&JobKind::Reindex, &forced), None);
    let path = ["READY", "READ ONLY", "PARTIAL INDEX", "INDEXING", "PARTIAL INDEX"];
    assert_eq!(over(&addition(true), &path), Some(4));
    let mut tracker = TaskTracker::resume(Timestamp::ZERO);
    let mut observe = |second, status: &str| {
        let at = Timestamp::from_secs(second);
        tracker.observe(&JobKind::Reindex, at, &dataset(status, 10))
    };
    assert_eq!(observe(1, "INDEXING"), TaskStatus::Running);
    let TaskStatus::Failed(failure) = observe(2, "PARTIAL INDEX") else { panic!("it goes on") };
    assert_eq!(failure.to_string(), "the reindex ended in PARTIAL INDEX");
}

#[test]
fn a_reindex_that_never_begins_fails_when_the_service_reports_a_problem_or_does_nothing() {
    let before = dataset("PARTIAL INDEX", 10);
    let broken = Dataset { error: Some(SafeText::detail("no worker")), ..before.clone() };
    for (now, end) in [(&before, 600), (&broken, 15)] {
        let mut tracker = TaskTracker::starting_from(Some(&before));
        let over = [0, 14, 15, 599, 600].into_iter().find(|second| {
            let at = Timestamp::from_secs(*second);
            tracker.observe(&JobKind::Reindex, at, now) != TaskStatus::Running
        });
        assert_eq!(over, Some(end), "{now:?}");
    }
}

#[test]
fn an_error_status_fails_with_the_message_of_the_service() {
    let mut tracker = TaskTracker::starting_from(Some(&dataset("READY", 1)));
    let broken = Dataset { error: Some(SafeText::detail("disk full")), ..dataset("ERROR", 1) };
    let TaskStatus::Failed(failure) = tracker.observe(&addition(false), Timestamp::ZERO, &broken)
    else {
        panic!("it goes on");
    };
    assert!(failure.to_string().contains("disk full"), "{failure}");
}

#[test]
fn progress_is_shown_only_while_the_dataset_is_busy() {
    let mut tracker = TaskTracker::starting_from(Some(&dataset("READY", 10)));
    let shown = |tracker: &TaskTracker| {
        (tracker.status_label().to_owned(), tracker.is_busy(), tracker.percent())
    };
    assert_eq!(shown(&tracker), ("accepted".to_owned(), false, None));
    for (status, label, busy, percent) in [
        // The status from before the job is not about the job.
        ("READY", "accepted", false, None),
        ("READ ONLY", "READ ONLY", true, Some(50)),
        ("INDEXING", "INDEXING", true, Some(50)),
        ("READY", "READY", false, None),
    ] {
        tracker.observe(&JobKind::Reindex, Timestamp::ZERO, &dataset(status, 10));
        assert_eq!(shown(&tracker), (label.to_owned(), busy, percent));
    }
}

#[test]
fn without_a_status_from_before_every_status_is_about_the_job() {
    let mut tracker = TaskTracker::starting_from(None);
    assert_eq!(tracker.status_label(), "accepted");
    tracker.observe(&JobKind::Reindex, Timestamp::ZERO, &dataset("READY", 10));
    assert_eq!((tracker.status_label(), tracker.added_media_count()), ("READY", None));
}

#[test]
fn an_operation_of_an_earlier_run_ends_with_the_first_status_that_is_final() {
    let observe = |status| {
        let mut tracker = TaskTracker::resume(Timestamp::ZERO);
        tracker.observe(&JobKind::Reindex, Timestamp::ZERO, &dataset(status, 10))
    };
    assert_eq!(observe("INDEXING"), TaskStatus::Running);
    assert_eq!(observe("PARTIAL INDEX"), TaskStatus::Running);
    assert_eq!(observe("READY"), TaskStatus::Finished(SafeText::name("READY")));
    assert_eq!(observe("RESTORING"), TaskStatus::Running);
}

#[test]
fn the_minute_until_more_media_count_begins_when_the_service_accepts() {
    let mut tracker = TaskTracker::starting_from(Some(&dataset("READY", 10)));
    tracker.accept(Timestamp::from_secs(100));
    let mut see = |second| {
        tracker.observe(&addition(false), Timestamp::from_secs(second), &dataset("READY", 11))
    };
    assert_eq!(see(159), TaskStatus::Running);
    assert_eq!(see(160), TaskStatus::Finished(SafeText::name("READY")));
}

#[test]
fn images_and_videos_that_came_are_counted() {
    let with_videos = |images, videos| Dataset { n_videos: videos, ..dataset("READY", images) };
    for (before, now, added) in [
        (with_videos(10, None), with_videos(12, None), Some(2)),
        (with_videos(10, Some(3)), with_videos(12, Some(5)), Some(4)),
        (with_videos(10, None), with_videos(10, Some(2)), Some(2)),
        (with_videos(10, Some(3)), with_videos(8, Some(3)), Some(0)),
        (with_videos(10, None), Dataset { n_images: None, ..dataset("READY", 0) }, None),
        (Dataset { n_images: None, ..dataset("READY", 0) }, with_videos(10, None), None),
    ] {
        let mut tracker = TaskTracker::starting_from(Some(&before));
        tracker.observe(&addition(false), Timestamp::ZERO, &now);
        assert_eq!(tracker.added_media_count(), added, "{before:?}");
    }
}

/// Observes an idle dataset at some seconds after the acceptance of an addition, and returns when the addition was over.
fn idle_end(before: &Dataset, now: &Dataset) -> Option<u64> {
    let mut tracker = TaskTracker::starting_from(Some(before));
    tracker.accept(Timestamp::from_secs(1_000));
    [0, 1, 14, 15, 599, 600].into_iter().find(|second| {
        let at = Timestamp::from_secs(1_000 + second);
        tracker.observe(&addition(false), at, now) != TaskStatus::Running
    })
}

#[test]
fn an_operation_that_no_poll_observes_shows_in_the_record_a_moment_later() {
    let before = Dataset { error: Some(SafeText::name("a.png")), ..dataset("PARTIAL INDEX", 10) };
    let at = |time| Dataset { updated_at: Some(SafeText::name(time)), ..before.clone() };
    let error = |error| Dataset { error: Some(SafeText::name(error)), ..before.clone() };
    // A service that notes the acceptance in the record, and begins later, has not finished.
    assert_eq!(idle_end(&at("10:00"), &at("10:01")), Some(15));
    assert_eq!(idle_end(&at("10:01"), &at("10:00")), Some(15), "its clock was set back");
    assert_eq!(idle_end(&before, &error("b.png")), Some(15));
}

#[test]
fn a_record_without_a_comparable_time_ends_an_unobserved_operation_later() {
    let before = dataset("READY", 10);
    let dated = Dataset { updated_at: Some(SafeText::name("10:00")), ..before.clone() };
    for (before, now) in
        [(&before, &before), (&before, &dated), (&dated, &before), (&dated, &dated)]
    {
        assert_eq!(idle_end(before, now), Some(600), "{before:?} {now:?}");
    }
}

#[test]
fn a_changed_record_of_a_service_that_begins_late_ends_nothing() {
    let before = Dataset { updated_at: Some(SafeText::name("10:00")), ..dataset("READY", 10) };
    let noted = Dataset { updated_at: Some(SafeText::name("10:01")), ..before.clone() };
    let mut tracker = TaskTracker::starting_from(Some(&before));
    let mut see = |second, now: &Dataset| {
        tracker.observe(&addition(false), Timestamp::from_secs(second), now)
    };
    assert_eq!(see(1, &noted), TaskStatus::Running);
    assert_eq!(see(14, &dataset("READ ONLY", 10)), TaskStatus::Running);
    assert_eq!(
        see(40, &dataset("PARTIAL INDEX", 12)),
        TaskStatus::Finished(SafeText::name("PARTIAL INDEX"))
    );
}

#[test]
fn a_local_service_changes_the_record_and_the_status_at_once() {
    let before = Dataset { updated_at: Some(SafeText::name("10:00")), ..dataset("READY", 10) };
    let now = Dataset { updated_at: Some(SafeText::name("10:01")), ..before.clone() };
    let mut tracker = TaskTracker::of_local_service(&before);
    let mut observe = |now| tracker.observe(&addition(false), Timestamp::ZERO, now);
    assert_eq!(observe(&before), TaskStatus::Running);
    assert!(matches!(observe(&now), TaskStatus::Failed(_)), "it added nothing");
}
