//! `tessera tag`: lists, creates and renames tags, and gives tags and ratings to media.

use std::ffi::OsString;

use tessera_model::{
    DatasetTags, TagChange, TagColor, TagDefinition, TagEdit, TagTarget,
    tag::{PICKED, REJECTED},
    text::grouped_with_noun,
};

use crate::cli::prelude::*;
use crate::cli::{export::ExportContentOptions, media::listed_files};

#[derive(Debug, Subcommand)]
pub enum TagCommand {
    /// List the tags of a dataset.
    List {
        /// ID or name of the dataset, or its folder.
        dataset: Option<String>,
    },
    /// Add tags to media. Tags that do not exist are created.
    ///
    /// `picked` and `rejected` exclude each other: adding one removes the other.
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
    /// Rename a tag everywhere. If the other name exists, both become one tag.
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
    /// Undo the last change of tags or ratings. Media that were changed again since stay as they are.
    Undo,
}

#[derive(Debug, Args)]
pub struct TaggedMediaOptions {
    #[command(flatten)]
    content: ExportContentOptions,
    /// Files of the dataset from a list, separated by NUL bytes or lines; - for standard input. A relative path leads
    /// from the working directory or, if there is no such file, from the folder of the dataset.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["selection", "selection_file", "media", "cluster"])]
    files_from: Option<PathBuf>,
    /// All media of the dataset.
    #[arg(long, conflicts_with_all = ["selection", "selection_file", "media", "cluster", "files_from"])]
    all: bool,
}

pub async fn run(context: &Context, command: TagCommand) -> CliResult {
    let none: [String; 0] = [];
    match command {
        TagCommand::List { dataset } => {
            let work = async |connection: &_| list(connection, dataset.as_deref()).await;
            context.with_connection(&[Endpoint::Tags], work).await
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
            define(context, &tag, &TagDefinition::Create(tag_color)).await
        }
        TagCommand::Rename { tag, name } => {
            define(context, &tag, &TagDefinition::Rename(name)).await
        }
        TagCommand::Delete { tag } => define(context, &tag, &TagDefinition::Delete).await,
        TagCommand::Undo => {
            let work = async |connection: &Connection<'_>, dataset: &Dataset| {
                Ok(connection.client.undo_tags(dataset.id, None).await?)
            };
            change(context, &[Endpoint::UndoTags], work).await
        }
    }
}

async fn list(connection: &Connection<'_>, dataset: Option<&str>) -> CliResult {
    let dataset = connection.dataset(dataset).await?;
    let DatasetTags { tags, last_change, file_problems } =
        connection.client.tags(dataset.id).await?;
    warn_of_file(connection.context, &file_problems);
    let rows = tags.iter().map(|tag| {
        json!({
            "id": tag.id, "name": tag.name.as_str(), "color": tag.color.map(TagColor::as_str),
            "count": tag.count,
        })
    });
    let fields = json!({
        "dataset_id": dataset.id,
        "last_change": last_change.as_ref().map(ToString::to_string),
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
        let target = media.target(connection, dataset).await?;
        if let Some(local) = connection.local.as_ref().filter(|_| context.is_dry_run()) {
            let count = local.count_tagged(dataset.id, target.clone()).await?;
            let media = grouped_with_noun(count as u64, "media item", "media items");
            context.messages.info(format!("would change the tags or the rating of {media}"));
        }
        Ok(connection.client.change_tags(dataset.id, &target, &edit).await?)
    };
    change(context, &[Endpoint::ChangeTags], work).await
}

/// Fails if a tag does not exist. Picking and rejecting are always possible, so that there may be none yet.
fn require_known(context: &Context, names: &[String], known: &DatasetTags) -> CliResult<()> {
    let is_known = |name: &str| {
        [PICKED, REJECTED].contains(&name) || known.tags.iter().any(|tag| tag.name.as_str() == name)
    };
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => Err(CliError::not_found(format!("the dataset has no tag `{unknown}`"))
            .with_remedy(context.suggestion("tessera tag list"))),
    }
}

async fn define(context: &Context, tag: &str, definition: &TagDefinition) -> CliResult {
    let work = async |connection: &Connection<'_>, dataset: &Dataset| {
        Ok(connection.client.define_tag(dataset.id, tag, definition).await?)
    };
    change(context, &[Endpoint::DefineTag], work).await
}

/// Makes a change of the dataset of the command, and prints what was changed.
async fn change(
    context: &Context,
    endpoints: &'static [Endpoint],
    work: impl AsyncFnOnce(&Connection<'_>, &Dataset) -> CliResult<TagChange>,
) -> CliResult {
    context.require_writable()?;
    let work = async |connection: &Connection<'_>| {
        let dataset = connection.dataset(None).await?;
        let change = work(connection, &dataset).await?;
        print_change(context, &dataset, &change)
    };
    context.with_connection(endpoints, work).await
}

impl TaggedMediaOptions {
    async fn target(&self, connection: &Connection<'_>, dataset: &Dataset) -> CliResult<TagTarget> {
        if let Some(file) = &self.files_from {
            let wrong =
                |reason| CliError::usage(format!("--files-from {}: {reason}", file.display()));
            let files = listed_files(connection, dataset.id, file)?;
            if files.is_empty() {
                return Err(wrong("no file is listed".to_owned()));
            }
            let name = |file: PathBuf| file.into_os_string().into_string();
            let names: Result<Vec<String>, OsString> = files.into_iter().map(name).collect();
            return names
                .map(TagTarget::Files)
                .map_err(|name| wrong(format!("{} is not UTF-8", name.display())));
        }
        if self.all {
            let entity = self.content.entity();
            let search = Search { entity, ..Search::browse(dataset.id) };
            return Ok(TagTarget::Search(Box::new(search)));
        }
        let selection = self.content.found_or_selected(connection, dataset).await?;
        let selection = selection.ok_or_else(|| {
            CliError::usage("name the media: a selection, a search, --media, --files-from or --all")
        })?;
        Ok(TagTarget::Selection(selection.items()))
    }
}

fn print_change(context: &Context, dataset: &Dataset, change: &TagChange) -> CliResult {
    warn_of_file(context, &change.file_problems);
    if change.kept > 0 {
        let media = grouped_with_noun(change.kept, "media item stays", "media items stay");
        context.messages.warn(format!(
            "{media} as before: a sidecar gives the tag, or the media item was changed again"
        ));
    }
    let fields = json!({
        "dataset_id": dataset.id,
        "change_id": change.id,
        "changed": change.changed,
        "kept": change.kept,
    });
    context.print(&Document::new("tessera.tag_change/1", fields))
}

fn warn_of_file(context: &Context, problems: &[SafeText]) {
    for problem in problems {
        context.messages.warn(problem);
    }
}
