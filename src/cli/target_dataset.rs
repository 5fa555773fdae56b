//! Resolves the dataset of a command, and checks whether its status permits the operation.

use crate::cli::{CliError, Connection, Context, Exit};
use tessera_model::{Dataset, DatasetId, Operation, Permission, Status};

impl Context {
    pub(super) fn pinned_datasets(&self) -> Result<Vec<DatasetId>, CliError> {
        let target = self.target()?;
        Ok(target.options().pinned.iter().filter_map(|id| id.parse().ok()).collect())
    }

    /// The dataset given as an argument, or by `--dataset`, or the only one of the deployment.
    pub async fn dataset(
        &self,
        connection: &Connection,
        given: Option<&str>,
    ) -> Result<Dataset, CliError> {
        let named = given.or(self.global.dataset.as_deref());
        if let Some(id) = named.and_then(|name| name.parse::<DatasetId>().ok()) {
            return Ok(connection.client.dataset(id).await?);
        }
        let (all, _) = connection.client.list_datasets().await?;
        let found: Vec<&Dataset> =
            all.iter().filter(|each| named.is_none_or(|name| each.name.as_str() == name)).collect();
        match (found.as_slice(), named) {
            ([only], Some(_)) => Ok((*only).clone()),
            ([only], None) => {
                self.messages.info(format!("using the only dataset: {}", only.name));
                Ok((*only).clone())
            }
            ([], Some(name)) => Err(CliError::not_found(format!(
                "cannot find a dataset `{name}`; available: {}",
                join_names(&all)
            ))),
            ([], None) => Err(CliError::not_found("the deployment has no datasets")),
            (several, Some(name)) => {
                let ids: Vec<String> = several.iter().map(|each| each.id.to_string()).collect();
                let message =
                    format!("several datasets are named `{name}`; give an ID: {}", ids.join(", "));
                Err(CliError::usage(message))
            }
            (_, None) => {
                let message =
                    format!("give a dataset with --dataset; available: {}", join_names(&all));
                Err(CliError::usage(message))
            }
        }
    }

    /// The ID of the dataset. An ID given by the user needs no request.
    pub async fn dataset_id(&self, given: Option<&str>) -> Result<DatasetId, CliError> {
        let named = given.or(self.global.dataset.as_deref());
        if let Some(id) = named.and_then(|name| name.parse().ok()) {
            return Ok(id);
        }
        self.fetch_dataset(given).await.map(|dataset| dataset.id)
    }

    /// The dataset, fetched over a connection of its own, in a dry run too.
    pub(super) async fn fetch_dataset(&self, given: Option<&str>) -> Result<Dataset, CliError> {
        let connection = self.connect(&[]).await?;
        let found = self.dataset(&connection, given).await;
        let closed = connection.close(self, Ok(Exit::Done)).await;
        let dataset = found?;
        closed.map(|_| dataset)
    }

    /// Rejects changes if the options or the profile are read-only.
    pub(super) fn require_writable(&self) -> Result<(), CliError> {
        let target = self.target();
        if !self.global.read_only && !target.is_ok_and(|target| target.options().read_only) {
            return Ok(());
        }
        let message = "changes are disabled by --read-only or the profile's read_only";
        Err(CliError::new(Exit::Conflict, message).with_code("read_only"))
    }

    /// Whether the status of the dataset permits an operation. `force` skips the check.
    pub fn require_allowed(
        &self,
        dataset: &Dataset,
        operation: Operation,
        force: bool,
    ) -> Result<(), CliError> {
        let changes = matches!(operation, Operation::AddMedia | Operation::Reindex);
        if changes {
            self.require_writable()?;
        }
        let (name, word) = (&dataset.name, dataset.status.as_str());
        match dataset.status.allows(operation) {
            _ if force => Ok(()),
            Permission::Allowed | Permission::Unspecified => Ok(()),
            Permission::Confirm => {
                let question =
                    format!("{name} has the unknown status {word}; send the request anyway?");
                if self.confirm(&question, "--yes")? {
                    return Ok(());
                }
                Err(CliError::new(Exit::Conflict, format!("not sent: {name} is {word}")))
            }
            Permission::Denied(reason) => {
                let message =
                    format!("{} is not available: {name} is {word}: {reason}", operation.label());
                let remedy = match dataset.status {
                    Status::PartialIndex => Some(format!("tessera reindex {} --wait", dataset.id)),
                    Status::ReadOnly | Status::Indexing => {
                        Some(format!("tessera dataset wait {}", dataset.id))
                    }
                    _ => None,
                };
                let error = CliError::new(Exit::Conflict, message).with_code("refused_by_status");
                Err(match remedy {
                    Some(command) => error.with_remedy(command),
                    None => error,
                })
            }
        }
    }
}

fn join_names(datasets: &[Dataset]) -> String {
    let names: Vec<&str> = datasets.iter().map(|each| each.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
