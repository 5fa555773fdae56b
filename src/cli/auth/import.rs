//! `tessera auth import`: from the session of a browser to a stored secret. A service shows the secret
//! once, so the order is fixed: a place for it first, then the one request, then storing and reading
//! back, and only then a word about it.

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

/// The options.
#[derive(Debug, Args)]
pub struct ImportOptions {
    /// Read the cookie SESSION from standard input instead of asking for it.
    #[arg(long, conflicts_with = "secret_stdin")]
    cookie_stdin: bool,
    /// Store a secret that you have: it is read from standard input. No request is sent.
    #[arg(long, requires = "api_key")]
    secret_stdin: bool,
    /// The key that this secret belongs to.
    #[arg(long, value_name = "KEY", requires = "secret_stdin")]
    api_key: Option<String>,
    /// Without a keyring, keep the secret in a file that you alone can read.
    #[arg(long)]
    insecure_storage: bool,
}

const IMPORT_COLUMNS: &[Column] = &[
    Column::new("profile", "profile"),
    Column::new("key", "api_key"),
    Column::new("secret in", "secret_place"),
    Column::new("message", "message"),
];

/// Runs it.
pub(super) async fn run(context: &Context, import: ImportOptions) -> Result<Exit, CliError> {
    let hosted = HostedProfile::selected(context)?;
    if context.is_dry_run() {
        return dry_run(context, &hosted).await;
    }
    let secrets = open_secrets()?;
    let store = choose_store(context, &secrets, import.insecure_storage)?;
    confirm_replacement(context, &secrets, &hosted)?;
    let name = &hosted.profile.name;
    context.messages.info(format!("the secret of `{name}` goes into {}", secrets.describe(store)));
    let issued = if let Some(api_key) = import.api_key {
        let secret = validate_secret(&SecretString::from(read_stdin()?), "secret")?;
        IssuedCredentials { api_key, api_secret: Some(secret), message: None }
    } else {
        let session = read_session(import.cookie_stdin, context.global.no_input).await?;
        fetch_credentials(context, &hosted, session).await?
    };
    store_credentials(context, &hosted, &secrets, store, (issued, import.insecure_storage))
}

/// Where the secret will be. A plain file only when the person agrees to it.
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
    let sentence =
        "nothing was asked for and nothing stored; the environment can give the secret, too";
    Err(CliError::new(Exit::Usage, sentence))
}

/// Asks before a secret that is stored is replaced.
fn confirm_replacement(
    context: &Context,
    secrets: &SecretStores,
    hosted: &HostedProfile,
) -> Result<(), CliError> {
    // One that belongs to another key or address is of no use any more.
    let Ok(Some(_)) = secrets.find(hosted.holder()) else { return Ok(()) };
    let question = format!(
        "`{}` has a secret, of the key {}; replace it?",
        hosted.profile.name, hosted.api_key
    );
    if context.confirm(&question, "--yes")? {
        return Ok(());
    }
    Err(CliError::new(Exit::Usage, "the secret stays as it is"))
}

/// The terminal as it was before nothing was echoed; also when the question is interrupted.
struct EchoGuard(Option<Termios>);

impl EchoGuard {
    /// Off before the question stands there: `rpassword` asks first, and a cookie pasted at once would
    /// be echoed.
    fn off() -> Self {
        let before = tcgetattr(stdin()).ok();
        if let Some(mut now) = before.clone() {
            now.local_modes.remove(LocalModes::ECHO);
            // A terminal that takes no settings is left to `rpassword`, which says so.
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

/// The cookie, typed without echo or piped.
async fn read_session(piped: bool, no_input: bool) -> Result<SecretString, CliError> {
    let text = if piped {
        SecretString::from(read_stdin()?)
    } else if no_input || !io::stdin().is_terminal() {
        let sentence = "there is nobody to ask for the cookie: pipe it, with --cookie-stdin";
        return Err(CliError::new(Exit::Usage, sentence));
    } else {
        let _echo = EchoGuard::off();
        let asked = tokio::task::spawn_blocking(|| {
            rpassword::prompt_password("tessera: the cookie SESSION of your browser (not shown): ")
        });
        let typed = asked.await.map_err(|error| CliError::new(Exit::Failed, error.to_string()))?;
        SecretString::from(typed?)
    };
    let cookie = text.expose_secret().trim();
    // As the tools of a browser copy it: alone, or with its name.
    let value = cookie.strip_prefix(SESSION_COOKIE).and_then(|rest| rest.strip_prefix('='));
    let value = validate_secret(&SecretString::from(value.unwrap_or(cookie)), "cookie")?;
    if value.expose_secret().contains([';', ',', '"', '\\']) {
        let sentence = "that is no cookie: copy the value of SESSION alone";
        return Err(CliError::new(Exit::Usage, sentence));
    }
    Ok(value)
}

/// The client that shows the session and nothing else.
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
    // It ends with the failure that takes the place of sending.
    let _ = client.create_credentials().await;
    context.print_dry_run(rehearsal.request())
}

/// The one request.
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
                "a key pair may have been made whose secret nobody has seen: look at your keys before \
                 you ask again",
            );
        }
        failure.into()
    })
}

/// Stores it, reads it back, and only then tells of it.
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
            "the service names the key {api_key} without its secret, which it shows only when the pair \
             is made{words}; nothing was stored"
        );
        let remedy =
            format!("tessera auth import --profile {name} --secret-stdin --api-key {api_key}");
        return Err(CliError::new(Exit::Failed, sentence).with_remedy(remedy));
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
    let noted = file.ok_or_else(|| "there is no folder for settings".to_owned()).and_then(|file| {
        edit::set(&file, &format!("profiles.{name}.api_key"), &api_key.clone().into())
    });
    if let Err(reason) = noted {
        let sentence = format!(
            "the secret is in {}, but the profile does not know its key yet: {reason}",
            secrets.describe(store)
        );
        let remedy = format!("tessera config set profiles.{name}.api_key {api_key}");
        return Err(CliError::new(Exit::Failed, sentence).with_remedy(remedy));
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
    context.messages.info(format!("to check it: tessera auth status --profile {name}"));
    Ok(Exit::Done)
}

/// The secret could not be stored, and the service does not show it again: rather than lost, it is
/// shown once here, or kept in the file where nobody would see it.
fn reveal_unstored_secret(
    context: &Context,
    (holder, secret): (SecretOwner, &SecretString),
    (secrets, store): (&SecretStores, SecretStore),
    (reason, insecure): (&str, bool),
) -> Result<Exit, CliError> {
    let mut told = format!("{} failed: {reason}", secrets.describe(store));
    let terminal = OpenOptions::new().write(true).open("/dev/tty");
    if store == SecretStore::Keyring && (insecure || terminal.is_err()) {
        match secrets.save(holder, secret, SecretStore::File) {
            Ok(()) => {
                let told = format!(
                    "{told}; the secret is in {} instead",
                    secrets.describe(SecretStore::File)
                );
                return Err(import_error(holder, told));
            }
            Err(reason) => told = format!("{told}; {reason}"),
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
        told += "; the secret was shown on the terminal, once";
    } else {
        context.out.print_text(&shown)?;
        told += "; the secret was printed instead, once";
    }
    Err(import_error(holder, told))
}

/// The end of an import that has not stored what it should have.
fn import_error(holder: SecretOwner, told: String) -> CliError {
    let (name, key) = (holder.profile, holder.api_key);
    CliError::new(Exit::Failed, told)
        .with_remedy(format!("tessera auth import --profile {name} --secret-stdin --api-key {key}"))
}
