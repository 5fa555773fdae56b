//! Secrets that must not leak. Every secret handed out by a test service is registered here, and
//! every output, trace and file of every command is searched for all of them, in any encoding.

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::Path,
    sync::{Mutex, PoisonError},
};

use aho_corasick::AhoCorasick;
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE};

/// The start of every token: `{"typ":"JWT","` in base64.
const TOKEN: &str = "eyJ0eXAiOiJKV1QiL";

/// Secrets, and whether the secrets file may contain them.
static KNOWN: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());

/// Registers a secret. `kept`: `secrets.toml` may contain it.
pub fn know(value: &str, kept: bool) {
    assert!(value.len() >= 12, "a word this short is found by chance");
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(value.to_owned(), kept);
}

/// All encodings of a value: plain, base64 at each of its three offsets, hex, percent.
pub fn forms(value: &str) -> Vec<String> {
    let hex: Vec<String> = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let hex = hex.concat();
    let percent: String = value
        .bytes()
        .map(|byte| match byte {
            b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let mut forms =
        vec![value.to_owned(), hex.to_uppercase(), hex, percent.to_lowercase(), percent];
    for offset in 0..3 {
        let padded = [&b"\0\0\0"[..offset], value.as_bytes()].concat();
        for spelled in [BASE64_STANDARD.encode(&padded), BASE64_URL_SAFE.encode(&padded)] {
            // The first and last characters depend on the surrounding bytes.
            forms.push(spelled[4..spelled.len() - 4].to_owned());
        }
    }
    forms
}

/// The secrets to search for; in `secrets.toml` only those not stored there.
struct Search {
    forms: Vec<String>,
    everywhere: AhoCorasick,
    in_secrets: AhoCorasick,
}

impl Search {
    fn of_all_known() -> Self {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.insert(TOKEN.to_owned(), false);
        let spelled = |kept| known.iter().filter(move |known| *known.1 == kept);
        let forms_of = |kept| spelled(kept).flat_map(|(value, _)| forms(value));
        let forms: Vec<String> = forms_of(false).chain(forms_of(true)).collect();
        let not_kept = forms_of(false).count();
        Self {
            everywhere: AhoCorasick::new(&forms).unwrap(),
            in_secrets: AhoCorasick::new(&forms[..not_kept]).unwrap(),
            forms,
        }
    }

    fn text(&self, place: &str, text: &[u8]) {
        let search =
            if place.ends_with("/secrets.toml") { &self.in_secrets } else { &self.everywhere };
        let found = search.find(text).map(|found| &self.forms[found.pattern().as_usize()]);
        assert_eq!(found, None, "{place} holds it");
    }

    fn below(&self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                self.below(&path);
            } else if kind.is_file() {
                match fs::read(&path) {
                    Ok(content) => self.text(&path.display().to_string(), &content),
                    // A running service may delete files.
                    Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{error}"),
                }
            }
        }
    }
}

/// Panics if a registered secret is in one of these outputs or in any file below a folder.
pub fn assert_clean(outputs: &[&[u8]], folder: Option<&Path>) {
    let search = Search::of_all_known();
    for output in outputs {
        search.text("an output", output);
    }
    if let Some(folder) = folder {
        search.below(folder);
    }
}
