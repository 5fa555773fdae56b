//! `tessera auth import`: turns a browser session into a stored key pair. The service shows a secret only once, so the
//! order of steps is fixed: check the location, send the only request, store the secret, read it back, then report.

use std::io::{self, IsTerminal as _};

use secrecy::{ExposeSecret as _, SecretString};
use tessera_client::{Credentials, DryRun};
use tessera_config::{DeploymentConfig, Profile, user_config_file};
use tessera_wire::credentials::session_value;

use crate::cli::prelude::*;
use crate::{
    cli::{
        ServiceTarget,
        auth::secret_screen,
        deployment::{parse_base_url, session_client},
        keyboard,
        login::{open_secrets, validate_secret},
        output::write_stdout,
    },
    credentials::{SecretLocation, SecretLocations, SecretOwner},
    usecase::{IssueError, IssuedKeyPair, KeyPairOwner, SaveError, SecretSource, issue_key_pair},
};

pub(super) struct HostedProfile {
    pub profile: Profile,
    pub origin: String,
    pub api_key: String,
}

impl HostedProfile {
    pub fn owner(&self) -> SecretOwner<'_> {
        SecretOwner { profile: &self.profile.name, origin: &self.origin, api_key: &self.api_key }
    }

    pub fn selected(context: &Context) -> CliResult<Self> {
        let ServiceTarget { profile, is_saved } = context.target()?;
        match &profile.deployment {
            _ if is_saved => Self::from_profile(profile),
            DeploymentConfig::Local { .. } => Err(CliError::usage("a local folder needs no login")),
            DeploymentConfig::Hosted { base_url, .. }
            | DeploymentConfig::OnPrem { base_url, .. } => {
                let message =
                    "secrets are stored per profile; add a profile for this address first";
                let remedy = ShellCommand::new("tessera profile add NAME --kind hosted")
                    .option("--base-url", base_url);
                Err(CliError::usage(message).with_remedy(remedy))
            }
        }
    }

    pub(super) fn from_profile(profile: Profile) -> CliResult<Self> {
        let DeploymentConfig::Hosted { base_url, api_key } = &profile.deployment else {
            let (name, kind) = (&profile.name, profile.deployment.kind());
            let message = format!("the profile `{name}` is {kind}: it needs no login");
            return Err(CliError::usage(message));
        };
        let (origin, api_key) = (parse_base_url(base_url)?.to_string(), api_key.clone());
        Ok(Self { profile, origin, api_key })
    }
}

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

struct CredentialImport<'a> {
    context: &'a Context,
    hosted: HostedProfile,
    secrets: SecretLocations,
    store: SecretLocation,
    /// Whether the user allows the file as a store if there is no keyring.
    insecure_storage: bool,
    /// Whether the service has just issued the secret, which it does not show again.
    is_issued: bool,
}

pub(super) async fn run(context: &Context, options: ImportOptions) -> CliResult {
    let hosted = HostedProfile::selected(context)?;
    if context.is_dry_run() {
        return dry_run(context, &hosted).await;
    }
    let secrets = open_secrets()?;
    let keyring = secrets.check_keyring();
    if !context.can_prompt() {
        let has_secret = matches!(secrets.find(hosted.owner()), Ok(Some(_)));
        require_options(context, &options, keyring.is_ok(), has_secret)?;
    }
    let insecure_storage = options.insecure_storage;
    let store = choose_location(context, &secrets, keyring, insecure_storage)?;
    let is_issued = options.api_key.is_none();
    let import = CredentialImport { context, hosted, secrets, store, insecure_storage, is_issued };
    if is_issued {
        let storable = import.secrets.check_save(&import.hosted.profile.name, store);
        storable.map_err(|reason| CliError::failed(format!("nothing was requested: {reason}")))?;
    }
    import.confirm_replacement()?;
    context.messages.info(format!(
        "the secret of `{}` will be stored in {}",
        import.hosted.profile.name,
        import.secrets.describe(store)
    ));
    let issued = if let Some(api_key) = options.api_key {
        let secret = validate_secret(&SecretString::from(keyboard::read_text()?), "secret")?;
        IssuedKeyPair { credentials: Credentials { api_key, api_secret: secret }, message: None }
    } else {
        let session = read_session_cookie(options.cookie_stdin, context.global.no_input)?;
        import.fetch_key_pair(session).await?
    };
    import.store_key_pair(issued).await
}

/// If no prompt is possible, names all options at once that would replace a prompt.
fn require_options(
    context: &Context,
    options: &ImportOptions,
    has_keyring: bool,
    has_secret: bool,
) -> CliResult<()> {
    let confirmed = context.global.yes;
    let mut missing = Vec::new();
    if !options.cookie_stdin && !options.secret_stdin {
        missing.push("--cookie-stdin, to read the cookie of the browser from standard input");
    }
    if !confirmed && !options.insecure_storage && !has_keyring {
        missing.push("--insecure-storage, to keep the secret unencrypted in a file");
    }
    if !confirmed && has_secret {
        missing.push("--yes, to replace the secret that the profile already has");
    }
    match missing.len() {
        // A single missing option is not named here, because the prompt that needs it reports it in
        // more detail.
        0 | 1 => Ok(()),
        _ => Err(CliError::usage(format!("cannot prompt here; add {}", missing.join("; ")))),
    }
}

/// Chooses the store. A plain file requires the user's consent.
fn choose_location(
    context: &Context,
    secrets: &SecretLocations,
    keyring: Result<(), String>,
    insecure_storage: bool,
) -> CliResult<SecretLocation> {
    let Err(reason) = keyring else {
        return Ok(SecretLocation::Keyring);
    };
    context.messages.info(&reason);
    let location = secrets.describe(SecretLocation::File);
    let question = format!("Keep the secret unencrypted in {location}?");
    if insecure_storage || context.confirm(&question, "--insecure-storage")? {
        return Ok(SecretLocation::File);
    }
    let message =
        "nothing was requested or stored; alternatively, set the secret in the environment";
    Err(CliError::usage(message))
}

async fn dry_run(context: &Context, hosted: &HostedProfile) -> CliResult {
    let rehearsal = DryRun::new(&[Endpoint::Credentials]);
    let client = session_client(&hosted.profile, SecretString::from("unknown"))?
        .with_dry_run(rehearsal.clone());
    // The request is expected to fail, because a dry run never gets a response.
    let _ = client.create_credentials().await;
    context.print_dry_run(rehearsal.request())
}

impl CredentialImport<'_> {
    fn confirm_replacement(&self) -> CliResult<()> {
        // A secret that belongs to another key or address is no longer usable, so it may be
        // replaced without a prompt.
        let Ok(Some(_)) = self.secrets.find(self.hosted.owner()) else { return Ok(()) };
        let question = format!(
            "`{}` already has a secret, for the key {}; replace it?",
            self.hosted.profile.name, self.hosted.api_key
        );
        if self.context.confirm(&question, "--yes")? {
            return Ok(());
        }
        Err(CliError::usage("the secret was not changed"))
    }

    async fn fetch_key_pair(&self, session: SecretString) -> CliResult<IssuedKeyPair> {
        let client = self.context.with_listeners(session_client(&self.hosted.profile, session)?);
        issue_key_pair(&client).await.map_err(|error| {
            if error.may_have_lost_a_pair() {
                self.context.messages.warn(
                    "the service may have created a key pair whose secret was lost; check your keys \
                     before you ask again",
                );
            }
            match &error {
                IssueError::Request(_) => Failure::from(error).into(),
                IssueError::WithoutSecret { api_key, .. } => {
                    let owner = SecretOwner { api_key, ..self.hosted.owner() };
                    import_error(owner, Failure::from(error.clone()).to_string())
                }
            }
        })
    }

    async fn store_key_pair(&self, issued: IssuedKeyPair) -> CliResult {
        let IssuedKeyPair { credentials, message } = issued;
        let (name, api_key) = (&self.hosted.profile.name, &credentials.api_key);
        let file = self.context.global.config.clone().or_else(user_config_file);
        let (profile, origin) = (self.hosted.profile.clone(), self.hosted.origin.clone());
        let owner = KeyPairOwner::new(profile, origin, file, Ok(self.secrets.clone()));
        let location = match owner.save(&credentials, self.store) {
            Ok(location) => location,
            Err(SaveError::Secret(reason)) => {
                let owner = SecretOwner { api_key, ..self.hosted.owner() };
                let secret = &credentials.api_secret;
                return Err(self.reveal_unstored_secret(owner, secret, &reason).await?);
            }
            Err(SaveError::Key { place, reason }) => {
                let remedy = ShellCommand::new("tessera config set")
                    .word(format!("profiles.{name}.api_key"))
                    .word(api_key);
                let message = format!(
                    "the secret is in {place}, but its key could not be saved in the profile: {reason}"
                );
                return Err(CliError::failed(message).with_remedy(remedy));
            }
        };
        let answer = json!({
            "profile": name,
            "base_url": self.hosted.origin,
            "api_key": api_key,
            "secret_store": SecretSource::Stored(self.store).label(),
            "secret_location": location,
            "message": message.as_ref().map(SafeText::as_str),
        });
        self.context.print(&Document::new("tessera.key_pair/1", answer))?;
        self.context.messages.info(format!("check it with: tessera auth status --profile {name}"));
        Ok(Exit::Done)
    }

    /// Rescues a secret that could not be stored, because the service does not show it again. The
    /// secret is shown once on the terminal, or stored in the file if there is no terminal. A secret
    /// that came from standard input is not printed. Returns the error to report.
    async fn reveal_unstored_secret(
        &self,
        owner: SecretOwner<'_>,
        secret: &SecretString,
        reason: &str,
    ) -> CliResult<CliError> {
        let mut message = format!("{} failed: {reason}", self.secrets.describe(self.store));
        let terminal = secret_screen::open_terminal();
        if self.store == SecretLocation::Keyring && (self.insecure_storage || terminal.is_err()) {
            match self.secrets.save(owner, secret, SecretLocation::File) {
                Ok(()) => {
                    let file = self.secrets.describe(SecretLocation::File);
                    let message = format!("{message}; the secret is in {file} instead");
                    return Ok(import_error(owner, message));
                }
                Err(reason) => message = format!("{message}; {reason}"),
            }
        }
        let shown = PrintableText::lines(&format!(
            "api_key={}\napi_secret={}\n",
            SafeText::name(owner.api_key),
            SafeText::name(secret.expose_secret())
        ));
        let notice = "tessera: the secret could not be stored. Keep it, it is not shown again:";
        let mut text = PrintableText::line(notice);
        text.push(&shown);
        let on_terminal = match terminal {
            Ok(terminal) => secret_screen::show(terminal, &text).await,
            Err(error) => Err(error),
        };
        if on_terminal.is_ok() {
            message += "; the secret was shown on the terminal, once";
        } else if self.is_issued {
            write_stdout(&shown)?;
            message += "; the secret was printed instead, once";
        }
        Ok(import_error(owner, message))
    }
}

fn import_error(owner: SecretOwner, message: String) -> CliError {
    let (name, key) = (owner.profile, owner.api_key);
    CliError::failed(message).with_remedy(
        ShellCommand::new("tessera auth import")
            .option("--profile", name)
            .option("--secret-stdin --api-key", key),
    )
}

/// Reads the value of the cookie from standard input if it is `piped`, otherwise from a prompt.
pub fn read_session_cookie(piped: bool, no_input: bool) -> CliResult<SecretString> {
    let text = if piped {
        SecretString::from(keyboard::read_text()?)
    } else if no_input || !io::stdin().is_terminal() {
        let message =
            "cannot prompt for the cookie without a terminal; pipe it with --cookie-stdin";
        return Err(CliError::usage(message));
    } else {
        let prompt = "tessera: SESSION cookie of your browser (not shown): ";
        SecretString::from(keyboard::read_hidden_line(prompt)?)
    };
    let value = session_value(text.expose_secret());
    let error = || CliError::usage("this is not a cookie; copy only the value of SESSION");
    value.map(SecretString::from).ok_or_else(error)
}
