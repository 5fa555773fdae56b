use tessera_model::link::*;

#[test]
fn neither_signature_nor_password_is_printed() {
    let link = Link::new("https://me:pass@cdn.example/a.zip?X-Amz-Signature=abc#frag");
    assert_eq!(
        format!("{link} {link:?}"),
        "https://cdn.example/a.zip Link(https://cdn.example/a.zip)"
    );
    assert!(link.expose().contains("Signature"));
}
