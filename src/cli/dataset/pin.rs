//! `tessera dataset pin` and `unpin`: datasets that a service does not list, kept by id in the profile.
//! The interface and `dataset list` ask for each of them (M07).

use serde_json::json;

use crate::{
    cli::{
        Column, Context, Document, Ended, Exit, Target,
        config::{refused, user_file},
    },
    config::{Profile, edit},
};

const PINS: &[Column] = &[Column::new("profile", "profile"), Column::new("pinned", "pinned")];

/// Pins a dataset that can be reached.
///
/// # Errors
/// Its record cannot be read, or the user's file cannot be changed.
pub(super) async fn pin(context: &Context, given: Option<&str>) -> Result<Exit, Ended> {
    let profile = profile(context)?;
    let id = context.reached(given).await?.id;
    change(context, &profile, |pinned| {
        if !pinned.contains(&id.to_string()) {
            pinned.push(id.to_string());
        }
    })
}

/// Takes a pin away. An id is enough, whatever became of the dataset.
///
/// # Errors
/// As [`pin`]; or it was not pinned.
pub(super) async fn unpin(context: &Context, given: Option<&str>) -> Result<Exit, Ended> {
    let profile = profile(context)?;
    let id = context.dataset_id(given).await?;
    if !profile.manner.pinned.contains(&id.to_string()) {
        let sentence = format!("{id} is not pinned in the profile `{}`", profile.name);
        return Err(Ended::new(Exit::NotFound, sentence));
    }
    change(context, &profile, |pinned| pinned.retain(|each| *each != id.to_string()))
}

/// The profile that keeps the pins.
fn profile(context: &Context) -> Result<Profile, Ended> {
    match context.target()? {
        Target::Profile(profile) => Ok(profile),
        Target::Address(_) => {
            let sentence = "pins are kept in a profile, and this deployment has none";
            Err(Ended::new(Exit::Usage, sentence).remedy("tessera profile add"))
        }
    }
}

fn change(
    context: &Context,
    profile: &Profile,
    step: impl FnOnce(&mut Vec<String>),
) -> Result<Exit, Ended> {
    let mut pinned = profile.manner.pinned.clone();
    step(&mut pinned);
    let key = format!("profiles.{}.pinned", profile.name);
    let file = user_file(context)?;
    if context.is_rehearsal() {
        context.note.say(format!("nothing was written to {}", file.display()));
    } else {
        edit::set(&file, &key, &pinned.clone().into()).map_err(refused)?;
    }
    let answer = json!({ "profile": profile.name, "pinned": pinned });
    context.answer(&Document::one("tessera.pins/1", answer, PINS))?;
    Ok(Exit::Done)
}
