//! `tessera query`: queries as text (`vql`), and saved views. Few commands need the service.

mod add;
mod check;
mod print;
mod views;

use clap::Subcommand;

use self::print::{explain, print_query};
use crate::cli::{CliResult, Context, query_source::QuerySource};

#[derive(Debug, Subcommand)]
pub enum QueryCommand {
    /// Print an empty query, to add filters to.
    New,
    /// Print a query with one more filter; all filters must match (AND).
    Add(add::QueryAddOptions),
    /// Check a query without sending it, and report every error with its line and column. With
    /// --dataset, also check that the dataset has the required enrichment.
    Check(QuerySource),
    /// Print a query in the canonical format.
    Fmt(QuerySource),
    /// Explain a query in sentences.
    Explain(QuerySource),
    #[command(flatten)]
    Views(views::ViewCommand),
}

pub async fn run(context: &Context, command: QueryCommand) -> CliResult {
    match command {
        QueryCommand::New => print_query(context, &[]),
        QueryCommand::Add(options) => print_query(context, &options.extended_query()?),
        QueryCommand::Check(source) => check::run(context, &source).await,
        QueryCommand::Fmt(source) => print_query(context, &source.filters()?),
        QueryCommand::Explain(source) => explain(context, &source.filters()?),
        QueryCommand::Views(command) => views::run(context, command).await,
    }
}
