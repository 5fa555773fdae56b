//! `tessera dataset split` divides a dataset into sets without near-duplicates across them, and `tessera dataset
//! diverse` selects the media that differ most, for example to label them first. Both save selections.

use clap::ValueEnum;
use tessera_client::ExistingFile;
use tessera_model::{
    split::{Balance, Shares, SplitPlan},
    text::grouped_with_noun,
};

use super::{DatasetArgument, media_rows};
use crate::cli::prelude::*;
use crate::{
    cli::{
        export::ExportContentOptions,
        output::unless_closed,
        selection::name_taken,
        values::{check_new_file, existing_file, is_stdout, write_result},
    },
    usecase::{
        file_actions::selection_of_media,
        media_rows::{MediaRow, most_frequent},
        split::{divide, selections_of},
    },
};

#[derive(Debug, Args)]
pub struct DatasetSplitOptions {
    /// Shares of the sets, separated by slashes.
    #[arg(value_name = "SHARES")]
    shares: Shares,
    #[command(flatten)]
    source: DatasetArgument,
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

impl DatasetSplitOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let plan = self.plan()?;
        if self.list.as_deref().is_some_and(is_stdout) {
            context.out.require_text("--list - prints its lines")?;
        }
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            self.split(connection, dataset, &plan).await
        };
        self.source.with_dataset(context, work).await
    }

    fn plan(&self) -> CliResult<SplitPlan> {
        let names = self.names.iter().map(String::as_str);
        let sets = self.shares.clone().named(names);
        Ok(SplitPlan {
            sets: sets.map_err(|reason| CliError::usage(format!("--names: {reason}")))?,
            balance: if self.by.is_some() { Balance::Labels } else { Balance::Size },
            without: self.without.clone(),
            seed: self.seed,
        })
    }

    async fn split(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        plan: &SplitPlan,
    ) -> CliResult {
        let context = connection.context;
        let existing = existing_file(self.force);
        // The division can take minutes, so everything that can be refused is checked first.
        let names = plan.sets.iter().map(|set| &set.name);
        let taken = connection.state.taken_names(names, dataset.id)?;
        if existing == ExistingFile::Keep {
            let list = self.list.as_deref().filter(|list| !is_stdout(list));
            list.map(|list| check_new_file(list, existing)).transpose()?;
            require_free(&taken)?;
        }
        let rows = media_rows(connection, dataset).await?;
        let divided = divide(&rows, plan)
            .map_err(|failure| context.suggest_if_unknown(failure, "tessera tag list"))?;
        let selections = selections_of(plan, &divided)?;
        let saved = connection.state.save_named_selections(dataset.id, &selections, existing);
        require_free(&saved?)?;
        let total = divided.iter().map(Vec::len).sum();
        let sets_and_rows = || plan.sets.iter().map(|set| set.name.as_str()).zip(&divided);
        let list = self.list.as_deref().map(|list| (list, list_of(sets_and_rows())));
        if let Some((_, text)) = list.as_ref().filter(|(list, _)| is_stdout(list)) {
            unless_closed(context.out.write_raw(text.as_bytes()))?;
        } else {
            list.map(|(list, text)| write_result(list, text, existing)).transpose()?;
            let described: Vec<Value> =
                sets_and_rows().map(|(name, rows)| describe(name, rows, total)).collect();
            let fields = json!({ "dataset_id": dataset.id, "seed": self.seed, "sets": described });
            context.print(&Document::new("tessera.split_sets/1", fields))?;
        }
        let reasons = sets_and_rows().filter(|(_, rows)| rows.is_empty());
        let reasons: Vec<String> = reasons.map(|(name, _)| plan.why_empty(name, total)).collect();
        if !reasons.is_empty() {
            for reason in reasons {
                context.messages.warn(reason);
            }
            return Ok(Exit::Incomplete);
        }
        let items = grouped_with_noun(total as u64, "media item", "media items");
        let command = context.suggestion("tessera selection list");
        context.messages.info(format!("{items} divided; each set is a selection: {command}"));
        Ok(Exit::Done)
    }
}

fn require_free(taken: &[String]) -> CliResult<()> {
    taken.first().map_or(Ok(()), |name| Err(name_taken(name)))
}

#[expect(clippy::cast_precision_loss, reason = "there are far fewer rows than 2^52")]
fn describe(name: &str, rows: &[&MediaRow], total: usize) -> Value {
    let labels = most_frequent(rows.iter().flat_map(|row| row.classes()));
    let labels: serde_json::Map<String, Value> =
        labels.into_iter().map(|(label, count)| (label.to_owned(), count.into())).collect();
    let share = rows.len() as f64 / total as f64;
    json!({
        "name": name,
        "media": rows.len(),
        "share": (share * 10_000.0).round() / 10_000.0,
        "labels": labels,
    })
}

/// Returns a line of JSON for each row.
fn list_of<'a>(sets: impl Iterator<Item = (&'a str, &'a Vec<&'a MediaRow>)>) -> String {
    let line = |set: &str, row: &MediaRow| {
        let original = row.original.as_deref().and_then(Path::to_str);
        let line = json!({
            "media_id": row.media, "path": row.path, "original_path": original, "set": set,
        });
        format!("{line}\n")
    };
    sets.flat_map(|(set, rows)| rows.iter().map(move |row| line(set, row))).collect()
}

#[derive(Debug, Args)]
pub struct DiverseOptions {
    /// Number of media to select.
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    #[command(flatten)]
    source: DatasetArgument,
    #[command(flatten)]
    content: ExportContentOptions,
    /// Name of the selection.
    #[arg(long, value_name = "NAME", default_value = "diverse")]
    name: String,
    /// Replace a saved selection of the same name.
    #[arg(long)]
    force: bool,
}

impl DiverseOptions {
    pub async fn run(self, context: &Context) -> CliResult {
        let work = async |connection: &Connection<'_>, dataset: &Dataset| {
            self.select(connection, dataset).await
        };
        self.source.with_dataset(context, work).await
    }

    async fn select(&self, connection: &Connection<'_>, dataset: &Dataset) -> CliResult {
        let context = connection.context;
        let service = connection.local_service("choosing diverse media")?;
        let id = dataset.id;
        if connection.state.has_named_selection(&self.name, id)? && !self.force {
            return Err(name_taken(&self.name));
        }
        let among = self.content.found_or_selected(connection, dataset).await?;
        let among = among.map(|selection| selection.items());
        let count = self.count as usize;
        let chosen =
            service.blocking(move |it| it.diverse_media(id, among.as_deref(), count)).await?;
        let found = grouped_with_noun(chosen.len() as u64, "media item", "media items");
        if context.is_dry_run() {
            let change = format!("save {found} as the selection `{}`", self.name);
            return context.print_planned_change(&change, None);
        }
        let (selection, existing) = (selection_of_media(&chosen), existing_file(self.force));
        let saved = connection.state.save_named_selection(&self.name, id, &selection, existing)?;
        saved.ok_or_else(|| name_taken(&self.name))?;
        let rows = chosen
            .iter()
            .map(|(media, file)| json!({"media_id": media, "path": file.to_string_lossy()}));
        let rows: Vec<_> = rows.collect();
        let fields = json!({ "dataset_id": id, "selection": self.name, "media": rows });
        context.print(&Document::new("tessera.diverse_media/1", fields))?;
        context.messages.info(format!("{found} selected as `{}`", self.name));
        if chosen.len() < count {
            context.messages.warn(format!("there are no more than {found} to choose from"));
            return Ok(Exit::Incomplete);
        }
        Ok(Exit::Done)
    }
}
