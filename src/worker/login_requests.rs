//! Handles the requests of the login dialog: it checks the login of the deployment, and replaces it.

use std::sync::Arc;

use tessera_client::{AuthMethod, Client, Credentials};
use tessera_interface::message::{ImportedLogin, LoginImport, LoginPlaces};
use tessera_model::{DatasetId, Failure, SafeText};

use crate::usecase::{IssuedKeyPair, KeyPairOwner, issue_key_pair, run_blocking};

/// Checks and replaces the login of the deployment, as the login dialog requests.
pub(super) struct LoginRequests {
    pub client: Client,
    /// Where a new login is stored. `None` if the login cannot be replaced.
    pub owner: Option<Arc<KeyPairOwner>>,
}

impl LoginRequests {
    fn owner(&self) -> Result<Arc<KeyPairOwner>, Failure> {
        self.owner.clone().ok_or_else(|| Failure::local("this login cannot be replaced here"))
    }

    pub async fn places(&self) -> Result<LoginPlaces, Failure> {
        let owner = self.owner()?;
        run_blocking(move || {
            let (new, needs_consent) = owner.preferred_place();
            let (current, new) = (SafeText::detail(&owner.current_place()), SafeText::detail(&new));
            Ok(LoginPlaces { current, new, needs_consent })
        })
        .await
    }

    pub async fn check(&self, dataset: Option<DatasetId>) -> Result<(), Failure> {
        match dataset {
            Some(dataset) => self.client.dataset(dataset).await.map(drop),
            None => self.client.list_datasets().await.map(drop),
        }
    }

    pub async fn import(&self, import: LoginImport) -> Result<ImportedLogin, Failure> {
        match import {
            LoginImport::KeyPair { api_key, api_secret, store } => {
                let credentials = Credentials { api_key, api_secret: api_secret.0 };
                self.use_key_pair(credentials, store).await
            }
            LoginImport::Session(session) => {
                let client = self.client.with_login(AuthMethod::Session(session.0))?;
                self.use_session(&client).await
            }
        }
    }

    /// Checks a key pair before it replaces the login.
    async fn use_key_pair(
        &self,
        credentials: Credentials,
        store: bool,
    ) -> Result<ImportedLogin, Failure> {
        let candidate = self.client.with_login(AuthMethod::Hosted(credentials.clone()))?;
        match candidate.list_datasets().await {
            Err(failure) if !failure.shows_accepted_login() => return Err(failure),
            Ok(_) | Err(_) => {}
        }
        let stored_in = if store { Some(save(self.owner()?, &credentials).await?) } else { None };
        let api_key = SafeText::name(&credentials.api_key);
        self.client.replace_key_pair(credentials)?;
        Ok(ImportedLogin { api_key, stored_in, message: None })
    }

    /// Receives a key pair, whose secret the service shows only once. The secret is therefore stored before anything
    /// else, and is used even if it cannot be stored.
    async fn use_session(&self, session_client: &Client) -> Result<ImportedLogin, Failure> {
        let owner = self.owner()?;
        let checked = Arc::clone(&owner);
        run_blocking(move || checked.check_preferred_store().map_err(Failure::from)).await?;
        let issued = issue_key_pair(session_client).await.map_err(Failure::from)?;
        let IssuedKeyPair { credentials, message } = issued;
        let api_key = SafeText::name(&credentials.api_key);
        let saved = save(owner, &credentials).await;
        self.client.replace_key_pair(credentials)?;
        let stored_in = saved.map_err(|failure| {
            let sentence =
                format!("the new key {api_key} is used until the program ends, but not stored");
            Failure::local(sentence).with_detail(Some(failure.message))
        })?;
        Ok(ImportedLogin { api_key, stored_in: Some(stored_in), message })
    }
}

async fn save(owner: Arc<KeyPairOwner>, credentials: &Credentials) -> Result<SafeText, Failure> {
    let credentials = credentials.clone();
    run_blocking(move || {
        let place = owner.save_in_preferred_store(&credentials)?;
        Ok(SafeText::detail(&place))
    })
    .await
}

#[cfg(test)]
mod tests;
