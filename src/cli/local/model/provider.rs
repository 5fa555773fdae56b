//! Gives the worker of the interface what `tessera model get` uses, and the datasets of a local service their models.

use std::{path::PathBuf, sync::Arc};

use futures_util::{FutureExt as _, future::BoxFuture};
use tessera_model::{DatasetId, Failure, ModelPlan};
use tessera_service::Deployment;
use tokio::task::spawn_blocking;

use crate::{
    cli::LocalService,
    usecase::models::{ByteProgress, ModelDownload, ModelProvider},
};

impl LocalService {
    /// Returns what gets models for the datasets of this service.
    pub fn model_provider(&self) -> Arc<dyn ModelProvider> {
        Arc::new(DeploymentModels(self.deployment.clone()))
    }
}

struct DeploymentModels(Deployment);

impl ModelProvider for DeploymentModels {
    fn plan(&self, name: String) -> BoxFuture<'_, Result<ModelPlan, Failure>> {
        async move { Ok(ModelDownload::plan(&name).await?.summary()) }.boxed()
    }

    fn get<'a>(
        &'a self,
        name: String,
        progress: ByteProgress<'a>,
    ) -> BoxFuture<'a, Result<PathBuf, Failure>> {
        async move { Ok(ModelDownload::plan(&name).await?.run(progress).await?) }.boxed()
    }

    fn give(&self, dataset: DatasetId, folder: PathBuf) -> BoxFuture<'_, Result<(), Failure>> {
        let give = async move {
            loop {
                let (deployment, folder) = (self.0.clone(), folder.clone());
                let given = spawn_blocking(move || deployment.set_model(dataset, &folder)).await;
                let given = given.map_err(|_| Failure::internal_error())?;
                if given.map_err(|error| Failure::local(error.to_string()))? {
                    return Ok(());
                }
                // Another task, such as the first indexing of the folder, is running on the dataset.
                let waited = self.0.wait_until_indexed(dataset).await;
                waited.map_err(|error| Failure::local(error.to_string()))?;
            }
        };
        give.boxed()
    }
}
