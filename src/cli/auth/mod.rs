//! `tessera auth`: imports, checks and removes the key pair of a profile, and prints tokens.

mod hosted_profile;
mod import;
mod logout;
mod secret_screen;
mod status;
mod token;

use std::time::Duration;

use clap::Subcommand;

use crate::cli::{CliError, Context, Exit};

#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store the key pair of a profile: fetched with a browser session, or one that you have.
    Import(import::ImportOptions),
    /// Show where the secret is stored, and whether the service accepts it; with --dataset, for
    /// that dataset.
    Status,
    /// Print a token for other programs, dated by this machine's clock.
    Token {
        /// Lifetime of the token: 30s to 24h. Default: the profile's setting, or 10m.
        #[arg(long, value_name = "DURATION", value_parser = token::parse_ttl)]
        ttl: Option<Duration>,
        /// Print the whole header: `Authorization: Bearer ...`.
        #[arg(long)]
        as_header: bool,
    },
    /// Remove the secret of a profile from the keyring and the file.
    Logout,
}

pub async fn run(context: &Context, command: AuthCommand) -> Result<Exit, CliError> {
    match command {
        AuthCommand::Import(import) => import::run(context, import).await,
        AuthCommand::Status => status::run(context).await,
        AuthCommand::Token { ttl, as_header } => token::print(context, ttl, as_header),
        AuthCommand::Logout => logout::run(context),
    }
}
