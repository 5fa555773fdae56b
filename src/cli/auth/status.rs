//! `tessera auth status`: where the secret is stored, and whether the service accepts it.

use serde_json::{Value, json};

use super::hosted_profile::command_login;
use crate::{
    cli::{
        CliError, Column, Context, Document, Exit, ServiceAddress, ServiceTarget,
        login::open_secrets,
    },
    config::{DeploymentKind, Profile},
    usecase::SecretSource,
};
use tessera_client::ApiOperation;
use tessera_model::login_check_text;

const STATUS_COLUMNS: &[Column] = &[
    Column::new("profile", "profile"),
    Column::new("kind", "kind"),
    Column::new("service", "base_url"),
    Column::new("key", "api_key"),
    Column::new("secret in", "secret_place"),
    Column::new("check", "check.words"),
];

/// The exit code is that of the check: 0, 4 without login or permission, 5 without the dataset.
pub(super) async fn run(context: &Context) -> Result<Exit, CliError> {
    let mut answer = secret_status(context)?;
    let by_dataset = context.global.dataset.is_some();
    let about: &[ApiOperation] =
        if by_dataset { &[ApiOperation::Dataset] } else { &[ApiOperation::Datasets] };
    let connection = context.connect(about).await?;
    let checked = if by_dataset {
        connection.dataset(None).await.map(drop)
    } else {
        connection.client.list_datasets().await.map(drop).map_err(CliError::from)
    };
    if context.is_dry_run() {
        return connection.close(checked.map(|()| Exit::Done)).await;
    }
    let (exit, http_status, message) = check_outcome(&checked, by_dataset);
    answer["check"] = json!({ "http_status": http_status, "words": message });
    answer["_clock_skew_s"] = json!(connection.client.clock_skew());
    let printed = context.print(&Document::one("tessera.login/1", answer, STATUS_COLUMNS));
    connection.close(printed.map(|_| exit)).await
}

fn secret_status(context: &Context) -> Result<Value, CliError> {
    let (profile, kind, base_url) = match context.target()? {
        ServiceTarget::Profile(Profile { name, deployment, .. }) => {
            (Some(name), deployment.kind(), deployment.address())
        }
        ServiceTarget::Address(ServiceAddress { kind, base_url, .. }) => {
            let kind = match kind {
                DeploymentKind::Hosted => "hosted",
                DeploymentKind::Onprem => "onprem",
                DeploymentKind::Local => "local",
            };
            (None, kind, base_url)
        }
    };
    let (api_key, source) = if kind == "hosted" {
        let (login, _) = command_login(context)?;
        (login.api_key().map(str::to_owned), Some(login.source))
    } else {
        (None, None)
    };
    let location = match source {
        None => "not needed".to_owned(),
        Some(source) => source.description(&open_secrets()?),
    };
    Ok(json!({
        "profile": profile,
        "kind": kind,
        "base_url": base_url,
        "api_key": api_key,
        "secret_in": source.map(SecretSource::label),
        "secret_place": location,
    }))
}

/// Exit code, HTTP status and message of a check.
fn check_outcome(checked: &Result<(), CliError>, by_dataset: bool) -> (Exit, Option<u16>, String) {
    let Err(error) = checked else {
        let message = if by_dataset { "accepted for this dataset" } else { "accepted" };
        return (Exit::Done, Some(200), message.to_owned());
    };
    let status = error.http_status();
    let known = status.and_then(|status| login_check_text(status, by_dataset));
    let message = known.unwrap_or(error.message.as_str());
    (error.exit, status, message.to_owned())
}
