//! `tessera auth`: imports, checks and removes the key pair of a profile, and prints tokens.

mod import;
mod status;

use std::time::Duration;

use clap::Subcommand;
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::{
    cli::{
        CliError, Column, Context, DeploymentKind, Document, Exit, ServiceAddress, ServiceTarget,
        login::{SecretSource, ServiceLogin, open_secrets},
    },
    config::{DeploymentConfig, Profile},
    credentials::{self, SecretOwner, SecretStore},
};
use tessera_client::{AuthMethod, BaseUrl, TOKEN_LIFETIME};

/// Limits of a printed token's lifetime. The API states no maximum; similar services accept a day.
const TTL_RANGE: [Duration; 2] = [Duration::from_secs(30), Duration::from_hours(24)];

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
        #[arg(long, value_name = "DURATION", value_parser = parse_ttl)]
        ttl: Option<Duration>,
        /// Print the whole header: `Authorization: Bearer ...`.
        #[arg(long)]
        as_header: bool,
    },
    /// Remove the secret of a profile from the keyring and the file.
    Logout,
}

const LOGOUT_COLUMNS: &[Column] =
    &[Column::new("profile", "profile"), Column::new("removed from", "removed_from")];

fn parse_ttl(raw: &str) -> Result<Duration, String> {
    let life = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    let [shortest, longest] = TTL_RANGE;
    if life < shortest || life > longest {
        return Err("the lifetime must be between 30s and 24h".to_owned());
    }
    Ok(life)
}

pub async fn run(context: &Context, command: AuthCommand) -> Result<Exit, CliError> {
    match command {
        AuthCommand::Import(import) => import::run(context, import).await,
        AuthCommand::Status => status::run(context).await,
        AuthCommand::Token { ttl, as_header } => print_token(context, ttl, as_header),
        AuthCommand::Logout => logout(context),
    }
}

/// A hosted profile with its parsed address.
struct HostedProfile {
    profile: Profile,
    base_url: BaseUrl,
    origin: String,
    api_key: String,
}

impl HostedProfile {
    fn owner(&self) -> SecretOwner<'_> {
        SecretOwner { profile: &self.profile.name, origin: &self.origin, api_key: &self.api_key }
    }

    fn selected(context: &Context) -> Result<Self, CliError> {
        match context.target()? {
            ServiceTarget::Profile(profile) => Self::from_profile(profile),
            ServiceTarget::Address(ServiceAddress { base_url, .. }) => {
                let message =
                    "secrets are stored per profile; add a profile for this address first";
                let remedy =
                    format!("tessera profile add NAME --kind hosted --base-url {base_url}");
                Err(CliError::usage(message).with_remedy(remedy))
            }
        }
    }

    fn from_profile(profile: Profile) -> Result<Self, CliError> {
        let DeploymentConfig::Hosted { base_url, api_key } = &profile.deployment else {
            let (name, kind) = (&profile.name, profile.deployment.kind());
            let message = format!("the profile `{name}` is {kind}: it needs no login");
            return Err(CliError::usage(message));
        };
        let base_url = BaseUrl::parse(base_url)?;
        let (origin, api_key) = (base_url.to_string(), api_key.clone());
        Ok(Self { profile, base_url, origin, api_key })
    }
}

/// The login that commands use, and the lifetime of its tokens.
fn command_login(context: &Context) -> Result<(ServiceLogin, Duration), CliError> {
    match context.target()? {
        ServiceTarget::Profile(profile) => {
            let life = profile.options.token_ttl.unwrap_or(TOKEN_LIFETIME);
            let hosted = HostedProfile::from_profile(profile)?;
            Ok((ServiceLogin::for_profile(hosted.owner(), None, Some(&open_secrets()?))?, life))
        }
        ServiceTarget::Address(ServiceAddress { kind: DeploymentKind::Hosted, .. }) => {
            Ok((ServiceLogin::from_environment()?, TOKEN_LIFETIME))
        }
        ServiceTarget::Address(ServiceAddress {
            kind: DeploymentKind::Onprem | DeploymentKind::Local,
            ..
        }) => Err(CliError::usage("this deployment needs no login")),
    }
}

fn print_token(
    context: &Context,
    ttl: Option<Duration>,
    as_header: bool,
) -> Result<Exit, CliError> {
    let (login, life) = command_login(context)?;
    let life = ttl.unwrap_or(life);
    let token = match login.access {
        AuthMethod::Hosted(pair) => pair.sign_token(life)?,
        AuthMethod::Token(_) if ttl.is_some() => {
            let message =
                format!("the token in {} has a fixed lifetime", credentials::TOKEN_VARIABLE);
            return Err(CliError::usage(message).with_remedy("tessera auth token"));
        }
        AuthMethod::Token(token) => token,
        AuthMethod::Session(_) | AuthMethod::OnPremises => {
            return Err(CliError::usage("this deployment needs no login, so it has no token"));
        }
    };
    if context.out.is_terminal() {
        let life = humantime::format_duration(life);
        context.messages.warn(format!("anyone who has this token can do what you can, for {life}"));
    }
    let before = if as_header { "Authorization: Bearer " } else { "" };
    context.out.print_text(&format!("{before}{}\n", token.expose_secret()))?;
    Ok(Exit::Done)
}

fn logout(context: &Context) -> Result<Exit, CliError> {
    let hosted = HostedProfile::selected(context)?;
    let secrets = open_secrets()?;
    let name = &hosted.profile.name;
    let failed = |error| CliError::failed(format!("not everything was removed: {error}"));
    let stores = secrets.remove(name).map_err(failed)?;
    if stores.is_empty() {
        context.messages.info(format!("no secret of `{name}` is stored"));
    }
    if let Some((_, variable)) = credentials::from_environment().unwrap_or_default() {
        context.messages.info(format!("{variable} is still set in this shell"));
    }
    let places: Vec<_> =
        stores.iter().map(|store| source_word(SecretSource::Stored(*store))).collect();
    let answer = json!({ "profile": name, "removed_from": places });
    context.print(&Document::one("tessera.logout/1", answer, LOGOUT_COLUMNS))
}

/// The machine-readable name of a source.
fn source_word(source: SecretSource) -> &'static str {
    match source {
        SecretSource::Typed => "typed",
        SecretSource::Variable(name) => name,
        SecretSource::Stored(SecretStore::Keyring) => "keyring",
        SecretSource::Stored(SecretStore::File) => "file",
    }
}
