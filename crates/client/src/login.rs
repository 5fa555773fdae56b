//! How requests are let in: with tokens that are made here, with one pass that was made elsewhere, or
//! without.

use std::{sync::Arc, time::SystemTime};

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    endpoint::{Access, Endpoint},
    token::{Token, Tokens},
};
use tessera_model::{Failure, FailureKind};
use tessera_wire::credentials::SESSION;

/// The login of a client.
#[derive(Clone)]
pub(super) enum Login {
    /// None: no header at all.
    Open,
    /// Tokens that are renewed.
    Tokens(Arc<Tokens>),
    /// The same header for every request.
    Fixed(HeaderName, HeaderValue),
}

/// What one request shows. A token and a cookie never go together.
pub(super) struct Pass {
    pub name: HeaderName,
    /// Marked sensitive.
    pub value: HeaderValue,
    /// What it was made of, when it can be renewed.
    token: Option<Token>,
}

impl Login {
    /// The login of an endpoint.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the token or cookie is none, by its letters.
    pub(super) fn new(endpoint: &Endpoint) -> Result<Self, Failure> {
        Ok(match endpoint.access() {
            Access::Hosted(credentials) => {
                let (life, reload) = (endpoint.token_life(), endpoint.reload().cloned());
                Self::Tokens(Arc::new(Tokens::new(credentials, life, reload)))
            }
            Access::Token(token) => Self::Fixed(AUTHORIZATION, bearer(token)?),
            Access::Session(session) => {
                let cookie = SecretString::from(format!("{SESSION}={}", session.expose_secret()));
                Self::Fixed(COOKIE, sensitive(&cookie)?)
            }
            Access::OnPremises => Self::Open,
        })
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }

    /// What a request shows now.
    ///
    /// # Errors
    /// [`FailureKind::Local`] when signing fails.
    pub(super) fn current(&self) -> Result<Option<Pass>, Failure> {
        match self {
            Self::Open => Ok(None),
            Self::Tokens(tokens) => tokens.current().and_then(Pass::of).map(Some),
            Self::Fixed(name, value) => {
                Ok(Some(Pass { name: name.clone(), value: value.clone(), token: None }))
            }
        }
    }

    /// Another pass for a rejected one; `None` when there is none.
    ///
    /// # Errors
    /// As [`Login::current`].
    pub(super) async fn renewed(&self, rejected: &Pass) -> Result<Option<Pass>, Failure> {
        match (self, &rejected.token) {
            (Self::Tokens(tokens), Some(token)) => {
                tokens.renewed(token).await.and_then(Pass::of).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Learns the service's clock from an answer.
    pub(super) fn learn(&self, headers: &HeaderMap, sent: SystemTime, received: SystemTime) {
        if let Self::Tokens(tokens) = self {
            tokens.learn(headers, sent, received);
        }
    }

    /// Whether the secret was replaced while it was used.
    pub(super) fn is_replaced(&self) -> bool {
        match self {
            Self::Tokens(tokens) => tokens.is_replaced(),
            Self::Open | Self::Fixed(..) => false,
        }
    }

    /// Seconds the service's clock is ahead of ours, as far as it matters and is known.
    pub(super) fn skew(&self) -> i64 {
        match self {
            Self::Tokens(tokens) => tokens.skew(),
            Self::Open | Self::Fixed(..) => 0,
        }
    }
}

impl Pass {
    fn of(token: Token) -> Result<Self, Failure> {
        let value = bearer(&token.text)?;
        Ok(Self { name: AUTHORIZATION, value, token: Some(token) })
    }
}

fn bearer(token: &SecretString) -> Result<HeaderValue, Failure> {
    sensitive(&SecretString::from(format!("Bearer {}", token.expose_secret())))
}

fn sensitive(text: &SecretString) -> Result<HeaderValue, Failure> {
    let refuse = |_| {
        let sentence = "the login holds letters that no request can carry";
        Failure::new(FailureKind::Local, sentence).remedy("Enter it again, on one line")
    };
    let mut value = HeaderValue::try_from(text.expose_secret()).map_err(refuse)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BaseUrl;

    fn login(access: Access) -> Result<Login, Failure> {
        let base_url = BaseUrl::parse("https://vl.example").unwrap();
        Login::new(&Endpoint::new(base_url, access).unwrap())
    }

    #[test]
    fn m01_m06_one_header_or_none_and_never_printed() {
        assert!(login(Access::OnPremises).unwrap().current().unwrap().is_none());
        for (access, name) in [
            (Access::Session("canary".into()), COOKIE),
            (Access::Token("canary".into()), AUTHORIZATION),
        ] {
            let pass = login(access).unwrap().current().unwrap().unwrap();
            assert_eq!(pass.name, name);
            assert_eq!(format!("{:?}", pass.value), "Sensitive");
        }
        let failure = login(Access::Token("can\nary".into())).err().unwrap();
        assert!(!failure.to_string().contains("ary"), "{failure}");
    }
}
