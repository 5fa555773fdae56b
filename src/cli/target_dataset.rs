//! Resolves the dataset of a command, and checks whether its status permits the operation.

use crate::cli::{CliError, CliResult, Connection, Context, Exit, short_id::IdPrefix};
use tessera_model::{Dataset, DatasetId, Operation, Permission, ShellCommand, Status};

impl Connection<'_> {
    /// The dataset given as an argument, or by `--dataset`, or the only one of the deployment: its ID, its name, or
    /// the beginning of its ID.
    pub async fn dataset(&self, given: Option<&str>) -> CliResult<Dataset> {
        let named = given.or(self.context.global.dataset.as_deref());
        if let Some(id) = named.and_then(|name| name.parse::<DatasetId>().ok()) {
            return Ok(self.client.dataset(id).await?);
        }
        let (all, _) = self.client.list_datasets().await?;
        let available = join_names(&all);
        let mut matching = find_datasets(all, named);
        match (matching.len(), named) {
            (1, _) => {
                let dataset = matching.remove(0);
                if named.is_none() {
                    let messages = self.context.messages;
                    messages.info(format!("using the only dataset: {}", dataset.name));
                }
                Ok(dataset)
            }
            (0, Some(name)) => Err(CliError::not_found(format!(
                "cannot find a dataset `{name}`; available: {available}"
            ))),
            (0, None) => Err(CliError::not_found("the deployment has no datasets")),
            (_, Some(name)) => {
                let ids: Vec<String> = matching.iter().map(|each| each.id.to_string()).collect();
                Err(CliError::usage(format!(
                    "several datasets match `{name}`; give a whole ID: {}",
                    ids.join(", ")
                )))
            }
            (_, None) => Err(CliError::usage(format!(
                "give a dataset with --dataset; available: {available}"
            ))),
        }
    }
}

impl Context {
    /// The ID of the dataset. An ID given by the user needs no request.
    pub async fn dataset_id(&self, given: Option<&str>) -> CliResult<DatasetId> {
        let named = given.or(self.global.dataset.as_deref());
        match named.and_then(|name| name.parse().ok()) {
            Some(id) => Ok(id),
            None => self.fetch_dataset(given).await.map(|dataset| dataset.id),
        }
    }

    /// The dataset, fetched over a connection of its own, in a dry run too.
    pub(super) async fn fetch_dataset(&self, given: Option<&str>) -> CliResult<Dataset> {
        let connection = self.connect(&[]).await?;
        let dataset = connection.dataset(given).await;
        let closed = connection.close(Ok(Exit::Done)).await;
        let dataset = dataset?;
        closed.map(|_| dataset)
    }

    /// Rejects changes if the options or the profile are read-only.
    pub(super) fn require_writable(&self) -> CliResult<()> {
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
    ) -> CliResult<()> {
        if matches!(operation, Operation::AddMedia | Operation::Reindex) {
            self.require_writable()?;
        }
        let (id, name, status) = (dataset.id, &dataset.name, dataset.status.as_str());
        match dataset.status.allows(operation) {
            _ if force => Ok(()),
            Permission::Allowed | Permission::Unspecified => Ok(()),
            Permission::Confirm => {
                let question =
                    format!("{name} has the unknown status {status}; send the request anyway?");
                if self.confirm(&question, "--yes")? {
                    return Ok(());
                }
                Err(CliError::new(Exit::Conflict, format!("not sent: {name} is {status}")))
            }
            Permission::Denied(reason) => {
                let message =
                    format!("{} is not available: {name} is {status}: {reason}", operation.label());
                let error = CliError::new(Exit::Conflict, message).with_code("refused_by_status");
                let remedy = match dataset.status {
                    Status::PartialIndex => "tessera reindex --wait",
                    Status::ReadOnly | Status::Indexing => "tessera dataset wait",
                    _ => return Err(error),
                };
                Err(error.with_remedy(ShellCommand::new(remedy).word(id.to_string())))
            }
        }
    }
}

/// The datasets with this name; if there is none, those whose IDs start with it.
fn find_datasets(all: Vec<Dataset>, named: Option<&str>) -> Vec<Dataset> {
    let Some(name) = named else { return all };
    let is_name = all.iter().any(|dataset| dataset.name.as_str() == name);
    let prefix: Option<IdPrefix> = if is_name { None } else { name.parse().ok() };
    let is_meant = |dataset: &Dataset| match &prefix {
        Some(prefix) => prefix.matches(dataset.id),
        None => dataset.name.as_str() == name,
    };
    all.into_iter().filter(is_meant).collect()
}

fn join_names(datasets: &[Dataset]) -> String {
    let names: Vec<&str> = datasets.iter().map(|each| each.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
