//! Rules about the sources of the service's crates that Cargo cannot enforce: which module inside this crate is above
//! which, where SQL may be written, and which libraries belong to one module.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Modules of this crate, each with the modules that must not name it because they are below.
const ABOVE: &[(&str, &[&str])] = &[
    ("http", &["usecase", "task", "archive", "deployment", "originals", "uploads", "settings"]),
    ("usecase", &["task", "archive", "deployment", "originals", "uploads", "settings"]),
    ("deployment", &["task", "archive", "originals", "uploads", "settings"]),
    ("task", &["archive", "originals", "uploads", "settings"]),
];

/// Libraries with the folders below `crates` that may name them.
const CONFINED: &[(&str, &[&str])] = &[
    ("axum", &["service/src/http/"]),
    ("hyper", &["service/src/http/"]),
    ("utoipa", &["service/src/http/"]),
    ("rusqlite", &["store/src/engine/", "store/src/sqlite/"]),
    ("tokio_postgres", &["store/src/postgres/"]),
];

const CRATES: [&str; 6] = ["media", "search", "encoder", "store", "retrieval", "service"];

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

/// The path below `crates` and the code without tests and comments of every source file of the service.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in CRATES {
        collect(&root.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 50, "the sources were not found");
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let path = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        (path, code.collect::<Vec<_>>().join("\n"))
    };
    files.into_iter().map(source).filter(|(path, _)| !path.contains("tests")).collect()
}

/// The module of this crate that a file belongs to; `None` for other crates and the root.
fn module(path: &str) -> Option<&str> {
    let name = path.strip_prefix("service/src/")?.split('/').next()?.trim_end_matches(".rs");
    (name != "lib").then_some(name)
}

#[test]
fn modules_of_the_service_name_only_lower_ones() {
    for (path, code) in sources() {
        for (upper, lower) in ABOVE {
            if module(&path).is_some_and(|module| lower.contains(&module)) {
                let names = [format!("crate::{upper}::"), format!("\n    {upper}::")];
                let found = names.iter().any(|name| code.contains(name));
                assert!(!found, "{path} names {upper}, which is above it");
            }
        }
    }
}

/// A conversion of every failure of a file would report some as what they are not.
#[test]
fn failures_of_files_name_what_failed() {
    for (path, code) in sources() {
        let converts =
            code.contains("From<io::Error> for") || code.contains("From<std::io::Error> for");
        let reports = ["task_error", "usecase", "task", "archive", "http"];
        let reports = module(&path).is_some_and(|module| reports.contains(&module));
        assert!(!(converts && reports), "{path} converts any failure of a file");
    }
}

#[test]
fn http_and_sql_stay_in_their_modules() {
    for (path, code) in sources() {
        for (library, allowed) in CONFINED {
            let named = code.contains(&format!("{library}::"));
            let is_allowed = allowed.iter().any(|folder| path.starts_with(folder));
            assert!(!named || is_allowed, "{path} names {library}");
        }
        let writes_sql = ["SELECT ", "INSERT ", "UPDATE ", "DELETE FROM"];
        let sql = writes_sql.iter().any(|word| code.contains(word));
        assert!(!sql || path.starts_with("store/"), "{path} contains SQL");
    }
}
