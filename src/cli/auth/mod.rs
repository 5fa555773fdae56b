//! `tessera auth`: shows where the login of a profile is and whether it works, prints tokens for other programs, and
//! removes a secret. The import of a key pair has a file of its own.

pub(super) mod import;
mod secret_screen;

use secrecy::ExposeSecret as _;
use tessera_client::{AuthMethod, TOKEN_LIFETIME};
use tessera_config::{DeploymentConfig, Profile};
use tessera_model::login_check_text;

use crate::cli::prelude::*;
use crate::{
    cli::{
        ServiceTarget,
        auth::import::HostedProfile,
        deployment::parse_base_url,
        login::{ServiceLogin, open_secrets},
    },
    credentials::{self, SecretLocation},
    usecase::SecretSource,
};

#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store the key pair of a profile: fetched with a browser session, or one that you have.
    Import(import::ImportOptions),
    /// Show where the secret is stored, and whether the service accepts it.
    ///
    /// With --dataset, the check is for that dataset.
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

pub async fn run(context: &Context, command: AuthCommand) -> CliResult {
    match command {
        AuthCommand::Import(import) => import::run(context, import).await,
        AuthCommand::Status => show_status(context).await,
        AuthCommand::Token { ttl, as_header } => print_token(context, ttl, as_header),
        AuthCommand::Logout => logout(context),
    }
}

fn command_login(context: &Context) -> CliResult<(ServiceLogin, Duration)> {
    let ServiceTarget { profile, is_saved } = context.target()?;
    match &profile.deployment {
        _ if is_saved => {
            let life = profile.options.token_ttl.unwrap_or(TOKEN_LIFETIME);
            let hosted = HostedProfile::from_profile(profile)?;
            Ok((ServiceLogin::for_profile(hosted.owner(), None, Some(&open_secrets()?))?, life))
        }
        DeploymentConfig::Hosted { base_url, .. } => {
            Ok((ServiceLogin::for_address(&parse_base_url(base_url)?)?, TOKEN_LIFETIME))
        }
        DeploymentConfig::OnPrem { .. } | DeploymentConfig::Local { .. } => {
            Err(CliError::usage("this deployment needs no login"))
        }
    }
}

/// Shows the login and checks it. The exit code is that of the check: 0, or 4 without login or
/// permission, or 5 if the dataset does not exist.
async fn show_status(context: &Context) -> CliResult {
    let mut answer = secret_status(context)?;
    let by_dataset = context.global.dataset.is_some();
    let endpoints: &[Endpoint] =
        if by_dataset { &[Endpoint::Dataset] } else { &[Endpoint::Datasets] };
    let connection = context.connect(endpoints).await?;
    let checked = if by_dataset {
        connection.dataset(None).await.map(drop)
    } else {
        connection.client.list_datasets().await.map(drop).map_err(CliError::from)
    };
    if context.is_dry_run() {
        return connection.close(checked.map(|()| Exit::Done)).await;
    }
    let (exit, http_status, message) = check_outcome(&checked, by_dataset);
    answer["check"] = json!({ "http_status": http_status, "message": message });
    answer["clock_skew_s"] = json!(connection.client.clock_skew());
    let printed = context.print(&Document::new("tessera.login/1", answer));
    connection.close(printed.map(|_| exit)).await
}

fn secret_status(context: &Context) -> CliResult<Value> {
    let ServiceTarget { profile: Profile { name, deployment, .. }, is_saved } = context.target()?;
    let kind = deployment.kind();
    let (api_key, source) = if kind == "hosted" {
        let (login, _) = command_login(context)?;
        (login.api_key().map(str::to_owned), Some(login.source))
    } else {
        (None, None)
    };
    let location = match source {
        None => "not needed".to_owned(),
        Some(source) => source.description(&open_secrets()?),
    };
    Ok(json!({
        "profile": is_saved.then_some(name),
        "kind": kind,
        "base_url": deployment.address(),
        "api_key": api_key,
        "secret_store": source.map(SecretSource::label),
        "secret_location": location,
    }))
}

/// Returns the exit code, HTTP status and message of a check.
fn check_outcome(checked: &CliResult<()>, by_dataset: bool) -> (Exit, Option<u16>, String) {
    let Err(error) = checked else {
        let message = if by_dataset { "accepted for this dataset" } else { "accepted" };
        return (Exit::Done, Some(200), message.to_owned());
    };
    let status = error.http_status();
    let known = status.and_then(|status| login_check_text(status, by_dataset));
    let message = known.unwrap_or(error.message.as_str());
    (error.exit, status, message.to_owned())
}

/// The limits of a printed token's lifetime. The API states no maximum, so this is the maximum of
/// similar services, which is a day.
const TTL_RANGE: [Duration; 2] = [Duration::from_secs(30), Duration::from_hours(24)];

fn parse_ttl(raw: &str) -> Result<Duration, String> {
    let life = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    let [shortest, longest] = TTL_RANGE;
    if life < shortest || life > longest {
        return Err("the lifetime must be between 30s and 24h".to_owned());
    }
    Ok(life)
}

fn print_token(context: &Context, ttl: Option<Duration>, as_header: bool) -> CliResult {
    context.out.require_text("this command prints a token")?;
    let (login, life) = command_login(context)?;
    let life = ttl.unwrap_or(life);
    let (token, validity) = match login.access {
        AuthMethod::Hosted(pair) => {
            (pair.sign_token(life)?, format!("for {}", humantime::format_duration(life)))
        }
        AuthMethod::Token(_) if ttl.is_some() => {
            let message =
                format!("the token in {} has a fixed lifetime", credentials::TOKEN_VARIABLE);
            return Err(CliError::usage(message).with_remedy("tessera auth token"));
        }
        AuthMethod::Token(token) => (token, "until it expires".to_owned()),
        AuthMethod::Session(_) | AuthMethod::OnPremises => {
            return Err(CliError::usage("this deployment needs no login, so it has no token"));
        }
    };
    if context.out.is_terminal() {
        let warning = format!("anyone who has this token can do what you can, {validity}");
        context.messages.warn(warning);
    }
    let before = if as_header { "Authorization: Bearer " } else { "" };
    context.out.print_text(&format!("{before}{}\n", token.expose_secret()))?;
    Ok(Exit::Done)
}

fn logout(context: &Context) -> CliResult {
    let hosted = HostedProfile::selected(context)?;
    let name = &hosted.profile.name;
    context.only_plans(&format!("remove the secret of {name}"), None)?;
    let secrets = open_secrets()?;
    let failed = |error| CliError::failed(format!("not everything was removed: {error}"));
    let stores = secrets.remove(name).map_err(failed)?;
    if stores.is_empty() {
        context.messages.info(format!("no secret of `{name}` is stored"));
    }
    for variable in credentials::login_variables() {
        context.messages.info(format!("{variable} is still set in this shell"));
    }
    context.print(&logout_document(name, &stores))
}

/// Creates the document about the stores that the secret of a profile was removed from.
pub(super) fn logout_document(profile: &str, stores: &[SecretLocation]) -> Document {
    let locations: Vec<_> =
        stores.iter().map(|store| SecretSource::Stored(*store).label()).collect();
    let fields = json!({ "profile": profile, "removed_from": locations });
    Document::new("tessera.logout/1", fields)
}
