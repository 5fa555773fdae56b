use std::path::PathBuf;

use tessera_model::archive_path::*;

#[test]
fn unsafe_and_hidden_paths_are_rejected() {
    let wrong = [
        "../a.png",
        "a/../../b.png",
        "/etc/passwd",
        "C:\\win\\x.png",
        "c:x.png",
        "a\\b.png",
        "a\0.png",
        "a\u{1b}[2J.png",
        ".git/config",
        "a/.hidden.png",
        "__MACOSX/a.png",
        "sub/NUL",
        "com1.png",
        "a.png.",
        "sub /a.png",
    ];
    for name in wrong {
        assert!(safe_relative_path(name).is_err(), "{name:?}");
    }
    assert!(safe_relative_path(&format!("{}a.png", "d/".repeat(40))).is_err());
    assert!(safe_relative_path(&format!("{}.png", "n".repeat(300))).is_err());
}

#[test]
fn plain_names_stay_as_they_are() {
    let right = [
        ("a.png", "a.png"),
        ("cats/été 1.jpg", "cats/été 1.jpg"),
        ("./a//b.png", "a/b.png"),
        ("common.png", "common.png"),
        ("a...b.png", "a...b.png"),
        ("./", ""),
    ];
    for (name, path) in right {
        assert_eq!(safe_relative_path(name), Ok(PathBuf::from(path)), "{name}");
    }
}
