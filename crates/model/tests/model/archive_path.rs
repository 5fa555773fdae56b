use std::path::PathBuf;

use tessera_model::local_files::*;

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

#[test]
fn names_and_paths_as_long_and_deep_as_allowed_are_accepted_and_longer_ones_rejected() {
    let name = |length: usize| "n".repeat(length);
    // Five names of 200 bytes, four slashes between them, and one of 19 after another slash.
    let long = [vec![name(MAX_NAME_BYTES); 5], vec![name(19)]].concat().join("/");
    assert_eq!(long.len(), MAX_PATH_BYTES);
    let deep = format!("{}a", "d/".repeat(MAX_DEPTH));
    for (allowed, rejected, reason) in [
        (name(MAX_NAME_BYTES), name(MAX_NAME_BYTES + 1), "its name is too long"),
        (long.clone(), format!("{long}n"), "its path is too long or too deep"),
        (deep.clone(), format!("d/{deep}"), "its path is too long or too deep"),
    ] {
        assert_eq!(safe_relative_path(&allowed), Ok(PathBuf::from(&allowed)));
        assert_eq!(safe_relative_path(&rejected), Err(reason));
    }
}

#[test]
fn only_ports_with_one_digit_are_reserved() {
    for (name, reserved) in [
        ("com1", true),
        ("LPT9.txt", true),
        ("com", false),
        ("com10", false),
        ("comx", false),
        ("con .png", true),
        ("contour", false),
    ] {
        assert_eq!(is_reserved(name), reserved, "{name}");
    }
}
