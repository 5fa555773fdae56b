//! The file of each saved value: its name and its JSON. Files are replaced atomically.

use std::{fmt, fs, path::Path};

use serde_json::Value;

use super::{history_json, jobs_json, selection_json, session_json, views_json};
use tessera_model::{Failure, JobRecord, StateKey, StateValue};

/// `None` for jobs, which have a file for each instance.
pub(super) fn file_name(key: &StateKey) -> Option<String> {
    match key {
        StateKey::Basket(dataset) => Some(format!("basket-{dataset}.json")),
        StateKey::Views => Some("views.json".to_owned()),
        StateKey::Jobs => None,
        StateKey::History => Some("history.json".to_owned()),
        StateKey::Session => Some("session.json".to_owned()),
    }
}

pub(super) fn write(path: &Path, entry: &StateValue) -> Result<(), Failure> {
    let document = match entry {
        StateValue::Basket(dataset, selection) => selection_json::write(*dataset, selection),
        StateValue::Jobs { own, .. } => jobs_json::write(own),
        StateValue::Views(list) => views_json::write(list),
        StateValue::History(searches) => history_json::write(searches),
        StateValue::Session(session) => session_json::write(session),
    };
    tessera_files::write_user_file(path, format!("{document:#}\n"))
        .and_then(|()| path.parent().map_or(Ok(()), tessera_files::close_to_others))
        .map_err(file_failure(path, "written"))
}

pub(super) fn read(path: &Path, key: &StateKey) -> Result<Option<StateValue>, Failure> {
    let source =
        tessera_files::if_exists(fs::read_to_string(path)).map_err(file_failure(path, "read"))?;
    let value = source.map(|source| parse(key, &source)).transpose();
    value.map_err(file_failure(path, "parsed"))
}

fn parse(key: &StateKey, source: &str) -> Result<StateValue, String> {
    let document: Value = serde_json::from_str(source).map_err(|error| error.to_string())?;
    Ok(match key {
        StateKey::Basket(dataset) => {
            StateValue::Basket(*dataset, selection_json::read(*dataset, &document)?)
        }
        StateKey::Jobs => {
            StateValue::Jobs { own: jobs_json::read(&document)?, other_instances: Vec::new() }
        }
        StateKey::Views => StateValue::Views(views_json::read(&document)?),
        StateKey::History => StateValue::History(history_json::read(&document)?),
        StateKey::Session => StateValue::Session(session_json::read(&document)?),
    })
}

pub(super) fn read_jobs(path: &Path) -> Result<Vec<JobRecord>, Failure> {
    Ok(match read(path, &StateKey::Jobs)? {
        Some(StateValue::Jobs { own, .. }) => own,
        _ => Vec::new(),
    })
}

/// Makes failures of a file that cannot be `participle`.
pub(super) fn file_failure<E: fmt::Display>(
    path: &Path,
    participle: &str,
) -> impl Fn(E) -> Failure {
    move |reason| {
        Failure::local(format!("{} cannot be {participle}: {reason}", path.display()))
            .with_remedy("Move the file away to start over")
    }
}
