//! The libraries that decode pictures are written in Rust.

/// Libraries with such a name that may be linked; none of them reads pictures. `libbz2-rs-sys` is written in Rust.
const FOREIGN: [&str; 13] = [
    "core-foundation-sys",
    "dirs-sys",
    "inotify-sys",
    "jni-sys",
    "js-sys",
    "kqueue-sys",
    "libbz2-rs-sys",
    "libsqlite3-sys",
    "linux-raw-sys",
    "security-framework-sys",
    "system-configuration-sys",
    "web-sys",
    "windows-sys",
];

#[test]
fn no_library_in_another_language_reads_pictures() {
    let lock = include_str!("../../../../Cargo.lock");
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let unknown: Vec<&str> = names
        .filter(|name| name.ends_with("-sys") || name.ends_with("-ffi"))
        .filter(|name| !FOREIGN.contains(name))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}: pictures are decoded in Rust");
}
