//! `tessera auth logout`: removes the secret of a profile.

use serde_json::json;

use super::hosted_profile::HostedProfile;
use crate::{
    cli::{
        CliError, Column, Context, Document, Exit,
        login::open_secrets,
    },
    credentials,
    usecase::SecretSource,
};

const LOGOUT_COLUMNS: &[Column] =
    &[Column::new("profile", "profile"), Column::new("removed from", "removed_from")];

pub(super) fn run(context: &Context) -> Result<Exit, CliError> {
    let hosted = HostedProfile::selected(context)?;
    let secrets = open_secrets()?;
    let name = &hosted.profile.name;
    let failed = |error| CliError::failed(format!("not everything was removed: {error}"));
    let stores = secrets.remove(name).map_err(failed)?;
    if stores.is_empty() {
        context.messages.info(format!("no secret of `{name}` is stored"));
    }
    for variable in credentials::login_variables() {
        context.messages.info(format!("{variable} is still set in this shell"));
    }
    let locations: Vec<_> =
        stores.iter().map(|store| SecretSource::Stored(*store).label()).collect();
    let answer = json!({ "profile": name, "removed_from": locations });
    context.print(&Document::one("tessera.logout/1", answer, LOGOUT_COLUMNS))
}
