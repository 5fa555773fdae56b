//! Gets models for datasets of this machine, and reports how far their media are encoded.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tessera_client::Client;
use tessera_model::{Dataset, DatasetId, Failure, Status};

use crate::usecase::models::ModelProvider;

/// The time between two reads of the progress of encoding.
const INTERVAL: Duration = Duration::from_millis(300);

pub(super) struct ModelRequests(pub Option<Arc<dyn ModelProvider>>);

impl ModelRequests {
    pub fn provider(&self) -> Result<&dyn ModelProvider, Failure> {
        let missing = || Failure::local("models are for folders of this machine; open a folder");
        self.0.as_deref().ok_or_else(missing)
    }

    /// Gives a dataset the model in a folder, and waits until its media are encoded.
    pub async fn give(
        &self,
        client: &Client,
        dataset: DatasetId,
        folder: PathBuf,
        progress: impl Fn(u64, Option<u64>) + Send + Sync,
    ) -> Result<Dataset, Failure> {
        self.provider()?.give(dataset, folder).await?;
        loop {
            let found = client.dataset(dataset).await?;
            if found.status == Status::Error {
                let failure = Failure::local("the media could not be encoded");
                return Err(failure.with_detail(found.error));
            }
            if !found.status.is_busy() {
                return Ok(found);
            }
            if let Some(encoding) = client.local_dataset(dataset).await?.encoding {
                progress(encoding.done, Some(encoding.total));
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }
}
