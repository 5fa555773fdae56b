//! Names of cloud roles, and paths of objects.

use tessera_service::object_storage::{BucketUri, CloudService, ObjectEntry, PathRoot, RoleArn};

#[test]
fn role_arns_are_validated() {
    let right = [
        "arn:aws:iam::123456789012:role/reader",
        "arn:aws-us-gov:iam::123456789012:role/team/a+b=c,d.e@f-g",
    ];
    for arn in right {
        assert_eq!(RoleArn::parse(arn).map(|role| role.to_string()).as_deref(), Some(arn));
    }
    let wrong = [
        "",
        "reader",
        "arn:aws:iam::12345678901:role/short",
        "arn:aws:iam::12345678901x:role/a",
        "arn:azure:iam::123456789012:role/a",
        "arn:aws:s3::123456789012:role/a",
        "arn:aws:iam:eu:123456789012:role/a",
        "arn:aws:iam::123456789012:user/a",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:role/a b",
        "arn:aws:iam::123456789012:role/a\u{1b}",
        "arn:aws:iam::123456789012:role/a:b",
    ];
    for arn in wrong {
        assert_eq!(RoleArn::parse(arn), None, "{arn:?}");
    }
    let long = format!("arn:aws:iam::123456789012:role/{}", "x".repeat(600));
    assert_eq!(RoleArn::parse(&long), None);
}

#[test]
fn objects_are_staged_below_the_folder() {
    let path = |key: &str, path_root| {
        let bucket = BucketUri { service: CloudService::S3, name: "photos".to_owned() };
        let (bucket, key) = (bucket.into(), key.to_owned());
        let entry = ObjectEntry { bucket, key, size: None, version: 0, path_root };
        entry.staging_path().to_str().unwrap().to_owned()
    };
    assert_eq!(path("set/cats/1.jpg", PathRoot::ListedFolder(4)), "cats/1.jpg");
    assert_eq!(path("set/1.jpg", PathRoot::Bucket), "photos/set/1.jpg");
    assert!(path("set//etc/1.jpg", PathRoot::ListedFolder(4)).starts_with("etc/1_"));
    assert!(path("a\u{1b}\0.jpg", PathRoot::ListedFolder(0)).starts_with("a___"));
    assert!(path("C:\\x.jpg", PathRoot::ListedFolder(0)).starts_with("C_/x_"));
}
