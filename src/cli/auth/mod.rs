//! `tessera auth`: the key pair of a profile, from its import to its removal, and tokens made of it.

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

/// Shortest and longest life of a token that is printed. The interface states no longest; a day is what
/// services of its kind accept.
const TTL_RANGE: [Duration; 2] = [Duration::from_secs(30), Duration::from_hours(24)];

/// The commands.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store the key pair of a profile: fetched with the session of a browser, or one you have.
    Import(import::ImportOptions),
    /// Tell where the secret is, and whether the service accepts it; with --dataset, for that one.
    Status,
    /// Print a token for other programs, dated by the clock of this machine.
    Token {
        /// How long it holds: 30s to 24h; else as long as the profile says, or 10m.
        #[arg(long, value_name = "DURATION", value_parser = parse_ttl)]
        ttl: Option<Duration>,
        /// As the header that carries it: `Authorization: Bearer ...`.
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
        return Err("a token holds for 30s to 24h".to_owned());
    }
    Ok(life)
}

/// Runs one of them.
///
/// # Errors
/// There is no login, it is not accepted, or a store cannot be used.
pub async fn run(context: &Context, command: AuthCommand) -> Result<Exit, CliError> {
    match command {
        AuthCommand::Import(import) => import::run(context, import).await,
        AuthCommand::Status => status::run(context).await,
        AuthCommand::Token { ttl, as_header } => print_token(context, ttl, as_header),
        AuthCommand::Logout => logout(context),
    }
}

/// A hosted profile, whose secret is kept.
struct HostedProfile {
    profile: Profile,
    base_url: BaseUrl,
    origin: String,
    api_key: String,
}

impl HostedProfile {
    fn holder(&self) -> SecretOwner<'_> {
        SecretOwner { profile: &self.profile.name, origin: &self.origin, api_key: &self.api_key }
    }

    /// The profile that the options name.
    fn selected(context: &Context) -> Result<Self, CliError> {
        match context.target()? {
            ServiceTarget::Profile(profile) => Self::from_profile(profile),
            ServiceTarget::Address(ServiceAddress { base_url, .. }) => {
                let sentence = "secrets are kept for profiles: give the address a name first";
                let remedy =
                    format!("tessera profile add NAME --kind hosted --base-url {base_url}");
                Err(CliError::new(Exit::Usage, sentence).with_remedy(remedy))
            }
        }
    }

    fn from_profile(profile: Profile) -> Result<Self, CliError> {
        let DeploymentConfig::Hosted { base_url, api_key } = &profile.deployment else {
            let (name, kind) = (&profile.name, profile.deployment.kind());
            let sentence = format!("the profile `{name}` is {kind}: it needs no login");
            return Err(CliError::new(Exit::Usage, sentence));
        };
        let base_url = BaseUrl::parse(base_url)?;
        let (origin, api_key) = (base_url.to_string(), api_key.clone());
        Ok(Self { profile, base_url, origin, api_key })
    }
}

/// The login that commands use, and the life of its tokens.
fn command_login(context: &Context) -> Result<(ServiceLogin, Duration), CliError> {
    match context.target()? {
        ServiceTarget::Profile(profile) => {
            let life = profile.options.token_ttl.unwrap_or(TOKEN_LIFETIME);
            let hosted = HostedProfile::from_profile(profile)?;
            Ok((ServiceLogin::for_profile(hosted.holder(), None, Some(&open_secrets()?))?, life))
        }
        ServiceTarget::Address(ServiceAddress { kind: DeploymentKind::Hosted, .. }) => {
            Ok((ServiceLogin::from_environment()?, TOKEN_LIFETIME))
        }
        ServiceTarget::Address(ServiceAddress {
            kind: DeploymentKind::Onprem | DeploymentKind::Local,
            ..
        }) => Err(CliError::new(Exit::Usage, "this deployment needs no login")),
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
            let sentence = format!("the token of {} has its own life", credentials::TOKEN_VARIABLE);
            return Err(CliError::new(Exit::Usage, sentence).with_remedy("tessera auth token"));
        }
        AuthMethod::Token(token) => token,
        AuthMethod::Session(_) | AuthMethod::OnPremises => {
            return Err(CliError::new(Exit::Usage, "there is no token without a login"));
        }
    };
    if context.out.is_terminal() {
        let life = humantime::format_duration(life);
        context.messages.warn(format!("for {life}, whoever has this token can do what you can"));
    }
    let before = if as_header { "Authorization: Bearer " } else { "" };
    context.out.print_text(&format!("{before}{}\n", token.expose_secret()))?;
    Ok(Exit::Done)
}

fn logout(context: &Context) -> Result<Exit, CliError> {
    let hosted = HostedProfile::selected(context)?;
    let secrets = open_secrets()?;
    let name = &hosted.profile.name;
    let failed = |error| CliError::new(Exit::Failed, format!("not all is removed: {error}"));
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
    context.print(&Document::one("tessera.logout/1", answer, LOGOUT_COLUMNS))?;
    Ok(Exit::Done)
}

/// A source in a word for programs.
fn source_word(source: SecretSource) -> &'static str {
    match source {
        SecretSource::Typed => "typed",
        SecretSource::Variable(name) => name,
        SecretSource::Stored(SecretStore::Keyring) => "keyring",
        SecretSource::Stored(SecretStore::File) => "file",
    }
}
