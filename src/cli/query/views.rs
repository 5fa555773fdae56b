//! Queries that are kept by name: the saved views of the interface, in the same book.

use clap::{Args, Subcommand};

use super::Written;
use crate::{
    cli::{Column, Context, Document, Ended, Exit, search},
    journal::{Journal, write_views},
};
use tessera_model::{Book, DatasetId, EntityType, Entry, Granularity, Query, SafeText, SavedView};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Views {
    /// Keep a query under a name, in the place of an older one of this name.
    Save {
        /// Its name.
        name: String,
        /// The query.
        #[command(flatten)]
        written: Written,
        /// What is searched for: images or objects.
        #[arg(long, default_value = "images", value_parser = entity)]
        entity: EntityType,
        /// How coarse the clusters are: 0 finest, 4 coarsest.
        #[arg(long, value_name = "0-4", value_parser = granularity)]
        granularity: Option<Granularity>,
    },
    /// List what is kept.
    List,
    /// Run a query, in the dataset it belongs to; what is given beside it goes before what was kept.
    Run(Box<Again>),
    /// Forget a query.
    Remove {
        /// Its name.
        name: String,
    },
}

/// A query that is run again.
#[derive(Debug, Args)]
pub struct Again {
    /// Its name.
    name: String,
    /// What every search takes.
    #[command(flatten)]
    options: search::Options,
}

const COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("DATASET", "dataset_id"),
    Column::new("ENTITY", "entity_type"),
    Column::new("GRANULARITY", "granularity"),
    Column::new("QUERY", "query"),
    Column::new("FILTERS", "vql"),
];

fn entity(word: &str) -> Result<EntityType, String> {
    EntityType::parse(word).ok_or_else(|| "images or objects".to_owned())
}

fn granularity(level: &str) -> Result<Granularity, String> {
    level.parse().ok().and_then(Granularity::new).ok_or_else(|| "0 (finest) to 4".to_owned())
}

/// Runs one of them.
pub(super) async fn run(context: &Context, command: Views) -> Result<Exit, Ended> {
    match command {
        Views::Save { name, written, entity, granularity } => {
            let view = SavedView {
                name: title(&name)?,
                dataset: dataset(context).await?,
                query: Query::Browse,
                filters: written.filters()?,
                off: Vec::new(),
                entity,
                granularity: granularity.unwrap_or_default(),
                similar_to: None,
                image: None,
            };
            save(context, view)
        }
        Views::List => {
            let views = kept(&context.journal()?)?;
            context.answer(&Document::list(
                "tessera.views/1",
                write_views(&views),
                "views",
                COLUMNS,
            ))?;
            Ok(Exit::Done)
        }
        Views::Run(again) => {
            let Again { name, options } = *again;
            let views = kept(&context.journal()?)?;
            let view = views.into_iter().find(|view| view.name.as_str() == name.trim());
            search::view(context, view.ok_or_else(|| unknown(&name))?, options).await
        }
        Views::Remove { name } => remove(context, &name),
    }
}

fn title(name: &str) -> Result<SafeText, Ended> {
    let title = SafeText::name(name.trim());
    if title.is_empty() {
        return Err(Ended::new(Exit::Usage, "a query that is kept needs a name"));
    }
    Ok(title)
}

/// The dataset it belongs to; `None` for whichever is asked, when none is named.
async fn dataset(context: &Context) -> Result<Option<DatasetId>, Ended> {
    match &context.global.dataset {
        Some(_) => context.dataset_id(None).await.map(Some),
        None => Ok(None),
    }
}

fn kept(journal: &Journal) -> Result<Vec<SavedView>, Ended> {
    match journal.recall(&Book::Views)? {
        Some(Entry::Views(views)) => Ok(views),
        _ => Ok(Vec::new()),
    }
}

fn save(context: &Context, view: SavedView) -> Result<Exit, Ended> {
    let journal = context.journal()?;
    let mut views = kept(&journal)?;
    let words = format!("kept as `{}`; `tessera query run` runs it", view.name);
    view.join(&mut views);
    journal.keep(1, &Entry::Views(views))?;
    context.note.say(words);
    Ok(Exit::Done)
}

fn remove(context: &Context, name: &str) -> Result<Exit, Ended> {
    let journal = context.journal()?;
    let mut views = kept(&journal)?;
    let before = views.len();
    views.retain(|view| view.name.as_str() != name.trim());
    if views.len() == before {
        return Err(unknown(name));
    }
    journal.keep(1, &Entry::Views(views))?;
    context.note.say(format!("`{}` is forgotten", SafeText::name(name)));
    Ok(Exit::Done)
}

fn unknown(name: &str) -> Ended {
    Ended::new(Exit::NotFound, format!("no query is kept as `{name}`")).remedy("tessera query list")
}
