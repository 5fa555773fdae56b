//! `tessera auth status`: where the secret is, and what the service says to it (M05).

use serde_json::{Value, json};

use super::{login, word};
use crate::{
    cli::{Address, Column, Context, Document, Ended, Exit, Kind, Target, login::secrets},
    config::Place,
};
use tessera_client::Operation;

const STATUS: &[Column] = &[
    Column::new("profile", "profile"),
    Column::new("kind", "kind"),
    Column::new("service", "base_url"),
    Column::new("key", "api_key"),
    Column::new("secret in", "secret_place"),
    Column::new("check", "check.words"),
];

/// Runs it. The exit code is that of the check: 0, or 4 for a login or permission that is missing, 5
/// for no such dataset.
pub(super) async fn run(context: &Context) -> Result<Exit, Ended> {
    let mut answer = whereabouts(context)?;
    let by_dataset = context.global.dataset.is_some();
    let about: &[Operation] =
        if by_dataset { &[Operation::Dataset] } else { &[Operation::Datasets] };
    let connection = context.connect(about).await?;
    let checked = if by_dataset {
        context.dataset(&connection, None).await.map(drop)
    } else {
        connection.client.datasets().await.map(drop).map_err(Ended::from)
    };
    if context.is_rehearsal() {
        return connection.close(context, checked.map(|()| Exit::Done)).await;
    }
    let (exit, http_status, words) = outcome(&checked, by_dataset);
    answer["check"] = json!({ "http_status": http_status, "words": words });
    answer["_clock_skew_s"] = json!(connection.client.clock_skew());
    let printed = context.answer(&Document::one("tessera.auth/1", answer, STATUS));
    connection.close(context, printed.map(|()| exit)).await
}

/// What is known without asking the service.
fn whereabouts(context: &Context) -> Result<Value, Ended> {
    let target = context.target()?;
    let (profile, kind, base_url) = match &target {
        Target::Profile(profile) => {
            (Some(profile.name.clone()), profile.place.kind(), profile.place.address())
        }
        Target::Address(Address { base_url, kind: Kind::Hosted, .. }) => {
            (None, "hosted", base_url.clone())
        }
        Target::Address(Address { base_url, kind: Kind::Onprem, .. }) => {
            (None, "onprem", base_url.clone())
        }
        Target::Address(Address { base_url, kind: Kind::Local, .. }) => {
            (None, "local", base_url.clone())
        }
    };
    let is_open = match &target {
        Target::Profile(profile) => !matches!(profile.place, Place::Hosted { .. }),
        Target::Address(address) => address.kind != Kind::Hosted,
    };
    let (api_key, source) = if is_open {
        (None, None)
    } else {
        let (login, _) = login(context)?;
        (login.api_key().map(str::to_owned), Some(login.source))
    };
    let place = match source {
        None => "none is needed".to_owned(),
        Some(source) => source.place(&secrets()?),
    };
    Ok(json!({
        "profile": profile,
        "kind": kind,
        "base_url": base_url,
        "api_key": api_key,
        "secret_in": source.map(word),
        "secret_place": place,
    }))
}

/// Exit code, HTTP status and words of a check.
fn outcome(checked: &Result<(), Ended>, by_dataset: bool) -> (Exit, Option<u16>, String) {
    let Err(ended) = checked else {
        let words = if by_dataset { "accepted for this dataset" } else { "accepted" };
        return (Exit::Done, Some(200), words.to_owned());
    };
    let status = ended.http_status();
    let words = match status {
        Some(401) => "401: expired or wrong key, or its secret is another",
        Some(403) if by_dataset => "403: token fine, no permission for this dataset",
        Some(403) => "403: token fine, no permission to list datasets",
        Some(404) if by_dataset => "404: no such dataset, or no access to it",
        _ => ended.sentence.as_str(),
    };
    (ended.exit, status, words.to_owned())
}
