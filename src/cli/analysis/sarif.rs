//! Writes the findings of checks as SARIF 2.1.0, which hosts of code show beside the files. Code scanning of GitHub
//! rejects a file with a result that has no location, and a file with more than 25,000 results.

use std::{
    env,
    path::{Component, Path},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};
use tessera_model::check::Rule;

use crate::usecase::{check::Check, media_rows::MediaRow};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The most findings in a file. Code scanning of GitHub shows no more.
pub(super) const MAX_FINDINGS: usize = 5_000;

/// What RFC 3986 calls unreserved stays. A colon in the first segment of a relative path would end a scheme.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the number of findings, of which a file has at most [`MAX_FINDINGS`].
pub(super) fn count_findings(checks: &[Check<'_>]) -> usize {
    checks.iter().map(|check| places(check).count()).sum()
}

/// Returns the findings as the text of a SARIF file. A finding is an error if its check failed, and a warning if the
/// limit allows it. Errors come first, so that they are kept if the list is truncated.
pub(super) fn log(dataset: &str, checks: &[Check<'_>]) -> String {
    let mut rules: Vec<Rule> = Vec::new();
    for check in checks {
        if !rules.contains(&check.rule) {
            rules.push(check.rule);
        }
    }
    let working_directory = env::current_dir().ok();
    let failed_first =
        checks.iter().filter(|it| !it.passed).chain(checks.iter().filter(|it| it.passed));
    let findings = failed_first.flat_map(|check| places(check).map(move |place| (check, place)));
    let results = findings.take(MAX_FINDINGS).map(|(check, row)| {
        let uri = row.map(|row| relative_uri(row, working_directory.as_deref()));
        let uri = uri.filter(|uri| !uri.is_empty()).unwrap_or_else(|| encoded(dataset.as_bytes()));
        result(check, rules.iter().position(|rule| *rule == check.rule), &uri)
    });
    let results: Vec<Value> = results.collect();
    let rules: Vec<Value> = rules.iter().map(|rule| descriptor(*rule)).collect();
    let driver = json!({
        "name": "tessera", "version": env!("CARGO_PKG_VERSION"), "rules": rules,
    });
    let log = json!({
        "$schema": SCHEMA, "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    });
    format!("{log:#}\n")
}

/// Returns what a check found: the media that count, or the dataset itself.
fn places<'a>(check: &'a Check<'_>) -> impl Iterator<Item = Option<&'a MediaRow>> {
    let is_of_dataset = !check.passed && check.media.is_empty();
    check.media.iter().copied().map(Some).chain(is_of_dataset.then_some(None))
}

fn descriptor(rule: Rule) -> Value {
    let text = json!({ "text": rule.description() });
    json!({ "id": rule.id(), "shortDescription": text, "fullDescription": text, "help": text })
}

fn result(check: &Check<'_>, rule_index: Option<usize>, uri: &str) -> Value {
    let Check { rule, name, limit, found, passed, .. } = check;
    // The name of a check may contain brackets and braces, which a message would have to escape.
    json!({
        "ruleId": rule.id(),
        "ruleIndex": rule_index,
        "level": if *passed { "warning" } else { "error" },
        "message": { "text": format!("{} {found} found, {limit}.", rule.description()) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" },
            "region": { "startLine": 1 },
        } }],
        "properties": { "check": name },
    })
}

/// Returns the path of a media item as a relative URI: from the working directory, which is the root of the repository
/// in a build, or in the dataset if the file is elsewhere.
fn relative_uri(row: &MediaRow, working_directory: Option<&Path>) -> String {
    let original = row.original.as_deref().zip(working_directory);
    let below = original.and_then(|(file, directory)| file.strip_prefix(directory).ok());
    let segments = below.unwrap_or(Path::new(row.file())).components().filter_map(|component| {
        let Component::Normal(name) = component else { return None };
        Some(encoded(name.as_encoded_bytes()))
    });
    segments.collect::<Vec<String>>().join("/")
}

fn encoded(segment: &[u8]) -> String {
    percent_encode(segment, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Rule, passed: bool, media: Vec<&MediaRow>) -> Check<'_> {
        let (name, limit) = (rule.id().to_owned(), "at most 1%".to_owned());
        Check { rule, name, limit, found: media.len(), passed, media }
    }

    fn read(dataset: &str, checks: &[Check<'_>]) -> Value {
        serde_json::from_str(&log(dataset, checks)).unwrap()
    }

    fn row(path: &str) -> MediaRow {
        MediaRow { path: path.to_owned(), ..MediaRow::default() }
    }

    #[test]
    fn paths_are_relative_and_percent_encoded() {
        let uri = |path| relative_uri(&row(path), None);
        assert_eq!(uri("a b/ä#1?.png"), "a%20b/%C3%A4%231%3F.png");
        assert_eq!(uri("/../C:/./x"), "C%3A/x");
        assert_eq!(uri("a\u{1b}[1m\u{202e}"), "a%1B%5B1m%E2%80%AE");
        let here = Path::new("/home/you/work");
        let mut below = row("train/1.png");
        below.original = Some(here.join("photos/train/1.png"));
        assert_eq!(relative_uri(&below, Some(here)), "photos/train/1.png");
        assert_eq!(relative_uri(&below, Some(Path::new("/srv"))), "train/1.png");
        assert_eq!(relative_uri(&below, None), "train/1.png");
        let frame = MediaRow { is_frame: true, ..row("clips/a.mp4/a_000001.jpg") };
        assert_eq!(relative_uri(&frame, None), "clips/a.mp4");
    }

    #[test]
    fn what_failed_comes_first_and_everything_has_a_location() {
        let [blurred, nameless] = [row("a.png"), row("")];
        let checks = [
            check(Rule::Blur, true, vec![&blurred]),
            check(Rule::Media, false, Vec::new()),
            check(Rule::Blur, false, vec![&nameless]),
            check(Rule::Media, true, Vec::new()),
        ];
        let log = read("my photos", &checks);
        let run = &log["runs"][0];
        let ids: Vec<&Value> =
            run["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, ["blur", "media"]);
        let results = run["results"].as_array().unwrap().iter().map(|it| {
            let location = &it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
            (it["level"].as_str().unwrap(), it["ruleIndex"].as_u64().unwrap(), location.clone())
        });
        let expected = [
            ("error", 1, "my%20photos".into()),
            ("error", 0, "my%20photos".into()),
            ("warning", 0, "a.png".into()),
        ];
        assert_eq!(results.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_file_has_no_more_than_is_shown() {
        let blurred = row("a.png");
        let checks = [check(Rule::Blur, false, vec![&blurred; MAX_FINDINGS + 1])];
        assert_eq!(count_findings(&checks), MAX_FINDINGS + 1);
        assert_eq!(read("a", &checks)["runs"][0]["results"].as_array().unwrap().len(), 5_000);
    }
}
