//! `tessera tag`: lists, creates and renames tags, and gives tags and ratings to media.

use tessera_model::{
    DatasetTags, FailureKind, TagChange, TagColor, TagDefinitionChange, TagEdit, TagTarget,
    tag::{PICKED, REJECTED},
    text::grouped_with_noun,
};

use crate::cli::prelude::*;
use crate::cli::{export::ExportContentOptions, input_options::NamedDataset, media::listed_files};

#[derive(Debug, Subcommand)]
pub enum TagCommand {
    /// List the tags of a dataset.
    List(NamedDataset),
    /// Add tags to media.
    ///
    /// Tags that do not exist are created. `picked` and `rejected` exclude each other: adding one removes the other.
    Add {
        /// Names of the tags.
        #[arg(required = true, value_name = "TAG")]
        names: Vec<String>,
        #[command(flatten)]
        media: TaggedMediaOptions,
    },
    /// Remove tags from media.
    Remove {
        /// Names of the tags.
        #[arg(required = true, value_name = "TAG")]
        names: Vec<String>,
        #[command(flatten)]
        media: TaggedMediaOptions,
    },
    /// Rate media from 1 to 5; 0 removes the rating.
    Rate {
        /// The rating.
        #[arg(value_parser = clap::value_parser!(u8).range(0..=5))]
        rating: u8,
        #[command(flatten)]
        media: TaggedMediaOptions,
    },
    /// Create a tag, or change its color.
    Create {
        /// Name of the tag.
        tag: String,
        /// Color: red, yellow, green, cyan, blue or magenta.
        #[arg(value_name = "COLOR")]
        tag_color: Option<TagColor>,
    },
    /// Rename a tag everywhere.
    ///
    /// If the other name exists, both become one tag.
    Rename {
        /// Name of the tag.
        tag: String,
        /// The new name.
        name: String,
    },
    /// Delete a tag, and remove it from all media.
    Delete {
        /// Name of the tag.
        tag: String,
    },
    /// Undo the last change of tags or ratings.
    ///
    /// Media that were changed again since stay as they are.
    Undo,
}

#[derive(Debug, Args)]
pub struct TaggedMediaOptions {
    #[command(flatten)]
    content: ExportContentOptions,
    /// Files of the dataset from a list, separated by NUL bytes or lines; - for standard input. A relative path leads
    /// from the working directory or, if there is no such file, from the folder of the dataset.
    #[arg(long, value_name = "LIST")]
    files_from: Option<PathBuf>,
    /// All media of the dataset.
    #[arg(long, conflicts_with = "files_from")]
    all: bool,
}

pub async fn run(context: &Context, command: TagCommand) -> CliResult {
    let none: [String; 0] = [];
    match command {
        TagCommand::List(options) => {
            context.with_dataset(options.dataset.as_deref(), &[Endpoint::Tags], list).await
        }
        TagCommand::Add { names, media } => {
            edit(context, TagEdit::new(names, none, None), media).await
        }
        TagCommand::Remove { names, media } => {
            edit(context, TagEdit::new(none, names, None), media).await
        }
        TagCommand::Rate { rating, media } => {
            edit(context, TagEdit::new(&none, &none, Some(rating)), media).await
        }
        TagCommand::Create { tag, tag_color } => {
            define(context, &tag, &TagDefinitionChange::Create(tag_color)).await
        }
        TagCommand::Rename { tag, name } => {
            define(context, &tag, &TagDefinitionChange::Rename(name)).await
        }
        TagCommand::Delete { tag } => define(context, &tag, &TagDefinitionChange::Delete).await,
        TagCommand::Undo => {
            let work = async |connection: &Connection<'_>, dataset: &Dataset| {
                Ok((connection.client.undo_tags(dataset.id, None).await?, Exit::Done))
            };
            change(context, &[Endpoint::UndoTags], work).await
        }
    }
}

async fn list(connection: &Connection<'_>, dataset: Dataset) -> CliResult {
    let DatasetTags { tags, last_change, file_problems } =
        connection.client.tags(dataset.id).await?;
    warn_of_file(connection.context, &file_problems);
    let rows = tags.iter().map(|tag| {
        json!({
            "id": tag.id, "name": tag.name.received(), "color": tag.color.map(TagColor::as_str),
            "count": tag.count,
        })
    });
    let fields = json!({
        "dataset_id": dataset.id,
        "last_change": last_change.as_ref().map(SafeText::received),
        "tags": rows.collect::<Vec<Value>>(),
    });
    connection.context.print(&Document::new("tessera.tags/1", fields))
}

async fn edit(
    context: &Context,
    edit: Result<TagEdit, String>,
    media: TaggedMediaOptions,
) -> CliResult {
    let edit = edit.map_err(CliError::usage)?;
    let work = async |connection: &Connection<'_>, dataset: &Dataset| {
        if !edit.remove.is_empty() {
            require_known(context, &edit.remove, &connection.client.tags(dataset.id).await?)?;
        }
        let (target, outcome) = media.target(connection, dataset).await?;
        if let Some(local) = connection.local.as_ref().filter(|_| context.is_dry_run()) {
            let (id, target) = (dataset.id, target.clone());
            let count = local.blocking(move |it| it.count_tagged(id, &target)).await?;
            let media = grouped_with_noun(count as u64, "media item", "media items");
            context.messages.info(format!("would change the tags or the rating of {media}"));
        }
        Ok((connection.client.change_tags(dataset.id, &target, &edit).await?, outcome))
    };
    change(context, &[Endpoint::ChangeTags], work).await
}

/// Fails if a tag does not exist. Picking and rejecting are always possible, so that there may be none yet.
fn require_known(context: &Context, names: &[String], known: &DatasetTags) -> CliResult<()> {
    let is_known = |name: &str| {
        [PICKED, REJECTED].contains(&name)
            || known.tags.iter().any(|tag| tag.name.received() == name)
    };
    names.iter().find(|name| !is_known(name)).map_or(Ok(()), |name| Err(context.unknown_tag(name)))
}

async fn define(context: &Context, tag: &str, definition: &TagDefinitionChange) -> CliResult {
    let work = async |connection: &Connection<'_>, dataset: &Dataset| match connection
        .client
        .define_tag(dataset.id, tag, definition)
        .await
    {
        Err(failure) if failure.kind == FailureKind::NotFound => {
            let known = connection.client.tags(dataset.id).await?;
            let is_given = known.tags.iter().any(|it| it.name.received() == tag);
            let message = format!("a sidecar gives the tag `{tag}`; change the sidecar");
            Err(if is_given { CliError::not_found(message) } else { failure.into() })
        }
        defined => Ok((defined?, Exit::Done)),
    };
    change(context, &[Endpoint::DefineTag], work).await
}

/// Makes a change of the dataset of the command, and prints what was changed. `work` also returns the exit code.
async fn change(
    context: &Context,
    endpoints: &'static [Endpoint],
    work: impl AsyncFnOnce(&Connection<'_>, &Dataset) -> CliResult<(TagChange, Exit)>,
) -> CliResult {
    context.require_writable()?;
    let work = async |connection: &Connection<'_>, dataset: Dataset| {
        let (change, exit) = work(connection, &dataset).await?;
        print_change(context, &dataset, &change)?;
        Ok(exit)
    };
    context.with_dataset(None, endpoints, work).await
}

impl TaggedMediaOptions {
    /// Returns the media, and the exit code of a successful change, which shows whether all listed files are among them.
    async fn target(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
    ) -> CliResult<(TagTarget, Exit)> {
        if let Some(list) = &self.files_from {
            self.content.require_unused_with("--files-from")?;
            let files = listed_files(connection, dataset.id, list)?;
            return listed_target(connection.context, list, files);
        }
        if self.all {
            self.content.require_unused_with("--all")?;
            let entity = self.content.items.entity;
            let search = Search { entity, ..Search::browse(dataset.id) };
            return Ok((TagTarget::Search(Box::new(search)), Exit::Done));
        }
        let selection = self.content.found_or_selected(connection, dataset).await?;
        let selection = selection.ok_or_else(|| {
            CliError::usage("name the media: a selection, a search, --media, --files-from or --all")
        })?;
        Ok((TagTarget::Selection(selection.items()), Exit::Done))
    }
}

/// A request names files in UTF-8, so a file with another name is skipped.
fn listed_target(
    context: &Context,
    list: &Path,
    files: Vec<PathBuf>,
) -> CliResult<(TagTarget, Exit)> {
    let (mut names, mut skipped) = (Vec::new(), Vec::new());
    for file in files {
        match file.into_os_string().into_string() {
            Ok(name) => names.push(name),
            Err(name) => skipped.push(name),
        }
    }
    let Some(example) = skipped.first() else {
        return Ok((TagTarget::Files(names), Exit::Done));
    };
    let example = example.display();
    if names.is_empty() {
        let list = list.display();
        return Err(CliError::usage(format!("--files-from {list}: {example} is not UTF-8")));
    }
    let count = count_with_noun(skipped.len(), "file was skipped", "files were skipped");
    context.messages.warn(format!("{count}, because the name is not UTF-8: {example}"));
    Ok((TagTarget::Files(names), Exit::Incomplete))
}

fn print_change(context: &Context, dataset: &Dataset, change: &TagChange) -> CliResult {
    warn_of_file(context, &change.file_problems);
    if let Some(text) = change.kept_text() {
        context.messages.warn(text);
    }
    let mut fields = json!({
        "dataset_id": dataset.id,
        "change_id": change.id,
        "changed": change.changed,
        "kept": change.kept,
    });
    if let Some(undone) = &change.undone {
        context.messages.info(format!("undone: {undone}"));
        fields["undone"] = undone.received().into();
    }
    context.print(&Document::new("tessera.tag_change/1", fields))
}

fn warn_of_file(context: &Context, problems: &[SafeText]) {
    for problem in problems {
        context.messages.warn(problem);
    }
}
