//! Names of cloud roles.

use tessera_media::object_storage::RoleArn;

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
