//! `tessera dataset pin` and `unpin`: datasets that the service does not list, stored by ID in the
//! profile. The interface and `dataset list` request each of them.

use serde_json::json;

use crate::{
    cli::{CliError, CliResult, Column, Context, Document, ServiceTarget, config::user_file},
    config::{Profile, edit},
};

const PIN_COLUMNS: &[Column] =
    &[Column::new("profile", "profile"), Column::new("pinned", "pinned")];

pub(super) async fn pin(context: &Context, dataset: Option<&str>) -> CliResult {
    let profile = pinning_profile(context)?;
    let id = context.fetch_dataset(dataset).await?.id;
    change_pins(context, &profile, |pinned| {
        if !pinned.contains(&id.to_string()) {
            pinned.push(id.to_string());
        }
    })
}

/// Unpins by ID, even if the dataset no longer exists.
pub(super) async fn unpin(context: &Context, dataset: Option<&str>) -> CliResult {
    let profile = pinning_profile(context)?;
    let id = context.dataset_id(dataset).await?;
    if !profile.options.pinned.contains(&id.to_string()) {
        let message = format!("{id} is not pinned in the profile `{}`", profile.name);
        return Err(CliError::not_found(message));
    }
    change_pins(context, &profile, |pinned| pinned.retain(|each| *each != id.to_string()))
}

fn pinning_profile(context: &Context) -> CliResult<Profile> {
    match context.target()? {
        ServiceTarget::Profile(profile) => Ok(profile),
        ServiceTarget::Address(_) => {
            let message = "pins are stored in a profile, and this deployment has none";
            Err(CliError::usage(message).with_remedy("tessera profile add"))
        }
    }
}

fn change_pins(
    context: &Context,
    profile: &Profile,
    change: impl FnOnce(&mut Vec<String>),
) -> CliResult {
    let mut pinned = profile.options.pinned.clone();
    change(&mut pinned);
    let key = format!("profiles.{}.pinned", profile.name);
    let file = user_file(context)?;
    if context.is_dry_run() {
        context.messages.info(format!("nothing was written to {}", file.display()));
    } else {
        edit::set(&file, &key, &pinned.clone().into()).map_err(CliError::usage)?;
    }
    let fields = json!({ "profile": profile.name, "pinned": pinned });
    context.print(&Document::one("tessera.pins/1", fields, PIN_COLUMNS))
}
