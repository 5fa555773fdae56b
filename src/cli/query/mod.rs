//! `tessera query`: explains, saves, lists and runs queries.

mod edit;

use crate::cli::prelude::*;
use crate::{
    cli::{input_options::QuerySource, search},
    state::{StateFolder, write_views},
};
use tessera_model::{EntityType, Filter, Granularity, Query, SavedView, StateValue, is_same_name};
use tessera_wire::vql;

#[derive(Debug, Subcommand)]
pub enum QueryCommand {
    /// Print an empty query, to add filters to.
    New,
    /// Print a query with one more filter; all filters must match (AND).
    ///
    /// The filters of files, from `path` to `column`, are for local services only.
    Add(edit::QueryAddOptions),
    /// Check a query without sending it, and report every error with its line and column.
    ///
    /// With a local folder, also report what only its service refuses. With --dataset, also check that the dataset has
    /// the required enrichment.
    Check(QuerySource),
    /// Print a query in the canonical format.
    Fmt(QuerySource),
    /// Explain a query in sentences.
    Explain(QuerySource),
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
    Run {
        /// Name of the view.
        name: String,
        #[command(flatten)]
        options: Box<search::SearchOptions>,
    },
    /// Remove a saved view.
    Remove {
        /// Name of the view.
        name: String,
    },
}

pub async fn run(context: &Context, command: QueryCommand) -> CliResult {
    match command {
        QueryCommand::New => print_query(context, &[]),
        QueryCommand::Add(options) => print_query(context, &options.extended_query(context).await?),
        QueryCommand::Check(source) => edit::run(context, &source).await,
        QueryCommand::Fmt(source) => print_query(context, &source.filters()?),
        QueryCommand::Explain(source) => explain(context, &source.filters()?),
        QueryCommand::Save { name, source, entity, granularity } => {
            let view = SavedView {
                name: view_name(&name)?,
                dataset: view_dataset(context).await?,
                query: Query::Browse,
                filters: edit::accepted_filters(context, &source)?,
                disabled_filters: Vec::new(),
                entity,
                granularity: granularity.unwrap_or_default(),
                order: None,
                similar_to: None,
                file: None,
                region: None,
            };
            save_view(context, view)
        }
        QueryCommand::List => {
            let views = write_views(&context.state()?.views()?);
            context.print(&Document::new("tessera.views/1", views))
        }
        QueryCommand::Run { name, options } => {
            let view = find_view(context, &context.state()?, &name)?;
            search::run_view(context, view, *options).await
        }
        QueryCommand::Remove { name } => remove_view(context, &name),
    }
}

fn print_query(context: &Context, filters: &[Filter]) -> CliResult {
    context.out.print_json(&vql::to_json(filters)).map(|()| Exit::Done)
}

fn explain(context: &Context, filters: &[Filter]) -> CliResult {
    let sentences: Vec<String> = filters.iter().map(Filter::to_string).collect();
    if context.out.is_machine() {
        let as_sent = vql::to_json(filters);
        let rows: Vec<Value> = sentences
            .iter()
            .enumerate()
            .map(|(index, sentence)| json!({ "filter": as_sent[index], "explanation": sentence }))
            .collect();
        let fields = json!({ "filters": rows });
        return context.print(&Document::new("tessera.query_explanation/1", fields));
    }
    context.print_line(match sentences.as_slice() {
        [] => "matches every media item, because it has no filters".to_owned(),
        [only] => format!("matches media items if {only}"),
        several => format!("matches media items if\n  {}", several.join(", and\n  ")),
    })
}

fn view_name(name: &str) -> CliResult<SafeText> {
    let name = SafeText::name(name.trim());
    if name.is_empty() { Err(CliError::usage("give the view a name")) } else { Ok(name) }
}

/// Returns the dataset of the view, or `None` if the view is for any dataset.
async fn view_dataset(context: &Context) -> CliResult<Option<DatasetId>> {
    match &context.global.dataset {
        Some(_) => context.dataset_id(None).await.map(Some),
        None => Ok(None),
    }
}

fn save_view(context: &Context, view: SavedView) -> CliResult {
    let state = context.state()?;
    context.only_plans(&format!("save the view `{}`", view.name), None)?;
    let mut views = state.views()?;
    let command = ShellCommand::new("tessera query run").word(view.name.received());
    let message =
        format!("saved as `{}`; run it with `{}`", view.name, context.suggestion(command));
    view.insert_into(&mut views);
    let document = Document::new("tessera.views/1", write_views(&views));
    state.replace(&StateValue::Views(views))?;
    context.messages.info(message);
    context.print_for_programs(&document)
}

fn remove_view(context: &Context, name: &str) -> CliResult {
    let state = context.state()?;
    let mut views = state.views()?;
    let before = views.len();
    views.retain(|view| !is_same_name(view.name.received(), name.trim()));
    if views.len() == before {
        return Err(unknown_view(context, name));
    }
    let name = SafeText::name(name);
    context.only_plans(&format!("remove the view `{name}`"), None)?;
    let document = Document::new("tessera.views/1", write_views(&views));
    state.replace(&StateValue::Views(views))?;
    context.messages.info(format!("removed `{name}`"));
    context.print_for_programs(&document)
}

pub(super) fn find_view(
    context: &Context,
    state: &StateFolder,
    name: &str,
) -> CliResult<SavedView> {
    let mut views = state.views()?.into_iter();
    let view = views.find(|view| is_same_name(view.name.received(), name.trim()));
    view.ok_or_else(|| unknown_view(context, name))
}

fn unknown_view(context: &Context, name: &str) -> CliError {
    CliError::not_found(format!("unknown view `{name}`"))
        .with_remedy(context.suggestion("tessera query list"))
}
