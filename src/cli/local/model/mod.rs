//! `tessera model`: checks the folder of a model, gets models, and stores models under a name.

mod added;
mod available;
mod check;
mod get;
mod provider;

use crate::cli::{CliResult, Context, service_options::ModelCommand};

pub async fn run_model(context: &Context, command: &ModelCommand) -> CliResult {
    let out = &context.out;
    match command {
        ModelCommand::Get { name } => get::get(context, name).await,
        ModelCommand::Add { folder, name } => added::add(folder, name.as_deref()),
        ModelCommand::List { available: true } => available::list(context),
        ModelCommand::List { available: false } => added::list(out),
        ModelCommand::Remove { name } => added::remove(name),
        ModelCommand::Check { folder, pictures } => check::check(out, folder, pictures),
    }
}
