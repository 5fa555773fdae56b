//! Replays the commands of documents. `TESSERA_WRITE=1 cargo test --test tests documented` rewrites the printed output
//! in the documents.

use std::fs;

/// Replays the commands of a section, which begins after `heading` and ends before the next heading of the same kind.
/// Fails if the output differs from the documented output.
pub fn replay_section(document: &str, heading: &str, run: impl FnMut(&str) -> String) {
    let path = format!("{}/docs/{document}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap();
    let begin = text.find(heading).unwrap() + heading.len();
    let end = text[begin..].find("\n## ").map_or(text.len(), |at| begin + at);
    let section = &text[begin..end];
    let today = replay(section, run);
    if std::env::var_os("TESSERA_WRITE").is_some() {
        fs::write(path, [&text[..begin], today.trim_end(), "\n", &text[end..]].concat()).unwrap();
    } else {
        assert_eq!(section.trim_end(), today.trim_end(), "TESSERA_WRITE=1 rewrites the document");
    }
}

/// Returns the lines of a document with the current output of its commands.
fn replay(text: &str, mut run: impl FnMut(&str) -> String) -> String {
    let mut replayed = String::new();
    let mut is_console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if !is_console || command.is_some() || line.starts_with("```") {
            replayed.extend([line, "\n"]);
        }
        replayed.extend(command.map(&mut run));
    }
    replayed
}
