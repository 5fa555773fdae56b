//! The goal of `tessera dataset wait`.

use crate::cli::{CliError, CliResult, Context, Exit};
use tessera_model::{Dataset, ShellCommand, Status};

pub(super) enum WaitGoal {
    /// Polls until interrupted.
    Never,
    /// Any status without a running operation.
    Rest,
    AnyOf(Vec<Status>),
}

impl WaitGoal {
    /// The goal of `--until`; without any status, that no operation is running.
    pub(super) fn parse(context: &Context, statuses: &[String]) -> Self {
        let statuses: Vec<Status> = statuses.iter().map(|status| Status::parse(status)).collect();
        for status in &statuses {
            if let Status::Other(unknown) = status {
                context.messages.warn(format!("{unknown} is not a known status"));
            }
        }
        if statuses.is_empty() { Self::Rest } else { Self::AnyOf(statuses) }
    }

    /// Whether the goal is reached, or unreachable because the dataset is in ERROR.
    pub(super) fn reached(&self, dataset: &Dataset) -> Option<CliResult<()>> {
        let reached = match self {
            Self::Never => return None,
            Self::Rest => !dataset.status.is_busy() && dataset.status != Status::Error,
            Self::AnyOf(statuses) => statuses.contains(&dataset.status),
        };
        match dataset.status {
            _ if reached => Some(Ok(())),
            Status::Error => {
                let error = dataset.error.as_ref().map(|error| format!(": {error}"));
                let message = format!("{} is in ERROR{}", dataset.name, error.unwrap_or_default());
                let remedy =
                    ShellCommand::new("tessera dataset show --raw").word(dataset.id.to_string());
                Some(Err(CliError::new(Exit::Remote, message).with_remedy(remedy)))
            }
            _ => None,
        }
    }

    /// What has to happen first when the dataset stays in another status.
    pub(super) fn hint(&self, dataset: &Dataset) -> Option<String> {
        let Self::AnyOf(statuses) = self else { return None };
        let (name, id) = (&dataset.name, dataset.id);
        match dataset.status {
            Status::PartialIndex if statuses.contains(&Status::Ready) => Some(format!(
                "{name} stays in PARTIAL INDEX: its new media are visible, and it becomes READY after \
                 a reindex: tessera reindex {id}"
            )),
            Status::Ready | Status::PartialIndex => Some(format!(
                "{name} stays in {} until media are added or it is reindexed",
                dataset.status.as_str()
            )),
            Status::ReadOnly | Status::Indexing | Status::Error | Status::Other(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use tessera_wire::dataset::read_dataset;

    fn dataset(status: &str) -> Dataset {
        let id = "ad48d250-0000-11f1-bfca-000000000001";
        let record = json!({ "id": id, "display_name": "x", "status_new": status });
        read_dataset(&record).unwrap()
    }

    #[test]
    fn a_goal_is_reached_or_unreachable_or_needs_a_hint() {
        let ready = WaitGoal::AnyOf(vec![Status::Ready]);
        let code = |goal: &WaitGoal, status: &str| {
            let reached = goal.reached(&dataset(status));
            reached.map(|reached| reached.err().map_or(Exit::Done, |error| error.exit))
        };
        for (status, until_ready, until_rest) in [
            ("READY", Some(Exit::Done), Some(Exit::Done)),
            ("PARTIAL INDEX", None, Some(Exit::Done)),
            ("READ ONLY", None, None),
            ("INDEXING", None, None),
            ("ERROR", Some(Exit::Remote), Some(Exit::Remote)),
            ("UPLOADING", None, None),
        ] {
            assert_eq!(code(&ready, status), until_ready, "{status}");
            assert_eq!(code(&WaitGoal::Rest, status), until_rest, "{status}");
            assert_eq!(code(&WaitGoal::Never, status), None, "{status}");
        }
        assert_eq!(code(&WaitGoal::AnyOf(vec![Status::Error]), "ERROR"), Some(Exit::Done));
        assert!(ready.hint(&dataset("PARTIAL INDEX")).unwrap().contains("tessera reindex"));
        assert!(ready.hint(&dataset("INDEXING")).is_none());
    }
}
