//! Keeps names and sentences in plain, standard English. Phrases that a reader would have to decode are refused in
//! comments, messages, help, settings and documentation. Links and paths in the documentation have to lead somewhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Phrases that a native reader stumbles over, with what to write instead.
const BANNED: &[(&str, &str)] = &[
    ("tell", "show, report, log, say"),
    ("tells", "shows, reports, says"),
    ("told", "shown, reported, logged"),
    ("telling", "showing, reporting"),
    ("anew", "again"),
    ("whoever", "you, users who"),
    ("a person", "you, a user"),
    ("the person", "you, the user"),
    ("for who", "for those who"),
    ("in the words of", "in the format of"),
    ("likeness", "similarity"),
    ("alike", "similar"),
    ("so many", "a number"),
    ("as it stands", "as it is"),
    ("mended", "fixed"),
    ("take back", "undo"),
    ("takes back", "undoes"),
    ("taken back", "undone"),
    ("leave out", "exclude, skip"),
    ("leaves out", "omits, excludes"),
    ("left out", "omitted, excluded"),
    ("leaving out", "omitting, excluding"),
    ("go on with", "continue"),
    ("goes on with", "continues"),
    ("is no media", "is not a media item"),
    ("is no picture", "is not a picture"),
    ("is no dataset", "is not a dataset"),
    ("is no number", "is not a number"),
    ("colour", "color"),
    ("colours", "colors"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("centre", "center"),
    ("grey", "gray"),
    ("behaviour", "behavior"),
];

/// Type names that occur more than once in a crate, with the reason.
const SHARED_NAMES: &[(&str, &str)] = &[
    ("LocalService", "the service, and its stub for builds without the feature `local`"),
    ("LocalSettings", "the same"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

/// Returns the folders of sources by crate.
fn crates() -> Vec<(String, PathBuf)> {
    let mut crates = vec![("tessera".to_owned(), root().join("src"))];
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        crates.push((path.file_name().unwrap().to_string_lossy().into_owned(), path.join("src")));
    }
    crates
}

/// Returns what people read: whole documents, and the comments and string literals of sources.
fn prose(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).unwrap();
    let is_source = path.extension().is_some_and(|extension| extension == "rs");
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(number, line)| {
            let comment = line.find("//").map_or("", |at| &line[at..]);
            let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
            let read =
                if is_source { format!("{comment} {}", quoted.join(" ")) } else { line.to_owned() };
            (!read.trim().is_empty()).then(|| (number + 1, read.to_lowercase()))
        })
        .collect()
}

fn contains_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let letter =
            |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
        !letter(text[..at].chars().next_back()) && !letter(text[at + phrase.len()..].chars().next())
    })
}

#[test]
fn comments_messages_and_documents_use_plain_english() {
    let mut paths = vec![];
    for (_, folder) in crates() {
        files(&folder, "rs", &mut paths);
    }
    assert!(paths.len() > 300, "the sources were not found");
    files(&root().join("docs"), "md", &mut paths);
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "benches/README.md",
        "models/README.md",
    ] {
        paths.push(root().join(name));
    }
    for name in ["config.toml", "keymap.toml"] {
        paths.push(root().join("assets").join(name));
    }
    let mut wrong = Vec::new();
    for path in &paths {
        for (line, text) in prose(path) {
            for (phrase, instead) in BANNED {
                if contains_phrase(&text, phrase) {
                    let path = path.strip_prefix(root()).unwrap().display();
                    wrong.push(format!("{path}:{line}: \"{phrase}\"; write: {instead}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{} in all", wrong.join("\n"), wrong.len());
}

#[test]
fn help_of_commands_and_keys_uses_plain_english() {
    let texts: Vec<String> = tessera_config::input::Action::ALL
        .iter()
        .flat_map(|action| [action.help().to_owned(), action.hint().to_owned()])
        .collect();
    for text in texts {
        for (phrase, instead) in BANNED {
            assert!(!contains_phrase(&text.to_lowercase(), phrase), "{text:?}: write {instead}");
        }
    }
}

#[test]
fn type_names_are_unique_within_a_crate() {
    let mut wrong = Vec::new();
    for (name, folder) in crates() {
        let mut sources = Vec::new();
        files(&folder, "rs", &mut sources);
        let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in &sources {
            for line in fs::read_to_string(path).unwrap().lines() {
                let mut words = line.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_');
                let mut word = words.next().unwrap_or_default();
                if word == "pub" {
                    word = words
                        .find(|word| ["struct", "enum", "trait", "type"].contains(word))
                        .unwrap_or_default();
                }
                // An associated type has the name that its trait gives.
                let is_associated = word == "type" && line.starts_with(' ');
                if !["struct", "enum", "trait", "type"].contains(&word) || is_associated {
                    continue;
                }
                let Some(declared) =
                    words.next().filter(|name| name.starts_with(char::is_uppercase))
                else {
                    continue;
                };
                if !SHARED_NAMES.iter().any(|(shared, _)| *shared == declared) {
                    let path = path.strip_prefix(root()).unwrap().display().to_string();
                    types.entry(declared.to_owned()).or_default().push(path);
                }
            }
        }
        types.retain(|_, paths| paths.len() > 1);
        wrong.extend(
            types.into_iter().map(|(declared, paths)| format!("{name}: {declared}: {paths:?}")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Row ids of documents that are not in the repository explain nothing to a reader.
#[test]
fn tests_are_named_after_behavior() {
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches", "crates"] {
        files(&root().join(folder), "rs", &mut paths);
    }
    let mut wrong = Vec::new();
    for path in &paths {
        for line in fs::read_to_string(path).unwrap().lines() {
            let Some((_, name)) = line.trim_start().split_once("fn ") else { continue };
            let mut letters = name.chars();
            let is_id = letters.next().is_some_and(|c| c.is_ascii_lowercase())
                && letters.next().is_some_and(|c| c.is_ascii_digit())
                && letters.next().is_some_and(|c| c.is_ascii_digit())
                && letters.next() == Some('_');
            if is_id {
                wrong.push(format!("{}: {line}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_glossary_names_types_that_exist() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let mut sources = Vec::new();
    for (_, folder) in crates() {
        files(&folder, "rs", &mut sources);
    }
    let code: String = sources.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut terms = 0;
    for line in glossary.lines().filter(|line| line.ends_with("` |")) {
        for path in
            line.rsplit_once("| ").map(|_| line.rsplit(" | ").next().unwrap()).unwrap().split(", ")
        {
            let name =
                path.trim_matches(|c: char| !c.is_alphanumeric()).rsplit("::").next().unwrap();
            let known = ["struct", "enum", "mod"]
                .iter()
                .any(|kind| code.contains(&format!("{kind} {name}")))
                || code.contains(&format!("{name}("))
                || code.contains(&format!(" {name},"));
            assert!(known, "the glossary names {path}, which does not exist");
            terms += 1;
        }
    }
    assert!(terms > 30, "the glossary was not read");
}

/// Returns the anchor of a heading as code hosts create it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().replace(' ', "-")
}

#[test]
fn links_in_documents_lead_to_files_and_headings() {
    let mut documents = Vec::new();
    for folder in [".", "docs", "benches", "models"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        documents.extend(entries.map(|entry| entry.unwrap().path()));
    }
    documents.retain(|path| path.extension().is_some_and(|end| end == "md"));
    let mut followed = 0;
    for document in &documents {
        let text = fs::read_to_string(document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{}: {link}", document.display());
            if !heading.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let known = headings.map(|line| anchor(line.trim_start_matches('#').trim()));
                assert!(
                    known.into_iter().any(|it| it == heading),
                    "{}: {link}",
                    document.display()
                );
            }
            followed += 1;
        }
    }
    assert!(followed > 20, "the documents were not read");
}

#[test]
fn the_site_has_every_page() {
    let summary = fs::read_to_string(root().join("packaging/site/SUMMARY.md")).unwrap();
    let listed: BTreeSet<&str> =
        summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    for page in &listed {
        assert!(root().join(page).exists(), "{page}");
    }
    for page in fs::read_dir(root().join("docs")).unwrap() {
        let path = page.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        assert!(!is_page || listed.contains(&*format!("docs/{name}")), "{name}");
    }
}

#[test]
fn documents_name_files_that_exist() {
    let mut documents = Vec::new();
    for folder in [".", "docs", "benches", "models"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        documents.extend(entries.map(|entry| entry.unwrap().path()));
    }
    documents.retain(|path| path.extension().is_some_and(|end| end == "md"));
    let folders = ["src/", "crates/", "tests/", "docs/", "assets/", "benches/"];
    let mut named = 0;
    for document in &documents {
        let text = fs::read_to_string(document).unwrap();
        // Every second piece is between backticks.
        for path in text.split('`').skip(1).step_by(2) {
            let is_path = folders.iter().any(|folder| path.starts_with(folder))
                && !path.contains(char::is_whitespace);
            if is_path && !path.contains("NAME") {
                assert!(root().join(path).exists(), "{}: {path}", document.display());
                named += 1;
            }
        }
    }
    assert!(named > 40, "the documents were not read");
}
