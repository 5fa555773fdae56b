//! `tessera auth import`: turns a browser session into a stored key pair. The service shows a
//! secret only once, so the order is fixed: choose the store, send the one request, store the
//! secret, read it back, then report.

use std::{
    fs::OpenOptions,
    io::{self, IsTerminal as _, Write as _},
};

use clap::Args;
use rustix::{
    stdio::stdin,
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{HostedProfile, source_word};
use crate::{
    cli::{
        CliError, Column, Context, Document, Exit,
        context::read_stdin,
        login::{SecretSource, open_secrets, validate_secret},
    },
    config::{edit, user_config_file},
    credentials::{SecretOwner, SecretStore, SecretStores},
};
use tessera_client::{ApiOperation, AuthMethod, Client, DryRun, Endpoint};
use tessera_model::{FailureKind, SafeText};
use tessera_wire::credentials::{IssuedCredentials, SESSION_COOKIE};

#[derive(Debug, Args)]
pub struct ImportOptions {
    /// Read the SESSION cookie from standard input instead of prompting for it.
    #[arg(long, conflicts_with = "secret_stdin")]
    cookie_stdin: bool,
    /// Store a secret that you already have, read from standard input. No request is sent.
    #[arg(long, requires = "api_key")]
    secret_stdin: bool,
    /// The key that this secret belongs to.
    #[arg(long, value_name = "KEY", requires = "secret_stdin")]
    api_key: Option<String>,
    /// Without a keyring, store the secret in a file that only you can read.
    #[arg(long)]
    insecure_storage: bool,
}

const IMPORT_COLUMNS: &[Column] = &[
    Column::new("profile", "profile"),
    Column::new("key", "api_key"),
    Column::new("secret in", "secret_place"),
    Column::new("message", "message"),
];

pub(super) async fn run(context: &Context, import: ImportOptions) -> Result<Exit, CliError> {
    let hosted = HostedProfile::selected(context)?;
    if context.is_dry_run() {
        return dry_run(context, &hosted).await;
    }
    let secrets = open_secrets()?;
    let store = choose_store(context, &secrets, import.insecure_storage)?;
    confirm_replacement(context, &secrets, &hosted)?;
    let name = &hosted.profile.name;
    context
        .messages
        .info(format!("the secret of `{name}` will be stored in {}", secrets.describe(store)));
    let issued = if let Some(api_key) = import.api_key {
        let secret = validate_secret(&SecretString::from(read_stdin()?), "secret")?;
        IssuedCredentials { api_key, api_secret: Some(secret), message: None }
    } else {
        let session = read_session(import.cookie_stdin, context.global.no_input).await?;
        fetch_credentials(context, &hosted, session).await?
    };
    store_credentials(context, &hosted, &secrets, store, (issued, import.insecure_storage))
}

/// Chooses the store. A plain file requires the user's consent.
fn choose_store(
    context: &Context,
    secrets: &SecretStores,
    insecure: bool,
) -> Result<SecretStore, CliError> {
    let Err(reason) = secrets.check_keyring() else {
        return Ok(SecretStore::Keyring);
    };
    context.messages.info(&reason);
    let place = secrets.describe(SecretStore::File);
    let question = format!("Keep the secret unencrypted in {place}?");
    if insecure || context.confirm(&question, "--insecure-storage")? {
        return Ok(SecretStore::File);
    }
    let message =
        "nothing was requested or stored; alternatively, set the secret in the environment";
    Err(CliError::usage(message))
}

/// Asks before an existing secret is replaced.
fn confirm_replacement(
    context: &Context,
    secrets: &SecretStores,
    hosted: &HostedProfile,
) -> Result<(), CliError> {
    // A secret of another key or address is no longer usable.
    let Ok(Some(_)) = secrets.find(hosted.holder()) else { return Ok(()) };
    let question = format!(
        "`{}` already has a secret, for the key {}; replace it?",
        hosted.profile.name, hosted.api_key
    );
    if context.confirm(&question, "--yes")? {
        return Ok(());
    }
    Err(CliError::usage("the secret was not changed"))
}

/// Restores the terminal's echo setting on drop, also when the prompt is interrupted.
struct EchoGuard(Option<Termios>);

impl EchoGuard {
    /// Disables echo before the prompt appears: `rpassword` prints the prompt first, and a cookie
    /// pasted immediately would be echoed.
    fn off() -> Self {
        let before = tcgetattr(stdin()).ok();
        if let Some(mut now) = before.clone() {
            now.local_modes.remove(LocalModes::ECHO);
            // If the terminal rejects the settings, `rpassword` reports it.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &now);
        }
        Self(before)
    }
}

impl Drop for EchoGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // The terminal may be gone by now.
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

/// Reads the cookie, typed without echo or piped.
async fn read_session(piped: bool, no_input: bool) -> Result<SecretString, CliError> {
    let text = if piped {
        SecretString::from(read_stdin()?)
    } else if no_input || !io::stdin().is_terminal() {
        let message =
            "cannot prompt for the cookie without a terminal; pipe it with --cookie-stdin";
        return Err(CliError::usage(message));
    } else {
        let _echo = EchoGuard::off();
        let asked = tokio::task::spawn_blocking(|| {
            rpassword::prompt_password("tessera: SESSION cookie of your browser (not shown): ")
        });
        let typed = asked.await.map_err(|error| CliError::failed(error.to_string()))?;
        SecretString::from(typed?)
    };
    let cookie = text.expose_secret().trim();
    // Browser tools copy the value alone or with the cookie's name.
    let value = cookie.strip_prefix(SESSION_COOKIE).and_then(|rest| rest.strip_prefix('='));
    let value = validate_secret(&SecretString::from(value.unwrap_or(cookie)), "cookie")?;
    if value.expose_secret().contains([';', ',', '"', '\\']) {
        let message = "this is not a cookie; copy only the value of SESSION";
        return Err(CliError::usage(message));
    }
    Ok(value)
}

/// A client that authenticates with the session only.
fn session_client(hosted: &HostedProfile, session: SecretString) -> Result<Client, CliError> {
    let (base_url, access) = (hosted.base_url.clone(), AuthMethod::Session(session));
    let endpoint = if hosted.profile.options.allow_http {
        Endpoint::new_allowing_http(base_url, access)
    } else {
        Endpoint::new(base_url, access)?
    };
    Ok(Client::new(endpoint)?)
}

async fn dry_run(context: &Context, hosted: &HostedProfile) -> Result<Exit, CliError> {
    let rehearsal = DryRun::new(&[ApiOperation::Credentials]);
    let client =
        session_client(hosted, SecretString::from("unknown"))?.with_dry_run(rehearsal.clone());
    // A dry run always ends with a failure in place of the response.
    let _ = client.create_credentials().await;
    context.print_dry_run(rehearsal.request())
}

async fn fetch_credentials(
    context: &Context,
    hosted: &HostedProfile,
    session: SecretString,
) -> Result<IssuedCredentials, CliError> {
    context.with_recorder(session_client(hosted, session)?).create_credentials().await.map_err(|failure| {
        let none_was_made = matches!(failure.status, Some(300..=499))
            || matches!(failure.kind, FailureKind::Unreachable | FailureKind::Local);
        if !none_was_made {
            context.messages.warn(
                "the service may have created a key pair whose secret was lost; check your keys before \
                 you ask again",
            );
        }
        failure.into()
    })
}

/// Stores the secret, reads it back, and then reports it.
fn store_credentials(
    context: &Context,
    hosted: &HostedProfile,
    secrets: &SecretStores,
    store: SecretStore,
    (issued, insecure): (IssuedCredentials, bool),
) -> Result<Exit, CliError> {
    let IssuedCredentials { api_key, api_secret, message } = issued;
    let name = &hosted.profile.name;
    let message = message.as_ref().map(SafeText::as_str);
    let Some(secret) = api_secret else {
        let words = message.map(|words| format!(" (it says: {words})")).unwrap_or_default();
        let sentence = format!(
            "the service returned the key {api_key} without its secret, which it shows only when it creates \
             the pair{words}; nothing was stored"
        );
        let remedy =
            format!("tessera auth import --profile {name} --secret-stdin --api-key {api_key}");
        return Err(CliError::failed(sentence).with_remedy(remedy));
    };
    let holder = SecretOwner { api_key: &api_key, ..hosted.holder() };
    if let Err(reason) = secrets.save(holder, &secret, store) {
        return reveal_unstored_secret(
            context,
            (holder, &secret),
            (secrets, store),
            (&reason, insecure),
        );
    }
    let file = context.global.config.clone().or_else(user_config_file);
    let stored = file.ok_or_else(|| "there is no settings folder".to_owned()).and_then(|file| {
        edit::set(&file, &format!("profiles.{name}.api_key"), &api_key.clone().into())
    });
    if let Err(reason) = stored {
        let sentence = format!(
            "the secret is in {}, but its key could not be saved in the profile: {reason}",
            secrets.describe(store)
        );
        let remedy = format!("tessera config set profiles.{name}.api_key {api_key}");
        return Err(CliError::failed(sentence).with_remedy(remedy));
    }
    let answer = json!({
        "profile": name,
        "base_url": hosted.origin,
        "api_key": api_key,
        "secret_in": source_word(SecretSource::Stored(store)),
        "secret_place": secrets.describe(store),
        "message": message,
    });
    context.print(&Document::one("tessera.credentials/1", answer, IMPORT_COLUMNS))?;
    context.messages.info(format!("check it with: tessera auth status --profile {name}"));
    Ok(Exit::Done)
}

/// The secret could not be stored, and the service does not show it again: shows it once on the
/// terminal, or stores it in the file where there is no terminal.
fn reveal_unstored_secret(
    context: &Context,
    (holder, secret): (SecretOwner, &SecretString),
    (secrets, store): (&SecretStores, SecretStore),
    (reason, insecure): (&str, bool),
) -> Result<Exit, CliError> {
    let mut message = format!("{} failed: {reason}", secrets.describe(store));
    let terminal = OpenOptions::new().write(true).open("/dev/tty");
    if store == SecretStore::Keyring && (insecure || terminal.is_err()) {
        match secrets.save(holder, secret, SecretStore::File) {
            Ok(()) => {
                let message = format!(
                    "{message}; the secret is in {} instead",
                    secrets.describe(SecretStore::File)
                );
                return Err(import_error(holder, message));
            }
            Err(reason) => message = format!("{message}; {reason}"),
        }
    }
    let shown = format!("api_key={}\napi_secret={}\n", holder.api_key, secret.expose_secret());
    let on_terminal = terminal.and_then(|mut terminal| {
        writeln!(
            terminal,
            "tessera: the secret could not be stored. Keep it, it is not shown again:"
        )?;
        terminal.write_all(shown.as_bytes())
    });
    if on_terminal.is_ok() {
        message += "; the secret was shown on the terminal, once";
    } else {
        context.out.print_text(&shown)?;
        message += "; the secret was printed instead, once";
    }
    Err(import_error(holder, message))
}

fn import_error(holder: SecretOwner, message: String) -> CliError {
    let (name, key) = (holder.profile, holder.api_key);
    CliError::failed(message)
        .with_remedy(format!("tessera auth import --profile {name} --secret-stdin --api-key {key}"))
}
