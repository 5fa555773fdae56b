//! `tessera check`: compares the quality of a dataset with limits, for continuous integration.

use std::fmt::Write as _;

use super::{DatasetArgument, media_rows, part_error, sarif};
use crate::cli::prelude::*;
use crate::{
    cli::{
        LocalService,
        output::unless_closed,
        values::{is_stdout, write_result},
    },
    usecase::check::{Check, CheckList},
};
use tessera_client::ExistingFile;
use tessera_model::{
    check::{Condition, Limit, Rule},
    text::escape_xml,
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
    #[arg(long, num_args = 2, value_names = ["A", "B"], action = clap::ArgAction::Append)]
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
            (Rule::Captions, self.require_captions.then_some(Limit::NONE)),
            (Rule::Labels, self.require_labels.then_some(Limit::NONE)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::media_rows::MediaRow;

    #[test]
    fn junit_lists_what_failed() {
        let row = MediaRow { path: "a<b>&\u{1}\".jpg".to_owned(), ..MediaRow::default() };
        let check = |rule: Rule, passed| Check {
            rule,
            name: rule.id().to_owned(),
            limit: "at most 1%".to_owned(),
            found: 7,
            passed,
            media: vec![&row],
        };
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
}
