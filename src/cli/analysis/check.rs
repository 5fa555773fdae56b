//! `tessera check`: compares the quality of a dataset with limits, for continuous integration. Build servers show the
//! results in the form of `JUnit`, and hosts of code show the findings as SARIF 2.1.0 beside the files. Code scanning of
//! GitHub rejects a SARIF file with a result that has no location, and a file with more than 25,000 results.

use std::{env, fmt::Write as _, path::Component};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use tessera_client::ExistingFile;
use tessera_model::{
    check::{Condition, Limit, Rule},
    text::escape_xml,
};

use super::{DatasetArgument, media_rows, part_error};
use crate::cli::prelude::*;
use crate::{
    cli::{
        LocalService,
        output::unless_closed,
        values::{is_stdout, write_result},
    },
    usecase::{
        check::{Check, CheckList},
        media_rows::MediaRow,
    },
};

#[derive(Debug, Args)]
pub struct CheckOptions {
    #[command(flatten)]
    source: DatasetArgument,
    /// Near-duplicates beyond the first of each group, as a number or as a share of all media such as 1%.
    #[arg(long, value_name = "LIMIT")]
    max_duplicates: Option<Limit>,
    /// Blurred media.
    #[arg(long, value_name = "LIMIT")]
    max_blur: Option<Limit>,
    /// Dark media.
    #[arg(long, value_name = "LIMIT")]
    max_dark: Option<Limit>,
    /// Overexposed media.
    #[arg(long, value_name = "LIMIT")]
    max_bright: Option<Limit>,
    /// Media that are unlike all others.
    #[arg(long, value_name = "LIMIT")]
    max_outliers: Option<Limit>,
    /// Media whose label is probably wrong.
    #[arg(long, value_name = "LIMIT")]
    max_mislabels: Option<Limit>,
    /// Pictures and videos that cannot be read, and folders that cannot be listed. Local folders only.
    #[arg(long, value_name = "LIMIT")]
    max_unreadable: Option<Limit>,
    /// Every media item has a caption.
    #[arg(long)]
    require_captions: bool,
    /// Every media item has a label, or an object with a label.
    #[arg(long)]
    require_labels: bool,
    /// The dataset has at least this many media items.
    #[arg(long, value_name = "N")]
    min_media: Option<u64>,
    /// No media item and no near-duplicate is in both of two parts: folders of the dataset, `tag:NAME` or
    /// `selection:NAME`; repeatable.
    #[arg(long, num_args = 2, value_names = ["A", "B"], allow_hyphen_values = true, action = clap::ArgAction::Append)]
    no_leaks: Vec<String>,
    /// Write the results to this file, too, as `JUnit` XML; with -, to standard output instead of the table.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the findings to this file, too, as SARIF 2.1.0; with -, to standard output instead of the table.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

/// The number of media items that a document names for each check.
const MAX_EXAMPLES: usize = 10;
/// The number of media items that a failed test in `JUnit` lists.
const MAX_LISTED: usize = 5_000;

impl CheckOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let conditions = self.conditions();
        if conditions.is_empty() {
            let message = "nothing to check; give limits such as --max-duplicates 1%";
            return Err(CliError::usage(message));
        }
        let logs = [&self.junit, &self.sarif].into_iter().flatten();
        if logs.filter(|file| is_stdout(file)).count() > 1 {
            return Err(CliError::usage("--junit and --sarif cannot both go to standard output"));
        }
        if self.junit.as_deref().is_some_and(is_stdout) {
            context.out.require_text("--junit - prints XML")?;
        }
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            let finder = connection.local.as_ref().map(LocalService::original_finder);
            let finder = finder.as_deref();
            let list = CheckList::read(&connection.state, dataset.id, &conditions, finder)
                .map_err(|failure| part_error(connection.context, failure))?;
            if self.max_unreadable.is_some() {
                connection.local_service("--max-unreadable")?;
            }
            let folder = connection.dataset_folder(dataset.id)?;
            let unread = connection.unread_files(dataset)?.media_rows(folder.as_deref());
            let rows = media_rows(connection, dataset).await?;
            for sentence in list.missing(&rows) {
                connection.warn_incomplete(&sentence);
            }
            self.report(connection.context, dataset, &list.check(&rows, &unread)?, rows.len())
        };
        self.source.with_dataset(context, work).await
    }

    fn conditions(&self) -> Vec<Condition> {
        let limits = [
            (Rule::Duplicates, self.max_duplicates),
            (Rule::Blur, self.max_blur),
            (Rule::Dark, self.max_dark),
            (Rule::Bright, self.max_bright),
            (Rule::Outliers, self.max_outliers),
            (Rule::Mislabels, self.max_mislabels),
            (Rule::Unreadable, self.max_unreadable),
            (Rule::Captions, self.require_captions.then_some(Limit::ZERO)),
            (Rule::Labels, self.require_labels.then_some(Limit::ZERO)),
        ];
        let at_most = |(rule, limit): (Rule, Option<Limit>)| Some(Condition::AtMost(rule, limit?));
        let pairs = self.no_leaks.chunks(2);
        let no_leaks = pairs.map(|pair| Condition::NoLeaks([pair[0].clone(), pair[1].clone()]));
        let at_least = self.min_media.map(Condition::AtLeast).into_iter();
        at_least.chain(limits.into_iter().filter_map(at_most)).chain(no_leaks).collect()
    }

    fn report(
        &self,
        context: &Context,
        dataset: &Dataset,
        checks: &[Check<'_>],
        media: usize,
    ) -> CliResult {
        let mut prints = true;
        let mut write = |file: &Path, text: String| {
            if is_stdout(file) {
                prints = false;
                unless_closed(context.out.write_raw(text.as_bytes()))?;
                return Ok(());
            }
            write_result(file, text, ExistingFile::Replace)
        };
        if let Some(file) = &self.junit {
            write(file, junit(dataset.name.as_str(), checks))?;
        }
        if let Some(file) = &self.sarif {
            write(file, sarif(dataset.name.as_str(), checks))?;
            let findings = count_findings(checks);
            if findings > MAX_FINDINGS {
                let (file, kept) = (file.display(), MAX_FINDINGS);
                context
                    .messages
                    .warn(format!("{file} has the first {kept} of {findings} findings"));
            }
        }
        let passed = checks.iter().all(|check| check.passed);
        let described: Vec<Value> = checks.iter().map(describe).collect();
        let fields = json!({
            "dataset_id": dataset.id, "media": media, "passed": passed, "checks": described,
        });
        if prints {
            context.print(&Document::new("tessera.checks/1", fields))?;
        }
        Ok(if passed { Exit::Done } else { Exit::CheckFailed })
    }
}

/// Returns the paths of some media items that count.
fn examples<'a>(check: &Check<'a>) -> Vec<&'a str> {
    check.media.iter().take(MAX_EXAMPLES).map(|row| row.path.as_str()).collect()
}

fn describe(check: &Check<'_>) -> Value {
    let Check { name, limit, found, passed, .. } = check;
    json!({
        "name": name, "limit": limit, "found": found, "passed": passed,
        "examples": examples(check),
    })
}

/// Returns the checks as a test suite in the form of `JUnit`, which build servers show.
fn junit(dataset: &str, checks: &[Check<'_>]) -> String {
    let failed = checks.iter().filter(|check| !check.passed).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\">\n",
        escape_xml(dataset),
        checks.len(),
    );
    for check in checks {
        let Check { name, limit, found, passed, .. } = check;
        let name = escape_xml(name);
        let failure = if *passed {
            String::new()
        } else {
            let listed = check.media.iter().take(MAX_LISTED);
            let mut files: String = listed.map(|row| escape_xml(&row.path) + "\n").collect();
            let more = check.media.len().saturating_sub(MAX_LISTED);
            if more > 0 {
                let _ = writeln!(files, "and {more} more");
            }
            format!("<failure message=\"{found} found, {}\">{files}</failure>", escape_xml(limit))
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            xml,
            "  <testcase classname=\"tessera.check\" name=\"{name}\">{failure}</testcase>"
        );
    }
    xml + "</testsuite>\n"
}

const SARIF_SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The most findings in a file. Code scanning of GitHub shows no more.
const MAX_FINDINGS: usize = 5_000;

/// What RFC 3986 calls unreserved stays. A colon in the first segment of a relative path would end a scheme.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the number of findings, of which a file has at most [`MAX_FINDINGS`].
fn count_findings(checks: &[Check<'_>]) -> usize {
    checks.iter().map(|check| places(check).count()).sum()
}

/// Returns the findings as the text of a SARIF file. A finding is an error if its check failed, and a warning if the
/// limit allows it. Errors come first, so that they are kept if the list is truncated.
fn sarif(dataset: &str, checks: &[Check<'_>]) -> String {
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
        sarif_result(check, rules.iter().position(|rule| *rule == check.rule), &uri)
    });
    let results: Vec<Value> = results.collect();
    let rules: Vec<Value> = rules.iter().map(|rule| sarif_rule(*rule)).collect();
    let driver = json!({
        "name": "tessera", "version": env!("CARGO_PKG_VERSION"), "rules": rules,
    });
    let log = json!({
        "$schema": SARIF_SCHEMA, "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    });
    format!("{log:#}\n")
}

/// Returns what a check found: the media that count, or the dataset itself.
fn places<'a>(check: &'a Check<'_>) -> impl Iterator<Item = Option<&'a MediaRow>> {
    let is_of_dataset = !check.passed && check.media.is_empty();
    check.media.iter().copied().map(Some).chain(is_of_dataset.then_some(None))
}

fn sarif_rule(rule: Rule) -> Value {
    let text = json!({ "text": rule.description() });
    json!({ "id": rule.id(), "shortDescription": text, "fullDescription": text, "help": text })
}

fn sarif_result(check: &Check<'_>, rule_index: Option<usize>, uri: &str) -> Value {
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

    #[test]
    fn junit_lists_what_failed() {
        let row = row("a<b>&\u{1}\".jpg");
        let check = |rule, passed| Check { found: 7, ..check(rule, passed, vec![&row]) };
        let xml = junit("my \"photos\"", &[check(Rule::Blur, true), check(Rule::Dark, false)]);
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuite name=\"my &quot;photos&quot;\" tests=\"2\" failures=\"1\">
  <testcase classname=\"tessera.check\" name=\"blur\"></testcase>
  <testcase classname=\"tessera.check\" name=\"dark\"><failure message=\"7 found, at most 1%\">a&lt;b&gt;&amp; &quot;.jpg
</failure></testcase>
</testsuite>
";
        assert_eq!(xml, expected);
        for (count, lines, end) in [(13, 13, "jpg"), (5_002, 5_001, "and 2 more")] {
            let check = Check { media: vec![&row; count], ..check(Rule::Dark, false) };
            let xml = junit("photos", &[check]);
            let text = xml.split_once("1%\">").unwrap().1.split_once("\n</failure>").unwrap().0;
            assert_eq!((text.lines().count(), text.ends_with(end)), (lines, true));
        }
    }

    fn check(rule: Rule, passed: bool, media: Vec<&MediaRow>) -> Check<'_> {
        let (name, limit) = (rule.id().to_owned(), "at most 1%".to_owned());
        Check { rule, name, limit, found: media.len(), passed, media }
    }

    fn read(dataset: &str, checks: &[Check<'_>]) -> Value {
        serde_json::from_str(&sarif(dataset, checks)).unwrap()
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
