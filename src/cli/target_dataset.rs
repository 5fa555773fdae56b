//! The dataset that a command is about, and whether its status allows what the command does.

use crate::cli::{CliError, Connection, Context, Exit};
use tessera_model::{Dataset, DatasetId, Operation, Permission, Status};

impl Context {
    /// The datasets that are pinned at the deployment.
    ///
    /// # Errors
    /// No deployment is named.
    pub(super) fn pinned_datasets(&self) -> Result<Vec<DatasetId>, CliError> {
        let target = self.target()?;
        Ok(target.options().pinned.iter().filter_map(|id| id.parse().ok()).collect())
    }

    /// The dataset that is named: by `given`, else by `--dataset`; else the only one there is.
    ///
    /// # Errors
    /// None or several are of that name, or the service keeps it away.
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
                self.messages.info(format!("dataset: {} (the only one)", only.name));
                Ok((*only).clone())
            }
            ([], Some(name)) => Err(CliError::new(
                Exit::NotFound,
                format!("there is no dataset `{name}`; there are: {}", join_names(&all)),
            )),
            ([], None) => Err(CliError::new(Exit::NotFound, "the deployment lists no datasets")),
            (several, Some(name)) => {
                let ids: Vec<String> = several.iter().map(|each| each.id.to_string()).collect();
                let sentence =
                    format!("several datasets are called `{name}`; give an id: {}", ids.join(", "));
                Err(CliError::new(Exit::Usage, sentence))
            }
            (_, None) => {
                let sentence =
                    format!("which dataset? Give --dataset; there are: {}", join_names(&all));
                Err(CliError::new(Exit::Usage, sentence))
            }
        }
    }

    /// The id of the dataset that is named, as [`Context::dataset`] finds it. An id asks nobody.
    ///
    /// # Errors
    /// As [`Context::dataset`].
    pub async fn dataset_id(&self, given: Option<&str>) -> Result<DatasetId, CliError> {
        let named = given.or(self.global.dataset.as_deref());
        if let Some(id) = named.and_then(|name| name.parse().ok()) {
            return Ok(id);
        }
        self.fetch_dataset(given).await.map(|dataset| dataset.id)
    }

    /// The dataset that is named, asked for over a connection of its own, in a rehearsal, too.
    ///
    /// # Errors
    /// As [`Context::dataset`].
    pub(super) async fn fetch_dataset(&self, given: Option<&str>) -> Result<Dataset, CliError> {
        let connection = self.connect(&[]).await?;
        let found = self.dataset(&connection, given).await;
        let closed = connection.close(self, Ok(Exit::Done)).await;
        let dataset = found?;
        closed.map(|_| dataset)
    }

    /// Whether anything may be changed at the service from here.
    ///
    /// # Errors
    /// [`Exit::Conflict`]: the options or the profile forbid it.
    pub(super) fn require_writable(&self) -> Result<(), CliError> {
        let target = self.target();
        if !self.global.read_only && !target.is_ok_and(|target| target.options().read_only) {
            return Ok(());
        }
        let sentence = "nothing is changed here: --read-only is on, or the profile is read_only";
        Err(CliError::new(Exit::Conflict, sentence).with_code("read_only"))
    }

    /// Whether the status of the dataset allows an operation. `force` sends it anyway.
    ///
    /// # Errors
    /// [`Exit::Conflict`] with the reason and what would help.
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
        let (name, word) = (&dataset.name, dataset.status.word());
        match dataset.status.allows(operation) {
            _ if force => Ok(()),
            Permission::Allowed | Permission::Unspecified => Ok(()),
            Permission::Confirm => {
                let question =
                    format!("{name} is {word}, a status this program does not know; send it?");
                if self.confirm(&question, "--yes")? {
                    return Ok(());
                }
                Err(CliError::new(Exit::Conflict, format!("not sent: {name} is {word}")))
            }
            Permission::Denied(reason) => {
                let sentence = format!("{} refused: {name} is {word}: {reason}", operation.label());
                let remedy = match dataset.status {
                    Status::PartialIndex => Some(format!("tessera reindex {} --wait", dataset.id)),
                    Status::ReadOnly | Status::Indexing => {
                        Some(format!("tessera dataset wait {}", dataset.id))
                    }
                    _ => None,
                };
                let ended = CliError::new(Exit::Conflict, sentence).with_code("refused_by_status");
                Err(match remedy {
                    Some(command) => ended.with_remedy(command),
                    None => ended,
                })
            }
        }
    }
}

fn join_names(datasets: &[Dataset]) -> String {
    let names: Vec<&str> = datasets.iter().map(|each| each.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
