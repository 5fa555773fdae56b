//! The settings that all processes of a store on a server must have in common: the bucket, in which they find each
//! other's objects, and the model, whose vectors they compare. The first process records the settings.

use std::fmt::Write as _;

use crate::{error::LocalError, settings::DeploymentSettings};
use tessera_store::{QueryError, Store, setting};

/// The number of bytes of a model's fingerprint that are shown.
const SHOWN_BYTES: usize = 6;

/// A setting that all processes have in common: its name in the store, its option, and its value in the form in which
/// errors show it.
type CommonSetting = (&'static str, &'static str, String);

/// Records the settings, unless different ones are recorded already.
///
/// # Errors
/// Another process of the store has a different bucket or model, or the store fails.
pub(crate) fn record_settings(
    store: &Store,
    settings: &DeploymentSettings,
) -> Result<(), LocalError> {
    if settings.store.is_none() {
        return Ok(());
    }
    store.write(|tx| {
        for (name, _, given) in common_settings(settings) {
            setting::find_or_insert(tx, name, given.as_bytes())?;
        }
        Ok(())
    })?;
    require_recorded_settings(store, settings)
}

/// Compares the settings with the recorded ones.
///
/// # Errors
/// Another process of the store has a different bucket or model, or the store fails.
pub(crate) fn require_recorded_settings(
    store: &Store,
    settings: &DeploymentSettings,
) -> Result<(), LocalError> {
    let Some(address) = &settings.store else { return Ok(()) };
    for (name, option, given) in common_settings(settings) {
        let recorded = store.read(|c| {
            let value = setting::find(c, name)?;
            value.map(String::from_utf8).transpose().map_err(QueryError::value)
        })?;
        if let Some(recorded) = recorded.filter(|recorded| *recorded != given) {
            let address = address.clone();
            return Err(LocalError::OtherSetting { address, option, given, recorded });
        }
    }
    Ok(())
}

fn common_settings(settings: &DeploymentSettings) -> [CommonSetting; 2] {
    [
        (setting::BUCKET, "--bucket", bucket_name(settings)),
        (setting::MODEL, "--model", model_name(settings)),
    ]
}

fn bucket_name(settings: &DeploymentSettings) -> String {
    match &settings.bucket {
        Some(bucket) => format!("the bucket {}", bucket.to_string().trim_end_matches('/')),
        None => "no bucket".to_owned(),
    }
}

fn model_name(settings: &DeploymentSettings) -> String {
    let Some(model) = settings.model.encoder() else { return "no model".to_owned() };
    let mut name = "the model ".to_owned();
    for byte in &model.fingerprint()[..SHOWN_BYTES] {
        // Writing cannot fail, because a string accepts everything.
        let _ = write!(name, "{byte:02x}");
    }
    name
}
