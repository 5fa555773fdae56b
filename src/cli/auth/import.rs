//! `tessera auth import`: from the session of a browser to a stored secret. A service shows the secret
//! once, so the order is fixed: a place for it first, then the one request, then storing and reading
//! back, and only then a word about it (S04, S05).

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

use super::{Hosted, word};
use crate::{
    cli::{
        Column, Context, Document, Ended, Exit,
        context::standard_input,
        login::{Source, entered, secrets},
    },
    config::{edit, user_file},
    credentials::{Holder, Secrets, Store},
};
use tessera_client::{Access, Client, Endpoint, Operation, Rehearsal};
use tessera_model::{FailureKind, SafeText};
use tessera_wire::credentials::{Issued, SESSION};

/// The options.
#[derive(Debug, Args)]
pub struct Import {
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

const IMPORTED: &[Column] = &[
    Column::new("profile", "profile"),
    Column::new("key", "api_key"),
    Column::new("secret in", "secret_place"),
    Column::new("message", "message"),
];

/// Runs it.
pub(super) async fn run(context: &Context, import: Import) -> Result<Exit, Ended> {
    let hosted = Hosted::chosen(context)?;
    if context.is_rehearsal() {
        return rehearse(context, &hosted).await;
    }
    let secrets = secrets()?;
    let store = store(context, &secrets, import.insecure_storage)?;
    replaces(context, &secrets, &hosted)?;
    let name = &hosted.profile.name;
    context.note.say(format!("the secret of `{name}` goes into {}", secrets.place(store)));
    let issued = if let Some(api_key) = import.api_key {
        let secret = entered(&SecretString::from(standard_input()?), "secret")?;
        Issued { api_key, api_secret: Some(secret), message: None }
    } else {
        let session = session(import.cookie_stdin, context.global.no_input).await?;
        fetch(context, &hosted, session).await?
    };
    keep(context, &hosted, &secrets, store, (issued, import.insecure_storage))
}

/// Where the secret will be. A plain file only when the person agrees to it.
fn store(context: &Context, secrets: &Secrets, insecure: bool) -> Result<Store, Ended> {
    let Err(reason) = secrets.ask_keyring() else {
        return Ok(Store::Keyring);
    };
    context.note.say(&reason);
    let place = secrets.place(Store::File);
    let question = format!("Keep the secret unencrypted in {place}?");
    if insecure || context.confirm(&question, "--insecure-storage")? {
        return Ok(Store::File);
    }
    let sentence =
        "nothing was asked for and nothing stored; the environment can give the secret, too";
    Err(Ended::new(Exit::Usage, sentence))
}

/// Asks before a secret that is stored is replaced.
fn replaces(context: &Context, secrets: &Secrets, hosted: &Hosted) -> Result<(), Ended> {
    // One that belongs to another key or address is of no use any more.
    let Ok(Some(_)) = secrets.find(hosted.holder()) else { return Ok(()) };
    let question = format!(
        "`{}` has a secret, of the key {}; replace it?",
        hosted.profile.name, hosted.api_key
    );
    if context.confirm(&question, "--yes")? {
        return Ok(());
    }
    Err(Ended::new(Exit::Usage, "the secret stays as it is"))
}

/// The terminal as it was before nothing was echoed; also when the question is interrupted.
struct Echo(Option<Termios>);

impl Echo {
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

impl Drop for Echo {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // The terminal may be gone by now.
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

/// The cookie, typed without echo or piped.
async fn session(piped: bool, no_input: bool) -> Result<SecretString, Ended> {
    let text = if piped {
        SecretString::from(standard_input()?)
    } else if no_input || !io::stdin().is_terminal() {
        let sentence = "there is nobody to ask for the cookie: pipe it, with --cookie-stdin";
        return Err(Ended::new(Exit::Usage, sentence));
    } else {
        let _echo = Echo::off();
        let asked = tokio::task::spawn_blocking(|| {
            rpassword::prompt_password("tessera: the cookie SESSION of your browser (not shown): ")
        });
        let typed = asked.await.map_err(|error| Ended::new(Exit::Failed, error.to_string()))?;
        SecretString::from(typed?)
    };
    let cookie = text.expose_secret().trim();
    // As the tools of a browser copy it: alone, or with its name.
    let value = cookie.strip_prefix(SESSION).and_then(|rest| rest.strip_prefix('='));
    let value = entered(&SecretString::from(value.unwrap_or(cookie)), "cookie")?;
    if value.expose_secret().contains([';', ',', '"', '\\']) {
        let sentence = "that is no cookie: copy the value of SESSION alone";
        return Err(Ended::new(Exit::Usage, sentence));
    }
    Ok(value)
}

/// The client that shows the session and nothing else.
fn client(hosted: &Hosted, session: SecretString) -> Result<Client, Ended> {
    let (base_url, access) = (hosted.base_url.clone(), Access::Session(session));
    let endpoint = if hosted.profile.manner.allow_http {
        Endpoint::in_clear(base_url, access)
    } else {
        Endpoint::new(base_url, access)?
    };
    Ok(Client::new(endpoint)?)
}

async fn rehearse(context: &Context, hosted: &Hosted) -> Result<Exit, Ended> {
    let rehearsal = Rehearsal::new(&[Operation::Credentials]);
    let client = client(hosted, SecretString::from("unknown"))?.rehearsing(rehearsal.clone());
    // It ends with the failure that takes the place of sending.
    let _ = client.credentials().await;
    context.rehearsed(rehearsal.written())
}

/// The one request.
async fn fetch(context: &Context, hosted: &Hosted, session: SecretString) -> Result<Issued, Ended> {
    context.witnessed(client(hosted, session)?).credentials().await.map_err(|failure| {
        let none_was_made = matches!(failure.status, Some(300..=499))
            || matches!(failure.kind, FailureKind::Unreachable | FailureKind::Local);
        if !none_was_made {
            context.note.warn(
                "a key pair may have been made whose secret nobody has seen: look at your keys before \
                 you ask again",
            );
        }
        failure.into()
    })
}

/// Stores it, reads it back, and only then tells of it.
fn keep(
    context: &Context,
    hosted: &Hosted,
    secrets: &Secrets,
    store: Store,
    (issued, insecure): (Issued, bool),
) -> Result<Exit, Ended> {
    let Issued { api_key, api_secret, message } = issued;
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
        return Err(Ended::new(Exit::Failed, sentence).remedy(remedy));
    };
    let holder = Holder { api_key: &api_key, ..hosted.holder() };
    if let Err(reason) = secrets.keep(holder, &secret, store) {
        return rescue(context, (holder, &secret), (secrets, store), (&reason, insecure));
    }
    let file = context.global.config.clone().or_else(user_file);
    let noted = file.ok_or_else(|| "there is no folder for settings".to_owned()).and_then(|file| {
        edit::set(&file, &format!("profiles.{name}.api_key"), &api_key.clone().into())
    });
    if let Err(reason) = noted {
        let sentence = format!(
            "the secret is in {}, but the profile does not know its key yet: {reason}",
            secrets.place(store)
        );
        let remedy = format!("tessera config set profiles.{name}.api_key {api_key}");
        return Err(Ended::new(Exit::Failed, sentence).remedy(remedy));
    }
    let answer = json!({
        "profile": name,
        "base_url": hosted.origin,
        "api_key": api_key,
        "secret_in": word(Source::Stored(store)),
        "secret_place": secrets.place(store),
        "message": message,
    });
    context.answer(&Document::one("tessera.credentials/1", answer, IMPORTED))?;
    context.note.say(format!("to check it: tessera auth status --profile {name}"));
    Ok(Exit::Done)
}

/// The secret could not be stored, and the service does not show it again: rather than lost, it is
/// shown once here, or kept in the file where nobody would see it.
fn rescue(
    context: &Context,
    (holder, secret): (Holder, &SecretString),
    (secrets, store): (&Secrets, Store),
    (reason, insecure): (&str, bool),
) -> Result<Exit, Ended> {
    let mut told = format!("{} failed: {reason}", secrets.place(store));
    let terminal = OpenOptions::new().write(true).open("/dev/tty");
    if store == Store::Keyring && (insecure || terminal.is_err()) {
        match secrets.keep(holder, secret, Store::File) {
            Ok(()) => {
                let told =
                    format!("{told}; the secret is in {} instead", secrets.place(Store::File));
                return Err(remember(holder, told));
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
        context.out.text(&shown)?;
        told += "; the secret was printed instead, once";
    }
    Err(remember(holder, told))
}

/// The end of an import that has not stored what it should have.
fn remember(holder: Holder, told: String) -> Ended {
    let (name, key) = (holder.profile, holder.api_key);
    Ended::new(Exit::Failed, told)
        .remedy(format!("tessera auth import --profile {name} --secret-stdin --api-key {key}"))
}
