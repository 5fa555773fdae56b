//! `tessera auth`: the key pair of a profile, from its import to its removal, and tokens made of it.

mod import;
mod status;

use std::time::Duration;

use clap::Subcommand;
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::{
    cli::{
        Address, Column, Context, Document, Ended, Exit, Kind, Target,
        login::{Login, Source, secrets},
    },
    config::{Place, Profile},
    credentials::{self, Holder, Store},
};
use tessera_client::{Access, BaseUrl, TOKEN_LIFE};

/// Shortest and longest life of a token that is printed. The interface states no longest; a day is what
/// services of its kind accept.
const LIVES: [Duration; 2] = [Duration::from_secs(30), Duration::from_hours(24)];

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Auth {
    /// Store the key pair of a profile: fetched with the session of a browser, or one you have.
    Import(import::Import),
    /// Tell where the secret is, and whether the service accepts it; with --dataset, for that one.
    Status,
    /// Print a token for other programs, dated by the clock of this machine.
    Token {
        /// How long it holds: 30s to 24h; else as long as the profile says, or 10m.
        #[arg(long, value_name = "DURATION", value_parser = life)]
        ttl: Option<Duration>,
        /// As the header that carries it: `Authorization: Bearer ...`.
        #[arg(long)]
        as_header: bool,
    },
    /// Remove the secret of a profile from the keyring and the file.
    Logout,
}

const LOGOUT: &[Column] =
    &[Column::new("profile", "profile"), Column::new("removed from", "removed_from")];

fn life(raw: &str) -> Result<Duration, String> {
    let life = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    let [shortest, longest] = LIVES;
    if life < shortest || life > longest {
        return Err("a token holds for 30s to 24h".to_owned());
    }
    Ok(life)
}

/// Runs one of them.
///
/// # Errors
/// There is no login, it is not accepted, or a store cannot be used.
pub async fn run(context: &Context, command: Auth) -> Result<Exit, Ended> {
    match command {
        Auth::Import(import) => import::run(context, import).await,
        Auth::Status => status::run(context).await,
        Auth::Token { ttl, as_header } => token(context, ttl, as_header),
        Auth::Logout => logout(context),
    }
}

/// A hosted profile, whose secret is kept.
struct Hosted {
    profile: Profile,
    base_url: BaseUrl,
    origin: String,
    api_key: String,
}

impl Hosted {
    fn holder(&self) -> Holder<'_> {
        Holder { profile: &self.profile.name, origin: &self.origin, api_key: &self.api_key }
    }

    /// The profile that the options name.
    fn chosen(context: &Context) -> Result<Self, Ended> {
        match context.target()? {
            Target::Profile(profile) => Self::of(profile),
            Target::Address(Address { base_url, .. }) => {
                let sentence = "secrets are kept for profiles: give the address a name first";
                let remedy =
                    format!("tessera profile add NAME --kind hosted --base-url {base_url}");
                Err(Ended::new(Exit::Usage, sentence).remedy(remedy))
            }
        }
    }

    fn of(profile: Profile) -> Result<Self, Ended> {
        let Place::Hosted { base_url, api_key } = &profile.place else {
            let (name, kind) = (&profile.name, profile.place.kind());
            let sentence = format!("the profile `{name}` is {kind}: it needs no login");
            return Err(Ended::new(Exit::Usage, sentence));
        };
        let base_url = BaseUrl::parse(base_url)?;
        let (origin, api_key) = (base_url.to_string(), api_key.clone());
        Ok(Self { profile, base_url, origin, api_key })
    }
}

/// The login that commands use, and the life of its tokens.
fn login(context: &Context) -> Result<(Login, Duration), Ended> {
    match context.target()? {
        Target::Profile(profile) => {
            let life = profile.manner.token_ttl.unwrap_or(TOKEN_LIFE);
            let hosted = Hosted::of(profile)?;
            Ok((Login::of_profile(hosted.holder(), None, Some(&secrets()?))?, life))
        }
        Target::Address(Address { kind: Kind::Hosted, .. }) => {
            Ok((Login::of_environment()?, TOKEN_LIFE))
        }
        Target::Address(Address { kind: Kind::Onprem | Kind::Local, .. }) => {
            Err(Ended::new(Exit::Usage, "this deployment needs no login"))
        }
    }
}

fn token(context: &Context, ttl: Option<Duration>, as_header: bool) -> Result<Exit, Ended> {
    let (login, life) = login(context)?;
    let life = ttl.unwrap_or(life);
    let token = match login.access {
        Access::Hosted(pair) => pair.token(life)?,
        Access::Token(_) if ttl.is_some() => {
            let sentence = format!("the token of {} has its own life", credentials::TOKEN);
            return Err(Ended::new(Exit::Usage, sentence).remedy("tessera auth token"));
        }
        Access::Token(token) => token,
        Access::Session(_) | Access::OnPremises => {
            return Err(Ended::new(Exit::Usage, "there is no token without a login"));
        }
    };
    if context.out.is_terminal() {
        let life = humantime::format_duration(life);
        context.note.warn(format!("for {life}, whoever has this token can do what you can"));
    }
    let before = if as_header { "Authorization: Bearer " } else { "" };
    context.out.text(&format!("{before}{}\n", token.expose_secret()))?;
    Ok(Exit::Done)
}

fn logout(context: &Context) -> Result<Exit, Ended> {
    let hosted = Hosted::chosen(context)?;
    let secrets = secrets()?;
    let name = &hosted.profile.name;
    let failed = |error| Ended::new(Exit::Failed, format!("not all is removed: {error}"));
    let stores = secrets.forget(name).map_err(failed)?;
    if stores.is_empty() {
        context.note.say(format!("no secret of `{name}` is stored"));
    }
    if let Some((_, variable)) = credentials::from_environment().unwrap_or_default() {
        context.note.say(format!("{variable} is still set in this shell"));
    }
    let places: Vec<_> = stores.iter().map(|store| word(Source::Stored(*store))).collect();
    let answer = json!({ "profile": name, "removed_from": places });
    context.answer(&Document::one("tessera.logout/1", answer, LOGOUT))?;
    Ok(Exit::Done)
}

/// A source in a word for programs.
fn word(source: Source) -> &'static str {
    match source {
        Source::Typed => "typed",
        Source::Variable(name) => name,
        Source::Stored(Store::Keyring) => "keyring",
        Source::Stored(Store::File) => "file",
    }
}
