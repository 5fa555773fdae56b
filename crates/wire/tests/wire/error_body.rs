use tessera_wire::error_body::*;

#[test]
fn error_bodies_of_every_shape() {
    let read = |body: &str| read_error_message(body.as_bytes()).map(|words| words.to_string());
    assert_eq!(read(r#"{"detail":"Dataset not found"}"#).as_deref(), Some("Dataset not found"));
    assert_eq!(
        read(r#"{"detail":[{"loc":["query","x"],"msg":"Field required"}]}"#).as_deref(),
        Some("query.x: Field required")
    );
    assert_eq!(read(r#"{"status":"error","message":"no"}"#).as_deref(), Some("no"));
    assert_eq!(
        read("<html><h1>502 Bad Gateway</h1>\n<p>nginx</p></html>").as_deref(),
        Some("502 Bad Gateway nginx")
    );
    assert_eq!(read(""), None);
    assert_eq!(read("\u{1b}]0;x\u{7}").as_deref(), Some("␛]0;x␇"));
}
