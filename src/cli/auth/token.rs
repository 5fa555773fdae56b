//! `tessera auth token`: prints a token for other programs.

use std::time::Duration;

use secrecy::ExposeSecret as _;

use super::hosted_profile::command_login;
use crate::{
    cli::{CliError, Context, Exit},
    credentials,
};
use tessera_client::AuthMethod;

/// Limits of a printed token's lifetime. The API states no maximum; similar services accept a day.
const TTL_RANGE: [Duration; 2] = [Duration::from_secs(30), Duration::from_hours(24)];

pub(super) fn parse_ttl(raw: &str) -> Result<Duration, String> {
    let life = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    let [shortest, longest] = TTL_RANGE;
    if life < shortest || life > longest {
        return Err("the lifetime must be between 30s and 24h".to_owned());
    }
    Ok(life)
}

pub(super) fn print(
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
