//! `tessera reindex`: a dataset is clustered anew (M42). Sent once; when its answer is lost, the status
//! of the dataset tells whether it was taken on.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::{Column, Connection, Context, Document, Ended, Exit, Record};
use tessera_client::Operation as Request;
use tessera_model::{
    Dataset, Failure, FailureKind, Operation, SafeText, Standing, Status, Work,
    course::Course,
    shell::{Profiler, profiler},
};

/// After a lost answer the dataset is looked at after each of these pauses: three times within ten
/// seconds.
const LOOKS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(5)];

const ANSWER: &[Column] =
    &[Column::new("dataset", "dataset_id"), Column::new("status", "status_new")];

/// The options.
#[derive(Debug, Args)]
pub struct Reindex {
    /// Its id or its name.
    dataset: Option<String>,
    /// Follow it until the dataset is READY again.
    #[arg(long)]
    wait: bool,
    /// Send it whatever the status of the dataset is.
    #[arg(long)]
    force: bool,
    /// Print the line for `run_profiler.sh` of an on-premises deployment instead, and send nothing.
    #[arg(long)]
    print_script: bool,
}

/// Runs it.
///
/// # Errors
/// [`Exit::Conflict`] unless the dataset is in PARTIAL INDEX, [`Exit::Remote`] when it ended in ERROR.
pub async fn run(context: &Context, options: Reindex) -> Result<Exit, Ended> {
    let work = async |connection: &_| reindex(context, connection, &options).await;
    context.at(&[Request::Reindex], work).await
}

async fn reindex(
    context: &Context,
    connection: &Connection,
    options: &Reindex,
) -> Result<Exit, Ended> {
    let dataset = context.dataset(connection, options.dataset.as_deref()).await?;
    if options.print_script {
        if !connection.client.endpoint().is_on_premises() {
            let sentence = "run_profiler.sh is a command of on-premises deployments";
            return Err(Ended::new(Exit::Usage, sentence));
        }
        context.out.text(&format!("{}\n", profiler(dataset.id, Profiler::Reindex)))?;
        return Ok(Exit::Done);
    }
    context.allow(&dataset, Operation::Reindex, options.force)?;
    if !context.is_rehearsal() && !context.confirm(&question(&dataset), "--yes")? {
        return Err(Ended::new(Exit::Failed, "not sent"));
    }
    let mut record = send(context, connection, &dataset).await?;
    let rest = if options.wait {
        Some(record.follow(Course::from(Some(&dataset))).await?)
    } else {
        let id = dataset.id;
        context.note.say(format!("accepted; follow it with: tessera dataset wait {id}"));
        None
    };
    let answer = json!({
        "dataset_id": dataset.id,
        "display_name": dataset.name.as_str(),
        "accepted": true,
        "status_new": rest.as_ref().map(SafeText::as_str),
    });
    context.answer(&Document::one("tessera.reindex/1", answer, ANSWER))?;
    Ok(Exit::Done)
}

fn question(dataset: &Dataset) -> String {
    let count = dataset.n_images.map(|count| format!(" of {count} images")).unwrap_or_default();
    format!(
        "{}: full re-clustering{count}; add-media and export wait until READY, and clusters get new \
         ids. Reindex it?",
        dataset.name
    )
}

/// Sends the reindex of a dataset, once, and writes it down.
///
/// # Errors
/// It was not taken on, or nobody can tell.
pub async fn send<'a>(
    context: &'a Context,
    connection: &'a Connection,
    dataset: &Dataset,
) -> Result<Record<'a>, Ended> {
    let mut record = Record::begin(context, connection, dataset, Work::Reindex);
    if let Err(failure) = connection.client.reindex(dataset.id).await {
        taken_on(context, connection, dataset, failure, &mut record).await?;
    }
    record.stands(Standing::Accepted);
    Ok(record)
}

/// Whether a reindex whose request failed was taken on all the same.
///
/// # Errors
/// It was not, or nobody can tell.
async fn taken_on(
    context: &Context,
    connection: &Connection,
    dataset: &Dataset,
    failure: Failure,
    record: &mut Record<'_>,
) -> Result<(), Ended> {
    if !failure.leaves_open() {
        record.failed(&failure);
        return Err(match failure.kind {
            FailureKind::Conflict => explained(connection, dataset, failure).await,
            _ => failure.into(),
        });
    }
    context.note.say(format!("{}; looking whether it was taken on", said(&failure)));
    for pause in LOOKS {
        tokio::time::sleep(pause).await;
        match connection.client.dataset(dataset.id).await {
            Ok(seen) if began(&dataset.status, &seen.status) => {
                context.note.say(format!("it was: {} is {}", seen.name, seen.status.word()));
                return Ok(());
            }
            Ok(_) => {}
            Err(failure) => context.note.detail(failure.to_string()),
        }
    }
    record.failed(&failure);
    let sentence = format!("{}; it seems not to have been taken on", said(&failure));
    let remedy = format!("tessera dataset show {}", dataset.id);
    Err(Ended::from(failure).sentence(sentence).remedy(remedy))
}

/// A failure in words without its remedy, where there is a better one.
fn said(failure: &Failure) -> String {
    Failure { remedy: None, ..failure.clone() }.to_string()
}

/// Whether the status tells that a reindex was taken on.
fn began(before: &Status, now: &Status) -> bool {
    now.is_moving() || (*before == Status::PartialIndex && *now == Status::Ready)
}

/// A conflict with what the dataset is now, and what would help.
async fn explained(connection: &Connection, dataset: &Dataset, failure: Failure) -> Ended {
    let Ok(now) = connection.client.dataset(dataset.id).await else { return failure.into() };
    let reason = now.status.allows(Operation::Reindex).refusal();
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let (said, word) = (said(&failure), now.status.word());
    let sentence = format!("{said}; {} is {word} now{reason}", now.name);
    let ended = Ended::from(failure).sentence(sentence);
    if now.status.is_moving() {
        return ended.remedy(format!("tessera dataset wait {}", now.id));
    }
    ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m42_the_status_tells_whether_a_reindex_was_taken_on() {
        let (partial, ready) = (Status::PartialIndex, Status::Ready);
        assert!(began(&partial, &Status::ReadOnly) && began(&partial, &Status::Indexing));
        assert!(began(&partial, &ready), "it is over already");
        assert!(!began(&partial, &partial) && !began(&ready, &ready), "nothing has changed");
        assert!(!began(&partial, &Status::Error));
    }
}
