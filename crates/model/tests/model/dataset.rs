use tessera_model::{dataset::*, *};

#[test]
fn status_words_are_read_leniently() {
    assert_eq!(Status::parse("read_only"), Status::ReadOnly);
    assert_eq!(Status::parse(" Partial Index "), Status::PartialIndex);
    assert_eq!(Status::parse("DRAFT"), Status::Other(SafeText::name("DRAFT")));
    assert_eq!(Status::parse_legacy("UPDATING"), Status::ReadOnly);
}

/// The permission table, cell by cell: y allowed, t unspecified, a confirm, n denied.
#[test]
fn operations_are_allowed_by_status() {
    let states = [
        Status::Ready,
        Status::PartialIndex,
        Status::ReadOnly,
        Status::Indexing,
        Status::Error,
        Status::parse("DRAFT"),
    ];
    for (operation, row) in [
        (Operation::Read, "yyyyyy"),
        (Operation::TextSearch, "yttttt"),
        (Operation::VisualSearch, "ynnnna"),
        (Operation::Export, "ynnnna"),
        (Operation::AddMedia, "yynnna"),
        (Operation::Reindex, "nynnnn"),
    ] {
        let got: String = states
            .iter()
            .map(|status| match status.allows(operation) {
                Permission::Allowed => 'y',
                Permission::Unspecified => 't',
                Permission::Confirm => 'a',
                Permission::Denied(_) => 'n',
            })
            .collect();
        assert_eq!(got, row, "{operation:?}");
    }
}

#[test]
fn every_status_is_read_as_it_is_written_in_any_case_and_with_underscores() {
    for (status, word) in [
        (Status::Ready, "READY"),
        (Status::PartialIndex, "PARTIAL INDEX"),
        (Status::ReadOnly, "READ ONLY"),
        (Status::Indexing, "INDEXING"),
        (Status::Error, "ERROR"),
        (Status::Other(SafeText::name("DRAFT")), "DRAFT"),
    ] {
        assert_eq!(status.as_str(), word);
        assert_eq!(Status::parse(word), status);
        assert_eq!(Status::parse_legacy(word), status, "an older service says {word}");
        if !matches!(status, Status::Other(_)) {
            assert_eq!(Status::parse(&word.to_lowercase().replace(' ', "_")), status);
        }
    }
    assert_eq!(Status::parse(" draft\n"), Status::Other(SafeText::name("draft")));
}

#[test]
fn the_legacy_words_of_older_services_have_a_meaning_only_in_their_field() {
    for (word, legacy) in [
        ("UPDATING", Status::ReadOnly),
        ("updating", Status::ReadOnly),
        ("FATAL_ERROR", Status::Error),
        (" fatal error ", Status::Error),
    ] {
        assert_eq!(Status::parse_legacy(word), legacy, "{word}");
        assert_eq!(Status::parse(word), Status::Other(SafeText::name(word.trim())));
    }
}

#[test]
fn only_a_status_that_changes_by_itself_is_busy() {
    for (word, busy) in [
        ("READY", false),
        ("PARTIAL INDEX", false),
        ("ERROR", false),
        ("READ ONLY", true),
        ("INDEXING", true),
        ("RESTORING", true),
    ] {
        assert_eq!(Status::parse(word).is_busy(), busy, "{word}");
    }
}

#[test]
fn a_refused_operation_says_what_to_do_first() {
    let reason = |status: &str, operation| Status::parse(status).allows(operation).denial_reason();
    for (status, operation, way_out) in [
        ("READY", Operation::Reindex, "add media first"),
        ("PARTIAL INDEX", Operation::Export, "reindex first"),
        ("READ ONLY", Operation::AddMedia, "wait until the media are added"),
        ("INDEXING", Operation::VisualSearch, "wait until it is indexed"),
        ("ERROR", Operation::Reindex, "resolve the error first"),
        ("RESTORING", Operation::Reindex, "wait until it is PARTIAL INDEX"),
    ] {
        assert_eq!(reason(status, operation), Some(way_out), "{status}");
    }
    for (status, operation) in [
        ("READY", Operation::Export),
        ("INDEXING", Operation::TextSearch),
        ("RESTORING", Operation::Export),
    ] {
        assert_eq!(reason(status, operation), None, "{status} does not refuse it");
    }
}

#[test]
fn operations_have_a_name_on_screen_and_one_in_messages_of_the_service() {
    for (operation, label, code) in [
        (Operation::Read, "browse", "explore"),
        (Operation::TextSearch, "text search", "text_search"),
        (Operation::VisualSearch, "image search", "visual_search"),
        (Operation::Export, "export", "export"),
        (Operation::AddMedia, "add media", "add_media"),
        (Operation::Reindex, "reindex", "reindex"),
    ] {
        assert_eq!((operation.label(), operation.code()), (label, code));
    }
}

/// A record with this status and number of images.
pub fn record(status: &str, n_images: Option<u64>) -> Dataset {
    Dataset {
        id: DatasetId(uuid::Uuid::nil()),
        name: SafeText::name("demo"),
        status: Status::parse(status),
        status_is_legacy: false,
        legacy_status: None,
        progress: None,
        owner: None,
        created_at: None,
        updated_at: None,
        n_images,
        n_videos: None,
        n_frames: None,
        n_objects: None,
        error: None,
        folder_missing: false,
    }
}

#[test]
fn clusters_may_have_changed_once_a_dataset_is_ready_again_or_has_other_images() {
    for (earlier, now, changed) in [
        (("READY", 3), ("READY", 3), false),
        (("READY", 3), ("READY", 4), true),
        (("READY", 4), ("READY", 3), true),
        (("INDEXING", 3), ("READY", 3), true),
        (("PARTIAL INDEX", 3), ("READY", 3), true),
        (("READY", 3), ("PARTIAL INDEX", 4), false),
        (("READY", 3), ("READ ONLY", 3), false),
        (("PARTIAL INDEX", 3), ("PARTIAL INDEX", 4), false),
        (("INDEXING", 3), ("ERROR", 4), false),
    ] {
        let [earlier_record, now_record] =
            [earlier, now].map(|(status, images)| record(status, Some(images)));
        let found = now_record.is_reclustered_since(&earlier_record);
        assert_eq!(found, changed, "from {earlier:?} to {now:?}");
    }
    let dated =
        |time: &str| Dataset { updated_at: Some(SafeText::name(time)), ..record("READY", Some(3)) };
    assert!(dated("12:01").is_reclustered_since(&dated("12:00")));
    assert!(
        !dated("12:01").is_reclustered_since(&record("READY", Some(3))),
        "a list without times"
    );
    let indexing = |time| Dataset { status: Status::Indexing, ..dated(time) };
    assert!(!indexing("12:01").is_changed_since(&indexing("12:00")), "only its progress");
    let uncounted = record("READY", None);
    assert!(record("READY", Some(1)).is_reclustered_since(&uncounted));
}

#[test]
fn media_are_counted_with_the_frames_of_videos_if_these_are_known() {
    for (images, videos, frames, media, files, text) in [
        (Some(3), Some(0), None, Some(3), Some(3), Some("3 images")),
        (Some(1), None, None, Some(1), Some(1), Some("1 image")),
        (Some(3), Some(2), Some(31), Some(34), Some(5), Some("34 media items")),
        (Some(0), Some(1), None, None, Some(1), Some("0 images and 1 video")),
        (None, Some(2), Some(31), None, Some(2), Some("2 videos")),
        (None, None, None, None, None, None),
    ] {
        let mut dataset = record("READY", images);
        (dataset.n_videos, dataset.n_frames) = (videos, frames);
        assert_eq!((dataset.media_count(), dataset.file_count()), (media, files), "{text:?}");
        assert_eq!(dataset.media_text().as_deref(), text);
    }
}
