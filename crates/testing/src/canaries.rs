//! Finds secrets that have leaked. Every secret that a test service hands out is registered here, and all outputs,
//! traces and files of every command are searched for all secrets, in any encoding.

use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

use aho_corasick::AhoCorasick;
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE};
use parking_lot::Mutex;

/// The start of every token: `{"typ":"JWT","` in base64.
const TOKEN: &str = "eyJ0eXAiOiJKV1QiL";

/// The file in which a local service keeps its login.
const SERVICE_LOGIN: &str = "login.json";

/// The registered secrets. The value says whether the secrets file may contain the secret.
static SECRETS: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());

/// Registers a secret. `stored` says whether `secrets.toml` may contain it.
pub fn register_secret(value: &str, stored: bool) {
    assert!(value.len() >= 12, "a secret this short is found by chance");
    SECRETS.lock().insert(value.to_owned(), stored);
}

/// Returns all encodings of a value: plain, base64 at each of the three offsets, hexadecimal, and percent-encoded.
pub fn encodings(value: &str) -> Vec<String> {
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
    let mut all = vec![value.to_owned(), hex.to_uppercase(), hex, percent.to_lowercase(), percent];
    for offset in 0..3 {
        let padded = [&b"\0\0\0"[..offset], value.as_bytes()].concat();
        for encoded in [BASE64_STANDARD.encode(&padded), BASE64_URL_SAFE.encode(&padded)] {
            // The first and last characters depend on the surrounding bytes.
            all.push(encoded[4..encoded.len() - 4].to_owned());
        }
    }
    all
}

/// The encoded secrets that are searched for. In `secrets.toml`, only secrets that may not be stored there count.
struct SecretSearch {
    encodings: Vec<String>,
    everywhere: AhoCorasick,
    in_secrets_file: AhoCorasick,
}

impl SecretSearch {
    fn of_all_registered() -> Self {
        let mut secrets = SECRETS.lock().clone();
        secrets.insert(TOKEN.to_owned(), false);
        let encoded = |stored| {
            let chosen = secrets.iter().filter(move |secret| *secret.1 == stored);
            chosen.flat_map(|(value, _)| encodings(value))
        };
        let mut all: Vec<String> = encoded(false).collect();
        let in_secrets_file = AhoCorasick::new(&all).unwrap();
        all.extend(encoded(true));
        Self { everywhere: AhoCorasick::new(&all).unwrap(), in_secrets_file, encodings: all }
    }

    /// Panics if the text, which is named `source`, contains a secret.
    fn check_text(&self, source: &str, text: &[u8]) {
        let search = if source.ends_with("/secrets.toml") {
            &self.in_secrets_file
        } else {
            &self.everywhere
        };
        let secret = search.find(text).map(|hit| &self.encodings[hit.pattern().as_usize()]);
        assert_eq!(secret, None, "{source} contains it");
    }

    fn check_folder(&self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                self.check_folder(&path);
            } else if kind.is_file() && !path.ends_with(SERVICE_LOGIN) {
                match fs::read(&path) {
                    Ok(content) => self.check_text(&path.display().to_string(), &content),
                    // A running service may delete files.
                    Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{error}"),
                }
            }
        }
    }
}

/// Panics if a registered secret is in one of these outputs or in any file below a folder.
pub fn assert_clean(outputs: &[&[u8]], folder: Option<&Path>) {
    let search = SecretSearch::of_all_registered();
    for output in outputs {
        search.check_text("an output", output);
    }
    if let Some(folder) = folder {
        search.check_folder(folder);
    }
}
