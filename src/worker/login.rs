//! Checks and replaces the login of the deployment.

use std::{fmt, sync::Arc};

use tessera_client::{AuthMethod, Client, Credentials};
use tessera_model::{DatasetId, Failure, FailureKind, SafeText};

use crate::{
    message::{ImportedLogin, LoginImport, LoginPlaces},
    worker::worker_loop::run_blocking,
};

/// Where the login of the deployment is stored. All methods block.
pub trait LoginStorage: Send + Sync + fmt::Debug {
    fn places(&self) -> LoginPlaces;

    /// Stores a key pair, and returns where its secret is.
    ///
    /// # Errors
    /// The login could not be stored, or only its secret was, which the failure says.
    fn save(&self, credentials: &Credentials) -> Result<SafeText, Failure>;
}

pub(super) struct LoginRequests {
    pub client: Client,
    /// `None` if the login cannot be replaced.
    pub storage: Option<Arc<dyn LoginStorage>>,
}

impl LoginRequests {
    fn storage(&self) -> Result<Arc<dyn LoginStorage>, Failure> {
        self.storage.clone().ok_or_else(|| Failure::local("this login cannot be replaced here"))
    }

    pub async fn places(&self) -> Result<LoginPlaces, Failure> {
        let storage = self.storage()?;
        run_blocking(move || Ok(storage.places())).await
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
            Err(failure)
                if failure.kind == FailureKind::Unauthorized || failure.is_connection_failure() =>
            {
                return Err(failure);
            }
            // The check of the login comes before all other errors.
            Ok(_) | Err(_) => {}
        }
        let stored_in = if store { Some(self.save(&credentials).await?) } else { None };
        let api_key = SafeText::name(&credentials.api_key);
        self.client.replace_key_pair(credentials)?;
        Ok(ImportedLogin { api_key, stored_in, message: None })
    }

    /// Receives a key pair, whose secret the service shows only this once: it is stored before
    /// anything else, and used even if it cannot be stored.
    async fn use_session(&self, session_client: &Client) -> Result<ImportedLogin, Failure> {
        let storage = self.storage()?;
        let issued = session_client.create_credentials().await?;
        let api_key = SafeText::name(&issued.api_key);
        let Some(api_secret) = issued.api_secret else {
            let sentence = format!(
                "the service returned the key {api_key} without its secret, which it shows only when \
                 it creates the pair; nothing was changed"
            );
            let failure = Failure::new(FailureKind::Unexpected, sentence);
            return Err(failure.with_detail(issued.message));
        };
        let credentials = Credentials { api_key: issued.api_key, api_secret };
        let kept = credentials.clone();
        let saved = run_blocking(move || storage.save(&kept)).await;
        self.client.replace_key_pair(credentials)?;
        let stored_in = saved.map_err(|failure| {
            let sentence =
                format!("the new key {api_key} is used until the program ends, but not stored");
            Failure::local(sentence).with_detail(Some(failure.message))
        })?;
        Ok(ImportedLogin { api_key, stored_in: Some(stored_in), message: issued.message })
    }

    async fn save(&self, credentials: &Credentials) -> Result<SafeText, Failure> {
        let (storage, credentials) = (self.storage()?, credentials.clone());
        run_blocking(move || storage.save(&credentials)).await
    }
}
