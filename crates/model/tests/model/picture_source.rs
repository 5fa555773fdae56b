use tessera_model::{Link, PictureSource};

#[test]
fn a_picture_is_named_without_signature_and_printable() {
    for (source, shown) in [
        (
            PictureSource::Link(Link::new("https://cdn.example/a.jpg?sig=1")),
            "https://cdn.example/a.jpg",
        ),
        (PictureSource::File("/photos/\u{7}a.jpg".into()), "/photos/␇a.jpg"),
        (PictureSource::Entry("/a.zip".into(), "images/\u{1b}b.jpg".into()), "images/␛b.jpg"),
    ] {
        assert_eq!(source.to_string(), shown);
    }
}
