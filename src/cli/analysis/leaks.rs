//! `tessera dataset leaks`: finds media items and near-duplicates that are in two parts of a dataset, such as `train`
//! and `val`.

use super::{DatasetArgument, media_rows, named_media, part_error};
use crate::cli::prelude::*;
use crate::{
    cli::LocalService,
    cli::image::{DrawOptions, NamedPicture, draw_pictures, terminal_info},
    usecase::{
        leaks::{DatasetPart, Leak, find_leaks, missing_media},
        media_rows::{MediaRow, duplicate_groups},
    },
};
use tessera_model::text::grouped_with_noun;
use tessera_picture::Crop;

#[derive(Debug, Args)]
pub struct LeaksOptions {
    /// The first part: a folder of the dataset, `tag:NAME`, or `selection:NAME`.
    a: String,
    /// The second part.
    b: String,
    #[command(flatten)]
    source: DatasetArgument,
    /// Draw the pictures of the first groups, too.
    #[arg(long, value_name = "GROUPS", num_args = 0..=1, default_missing_value = "5")]
    pictures: Option<usize>,
}

impl LeaksOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let Self { a, b, source, pictures } = &self;
        if pictures.is_some() {
            context.out.require_text("--pictures draws")?;
        }
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            let finder = connection.local.as_ref().map(LocalService::original_finder);
            let part = |name| {
                DatasetPart::read(&connection.state, dataset.id, name, finder.as_deref())
                    .map_err(|failure| part_error(connection.context, failure))
            };
            let parts = [part(a)?, part(b)?];
            let rows = media_rows(connection, dataset).await?;
            for sentence in missing_media(&parts, &rows) {
                connection.warn_incomplete(&sentence);
            }
            let leaks = find_leaks(&rows, &duplicate_groups(&rows), &parts)?;
            let groups: Vec<Value> = leaks.iter().map(describe).collect();
            let fields = json!({ "dataset_id": dataset.id, "a": a, "b": b, "groups": groups });
            let context = connection.context;
            context.print(&Document::new("tessera.leaks/1", fields))?;
            if let Some(shown) = pictures {
                draw(context, &leaks[..leaks.len().min(*shown)])?;
            }
            context.messages.info(match leaks.len() {
                0 => format!("no media item and no near-duplicate is in both {a} and {b}"),
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
    let of_duplicates = |row: &MediaRow| {
        let mut issues = row.issues.iter().filter(|issue| issue.group.is_some());
        issues.find_map(|issue| issue.confidence)
    };
    let media = leak.media();
    let similarity = match media.as_slice() {
        [_] => Some(1.0),
        media => media.iter().copied().filter_map(of_duplicates).reduce(f64::min),
    };
    json!({
        "similarity": similarity,
        "media": media.len(),
        "a": named_media(&leak.a),
        "b": named_media(&leak.b),
    })
}

/// Draws the first picture of each side, side by side.
fn draw(context: &Context, leaks: &[Leak<'_>]) -> CliResult<()> {
    let screen = terminal_info(context)?;
    let mut pictures = Vec::new();
    for row in leaks.iter().flat_map(|leak| [leak.a[0], leak.b[0]]) {
        let Some(original) = row.whole_file() else {
            context.messages.warn("--pictures needs pictures that are files of a local folder");
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
