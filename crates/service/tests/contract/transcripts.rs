//! Replays the requests of docs/transcripts.md and compares the responses.
//! `TESSERA_WRITE=1 cargo test --workspace --test contract transcripts` rewrites them.

use std::{collections::BTreeMap, fs, path::Path};

use reqwest::{
    RequestBuilder,
    multipart::{Form, Part},
};
use serde_json::{Value, json};

use crate::{
    described::escaped,
    support::{Place, Service, picture},
};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/transcripts.md");

/// The content of the folder that is served.
fn place() -> Place {
    let captions = "{\"file_name\":\"boat.png\",\"caption\":\"A boat.\",\"labels\":[\"sea\"]}\n\
                    {\"file_name\":\"gate.png\",\"caption\":\"A red gate.\"}\n";
    Place::new(&[
        ("boat.png", picture(2)),
        ("gate.png", picture(0)),
        ("metadata.jsonl", captions.into()),
    ])
}

/// A service that was started as the heading of its transcript says.
struct Transcript {
    service: Service,
    /// Identifiers, with the words that stand for them.
    words: Vec<(String, String)>,
    /// Request bodies by file name.
    files: BTreeMap<String, String>,
}

impl Transcript {
    async fn start(heading: &str) -> Self {
        let (compat, login) = (heading.contains("--compat"), !heading.contains("--no-auth"));
        let service = Service::compatible(place(), compat, login).await;
        let words = vec![
            (service.url(""), "BASE_URL".to_owned()),
            (service.dataset.to_string(), "DATASET".to_owned()),
        ];
        Self { service, words, files: BTreeMap::new() }
    }

    /// Sends the request of a command line; returns status and body as the document shows them.
    async fn replay(&mut self, command: &str) -> String {
        self.service.deployment.wait_until_idle().await;
        let command = self.with_identifiers(command);
        let response = self.request(&command).send().await.unwrap();
        let status = response.status().as_u16();
        let body = response.text().await.unwrap();
        if body.is_empty() {
            return format!("HTTP {status}\n");
        }
        let body = self.with_words(serde_json::from_str(&body).unwrap());
        format!("HTTP {status}\n{}\n", serde_json::to_string_pretty(&body).unwrap())
    }

    fn request(&self, command: &str) -> RequestBuilder {
        let arguments = split_words(command);
        let [tessera, api, method, path, options @ ..] = arguments.as_slice() else {
            panic!("no request: {command}")
        };
        assert_eq!((tessera.as_str(), api.as_str()), ("tessera", "api"));
        let (parameters, body): (Vec<_>, Vec<_>) =
            options.chunks(2).partition(|option| option[0] == "-Q");
        let parameters = parameters.into_iter().map(|option| {
            let (name, value) = option[1].split_once('=').unwrap();
            format!("{name}={}", escaped(value))
        });
        let query = parameters.collect::<Vec<_>>().join("&");
        let path = format!("/api/v1/{path}?{query}");
        let mut request = match method.as_str() {
            "get" => self.service.get(path.trim_end_matches('?')),
            "post" => self.service.post(path.trim_end_matches('?')),
            other => panic!("{other}"),
        };
        for option in body {
            let value = &option[1];
            request = match (option[0].as_str(), value.split_once('=')) {
                ("-F", Some((name, file))) => {
                    let file = file.strip_prefix('@').unwrap();
                    let bytes = fs::read(self.service.place.picture(file)).unwrap();
                    let part = Part::bytes(bytes).file_name(file.to_owned());
                    request.multipart(Form::new().part(name.to_owned(), part))
                }
                ("--input", None) => {
                    let body = self.with_identifiers(&self.files[value]);
                    request.header("content-type", "application/json").body(body)
                }
                other => panic!("{other:?}"),
            };
        }
        request
    }

    fn with_identifiers(&self, text: &str) -> String {
        // Later words may begin with earlier ones, as ID-10 with ID-1.
        let words = self.words.iter().rev();
        words.fold(text.to_owned(), |text, (identifier, word)| text.replace(word, identifier))
    }

    /// A body with words for what differs between runs.
    fn with_words(&mut self, body: Value) -> Value {
        match body {
            Value::Object(fields) => {
                let named = fields.into_iter().map(|(name, value)| {
                    let value = match (name.as_str(), value) {
                        ("created_at" | "updated_at", Value::String(_)) => json!("TIME"),
                        ("date" | "from" | "to", Value::String(_)) => json!("DAY"),
                        ("version", Value::String(_)) => json!("VERSION"),
                        (_, value) => self.with_words(value),
                    };
                    (name, value)
                });
                Value::Object(named.collect())
            }
            Value::Array(items) => items.into_iter().map(|item| self.with_words(item)).collect(),
            Value::Number(number) if number.is_f64() => {
                // The sum is never a negative zero.
                json!((number.as_f64().unwrap() * 100.0).round() / 100.0 + 0.0)
            }
            Value::String(text) => Value::String(self.text_with_words(&text)),
            other => other,
        }
    }

    fn text_with_words(&mut self, text: &str) -> String {
        for at in 0..text.len() {
            let Some(identifier) = text.get(at..at + 36) else { continue };
            let is_new = !self.words.iter().any(|(known, _)| known == identifier);
            if is_new && uuid::Uuid::try_parse(identifier).is_ok() {
                let number = self.words.len() - 1;
                self.words.push((identifier.to_owned(), format!("ID-{number}")));
            }
        }
        let words = self.words.iter();
        let text = words.fold(text.to_owned(), |text, (known, word)| text.replace(known, word));
        let text = replaced_after(&text, "signature=", "SIGNATURE");
        let text = replaced_after(&text, "expires=", "SECONDS");
        match text.split('/').collect::<Vec<_>>().as_slice() {
            [base, "media", media, _, target] => format!("{base}/media/{media}/VERSION/{target}"),
            _ => text,
        }
    }
}

/// Replaces the value of a parameter of a link.
fn replaced_after(text: &str, name: &str, word: &str) -> String {
    let Some((before, after)) = text.split_once(name) else { return text.to_owned() };
    let rest = after.find('&').map_or("", |end| &after[end..]);
    format!("{before}{name}{word}{rest}")
}

/// The words of a command line; single quotes protect spaces.
fn split_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// The document with the responses of today.
async fn replayed(document: &str) -> String {
    let mut transcript = None;
    let mut replayed = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        replayed.extend([line, "\n"]);
        if line.starts_with("## ") {
            transcript = Some(Transcript::start(line).await);
        } else if let Some(language) = line.strip_prefix("```").filter(|rest| !rest.is_empty()) {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let transcript = transcript.as_mut().unwrap();
            if let Some(command) = block[0].strip_prefix("$ ") {
                let response = transcript.replay(command).await;
                replayed.extend([block[0], "\n", &response, "```\n"]);
            } else {
                let file = language.split_once(' ').unwrap().1;
                transcript.files.insert(file.to_owned(), block.join("\n"));
                replayed.extend([&block.join("\n"), "\n```\n"]);
            }
        }
    }
    replayed
}

#[tokio::test]
async fn the_transcripts_show_what_the_service_does() {
    let path = Path::new(DOCUMENT);
    let document = fs::read_to_string(path).unwrap();
    let today = replayed(&document).await;
    if std::env::var_os("TESSERA_WRITE").is_some() {
        fs::write(path, &today).unwrap();
    } else {
        assert_eq!(document, today, "TESSERA_WRITE=1 rewrites the document");
    }
}
