//! The layers of the service: which module may import which, and what only some of them may name.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Each module with the modules it may import. Lowest first: a module imports only modules above it
/// in this list, so imports never form a cycle.
const LAYERS: &[(&str, &[&str])] = &[
    ("content_disposition", &[]),
    ("file_stat", &[]),
    ("network_file_system", &[]),
    ("path_display", &[]),
    ("signed_link", &[]),
    ("index", &[]),
    ("similarity", &["index", "network_file_system"]),
    ("cluster", &["similarity"]),
    ("learned_model", &["path_display"]),
    ("text", &[]),
    ("ingest", &["file_stat"]),
    ("object_storage", &["file_stat", "ingest"]),
    ("store", &["file_stat", "index", "ingest", "network_file_system", "path_display", "text"]),
    ("settings", &["ingest", "learned_model", "object_storage", "similarity", "store", "text"]),
    ("uploads", &["ingest", "object_storage", "store"]),
    ("stored_pictures", &["object_storage", "store"]),
    (
        "originals",
        &[
            "file_stat",
            "ingest",
            "object_storage",
            "settings",
            "store",
            "stored_pictures",
            "uploads",
        ],
    ),
    ("error", &["object_storage", "path_display", "store"]),
    ("common_settings", &["error", "settings", "store"]),
    ("issues", &["index", "store"]),
    (
        "retrieval",
        &[
            "index",
            "ingest",
            "issues",
            "learned_model",
            "similarity",
            "store",
            "stored_pictures",
            "text",
        ],
    ),
    ("task_error", &["store"]),
    (
        "archive",
        &["ingest", "issues", "originals", "signed_link", "store", "stored_pictures", "task_error"],
    ),
    (
        "task",
        &[
            "archive",
            "cluster",
            "content_disposition",
            "file_stat",
            "index",
            "ingest",
            "issues",
            "learned_model",
            "object_storage",
            "originals",
            "retrieval",
            "settings",
            "similarity",
            "store",
            "task_error",
            "text",
        ],
    ),
    (
        "deployment",
        &[
            "common_settings",
            "error",
            "ingest",
            "learned_model",
            "object_storage",
            "originals",
            "path_display",
            "retrieval",
            "settings",
            "store",
            "task",
            "text",
        ],
    ),
    (
        "usecase",
        &[
            "archive",
            "deployment",
            "index",
            "ingest",
            "object_storage",
            "retrieval",
            "settings",
            "store",
            "stored_pictures",
        ],
    ),
    (
        "http",
        &[
            "content_disposition",
            "deployment",
            "error",
            "ingest",
            "object_storage",
            "retrieval",
            "signed_link",
            "store",
            "usecase",
        ],
    ),
];

/// Libraries that only some folders may name.
const CONFINED: &[(&str, &[&str])] = &[
    ("axum", &["http/"]),
    ("hyper", &["http/"]),
    ("utoipa", &["http/"]),
    ("rusqlite", &["store/engine/", "store/sqlite/"]),
    ("tokio_postgres", &["store/engine/", "store/postgres/"]),
];

/// Types that the root of the crate re-exports, with the module that defines them.
const REEXPORTS: &[(&str, &str)] = &[
    ("Deployment", "deployment"),
    ("LocalError", "error"),
    ("CaptionIndex", "retrieval"),
    ("CaptionIndexBuilder", "retrieval"),
    ("DeploymentSettings", "settings"),
    ("InjectedFailure", "settings"),
];

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Every source file: its module below the root of the crate, its path, and its code without tests.
pub fn sources() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 50, "the sources were not found");
    let source = |path: PathBuf| {
        let relative = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let module = relative.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        (module, relative, code.collect::<Vec<_>>().join("\n"))
    };
    let sources = files.into_iter().map(source);
    sources.filter(|(_, path, _)| path != "lib.rs" && !path.contains("/tests")).collect()
}

/// The first names after `crate::`, at the top level of a braced list too.
fn imports(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            names.insert(first_word(rest));
            continue;
        };
        let (mut depth, mut expected) = (0, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => expected = true,
                c if expected && c.is_alphabetic() => {
                    names.insert(first_word(&list[at..]));
                    expected = false;
                }
                _ => {}
            }
        }
    }
    names
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect()
}

#[test]
fn modules_import_only_lower_layers() {
    let mut wrong = Vec::new();
    for (module, path, code) in sources() {
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{path}: {module} is not in the table"));
            continue;
        };
        for name in imports(&code) {
            let reexported = REEXPORTS.iter().find(|(item, _)| *item == name);
            let target = reexported.map_or(name.as_str(), |(_, module)| module);
            if target != module && !allowed.contains(&target) {
                wrong.push(format!("{path} imports {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A conversion of every failure of a file would report some as what they are not.
#[test]
fn failures_of_files_name_what_failed() {
    for (module, path, code) in sources() {
        let converts =
            code.contains("From<io::Error> for") || code.contains("From<std::io::Error> for");
        let reports =
            ["task_error", "usecase", "task", "archive", "http"].contains(&module.as_str());
        assert!(!(converts && reports), "{path} converts any failure of a file");
    }
}

#[test]
fn layers_have_no_cycle() {
    for (at, (module, allowed)) in LAYERS.iter().enumerate() {
        for name in *allowed {
            let lower = LAYERS[..at].iter().any(|(lower, _)| lower == name);
            assert!(lower, "{module} may import {name}, which is not below it");
        }
    }
}

#[test]
fn http_and_sql_stay_in_their_layers() {
    for (module, path, code) in sources() {
        for (library, allowed) in CONFINED {
            let named = code.contains(&format!("{library}::"));
            let is_allowed = allowed.iter().any(|folder| path.starts_with(folder));
            assert!(!named || is_allowed, "{path} names {library}");
        }
        let writes_sql = ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM"];
        let sql = writes_sql.iter().any(|word| code.contains(word));
        assert!(!sql || module == "store", "{path} contains SQL");
    }
}
