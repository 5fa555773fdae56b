//! `tessera check`: compares the quality of a dataset with limits, for continuous integration.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;
use serde_json::{Value, json};

use super::{
    DatasetOrFolder,
    leaks::{Part, find_leaks},
    media_rows, sarif,
};
use crate::{
    cli::{
        CliError, CliResult, Column, Connection, Context, Document, Exit,
        values::{is_stdout, write_result},
    },
    usecase::media_rows::{MediaRow, duplicate_groups},
};
use tessera_model::{Dataset, text::escape_xml, vql::IssueKind};

#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 11 if a check fails. The limits are the largest allowed numbers."
)]
pub struct CheckOptions {
    #[command(flatten)]
    source: DatasetOrFolder,
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
    /// Every media item has a caption.
    #[arg(long)]
    require_captions: bool,
    /// Every media item has a label, or an object with a label.
    #[arg(long)]
    require_labels: bool,
    /// The dataset has at least this many media items.
    #[arg(long, value_name = "N")]
    min_media: Option<u64>,
    /// No near-duplicates are in both of two parts: folders of the dataset, `tag:NAME` or `selection:NAME`; repeatable.
    #[arg(long, num_args = 2, value_names = ["A", "B"], action = clap::ArgAction::Append)]
    no_leaks: Vec<String>,
    /// Write the results to this file, too, as `JUnit` XML; with -, to standard output instead of the table.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the findings to this file, too, as SARIF 2.1.0; with -, to standard output instead of the table.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

/// A number of media items, or a share of all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Count(u64),
    /// From 0 to 100.
    Percent(f64),
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let expected = || "expected a number such as 10, or a share such as 1%".to_owned();
        match raw.trim().strip_suffix('%') {
            None => raw.trim().parse().map(Self::Count).map_err(|_| expected()),
            Some(percent) => match percent.trim().parse() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self::Percent(percent)),
                _ => Err(expected()),
            },
        }
    }
}

impl Limit {
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer media items than 2^52")]
    fn allows(self, found: usize, all: usize) -> bool {
        match self {
            Self::Count(limit) => found as u64 <= limit,
            Self::Percent(limit) => found as f64 * 100.0 <= limit * all as f64,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Count(limit) => limit.to_string(),
            Self::Percent(limit) => format!("{limit}%"),
        }
    }
}

/// What a check finds: its ID, which stays the same between versions, and a sentence about a media item that counts.
#[derive(Debug, PartialEq)]
pub(super) struct Rule {
    pub id: &'static str,
    pub description: &'static str,
}

impl Rule {
    const fn new(id: &'static str, description: &'static str) -> Self {
        Self { id, description }
    }
}

const MEDIA: Rule = Rule::new("media", "The dataset has too few media items.");
const DUPLICATES: Rule =
    Rule::new("duplicates", "The media item is a near-duplicate of a better one.");
const BLUR: Rule = Rule::new("blur", "The media item is blurred.");
const DARK: Rule = Rule::new("dark", "The media item is dark.");
const BRIGHT: Rule = Rule::new("bright", "The media item is overexposed.");
const OUTLIERS: Rule = Rule::new("outliers", "The media item is unlike all others.");
const MISLABELS: Rule = Rule::new("mislabels", "The label of the media item is probably wrong.");
const CAPTIONS: Rule = Rule::new("captions", "The media item has no caption.");
const LABELS: Rule = Rule::new("labels", "The media item has no label.");
const LEAKS: Rule =
    Rule::new("leaks", "The media item is a near-duplicate of one in another part of the dataset.");

/// The result of one check.
#[derive(Debug, PartialEq)]
pub(super) struct Check<'a> {
    pub rule: &'static Rule,
    pub name: String,
    pub limit: String,
    pub found: usize,
    pub passed: bool,
    /// The media items that count.
    pub media: Vec<&'a MediaRow>,
}

const MAX_EXAMPLES: usize = 10;

impl<'a> Check<'a> {
    fn at_most(rule: &'static Rule, limit: Limit, media: Vec<&'a MediaRow>, all: usize) -> Self {
        Self {
            rule,
            name: rule.id.to_owned(),
            limit: format!("at most {}", limit.text()),
            found: media.len(),
            passed: limit.allows(media.len(), all),
            media,
        }
    }

    fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Returns the paths of some media items that count.
    fn examples(&self) -> Vec<&str> {
        self.media.iter().take(MAX_EXAMPLES).map(|row| row.path.as_str()).collect()
    }
}

const CHECK_COLUMNS: &[Column] = &[
    Column::new("CHECK", "name"),
    Column::new("LIMIT", "limit"),
    Column::new("FOUND", "found"),
    Column::new("PASSED", "passed"),
    Column::new("FIRST", "examples.0"),
];

impl CheckOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        if !self.has_checks() {
            let message = "nothing to check; give limits such as --max-duplicates 1%";
            return Err(CliError::usage(message));
        }
        let logs = [&self.junit, &self.sarif].into_iter().flatten();
        if logs.filter(|file| is_stdout(file)).count() > 1 {
            return Err(CliError::usage("--junit and --sarif cannot both go to standard output"));
        }
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            let mut leaks = Vec::new();
            for pair in self.no_leaks.chunks(2) {
                let part = |name| Ok::<_, CliError>((name, Part::read(connection, dataset, name)?));
                leaks.push([part(pair[0].as_str())?, part(pair[1].as_str())?]);
            }
            let rows = media_rows(connection, dataset).await?;
            let mut checks = self.checks(&rows);
            for parts in &leaks {
                checks.push(leak_check(&rows, parts)?);
            }
            self.report(connection.context, dataset, &checks, rows.len())
        };
        self.source.with_dataset(context, work).await
    }

    fn limits(&self) -> [(&'static Rule, Option<Limit>, IssueKind); 5] {
        [
            (&BLUR, self.max_blur, IssueKind::Blur),
            (&DARK, self.max_dark, IssueKind::Dark),
            (&BRIGHT, self.max_bright, IssueKind::Bright),
            (&OUTLIERS, self.max_outliers, IssueKind::Outliers),
            (&MISLABELS, self.max_mislabels, IssueKind::Mislabels),
        ]
    }

    fn has_checks(&self) -> bool {
        self.max_duplicates.is_some()
            || self.limits().iter().any(|(_, limit, _)| limit.is_some())
            || self.require_captions
            || self.require_labels
            || self.min_media.is_some()
            || !self.no_leaks.is_empty()
    }

    fn checks<'a>(&self, rows: &'a [MediaRow]) -> Vec<Check<'a>> {
        let all = rows.len();
        let mut checks = Vec::new();
        if let Some(minimum) = self.min_media {
            checks.push(Check {
                rule: &MEDIA,
                name: MEDIA.id.to_owned(),
                limit: format!("at least {minimum}"),
                found: all,
                passed: all as u64 >= minimum,
                media: Vec::new(),
            });
        }
        if let Some(limit) = self.max_duplicates {
            let groups = duplicate_groups(rows);
            let further = groups.iter().flat_map(|group| &group[1..]).copied().collect();
            checks.push(Check::at_most(&DUPLICATES, limit, further, all));
        }
        let having = |condition: &dyn Fn(&MediaRow) -> bool| -> Vec<&'a MediaRow> {
            rows.iter().filter(|row| condition(row)).collect()
        };
        for (rule, limit, kind) in self.limits() {
            if let Some(limit) = limit {
                checks.push(Check::at_most(rule, limit, having(&|row| row.has_issue(kind)), all));
            }
        }
        let none = |rule, media, name: &str| {
            Check::at_most(rule, Limit::Count(0), media, all).named(name.to_owned())
        };
        if self.require_captions {
            let without = having(&|row| !row.has_caption);
            checks.push(none(&CAPTIONS, without, "without a caption"));
        }
        if self.require_labels {
            let without = having(&|row| row.labels.is_empty() && row.objects.is_empty());
            checks.push(none(&LABELS, without, "without a label"));
        }
        checks
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
                context.out.write_raw(text.as_bytes())?;
                return Ok(());
            }
            write_result(file, text)
        };
        if let Some(file) = &self.junit {
            write(file, junit(dataset.name.as_str(), checks))?;
        }
        if let Some(file) = &self.sarif {
            write(file, sarif::log(dataset.name.as_str(), checks))?;
            let findings = sarif::count_findings(checks);
            if findings > sarif::MAX_FINDINGS {
                let (file, kept) = (file.display(), sarif::MAX_FINDINGS);
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
            context.print(&Document::list("tessera.checks/1", fields, "checks", CHECK_COLUMNS))?;
        }
        Ok(if passed { Exit::Done } else { Exit::CheckFailed })
    }
}

fn leak_check<'a>(rows: &'a [MediaRow], parts: &[(&str, Part); 2]) -> CliResult<Check<'a>> {
    let leaks = find_leaks(rows, parts)?;
    let crossing = leaks.iter().flat_map(|leak| &leak.b).copied().collect();
    let name = format!("leaks from {} to {}", parts[0].0, parts[1].0);
    Ok(Check::at_most(&LEAKS, Limit::Count(0), crossing, rows.len()).named(name))
}

fn describe(check: &Check<'_>) -> Value {
    let Check { name, limit, found, passed, .. } = check;
    json!({
        "name": name, "limit": limit, "found": found, "passed": passed,
        "examples": check.examples(),
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
            let examples = check.examples();
            let examples: String = examples.iter().map(|path| escape_xml(path) + "\n").collect();
            format!(
                "<failure message=\"{found} found, {}\">{examples}</failure>",
                escape_xml(limit)
            )
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            xml,
            "  <testcase classname=\"tessera.check\" name=\"{name}\">{failure}</testcase>"
        );
    }
    xml + "</testsuite>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_or_a_share() {
        let allows = |limit: &str, found, all| limit.parse::<Limit>().unwrap().allows(found, all);
        assert!(allows("3", 3, 10) && !allows("3", 4, 10_000));
        assert!(allows("1%", 10, 1_000) && !allows("1%", 11, 1_000));
        assert!(allows("0.5 %", 1, 200) && allows("0%", 0, 0));
        for wrong in ["", "-1", "1.5", "101%", "%", "NaN%", "a"] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn junit_names_what_failed() {
        let row = MediaRow { path: "a<b>&\u{1}\".jpg".to_owned(), ..MediaRow::default() };
        let check = |rule: &'static Rule, passed| Check {
            rule,
            name: rule.id.to_owned(),
            limit: "at most 1%".to_owned(),
            found: 7,
            passed,
            media: vec![&row],
        };
        let xml = junit("my \"photos\"", &[check(&BLUR, true), check(&DARK, false)]);
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuite name=\"my &quot;photos&quot;\" tests=\"2\" failures=\"1\">
  <testcase classname=\"tessera.check\" name=\"blur\"></testcase>
  <testcase classname=\"tessera.check\" name=\"dark\"><failure message=\"7 found, at most 1%\">a&lt;b&gt;&amp; &quot;.jpg
</failure></testcase>
</testsuite>
";
        assert_eq!(xml, expected);
    }
}
