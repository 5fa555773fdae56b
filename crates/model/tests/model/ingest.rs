use tessera_model::ingest::*;

fn field(source: MediaSource) -> Option<&'static str> {
    MediaAddition::new(source).validate().err().map(|invalid| invalid.field)
}

#[test]
fn storage_addresses_are_classified() {
    let kind = |uri: &str| StorageKind::parse(uri).ok();
    assert_eq!(kind("s3://b"), Some(StorageKind::Folder));
    assert_eq!(kind("s3://b/photos.2024/day 1/"), Some(StorageKind::Folder));
    for manifest in ["s3://b/list.CSV", "s3://b/x/list.parquet", "s3://b/list.txt"] {
        assert_eq!(kind(manifest), Some(StorageKind::Manifest), "{manifest}");
    }
    assert_eq!(kind("s3://b/x.jpg"), Some(StorageKind::Object));
    assert_eq!(kind("gs://b/day-1/"), Some(StorageKind::Folder));
    assert_eq!(kind("az://b/list.csv"), Some(StorageKind::Manifest));
    for wrong in ["", "b/x", "http://b/x", "s3://", "s3:///x"] {
        assert_eq!(kind(wrong), None, "{wrong}");
    }
}

#[test]
fn invalid_additions_are_rejected_locally() {
    assert_eq!(field(MediaSource::Files(Vec::new())), Some("files"));
    assert_eq!(field(MediaSource::Archive("a.rar".into())), Some("archive"));
    assert_eq!(field(MediaSource::Archive("a.TAR.GZ".into())), None);
    assert_eq!(field(MediaSource::ServerPath("data".into())), Some("path"));
    let on_premises = MediaAddition {
        auto_reindex: true,
        ..MediaAddition::new(MediaSource::ServerPath("/d".into()))
    };
    assert!(on_premises.validate().is_err());
}

#[test]
fn a_role_must_be_an_arn_and_only_for_storage() {
    let check = |source, role: &str| {
        let addition =
            MediaAddition { assume_role: Some(role.into()), ..MediaAddition::new(source) };
        addition.validate().is_ok()
    };
    let storage = || MediaSource::Storage("s3://b/".into());
    assert!(check(storage(), "arn:aws:iam::123456789012:role/path/name"));
    for wrong in ["", "arn:aws:iam::1:role/x", "arn:aws:iam::123456789012:user/x"] {
        assert!(!check(storage(), wrong), "{wrong}");
    }
    let files = MediaSource::Files(vec!["a.jpg".into()]);
    assert!(!check(files, "arn:aws:iam::123456789012:role/x"));
}

fn reason(source: MediaSource) -> Option<String> {
    MediaAddition::new(source).validate().err().map(|invalid| invalid.to_string())
}

#[test]
fn every_kind_of_source_is_accepted_when_it_is_whole() {
    for source in [
        MediaSource::Storage("s3://bucket/photos/".into()),
        MediaSource::Files(vec!["a.jpg".into()]),
        MediaSource::Archive("photos.zip".into()),
        MediaSource::Archive("photos.tar".into()),
        MediaSource::Archive("photos.tgz".into()),
        MediaSource::Archive("photos.tar.xz".into()),
        MediaSource::Archive("photos.tar.ZST".into()),
        MediaSource::ServerPath("/data/new".into()),
    ] {
        assert_eq!(reason(source.clone()), None, "{source:?}");
    }
}

#[test]
fn a_rejected_source_says_what_it_must_be() {
    for (source, expected) in [
        (
            MediaSource::Files(vec![]),
            "files: Exactly one media source must be provided: files[], s3_uri, or archive",
        ),
        (
            MediaSource::Archive("photos.tar.bz2".into()),
            "archive: must be a .zip, .tar or .tar.gz file; the local service also unpacks .tar.xz and .tar.zst",
        ),
        (
            MediaSource::Archive("zip".into()),
            "archive: must be a .zip, .tar or .tar.gz file; the local service also unpacks .tar.xz and .tar.zst",
        ),
        (
            MediaSource::ServerPath("data/new".into()),
            "path: must be absolute, as the pipeline sees it",
        ),
        (MediaSource::ServerPath(String::new()), "path: must be absolute, as the pipeline sees it"),
        (MediaSource::Storage("bucket/x".into()), "s3_uri: must begin with s3://, gs:// or az://"),
        (MediaSource::Storage("s3:///x".into()), "s3_uri: must name a bucket: s3://bucket/folder/"),
    ] {
        assert_eq!(reason(source.clone()).as_deref(), Some(expected), "{source:?}");
    }
}

#[test]
fn a_path_of_the_server_takes_no_option_but_force() {
    let plain = || MediaAddition::new(MediaSource::ServerPath("/data/new".into()));
    assert!(MediaAddition { force: true, ..plain() }.validate().is_ok());
    for with_option in [
        MediaAddition { auto_reindex: true, ..plain() },
        MediaAddition { assume_role: Some("arn:aws:iam::123456789012:role/x".into()), ..plain() },
        MediaAddition { batch_videos: Some(1), ..plain() },
        MediaAddition { batch_images: Some(1), ..plain() },
        MediaAddition { batch_objects: Some(1), ..plain() },
        MediaAddition { spot: Some(false), ..plain() },
        MediaAddition { spot: Some(true), force: true, ..plain() },
    ] {
        assert_eq!(
            with_option.validate().unwrap_err().to_string(),
            "path: cannot be combined with reindex, role, counts or spot"
        );
    }
    let files = MediaAddition::new(MediaSource::Files(vec!["a.jpg".into()]));
    assert!(MediaAddition { auto_reindex: true, ..files }.validate().is_ok());
}

#[test]
fn a_role_is_wrong_if_any_of_its_parts_is() {
    let rejection = |source, role: &str| {
        let addition =
            MediaAddition { assume_role: Some(role.into()), ..MediaAddition::new(source) };
        addition.validate().err().map(|invalid| invalid.to_string())
    };
    let storage = || MediaSource::Storage("s3://b/".into());
    for role in ["arn:aws:iam::123456789012:role/x", "arn:aws-cn:iam::123456789012:role/team/x:y"] {
        assert_eq!(rejection(storage(), role), None, "{role}");
    }
    for role in [
        "urn:aws:iam::123456789012:role/x",
        "arn::iam::123456789012:role/x",
        "arn:aws:sts::123456789012:role/x",
        "arn:aws:iam::12345678901:role/x",
        "arn:aws:iam::1234567890123:role/x",
        "arn:aws:iam::12345678901a:role/x",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:x",
        "arn:aws:iam::123456789012",
    ] {
        assert_eq!(
            rejection(storage(), role).as_deref(),
            Some("assume_role: must look like arn:aws:iam::123456789012:role/name"),
            "{role}"
        );
    }
    for source in [MediaSource::Files(vec!["a.jpg".into()]), MediaSource::Archive("a.zip".into())] {
        assert_eq!(
            rejection(source, "arn:aws:iam::123456789012:role/x").as_deref(),
            Some("assume_role: is only for object storage")
        );
    }
}

#[test]
fn there_is_nothing_to_add_without_a_picture_or_a_video() {
    for (images, videos, empty) in
        [(0, 0, true), (1, 0, false), (0, 1, false), (1, 1, false), (2, 1, false)]
    {
        let found = Preflight { images, videos, skipped: 3, ..Preflight::default() };
        assert_eq!(found.is_empty(), empty, "{images} {videos}");
    }
}
