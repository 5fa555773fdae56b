//! `tessera dataset leaks`: finds near-duplicates across two parts of a dataset, such as `train` and `val`.

use clap::Args;
use serde_json::{Value, json};

use super::{DatasetOrFolder, media_rows};
use crate::{
    cli::{
        CliError, CliResult, Column, Connection, Context, Document, Exit,
        image::{DrawOptions, NamedPicture, draw_pictures, terminal_info},
        selection::find_selection,
    },
    usecase::media_rows::{MediaRow, duplicate_groups},
};
use tessera_model::{Dataset, EntryContent, MediaId, SafeText, Selection, text::grouped_with_noun};
use tessera_picture::Crop;

#[derive(Debug, Args)]
pub struct LeaksOptions {
    /// The first part: a folder of the dataset, `tag:NAME`, or `selection:NAME`.
    a: String,
    /// The second part.
    b: String,
    #[command(flatten)]
    source: DatasetOrFolder,
    /// Draw the pictures of the first groups, too.
    #[arg(long, value_name = "GROUPS", num_args = 0..=1, default_missing_value = "5")]
    pictures: Option<usize>,
}

const LEAK_COLUMNS: &[Column] = &[
    Column::new("SIMILARITY", "similarity"),
    Column::new("FIRST", "a.0.path"),
    Column::new("SECOND", "b.0.path"),
    Column::new("MEDIA", "media"),
];

/// The near-duplicates that are in both parts. Neither list is empty.
pub struct Leak<'a> {
    pub a: Vec<&'a MediaRow>,
    pub b: Vec<&'a MediaRow>,
}

/// A part of a dataset.
pub enum Part {
    Folder(String),
    Tag(String),
    Media(std::collections::HashSet<MediaId>),
}

impl Part {
    /// Reads the name of a part.
    ///
    /// # Errors
    /// A saved selection is unknown, or contains clusters, whose members are not known here.
    pub fn read(connection: &Connection<'_>, dataset: &Dataset, name: &str) -> CliResult<Self> {
        if let Some(tag) = name.strip_prefix("tag:") {
            return Ok(Self::Tag(tag.to_owned()));
        }
        let Some(selection) = name.strip_prefix("selection:") else {
            return Ok(Self::Folder(name.to_owned()));
        };
        let found = find_selection(&connection.state, selection, dataset.id)?;
        media_of(&found).map(Self::Media).ok_or_else(|| {
            CliError::usage(format!(
                "the selection `{selection}` contains clusters; select media items"
            ))
        })
    }

    fn contains(&self, row: &MediaRow) -> bool {
        match self {
            Self::Folder(folder) => row.is_in_folder(folder),
            Self::Tag(tag) => row.tags.contains(tag),
            Self::Media(media) => row.media.is_some_and(|id| media.contains(&id)),
        }
    }
}

fn media_of(selection: &Selection) -> Option<std::collections::HashSet<MediaId>> {
    let media = |content: &EntryContent| match content {
        EntryContent::MediaItem(media, _) => Some(*media),
        EntryContent::Cluster(_) => None,
    };
    selection.ordered_entries().into_iter().map(|entry| media(&entry.content)).collect()
}

/// Returns the groups of near-duplicates that are in both parts, the largest first.
///
/// # Errors
/// A part is empty, which is a mistake in its name.
pub fn find_leaks<'a>(rows: &'a [MediaRow], parts: &[(&str, Part); 2]) -> CliResult<Vec<Leak<'a>>> {
    for (name, part) in parts {
        if !rows.iter().any(|row| part.contains(row)) {
            return Err(CliError::not_found(format!("`{name}` contains no media of the dataset")));
        }
    }
    let [(_, a), (_, b)] = parts;
    let leak = |group: Vec<&'a MediaRow>| {
        let of = |part: &Part| group.iter().copied().filter(|row| part.contains(row)).collect();
        let leak = Leak { a: of(a), b: of(b) };
        (!leak.a.is_empty() && !leak.b.is_empty()).then_some(leak)
    };
    Ok(duplicate_groups(rows).into_iter().filter_map(leak).collect())
}

impl LeaksOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let Self { a, b, source, pictures } = &self;
        if pictures.is_some() {
            context.out.require_text("--pictures")?;
        }
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            let part = |name| Ok::<_, CliError>((name, Part::read(connection, dataset, name)?));
            let parts = [part(a.as_str())?, part(b.as_str())?];
            let rows = media_rows(connection, dataset).await?;
            let leaks = find_leaks(&rows, &parts)?;
            let groups: Vec<Value> = leaks.iter().map(describe).collect();
            let fields = json!({ "dataset_id": dataset.id, "a": a, "b": b, "groups": groups });
            let context = connection.context;
            context.print(&Document::list("tessera.leaks/1", fields, "groups", LEAK_COLUMNS))?;
            if let Some(shown) = pictures {
                draw(context, &leaks[..leaks.len().min(*shown)])?;
            }
            context.messages.info(match leaks.len() {
                0 => format!("no near-duplicates are in both {a} and {b}"),
                count => {
                    grouped_with_noun(count as u64, "group is", "groups are") + " in both parts"
                }
            });
            Ok(Exit::Done)
        };
        source.with_dataset(context, work).await
    }
}

fn describe(leak: &Leak<'_>) -> Value {
    let side = |rows: &[&MediaRow]| -> Vec<Value> {
        rows.iter().map(|row| json!({ "media_id": row.media, "path": row.path })).collect()
    };
    let of_duplicates = |row: &&MediaRow| {
        let mut issues = row.issues.iter().filter(|issue| issue.group.is_some());
        issues.find_map(|issue| issue.confidence)
    };
    let confidences = leak.a.iter().chain(&leak.b).filter_map(of_duplicates);
    json!({
        "similarity": confidences.reduce(f64::min),
        "media": leak.a.len() + leak.b.len(),
        "a": side(&leak.a),
        "b": side(&leak.b),
    })
}

/// Draws the first picture of each side, side by side.
fn draw(context: &Context, leaks: &[Leak<'_>]) -> CliResult<()> {
    let screen = terminal_info(context)?;
    let mut pictures = Vec::new();
    for row in leaks.iter().flat_map(|leak| [leak.a[0], leak.b[0]]) {
        let Some(original) = &row.original else {
            context.messages.warn("--pictures needs the files of a local folder");
            return Ok(());
        };
        let bytes = std::fs::read(original)
            .map_err(|error| CliError::io(format!("read {}", original.display()), &error))?;
        pictures.push(NamedPicture {
            bytes,
            crop: Crop::Full,
            name: SafeText::file_name(&row.path),
        });
    }
    let options = DrawOptions { across: 2, width: None, by_viuer: false };
    match draw_pictures(context, &screen, &pictures, options)? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::media_rows::RowIssue;

    fn row(path: &str, group: &str) -> MediaRow {
        MediaRow {
            path: path.to_owned(),
            issues: vec![RowIssue {
                kind: "duplicates".to_owned(),
                confidence: Some(0.97),
                group: Some(group.to_owned()),
            }],
            ..MediaRow::default()
        }
    }

    #[test]
    fn a_leak_is_a_group_in_both_parts() {
        let rows = [
            row("train/a.png", "1"),
            row("val/a.png", "1"),
            row("train/b.png", "2"),
            row("train/c.png", "2"),
            row("valid/d.png", "3"),
            row("train/d.png", "3"),
        ];
        let folder = |name: &'static str| (name, Part::Folder(name.to_owned()));
        let leaks = find_leaks(&rows, &[folder("train"), folder("val")]).unwrap();
        assert_eq!(leaks.len(), 1);
        assert_eq!(describe(&leaks[0])["b"][0]["path"], "val/a.png");
        let error = find_leaks(&rows, &[folder("train"), folder("nowhere")]).map(drop).unwrap_err();
        assert_eq!(error.message, "`nowhere` contains no media of the dataset");
    }
}
