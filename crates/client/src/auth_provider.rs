//! How requests authenticate: with signed tokens, with one fixed header, or not at all.

use std::{sync::Arc, time::SystemTime};

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    access_token::{AccessToken, TokenSource, expiry_of},
    endpoint::{AuthMethod, Endpoint},
};
use tessera_model::{Failure, Timestamp};
use tessera_wire::credentials::SESSION_COOKIE;

#[derive(Clone)]
pub(super) enum AuthProvider {
    Anonymous,
    Tokens(Arc<TokenSource>),
    /// With the expiry, if it is known.
    Fixed(AuthHeader, Option<Timestamp>),
}

/// The header of one request. A token and a cookie are never combined.
#[derive(Clone)]
pub(super) struct AuthHeader {
    pub name: HeaderName,
    /// Marked sensitive.
    pub value: HeaderValue,
    /// The token it was made from, if it can be renewed.
    token: Option<AccessToken>,
}

impl AuthProvider {
    pub(super) fn new(endpoint: &Endpoint) -> Result<Self, Failure> {
        Ok(match endpoint.auth() {
            AuthMethod::Hosted(credentials) => {
                let reloader = endpoint.secret_reloader.clone();
                let source = TokenSource::new(credentials, endpoint.token_lifetime, reloader);
                Self::Tokens(Arc::new(source))
            }
            AuthMethod::Token(token) => {
                let value = bearer_header(token)?;
                let header = AuthHeader { name: AUTHORIZATION, value, token: None };
                Self::Fixed(header, expiry_of(token))
            }
            AuthMethod::Session(session) => Self::Fixed(AuthHeader::from_session(session)?, None),
            AuthMethod::OnPremises => Self::Anonymous,
        })
    }

    pub(super) fn is_anonymous(&self) -> bool {
        matches!(self, Self::Anonymous)
    }

    pub(super) fn current_header(&self) -> Result<Option<AuthHeader>, Failure> {
        match self {
            Self::Anonymous => Ok(None),
            Self::Tokens(tokens) => tokens.current().and_then(AuthHeader::from_token).map(Some),
            Self::Fixed(header, _) => Ok(Some(header.clone())),
        }
    }

    pub(super) async fn renew_header(
        &self,
        rejected: &AuthHeader,
    ) -> Result<Option<AuthHeader>, Failure> {
        match (self, &rejected.token) {
            (Self::Tokens(tokens), Some(token)) => {
                tokens.renew(token).await.and_then(AuthHeader::from_token).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn update_clock_skew(
        &self,
        headers: &HeaderMap,
        sent: SystemTime,
        received: SystemTime,
    ) {
        if let Self::Tokens(tokens) = self {
            tokens.update_clock_skew(headers, sent, received);
        }
    }

    pub(super) fn is_secret_replaced(&self) -> bool {
        matches!(self, Self::Tokens(tokens) if tokens.is_secret_replaced())
    }

    /// The key that signs the tokens, if they are signed here.
    pub(super) fn api_key(&self) -> Option<String> {
        match self {
            Self::Tokens(tokens) => Some(tokens.api_key()),
            Self::Anonymous | Self::Fixed(..) => None,
        }
    }

    /// When the current token expires, by the local clock.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        match self {
            Self::Tokens(tokens) => tokens.expires_at(),
            Self::Fixed(_, expires_at) => *expires_at,
            Self::Anonymous => None,
        }
    }

    /// Seconds by which the service's clock is ahead; 0 if unknown or irrelevant.
    pub(super) fn clock_skew(&self) -> i64 {
        match self {
            Self::Tokens(tokens) => tokens.clock_skew(),
            _ => 0,
        }
    }
}

impl AuthHeader {
    fn from_token(token: AccessToken) -> Result<Self, Failure> {
        let value = bearer_header(&token.text)?;
        Ok(Self { name: AUTHORIZATION, value, token: Some(token) })
    }

    pub(super) fn from_session(session: &SecretString) -> Result<Self, Failure> {
        let cookie = SecretString::from(format!("{SESSION_COOKIE}={}", session.expose_secret()));
        Ok(Self { name: COOKIE, value: sensitive_header(&cookie)?, token: None })
    }
}

fn bearer_header(token: &SecretString) -> Result<HeaderValue, Failure> {
    sensitive_header(&SecretString::from(format!("Bearer {}", token.expose_secret())))
}

fn sensitive_header(text: &SecretString) -> Result<HeaderValue, Failure> {
    let to_failure = |_| {
        let sentence = "the login contains characters that a header cannot carry";
        Failure::local(sentence).with_remedy("Enter it again, on one line")
    };
    let mut value = HeaderValue::try_from(text.expose_secret()).map_err(to_failure)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BaseUrl;

    fn login(access: AuthMethod) -> Result<AuthProvider, Failure> {
        let base_url = BaseUrl::parse("https://vl.example").unwrap();
        AuthProvider::new(&Endpoint::new(base_url, access).unwrap())
    }

    #[test]
    fn at_most_one_auth_header_is_sent_and_never_printed() {
        assert!(login(AuthMethod::OnPremises).unwrap().current_header().unwrap().is_none());
        for (access, name) in [
            (AuthMethod::Session("canary".into()), COOKIE),
            (AuthMethod::Token("canary".into()), AUTHORIZATION),
        ] {
            let auth_header = login(access).unwrap().current_header().unwrap().unwrap();
            assert_eq!(auth_header.name, name);
            assert_eq!(format!("{:?}", auth_header.value), "Sensitive");
        }
        let failure = login(AuthMethod::Token("can\nary".into())).err().unwrap();
        assert!(!failure.to_string().contains("ary"), "{failure}");
    }
}
