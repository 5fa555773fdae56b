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
