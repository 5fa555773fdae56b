//! `tessera dataset split`: divides a dataset into sets without near-duplicates across them.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{DatasetOrFolder, media_rows};
use crate::{
    cli::{
        CliError, CliResult, Column, Connection, Context, Document, Exit,
        selection::require_free_name,
        values::{is_stdout, write_result},
    },
    usecase::{
        media_rows::{MediaRow, most_frequent},
        split::{Balance, SplitSet, split},
    },
};
use tessera_model::{
    Dataset, EntityType, EntryContent, Granularity, SafeText, Selection, SelectionEntry,
    tag::{PICKED, REJECTED},
    text::grouped_with_noun,
};

#[derive(Debug, Args)]
#[command(
    after_help = "Near-duplicates and the frames of a video are always in one set. Each set is saved as a selection."
)]
pub struct DatasetSplitOptions {
    /// Shares of the sets, separated by slashes.
    #[arg(value_name = "SHARES", value_parser = parse_shares)]
    shares: Shares,
    #[command(flatten)]
    source: DatasetOrFolder,
    /// Names of the sets, separated by commas [default: train,test for two, and train,val,test for three].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    names: Vec<String>,
    /// Give every set the same share of each label.
    #[arg(long, value_name = "WHAT")]
    by: Option<SplitBy>,
    /// Skip media with this tag, such as rejected; repeatable.
    #[arg(long, value_name = "TAG")]
    without: Vec<String>,
    /// Chooses another division of the same shares.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write a line of JSON with the path and the set of each media item to this file, too; with -, to standard output
    /// instead of the sets.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Replace saved selections of the same names, and the file.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SplitBy {
    /// The labels of a media item, or those of its objects if it has none.
    Label,
}

#[derive(Clone, Debug)]
struct Shares(Vec<f64>);

fn parse_shares(raw: &str) -> Result<Shares, String> {
    let shares: Result<Vec<f64>, _> = raw.split('/').map(|part| part.trim().parse()).collect();
    match shares {
        Ok(shares) if shares.len() < 2 => Err("give at least two shares, such as 80/20".to_owned()),
        Ok(shares) if shares.iter().all(|share| share.is_finite() && *share > 0.0) => {
            Ok(Shares(shares))
        }
        _ => Err("expected numbers above 0, such as 80/10/10".to_owned()),
    }
}

const SPLIT_COLUMNS: &[Column] = &[
    Column::new("SET", "name"),
    Column::new("MEDIA", "media"),
    Column::new("SHARE", "share"),
    Column::new("LABELS", "labels"),
];

impl DatasetSplitOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let sets = self.sets()?;
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            self.split(connection, dataset, &sets).await
        };
        self.source.with_dataset(context, work).await
    }

    fn sets(&self) -> CliResult<Vec<SplitSet>> {
        let Shares(shares) = &self.shares;
        let names: Vec<String> = match (self.names.as_slice(), shares.len()) {
            ([], 2) => ["train", "test"].map(ToOwned::to_owned).to_vec(),
            ([], 3) => ["train", "val", "test"].map(ToOwned::to_owned).to_vec(),
            ([], _) => return Err(CliError::usage("name the sets with --names A,B,C,D")),
            (names, _) => names.iter().map(|name| name.trim().to_owned()).collect(),
        };
        let different: HashSet<&String> = names.iter().collect();
        if names.len() != shares.len() || different.len() != names.len() {
            let message = format!("--names: give {} different names", shares.len());
            return Err(CliError::usage(message));
        }
        let set = |(name, share): (String, &f64)| SplitSet { name, share: *share };
        Ok(names.into_iter().zip(shares).map(set).collect())
    }

    async fn split(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        sets: &[SplitSet],
    ) -> CliResult {
        let context = connection.context;
        self.require_new_list()?;
        for set in sets {
            require_free_name(&connection.state, &set.name, dataset.id, self.force)?;
        }
        let mut rows = media_rows(connection, dataset).await?;
        for tag in &self.without {
            // A tag without media divides the same way as no tag, and may be a mistake in its name. Picking and
            // rejecting are always possible, so that there may be none yet.
            let is_known = [PICKED, REJECTED].contains(&tag.as_str());
            if !is_known && !rows.iter().any(|row| row.tags.contains(tag)) {
                let message = format!("no media item of the dataset has the tag `{tag}`");
                return Err(CliError::not_found(message).with_remedy("tessera tag list"));
            }
        }
        rows.retain(|row| !row.tags.iter().any(|tag| self.without.contains(tag)));
        if rows.is_empty() {
            return Err(CliError::failed("no media item is left to divide"));
        }
        let balance = if self.by.is_some() { Balance::Labels } else { Balance::Size };
        let found = split(&rows, sets, balance, self.seed);
        let mut described = Vec::new();
        for (number, set) in sets.iter().enumerate() {
            let of_set = || rows.iter().zip(&found).filter(|(_, of)| **of == number);
            let selection = select(of_set().map(|(row, _)| row))?;
            connection.state.save_named_selection(&set.name, dataset.id, &selection)?;
            described.push(describe(&set.name, of_set().map(|(row, _)| row), rows.len()));
        }
        let list = self.list.as_deref().map(|list| (list, list_of(&rows, &found, sets)));
        if let Some((_, text)) = list.as_ref().filter(|(list, _)| is_stdout(list)) {
            context.out.write_raw(text.as_bytes())?;
        } else {
            list.map(|(list, text)| write_result(list, text)).transpose()?;
            let fields = json!({ "dataset_id": dataset.id, "seed": self.seed, "sets": described });
            context.print(&Document::list(
                "tessera.split_sets/1",
                fields,
                "sets",
                SPLIT_COLUMNS,
            ))?;
        }
        if described.iter().any(|set| set["media"] == 0) {
            context.messages.warn("a set is empty, because near-duplicates are not divided");
            return Ok(Exit::Incomplete);
        }
        context.messages.info(format!(
            "{} divided; each set is a selection: tessera selection list",
            grouped_with_noun(rows.len() as u64, "media item", "media items")
        ));
        Ok(Exit::Done)
    }

    fn require_new_list(&self) -> CliResult<()> {
        let existing = self.list.as_deref().filter(|list| !is_stdout(list) && list.exists());
        match existing.filter(|_| !self.force) {
            None => Ok(()),
            Some(list) => {
                let message = format!("{} exists already; --force replaces it", list.display());
                Err(CliError::failed(message))
            }
        }
    }
}

fn select<'a>(rows: impl Iterator<Item = &'a MediaRow>) -> CliResult<Selection> {
    let entry = |row: &MediaRow| -> CliResult<SelectionEntry> {
        let media = row.media.ok_or_else(|| {
            CliError::failed("the service sends no ids of media items, so no set can be saved")
        })?;
        let name = SafeText::file_name(&row.path);
        Ok(SelectionEntry {
            name,
            entity: EntityType::Images,
            granularity: Granularity::default(),
            content: EntryContent::MediaItem(media, None),
        })
    };
    rows.map(entry).collect()
}

#[expect(clippy::cast_precision_loss, reason = "there are far fewer rows than 2^52")]
fn describe<'a>(
    name: &str,
    rows: impl Iterator<Item = &'a MediaRow> + Clone,
    total: usize,
) -> Value {
    let media = rows.clone().count();
    let labels = most_frequent(rows.flat_map(|row| &row.labels).map(String::as_str));
    let labels: serde_json::Map<String, Value> =
        labels.into_iter().map(|(label, count)| (label.to_owned(), count.into())).collect();
    let share = if total == 0 { 0.0 } else { media as f64 / total as f64 };
    json!({
        "name": name,
        "media": media,
        "share": (share * 10_000.0).round() / 10_000.0,
        "labels": labels,
    })
}

/// Returns a line of JSON for each row.
fn list_of(rows: &[MediaRow], found: &[usize], sets: &[SplitSet]) -> String {
    let line = |(row, set): (&MediaRow, &usize)| {
        let original = row.original.as_deref().and_then(Path::to_str);
        let line = json!({
            "media_id": row.media, "path": row.path, "original_path": original, "set": sets[*set].name,
        });
        format!("{line}\n")
    };
    rows.iter().zip(found).map(line).collect()
}
