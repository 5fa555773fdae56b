//! Queries that are kept by name: the saved views of the interface, in the same book.

use clap::{Args, Subcommand};

use super::QuerySource;
use crate::{
    cli::{CliError, Column, Context, Document, Exit, search},
    state::{StateStore, write_views},
};
use tessera_model::{
    DatasetId, EntityType, Granularity, Query, SafeText, SavedView, StateKey, StateValue,
};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum ViewCommand {
    /// Keep a query under a name, in the place of an older one of this name.
    Save {
        /// Its name.
        name: String,
        /// The query.
        #[command(flatten)]
        source: QuerySource,
        /// What is searched for: images or objects.
        #[arg(long, default_value = "images", value_parser = parse_entity)]
        entity: EntityType,
        /// How coarse the clusters are: 0 finest, 4 coarsest.
        #[arg(long, value_name = "0-4", value_parser = parse_granularity)]
        granularity: Option<Granularity>,
    },
    /// List what is kept.
    List,
    /// Run a query, in the dataset it belongs to; what is given beside it goes before what was kept.
    Run(Box<ViewRunOptions>),
    /// Forget a query.
    Remove {
        /// Its name.
        name: String,
    },
}

/// A query that is run again.
#[derive(Debug, Args)]
pub struct ViewRunOptions {
    /// Its name.
    name: String,
    /// What every search takes.
    #[command(flatten)]
    options: search::SearchOptions,
}

const VIEW_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("DATASET", "dataset_id"),
    Column::new("ENTITY", "entity_type"),
    Column::new("GRANULARITY", "granularity"),
    Column::new("QUERY", "query"),
    Column::new("FILTERS", "vql"),
];

fn parse_entity(word: &str) -> Result<EntityType, String> {
    EntityType::parse(word).ok_or_else(|| "images or objects".to_owned())
}

fn parse_granularity(level: &str) -> Result<Granularity, String> {
    level.parse().ok().and_then(Granularity::new).ok_or_else(|| "0 (finest) to 4".to_owned())
}

/// Runs one of them.
pub(super) async fn run(context: &Context, command: ViewCommand) -> Result<Exit, CliError> {
    match command {
        ViewCommand::Save { name, source: written, entity, granularity } => {
            let view = SavedView {
                name: view_name(&name)?,
                dataset: view_dataset(context).await?,
                query: Query::Browse,
                filters: written.filters()?,
                disabled_filters: Vec::new(),
                entity,
                granularity: granularity.unwrap_or_default(),
                similar_to: None,
                query_image: None,
            };
            save_view(context, view)
        }
        ViewCommand::List => {
            let views = load_views(&context.journal()?)?;
            context.print(&Document::list(
                "tessera.views/1",
                write_views(&views),
                "views",
                VIEW_COLUMNS,
            ))?;
            Ok(Exit::Done)
        }
        ViewCommand::Run(again) => {
            let ViewRunOptions { name, options } = *again;
            let views = load_views(&context.journal()?)?;
            let view = views.into_iter().find(|view| view.name.as_str() == name.trim());
            search::run_view(context, view.ok_or_else(|| unknown_view(&name))?, options).await
        }
        ViewCommand::Remove { name } => remove_view(context, &name),
    }
}

fn view_name(name: &str) -> Result<SafeText, CliError> {
    let title = SafeText::name(name.trim());
    if title.is_empty() {
        return Err(CliError::new(Exit::Usage, "a query that is kept needs a name"));
    }
    Ok(title)
}

/// The dataset it belongs to; `None` for whichever is asked, when none is named.
async fn view_dataset(context: &Context) -> Result<Option<DatasetId>, CliError> {
    match &context.global.dataset {
        Some(_) => context.dataset_id(None).await.map(Some),
        None => Ok(None),
    }
}

fn load_views(journal: &StateStore) -> Result<Vec<SavedView>, CliError> {
    match journal.load(&StateKey::Views)? {
        Some(StateValue::Views(views)) => Ok(views),
        _ => Ok(Vec::new()),
    }
}

fn save_view(context: &Context, view: SavedView) -> Result<Exit, CliError> {
    let journal = context.journal()?;
    let mut views = load_views(&journal)?;
    let words = format!("kept as `{}`; `tessera query run` runs it", view.name);
    view.insert_into(&mut views);
    journal.save(1, &StateValue::Views(views))?;
    context.messages.info(words);
    Ok(Exit::Done)
}

fn remove_view(context: &Context, name: &str) -> Result<Exit, CliError> {
    let journal = context.journal()?;
    let mut views = load_views(&journal)?;
    let before = views.len();
    views.retain(|view| view.name.as_str() != name.trim());
    if views.len() == before {
        return Err(unknown_view(name));
    }
    journal.save(1, &StateValue::Views(views))?;
    context.messages.info(format!("`{}` is forgotten", SafeText::name(name)));
    Ok(Exit::Done)
}

fn unknown_view(name: &str) -> CliError {
    CliError::new(Exit::NotFound, format!("no query is kept as `{name}`"))
        .with_remedy("tessera query list")
}
