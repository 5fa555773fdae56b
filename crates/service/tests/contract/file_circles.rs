//! No files of the service import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::sources;

/// The path of a module below the root of the crate; empty for the root.
type ModulePath = Vec<String>;

struct Sources {
    code: BTreeMap<ModulePath, String>,
    /// Where an item that a module imports is defined, by the path under which others import it.
    reexports: BTreeMap<ModulePath, ModulePath>,
}

impl Sources {
    fn read() -> Self {
        let module = |path: &str| {
            let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
            path.split('/').map(str::to_owned).collect()
        };
        let code = sources().into_iter().map(|(_, path, code)| (module(&path), code));
        let mut sources = Self { code: code.collect(), reexports: BTreeMap::new() };
        let mut reexports = BTreeMap::new();
        for (module, code) in &sources.code {
            for path in statements(code).iter().flat_map(|tree| expand(tree)) {
                if let Some(target) = sources.absolute(module, &path) {
                    let mut name = module.clone();
                    name.extend(target.last().cloned());
                    reexports.insert(name, target);
                }
            }
        }
        sources.reexports = reexports;
        sources
    }

    /// The path below the root of the crate; `None` for other crates.
    fn absolute(&self, module: &ModulePath, path: &str) -> Option<ModulePath> {
        let mut base = module.clone();
        let mut words = path.split("::").peekable();
        match *words.peek()? {
            "crate" => {
                words.next();
                base.clear();
            }
            "self" => drop(words.next()),
            "super" => {
                while words.next_if_eq(&"super").is_some() {
                    base.pop();
                }
            }
            child => {
                base.push(child.to_owned());
                if !self.code.contains_key(&base) {
                    return None;
                }
                base.pop();
            }
        }
        base.extend(words.map(str::to_owned));
        Some(base)
    }

    /// The file that defines what a path names, through the modules that pass it on.
    fn file_of(&self, path: &[String]) -> Option<&ModulePath> {
        let length = (1..=path.len()).rev().find(|&end| self.code.contains_key(&path[..end]))?;
        let passed_on = path.get(..=length).and_then(|name| self.reexports.get(name));
        match passed_on.filter(|target| target.as_slice() != &path[..=length]) {
            Some(target) => self.file_of(&[target, &path[length + 1..]].concat()),
            None => self.code.get_key_value(&path[..length]).map(|(file, _)| file),
        }
    }

    fn imports(&self, module: &ModulePath, code: &str) -> BTreeSet<ModulePath> {
        let only_declares = !code.contains("fn ") && !code.contains("impl ");
        let mut rest = code.to_owned();
        let mut files = BTreeSet::new();
        for tree in statements(code) {
            rest = rest.replace(&tree, "");
            for path in expand(&tree) {
                let file = self.absolute(module, &path).and_then(|path| self.file_of(&path));
                files.extend(file.filter(|file| !(only_declares && file.starts_with(module))));
            }
        }
        for path in inline_paths(&rest) {
            files.extend(self.absolute(module, &path).and_then(|path| self.file_of(&path)));
        }
        files.remove(module);
        files.into_iter().cloned().collect()
    }
}

/// The trees of all `use` statements.
fn statements(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let begins = rest[..at].rsplit('\n').next().unwrap_or_default().trim();
        let tail = &rest[at + "use ".len()..];
        let end = tail.find(';').unwrap_or(tail.len());
        if begins.is_empty() || begins.starts_with("pub") {
            found.push(tail[..end].to_owned());
        }
        rest = &tail[end..];
    }
    found
}

/// The paths of a tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.split(" as ").next().unwrap().trim();
    let Some((prefix, list)) = tree.split_once('{') else {
        return vec![tree.split_whitespace().collect()];
    };
    let (mut depth, mut branches) = (0, vec![String::new()]);
    for c in list.trim_end().trim_end_matches('}').chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            branches.push(String::new());
        } else {
            branches.last_mut().unwrap().push(c);
        }
    }
    let branches = branches.iter().filter(|branch| !branch.trim().is_empty());
    branches.flat_map(|branch| expand(&format!("{}{}", prefix.trim(), branch.trim()))).collect()
}

/// The paths from `crate` or `super` in code.
fn inline_paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || "_:$".contains(c)) {
                let path = code[at..].split(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
                found.extend(path.take(1).map(|path| path.trim_end_matches(':').to_owned()));
            }
        }
    }
    found
}

/// The edges that are left when what imports nothing, or is imported by nothing, is taken away: those
/// of circles, and between circles.
fn circular<T: Ord + Clone>(mut edges: BTreeSet<(T, T)>) -> BTreeSet<(T, T)> {
    loop {
        let importing: BTreeSet<T> = edges.iter().map(|(from, _)| from.clone()).collect();
        let imported: BTreeSet<T> = edges.iter().map(|(_, to)| to.clone()).collect();
        let before = edges.len();
        edges.retain(|(from, to)| imported.contains(from) && importing.contains(to));
        if edges.len() == before {
            return edges;
        }
    }
}

#[test]
fn files_import_each_other_in_one_direction() {
    let sources = Sources::read();
    let edges = sources.code.iter().flat_map(|(module, code)| {
        let imports = sources.imports(module, code);
        imports.into_iter().map(move |import| (module.clone(), import))
    });
    let edges: BTreeSet<(ModulePath, ModulePath)> = edges.collect();
    assert!(edges.len() > 500, "the imports were not found: {}", edges.len());
    let circles = circular(edges).into_iter();
    let circles: Vec<String> =
        circles.map(|(from, to)| format!("{} imports {}", from.join("/"), to.join("/"))).collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn circles_are_found() {
    let edges = BTreeSet::from([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "a")]);
    assert_eq!(circular(edges), BTreeSet::from([("b", "c"), ("c", "b")]));
}

#[test]
fn import_trees_are_read_in_every_form() {
    let code =
        "pub use a::B;\nuse crate::{\n    c::{D, self},\n    e,\n};\nlet f = super::g::h(&i);";
    let paths: Vec<String> = statements(code).iter().flat_map(|tree| expand(tree)).collect();
    assert_eq!(paths, ["a::B", "crate::c::D", "crate::c::self", "crate::e"]);
    assert_eq!(inline_paths("super::g::h(&i); $crate::j"), ["super::g::h"]);
}
