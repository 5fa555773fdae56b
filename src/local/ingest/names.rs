//! Names from outside as paths inside a folder. A member of an archive is refused when its name
//! leads out of the folder or hides something; an upload or an object of storage was meant by
//! somebody, so its name is mended instead.

use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Longest name of one file or directory, in bytes; leaves room for a number and a suffix.
const LONGEST_NAME: usize = 200;
/// Longest path, in bytes.
const LONGEST_PATH: usize = 1_024;
/// Most directories a file may lie below.
const DEEPEST: usize = 32;
/// Names that are devices on some systems, whatever their extension.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The path that a member of an archive asks for, when it is safe anywhere: relative, below the
/// folder, every name plain. Empty for the folder itself.
///
/// # Errors
/// Why the member is passed over.
pub fn checked(name: &str) -> Result<PathBuf, &'static str> {
    if name.chars().any(char::is_control) {
        return Err("its name holds control characters");
    }
    if name.starts_with('/') || name.contains('\\') || name.contains(':') {
        return Err("its name is no plain relative path");
    }
    let mut path = PathBuf::new();
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return Err("its name leads out of the folder");
        }
        if part.starts_with('.') || part == "__MACOSX" {
            return Err("hidden");
        }
        if is_reserved(part) {
            return Err("its name is reserved by some systems");
        }
        if part.len() > LONGEST_NAME {
            return Err("its name is too long");
        }
        path.push(part);
    }
    if path.as_os_str().len() > LONGEST_PATH || path.components().count() > DEEPEST + 1 {
        return Err("it lies too deep");
    }
    Ok(path)
}

/// A path inside the folder for anything that is called `name` outside: the same when the name
/// is safe. A mended one carries a mark made of the whole name, so that two different names
/// never become the same path, and the same name always becomes the same.
#[must_use]
pub fn mended(name: &str) -> PathBuf {
    if let Ok(path) = checked(name)
        && path.to_str() == Some(name)
        && !name.is_empty()
    {
        return path;
    }
    let parts: Vec<String> = name.split(['/', '\\']).filter_map(plain).collect();
    let kept = parts.len().saturating_sub(DEEPEST / 2);
    let (last, folders) = parts[kept..]
        .split_last()
        .map_or(("file", &[][..]), |(last, folders)| (last.as_str(), folders));
    let mark = Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()).simple().to_string();
    let mut path: PathBuf = folders.iter().collect();
    if path.as_os_str().len() > LONGEST_PATH / 2 {
        path = PathBuf::new();
    }
    path.push(numbered(last, &mark[..8]));
    path
}

/// One name of a path without what is unsafe in it; `None` when nothing of it is left.
fn plain(part: &str) -> Option<String> {
    let clean = part.trim_start_matches('.').chars();
    let clean = clean.map(|c| if c.is_control() || c == ':' { '_' } else { c });
    let clean: String = clean.collect();
    if clean.is_empty() || clean == "__MACOSX" {
        return None;
    }
    Some(if is_reserved(&clean) { format!("_{clean}") } else { shortened(&clean) })
}

/// At most the longest name, with the extension kept.
fn shortened(name: &str) -> String {
    let (stem, extension) = split(name);
    let extension = if extension.len() > 16 { "" } else { extension };
    let room = LONGEST_NAME / 2;
    let end = (0..=stem.len().min(room)).rev().find(|&end| stem.is_char_boundary(end));
    format!("{}{extension}", &stem[..end.unwrap_or(0)])
}

/// `name` with a mark before its extension: `a.jpg` and `2` make `a_2.jpg`.
#[must_use]
pub fn numbered(name: &str, mark: &str) -> String {
    let (stem, extension) = split(name);
    format!("{stem}_{mark}{extension}")
}

/// The stem of a name, and its extension with the dot.
fn split(name: &str) -> (&str, &str) {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    name.split_at(extension.map_or(name.len(), |extension| name.len() - extension.len() - 1))
}

fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_lowercase();
    let numbered_port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    RESERVED.contains(&stem.as_str())
        || numbered_port.is_some_and(|n| n.len() == 1 && n.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d12_names_that_lead_out_or_hide_something_are_refused() {
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
        ];
        for name in wrong {
            assert!(checked(name).is_err(), "{name:?}");
        }
        assert!(checked(&format!("{}a.png", "d/".repeat(40))).is_err());
        assert!(checked(&format!("{}.png", "n".repeat(300))).is_err());
    }

    #[test]
    fn m30_plain_names_stay_as_they_are() {
        let right = [
            ("a.png", "a.png"),
            ("cats/été 1.jpg", "cats/été 1.jpg"),
            ("./a//b.png", "a/b.png"),
            ("common.png", "common.png"),
            ("a...b.png", "a...b.png"),
            ("./", ""),
        ];
        for (name, path) in right {
            assert_eq!(checked(name), Ok(PathBuf::from(path)), "{name}");
        }
    }

    #[test]
    fn e08_unsafe_names_are_mended_and_stay_apart() {
        let shown = |name: &str| mended(name).to_str().unwrap().to_owned();
        assert_eq!(shown("cats/1.jpg"), "cats/1.jpg");
        assert!(shown("../../x.png").starts_with("x_"));
        assert_eq!(mended("../../x.png").extension().unwrap(), "png");
        assert!(shown("C:\\pics\\x.png").starts_with("C_/pics/x_"));
        assert!(shown("a\u{1b}.png").starts_with("a__"));
        assert!(shown("..").starts_with("file_"));
        assert!(shown("").starts_with("file_"));
        assert_ne!(mended("../x.png"), mended("../../x.png"));
        assert_eq!(mended("../x.png"), mended("../x.png"));
    }

    proptest! {
        #[test]
        fn e08_a_mended_name_never_leaves_the_folder(name in "([.]{0,2}[/\\\\]?\\PC{0,4}[\0-\u{1f}:]?){0,80}") {
            let path = mended(&name);
            prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
            prop_assert!(path.components().count() <= DEEPEST);
            prop_assert!(path.as_os_str().len() <= LONGEST_PATH);
            prop_assert!(path.components().all(|part| part.as_os_str().len() < 230));
            let unsafe_left = path.to_str().unwrap().contains(|c: char| c.is_control() || c == '\\');
            prop_assert!(!unsafe_left, "{:?}", path);
        }
    }
}
