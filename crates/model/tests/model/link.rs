use tessera_model::picture_source::*;

#[test]
fn neither_signature_nor_password_is_printed() {
    let link = Link::new("https://me:pass@cdn.example/a.zip?X-Amz-Signature=abc#frag");
    assert_eq!(
        format!("{link} {link:?}"),
        "https://cdn.example/a.zip Link(https://cdn.example/a.zip)"
    );
    assert!(link.expose().contains("Signature"));
}

#[test]
fn a_copied_link_is_percent_encoded_and_one_line() {
    let encoded = |url: &str| Link::new(url).encoded();
    let signed = "https://cdn.example/a.jpg?X-Amz-Signature=a%2Fb&x=1";
    assert_eq!(encoded(signed).as_deref(), Some(signed));
    assert_eq!(encoded("/api/v1/a b.jpg").as_deref(), Some("/api/v1/a%20b.jpg"));
    assert_eq!(
        encoded("http://a.example/\u{202e}é`x`").as_deref(),
        Some("http://a.example/%E2%80%AE%C3%A9%60x%60")
    );
    let invalid =
        ["https://a.example/x\nreboot\n", "https://a\r", "https://a\u{1b}[2J", "https://a\u{9b}2J"];
    for url in
        invalid.into_iter().chain(["", "https://", "file:///etc/passwd", "javascript:x", "reboot"])
    {
        assert_eq!(encoded(url), None, "{url:?}");
    }
}

#[test]
fn a_resource_is_the_same_whatever_its_signature_is() {
    for (url, resource) in [
        ("https://cdn.example/a.zip?X-Amz-Signature=abc#frag", "https://cdn.example/a.zip"),
        ("https://cdn.example/a.zip#part?x", "https://cdn.example/a.zip"),
        ("/api/v1/media/1", "/api/v1/media/1"),
        ("?x", ""),
    ] {
        assert_eq!((Link::new(url).resource(), Link::new(url).expose()), (resource, url));
    }
}

#[test]
fn a_printed_link_keeps_an_at_sign_that_is_not_of_a_login() {
    for (url, shown) in [
        ("/media/me@home.jpg?x=1", "/media/me@home.jpg"),
        ("s3://bucket/icon@2x.png", "s3://bucket/icon@2x.png"),
        ("https://me:pass@cdn.example/icon@2x.png", "https://cdn.example/icon@2x.png"),
        ("https://me:p@ss@cdn.example", "https://cdn.example"),
        ("https://a.example/\u{1b}[2J", "https://a.example/␛[2J"),
    ] {
        assert_eq!(Link::new(url).to_string(), shown);
    }
}
