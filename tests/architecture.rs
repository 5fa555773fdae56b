//! Verifies the architecture of the program's crates: which module may import which, how long a file may be, and that
//! every file starts with a description. `ROOMS` repeats the tables in `ARCHITECTURE.md`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The sources of a crate of the program, and which modules each of its modules may import, from this crate or from one
/// below it.
struct Room {
    folder: &'static str,
    /// Without a table, only circles are refused.
    table: Option<&'static [(&'static str, &'static [&'static str])]>,
    /// Fewer imports mean that the sources were not read.
    min_imports: usize,
}

const INTERFACE: &str = "crates/interface/src";

const ROOMS: [Room; 3] = [
    Room { folder: "crates/config/src", table: None, min_imports: 25 },
    Room {
        folder: INTERFACE,
        table: Some(&[
            ("command_lines", &[]),
            ("file_uri", &[]),
            ("printable_text", &[]),
            ("remote", &[]),
            ("job", &["remote"]),
            ("message", &["job", "custom_command"]),
            ("drawing", &["config", "input"]),
            (
                "app",
                &[
                    "job",
                    "remote",
                    "message",
                    "custom_command",
                    "input",
                    "config",
                    "command_lines",
                    "printable_text",
                    "drawing",
                    "file_uri",
                    "tables",
                ],
            ),
            ("ui", &["input", "config", "app", "drawing"]),
        ]),
        min_imports: 300,
    },
    Room {
        folder: "src",
        table: Some(&[
            ("environment", &[]),
            ("process_signals", &[]),
            // A secret may be in a named pipe, and an interrupt has to end its read. A path in a variable may begin with
            // the home folder, as in the settings.
            ("credentials", &["config", "process_signals"]),
            ("subprocess", &["credentials", "custom_command"]),
            ("state", &["config"]),
            ("usecase", &["config", "credentials", "state", "subprocess"]),
            (
                "worker",
                &["message", "custom_command", "environment", "state", "subprocess", "usecase"],
            ),
            (
                "cli",
                &[
                    "config",
                    "credentials",
                    "environment",
                    "state",
                    "job",
                    "usecase",
                    "command_lines",
                    "printable_text",
                    "subprocess",
                    "file_uri",
                    "process_signals",
                    "tables",
                ],
            ),
            ("accessible", &["app", "ui", "drawing", "worker", "runtime", "message", "input"]),
            (
                "runtime",
                &[
                    "app",
                    "ui",
                    "drawing",
                    "worker",
                    "message",
                    "input",
                    "config",
                    "environment",
                    "printable_text",
                    "subprocess",
                    "process_signals",
                ],
            ),
        ]),
        min_imports: 200,
    },
];

/// The maximum number of lines in a file, without its tests.
const MAX_LINES: usize = 800;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns every source file of a folder with its path below the folder and its text without tests.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    files(&root, &mut found);
    found.sort();
    assert!(found.len() > 10, "the sources were not found");
    found
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .map(|path| {
            let code = code_of(&path);
            (path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), code)
        })
        .collect()
}

/// Returns every source file of the program.
fn all_sources() -> impl Iterator<Item = (String, String)> {
    ROOMS.iter().flat_map(|room| {
        let path = move |path| format!("{}/{path}", room.folder);
        sources(room.folder).into_iter().map(move |(file, code)| (path(file), code))
    })
}

/// Returns the text of a source file without its tests.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned()
}

/// Returns the module of a file, which is its first folder, or its own name at the top level.
fn module(path: &str) -> &str {
    path.split('/').next().unwrap().trim_end_matches(".rs")
}

/// The crates of the program as they are written in paths, with the module that their root counts as.
const CRATES: [(&str, &str); 3] =
    [("crate::", ""), ("tessera_interface::", ""), ("tessera_config::", "config")];
/// The modules of `tessera_config` that a module may import by themselves. The others are the settings.
const CONFIG_MODULES: [&str; 3] = ["input", "custom_command", "tables"];

/// Returns the modules of the program that a text imports: `crate::x`, and the top level of `crate::{x::..., y::...}`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (prefix, root) in CRATES {
        for name in imports_of(code, prefix) {
            modules.insert(match name.as_str() {
                "text_enum" => "tables".to_owned(),
                name if root.is_empty() || CONFIG_MODULES.contains(&name) => name.to_owned(),
                _ => root.to_owned(),
            });
        }
    }
    modules
}

fn imports_of(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let line = code[..at].lines().next_back().unwrap_or_default().trim_start();
        if line.starts_with("//") {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut start = true;
        for (index, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                _ if start && !c.is_whitespace() => {
                    names.insert(word(&group[index..]));
                    start = false;
                }
                _ => {}
            }
        }
    }
    names.remove("");
    names
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    for Room { folder, table, .. } in &ROOMS {
        let Some(table) = table else { continue };
        for (path, code) in sources(folder) {
            let here = module(&path);
            if ["lib", "main", "launcher"].contains(&here) {
                continue;
            }
            let (_, allowed) = table
                .iter()
                .find(|(module, _)| *module == here)
                .unwrap_or_else(|| panic!("{here} is not in the table of {folder}"));
            for import in imports(&code) {
                if import != here && !allowed.contains(&import.as_str()) {
                    wrong.push(format!("{folder}/{path} imports {import}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The module of each source file, as the names of its path below `crate`, with its text.
type Modules = BTreeMap<Vec<String>, String>;

/// The name under which the root of a crate is a module.
const CRATE_ROOT: &str = "lib";

fn modules(room: &str) -> Modules {
    let sources = sources(room).into_iter().filter(|(path, _)| path != "main.rs");
    let names = |path: &str| -> Vec<String> {
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').map(str::to_owned).collect()
    };
    sources.map(|(path, code)| (names(&path), code)).collect()
}

/// Returns the paths that a tree of `use` names, such as `a::{b, c::D}`.
fn leaves(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap();
        return vec![name.split("::").map(|part| part.trim().to_owned()).collect()];
    };
    let prefix: Vec<String> =
        prefix.split("::").map(|part| part.trim().to_owned()).filter(|it| !it.is_empty()).collect();
    let mut depth = 0;
    let group = group.rsplit_once('}').unwrap().0;
    let parts = group.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(leaves).map(|leaf| [prefix.clone(), leaf].concat()).collect()
}

/// Returns the paths of a module's `use` items from `crate` on, and whether they are public.
fn used_paths(module: &[String], code: &str, modules: &Modules) -> Vec<(bool, Vec<String>)> {
    let mut found = Vec::new();
    let items = code.split(";\n").filter_map(|item| {
        let line =
            item.lines().position(|line| line.starts_with("use ") || line.starts_with("pub"));
        let item = item.lines().skip(line?).collect::<Vec<_>>().join(" ");
        let (visibility, tree) = item.split_once("use ")?;
        let visibility = visibility.trim_end();
        let is_item = ["", "pub"].contains(&visibility)
            || visibility.starts_with("pub(") && visibility.ends_with(')');
        is_item.then(|| (!visibility.is_empty(), tree.to_owned()))
    });
    for (is_public, tree) in items {
        for path in leaves(&tree) {
            let ups = path.iter().take_while(|part| *part == "super").count();
            // The folder in which the module's own modules are.
            let here = if *module == [CRATE_ROOT] { &[][..] } else { module };
            let path = match path[0].as_str() {
                "crate" => path[1..].to_vec(),
                "super" => [&here[..here.len() - ups], &path[ups..]].concat(),
                _ => [here, &path].concat(),
            };
            let is_of_root = !path.is_empty() && !modules.contains_key(&path[..1]);
            let path = if is_of_root { [vec![CRATE_ROOT.to_owned()], path].concat() } else { path };
            let path: Vec<String> = path.into_iter().filter(|part| part != "self").collect();
            if (1..=path.len())
                .any(|end| modules.contains_key(&path[..end]) && path[..end] != *module)
            {
                found.push((is_public, path));
            }
        }
    }
    found
}

#[test]
fn no_two_files_import_each_other() {
    for room in &ROOMS {
        assert_no_circles(&modules(room.folder), room.min_imports);
    }
}

fn assert_no_circles(modules: &Modules, min_imports: usize) {
    let uses = |is_public: bool| -> BTreeMap<&Vec<String>, Vec<Vec<String>>> {
        let of = |(module, code): (&'_ Vec<String>, &String)| {
            let paths = used_paths(module, code, modules).into_iter();
            paths.filter(|(public, _)| *public == is_public).map(|(_, path)| path).collect()
        };
        modules.iter().map(|(module, code)| (module, of((module, code)))).collect()
    };
    let (private, exported) = (uses(false), uses(true));
    let count = private.values().flatten().count();
    assert!(count >= min_imports, "only {count} imports were found");
    // The module that defines what a path names, also if other modules export it.
    let defining = |path: &[String]| -> Option<Vec<String>> {
        let mut path = path.to_vec();
        loop {
            let end = (1..=path.len()).rev().find(|end| modules.contains_key(&path[..*end]))?;
            let name = path.get(end)?;
            let exports = exported.get(&path[..end].to_vec())?;
            match exports.iter().find(|export| export.last() == Some(name)) {
                Some(export) if *export != path => path = export.clone(),
                _ => return Some(path[..end].to_vec()),
            }
        }
    };
    let mut left: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = private
        .iter()
        .map(|(module, paths)| {
            let targets = paths.iter().filter_map(|path| defining(path));
            (*module, targets.filter(|target| target != *module).collect())
        })
        .collect();
    // Files whose imports are all gone are removed, until only circles and what imports them are left.
    loop {
        let before = left.len();
        let here: BTreeSet<Vec<String>> = left.keys().map(|module| (*module).clone()).collect();
        left.retain(|_, targets| targets.iter().any(|target| here.contains(target)));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn the_reader_of_imports_sees_every_form() {
    let code = "use crate::{\n    app::{App, ui::x},\n    model::Y,\n};\nlet a = crate::wire::b();\n// crate::cli\n$crate::local\n\
         use tessera_config::{\n    Settings, input::Key, text_enum,\n};\nlet c = tessera_interface::ui::draw();";
    let modules: Vec<String> = imports(code).into_iter().collect();
    assert_eq!(modules, ["app", "config", "input", "model", "tables", "ui", "wire"]);
}

#[test]
fn every_program_is_started_without_our_secrets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in ["src", "crates"] {
        files(&root.join(folder), &mut all);
    }
    let is_source = |path: &&PathBuf| {
        let path = path.strip_prefix(root).unwrap().to_string_lossy();
        let is_test = path.contains("tests") || path.contains("/benches/");
        // The crate `testing` is a part of tests, too.
        !is_test && !path.starts_with("crates/testing") && !path.starts_with("crates/subprocess")
    };
    let starts = |path: &&PathBuf| {
        let code = code_of(path).replace("ShellCommand::new", "");
        code.contains("Command::new") || code.contains("CommandExt")
    };
    let started: Vec<_> = all.iter().filter(is_source).filter(starts).collect();
    assert!(started.is_empty(), "use tessera_subprocess: {started:?}");
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for (path, code) in all_sources() {
        let lines = code.lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{path} has {lines} lines"));
        }
        if !code.starts_with("//!") {
            wrong.push(format!("{path} does not say what it is for"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_interface_is_pure() {
    let mut wrong = Vec::new();
    for (path, code) in sources(INTERFACE) {
        let shared_state = ["Mutex", "RwLock", "RefCell", "thread_local", "static "];
        let outside = ["Instant::now", "SystemTime", "fs::", "env::", "net::"];
        for word in shared_state.into_iter().chain(outside) {
            let used = code.lines().any(|line| {
                line.contains(word)
                    && !line.contains("'static")
                    && !line.trim_start().starts_with("//")
            });
            if used {
                wrong.push(format!("{path} uses {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The trait of dialogs is defined beside the state, because a dialog is a part of the state.
#[test]
fn only_dialogs_draw_in_the_core() {
    let drawing: Vec<_> = sources(INTERFACE)
        .into_iter()
        .filter(|(path, _)| module(path) == "app" && path != "app/mod.rs")
        .filter(|(path, _)| !path.starts_with("app/overlay/"))
        .filter(|(_, code)| {
            ["DrawContext", "FormRows", "Buffer"].iter().any(|it| code.contains(it))
        })
        .map(|(path, _)| path)
        .collect();
    assert!(drawing.is_empty(), "{drawing:?}");
}

#[test]
fn every_pane_has_its_state_and_its_drawing_under_one_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(INTERFACE);
    let names = |folder: &str| -> BTreeSet<String> {
        let mut found = Vec::new();
        files(&root.join(folder), &mut found);
        found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    let (state, drawing) = (names("app/pane"), names("ui/pane"));
    let missing: Vec<_> = state.difference(&drawing).collect();
    assert!(missing.is_empty(), "no drawing for {missing:?}");
}

#[test]
fn only_printable_text_reaches_the_standard_streams() {
    // These files may write, because their text is printable by its type or comes from the drawing
    // layer.
    let allowed_files =
        ["src/cli/output/mod.rs", "src/cli/messages.rs", "src/cli/auth/secret_screen.rs"];
    let mut wrong = Vec::new();
    for (path, code) in all_sources() {
        if allowed_files.contains(&path.as_str()) || path.starts_with("src/runtime/") {
            continue;
        }
        for line in code.lines().map(str::trim_start) {
            let writes =
                ["stdout()", "stderr()", "\"/dev/tty\""].iter().any(|it| line.contains(it));
            let asks = [
                "is_terminal()",
                "tcgetwinsize",
                "tcgetpgrp",
                "Announcer::new",
                ".stdin(",
                "use_stderr()",
            ];
            if writes && !line.starts_with("//") && !asks.iter().any(|it| line.contains(it)) {
                wrong.push(format!("{path}: {line}"));
            }
        }
    }
    assert!(wrong.is_empty(), "use cli::output and cli::messages: {wrong:#?}");
}
