//! `tessera report`: describes a dataset on one page, as Markdown, HTML or JSON.

use std::fmt::Write as _;

use serde_json::Map;

use super::{DatasetArgument, html, media_rows, named_media};
use crate::cli::prelude::*;
use crate::{
    cli::values::{check_new_file, existing_file, is_stdout, write_result},
    usecase::{dataset_summary::DatasetSummary, leaks::FolderLeaks, media_rows::MediaRow},
};
use tessera_model::text::{format_bytes, grouped_with_noun};

#[derive(Debug, Args)]
pub struct ReportOptions {
    #[command(flatten)]
    source: DatasetArgument,
    /// A page for browsers, with thumbnails. The page needs no other file.
    #[arg(long, conflicts_with = "md")]
    html: bool,
    /// Markdown, which is the default.
    #[arg(long)]
    md: bool,
    /// Write the report to this file. A name that ends in .html or .json chooses the format.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// The number of rows of a table, of examples of an issue, and of pairs of folders with leaks.
pub(super) const SHOWN: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportFormat {
    Markdown,
    Html,
    Json,
}

impl ReportOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let format = self.format(context)?;
        if let Some(file) = self.file() {
            check_new_file(file, existing_file(self.force))?;
        }
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            let unread = connection.unread_files(dataset)?;
            let rows = media_rows(connection, dataset).await?;
            self.write(connection, dataset, &DatasetSummary::new(&rows, unread), format).await
        };
        self.source.with_dataset(context, work).await
    }

    /// Returns the file of the report, or `None` for standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|file| !is_stdout(file))
    }

    fn format(&self, context: &Context) -> CliResult<ReportFormat> {
        let ending = self.output.as_deref().and_then(|file| file.extension());
        let ending = ending.map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let usage = |message| Err(CliError::usage(message));
        if context.global.csv {
            return usage("a report is not a table; remove --csv");
        }
        let (is_machine, is_printed) = (context.out.is_machine(), self.file().is_none());
        if is_printed && is_machine && (self.html || self.md) {
            return usage("--html and --md print a page in place of JSON; give its file with -o");
        }
        let html = self.html || (!self.md && matches!(ending.as_deref(), Some("html" | "htm")));
        if html && is_printed && context.out.is_terminal() {
            return usage("--html writes a page for browsers; give its file with -o");
        }
        Ok(match ending.as_deref() {
            _ if html => ReportFormat::Html,
            _ if self.md => ReportFormat::Markdown,
            Some("json") => ReportFormat::Json,
            None | Some(_) if is_machine && ending.as_deref() != Some("md") => ReportFormat::Json,
            _ => ReportFormat::Markdown,
        })
    }

    async fn write(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        summary: &DatasetSummary<'_>,
        format: ReportFormat,
    ) -> CliResult {
        let context = connection.context;
        let document = Document::new("tessera.report/1", describe(dataset, summary));
        let text = match format {
            ReportFormat::Json => format!("{:#}\n", document.root()),
            ReportFormat::Markdown => markdown(dataset.name.as_str(), summary),
            ReportFormat::Html => html::page(connection, dataset.name.as_str(), summary).await,
        };
        let Some(file) = self.file() else {
            return match format {
                ReportFormat::Json => context.print(&document),
                ReportFormat::Html => {
                    context.out.write_raw(text.as_bytes())?;
                    Ok(Exit::Done)
                }
                ReportFormat::Markdown => {
                    context.out.print_text(&text)?;
                    Ok(Exit::Done)
                }
            };
        };
        write_result(file, text, existing_file(self.force))?;
        context.messages.info(format!("wrote {}", file.display()));
        context.print_for_programs(&document)
    }
}

fn describe(dataset: &Dataset, summary: &DatasetSummary<'_>) -> Value {
    let counts = |counts: &[(&str, u64)]| -> Map<String, Value> {
        counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect()
    };
    let issues: Map<String, Value> = summary
        .issues
        .iter()
        .map(|(kind, rows)| (kind.as_str().to_owned(), rows.len().into()))
        .collect();
    let (redundant_media, redundant_bytes) = summary.redundant();
    let formats: Vec<(&str, u64)> =
        summary.formats.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    let groups: Vec<Vec<Value>> =
        summary.duplicates.iter().map(|group| named_media(group)).collect();
    let leaks = summary.leaks.iter().map(|FolderLeaks { folders: [a, b], leaks, .. }| {
        let members: Vec<Vec<Value>> =
            leaks.iter().map(|leak| named_media(&leak.media())).collect();
        json!({ "a": a, "b": b, "groups": leaks.len(), "members": members })
    });
    json!({
        "dataset_id": dataset.id,
        "display_name": dataset.name,
        "images": summary.images,
        "frames": summary.frames,
        "bytes": summary.bytes,
        "with_caption": summary.with_caption,
        "formats": counts(&formats),
        "sizes": summary.sizes.map(|sizes| sizes.map(|(width, height)| json!([width, height]))),
        "labels": counts(&summary.labels),
        "objects": counts(&summary.objects),
        "tags": counts(&summary.tags),
        "issues": issues,
        "duplicates": {
            "groups": groups.len(),
            "redundant_media": redundant_media,
            "redundant_bytes": redundant_bytes,
            "members": groups,
        },
        "leaks": leaks.collect::<Vec<_>>(),
        "unread": summary.unread.describe(),
    })
}

/// Returns the facts at the beginning of a report, as names and values.
pub(super) fn facts(summary: &DatasetSummary<'_>) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Images", summary.images.to_string())];
    if summary.frames > 0 {
        facts.push(("Frames of videos", summary.frames.to_string()));
    }
    facts.push(("Size", format_bytes(summary.bytes)));
    if let Some(sizes) = summary.sizes {
        let [smallest, median, largest] =
            sizes.map(|(width, height)| format!("{width} × {height}"));
        facts.push(("Pixels", format!("{smallest} to {largest}, median {median}")));
    }
    facts.push(("With a caption", summary.with_caption.to_string()));
    let (media, bytes) = summary.redundant();
    let groups = grouped_with_noun(summary.duplicates.len() as u64, "group", "groups");
    let redundant =
        grouped_with_noun(media as u64, "redundant media item", "redundant media items");
    facts.push(("Near-duplicates", format!("{groups}, {redundant}, {}", format_bytes(bytes))));
    let unread = summary.unread.counts().join(", ");
    if !unread.is_empty() {
        facts.push(("Not read, or not completely", unread));
    }
    facts
}

/// Returns the tables of counts, with their titles.
pub(super) fn tables<'a>(
    summary: &'a DatasetSummary<'a>,
) -> Vec<(&'static str, Vec<(&'a str, u64)>)> {
    let formats = summary.formats.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    let issues =
        summary.issues.iter().map(|(kind, rows)| (kind.as_str(), rows.len() as u64)).collect();
    let leaks =
        summary.leaks.iter().map(|pair| (pair.name.as_str(), pair.leaks.len() as u64)).collect();
    let tables = [
        ("Issues", issues),
        ("Leaks", leaks),
        ("Formats", formats),
        ("Labels", summary.labels.clone()),
        ("Objects", summary.objects.clone()),
        ("Tags", summary.tags.clone()),
    ];
    tables.into_iter().filter(|(_, counts): &(_, Vec<_>)| !counts.is_empty()).collect()
}

fn markdown(name: &str, summary: &DatasetSummary<'_>) -> String {
    let mut text = format!("# {}\n\n", cell(name));
    // Writing to a string cannot fail.
    for (name, value) in facts(summary) {
        let _ = writeln!(text, "- {name}: {value}");
    }
    for (title, counts) in tables(summary) {
        let _ = write!(text, "\n## {title}\n\n| Name | Count |\n|---|---:|\n");
        for (name, count) in counts.iter().take(SHOWN) {
            let _ = writeln!(text, "| {} | {count} |", cell(name));
        }
        if counts.len() > SHOWN {
            let _ = writeln!(text, "| {} more | |", counts.len() - SHOWN);
        }
    }
    for (kind, rows) in &summary.issues {
        push_list(&mut text, kind.as_str(), rows.iter().map(|row| row.path.clone()));
    }
    let group = |group: &Vec<&MediaRow>| {
        group.iter().map(|row| row.path.as_str()).collect::<Vec<_>>().join(", ")
    };
    push_list(&mut text, "duplicates", summary.duplicates.iter().map(group));
    let (leaks, more_leaks) = shown_leaks(summary);
    for pair in leaks {
        let title = format!("leaks between {}", cell(&pair.name));
        push_list(&mut text, &title, pair.leaks.iter().map(|leak| group(&leak.media())));
    }
    if let Some(more) = more_leaks {
        let _ = writeln!(text, "\n{more}");
    }
    push_list(&mut text, "not read", unread_lines(summary).into_iter());
    text
}

/// Returns the pairs of folders whose leaks are shown, and says how many more pairs have leaks.
pub(super) fn shown_leaks<'a>(
    summary: &'a DatasetSummary<'a>,
) -> (&'a [FolderLeaks<'a>], Option<String>) {
    // The pairs with the most leaks come first.
    let count = summary.leaks.partition_point(|pair| !pair.leaks.is_empty());
    let more = count.saturating_sub(SHOWN) as u64;
    let pairs =
        || grouped_with_noun(more, "more pair of folders has", "more pairs of folders have");
    let sentence = (more > 0).then(|| format!("… {} leaks", pairs()));
    (&summary.leaks[..count.min(SHOWN)], sentence)
}

/// Returns a line for each file that was not read, with the reason.
pub(super) fn unread_lines(summary: &DatasetSummary<'_>) -> Vec<String> {
    summary.unread.all().map(|it| format!("{}: {}", it.file, it.reason)).collect()
}

fn push_list(text: &mut String, title: &str, mut lines: impl ExactSizeIterator<Item = String>) {
    if lines.len() == 0 {
        return;
    }
    let _ = write!(text, "\n### {title}\n\n");
    for line in lines.by_ref().take(SHOWN) {
        let _ = writeln!(text, "- {}", cell(&line));
    }
    if lines.len() > 0 {
        let _ = writeln!(text, "- … {} more", lines.len());
    }
}

/// Returns text that Markdown shows as it is, on one line.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '\\' | '`' | '*' | '_' | '<' | '[' | '#') {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::{dataset_summary::UnreadFiles, media_rows::RowIssue};

    #[test]
    fn a_report_shows_the_leaks_of_some_pairs_and_counts_the_others() {
        let row = |path: String, group: usize| {
            let group = Some(group.to_string());
            let issue = RowIssue { kind: "duplicates".to_owned(), confidence: None, group };
            MediaRow { path, issues: vec![issue], ..MediaRow::default() }
        };
        let scene = |n| ["train", "test"].map(|set| row(format!("{n}/{set}/a.png"), n));
        let scenes = |count| (0..count).flat_map(scene).collect::<Vec<MediaRow>>();
        for (count, more) in [(12, None), (14, Some("\n… 2 more pairs of folders have leaks\n"))]
        {
            let rows = scenes(count);
            let text = markdown("scenes", &DatasetSummary::new(&rows, UnreadFiles::default()));
            assert_eq!(text.matches("### leaks between").count(), 12, "{text}");
            assert!(text.contains(more.unwrap_or_default()), "{text}");
            assert_eq!(text.contains("pairs of folders"), more.is_some(), "{text}");
        }
    }
}
