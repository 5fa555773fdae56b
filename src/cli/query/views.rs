//! `tessera query save`, `list`, `run` and `remove`: the saved views, shared with the interface.

use clap::{Args, Subcommand};

use crate::{
    cli::{
        CliError, CliResult, Column, Context, Document, Exit, query_source::QuerySource, search,
    },
    state::write_views,
};
use tessera_model::{DatasetId, EntityType, Granularity, Query, SafeText, SavedView, StateValue};

#[derive(Debug, Subcommand)]
pub enum ViewCommand {
    /// Save a query as a view; replaces a view of the same name.
    Save {
        /// Name of the view.
        name: String,
        #[command(flatten)]
        source: QuerySource,
        /// What to search for: images or objects.
        #[arg(long, default_value = "images")]
        entity: EntityType,
        /// Granularity of the clusters: 0 (finest) to 4.
        #[arg(long, value_name = "0-4")]
        granularity: Option<Granularity>,
    },
    /// List the saved views.
    List,
    /// Run a saved view in its dataset; options override the saved values.
    Run(Box<ViewRunOptions>),
    /// Remove a saved view.
    Remove {
        /// Name of the view.
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct ViewRunOptions {
    /// Name of the view.
    name: String,
    #[command(flatten)]
    options: search::SearchOptions,
}

const VIEW_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::short_id("DATASET", "dataset_id"),
    Column::new("ENTITY", "entity_type"),
    Column::new("GRANULARITY", "granularity"),
    Column::new("QUERY", "query"),
    Column::new("FILTERS", "vql"),
];

pub(super) async fn run(context: &Context, command: ViewCommand) -> CliResult {
    match command {
        ViewCommand::Save { name, source, entity, granularity } => {
            let view = SavedView {
                name: view_name(&name)?,
                dataset: view_dataset(context).await?,
                query: Query::Browse,
                filters: source.filters()?,
                disabled_filters: Vec::new(),
                entity,
                granularity: granularity.unwrap_or_default(),
                similar_to: None,
                query_image: None,
            };
            save_view(context, view)
        }
        ViewCommand::List => {
            let views = write_views(&context.journal()?.views()?);
            context.print(&Document::list("tessera.views/1", views, "views", VIEW_COLUMNS))
        }
        ViewCommand::Run(run) => {
            let ViewRunOptions { name, options } = *run;
            let views = context.journal()?.views()?;
            let view = views.into_iter().find(|view| view.name.as_str() == name.trim());
            search::run_view(context, view.ok_or_else(|| unknown_view(&name))?, options).await
        }
        ViewCommand::Remove { name } => remove_view(context, &name),
    }
}

fn view_name(name: &str) -> CliResult<SafeText> {
    let name = SafeText::name(name.trim());
    if name.is_empty() { Err(CliError::usage("give the view a name")) } else { Ok(name) }
}

/// The dataset of the view; `None` for any.
async fn view_dataset(context: &Context) -> CliResult<Option<DatasetId>> {
    match &context.global.dataset {
        Some(_) => context.dataset_id(None).await.map(Some),
        None => Ok(None),
    }
}

fn save_view(context: &Context, view: SavedView) -> CliResult {
    let journal = context.journal()?;
    let mut views = journal.views()?;
    let message = format!("saved as `{}`; run it with `tessera query run`", view.name);
    view.insert_into(&mut views);
    journal.replace(&StateValue::Views(views))?;
    context.messages.info(message);
    Ok(Exit::Done)
}

fn remove_view(context: &Context, name: &str) -> CliResult {
    let journal = context.journal()?;
    let mut views = journal.views()?;
    let before = views.len();
    views.retain(|view| view.name.as_str() != name.trim());
    if views.len() == before {
        return Err(unknown_view(name));
    }
    journal.replace(&StateValue::Views(views))?;
    context.messages.info(format!("removed `{}`", SafeText::name(name)));
    Ok(Exit::Done)
}

fn unknown_view(name: &str) -> CliError {
    CliError::not_found(format!("unknown view `{name}`")).with_remedy("tessera query list")
}
