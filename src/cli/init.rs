//! `tessera init`: the first profile. With a terminal and without options the welcome of the interface
//! asks; these are the ways without questions.

use std::{env, path::PathBuf};

use clap::Args;

use super::profile::{keep, of, whole};
use crate::{
    cli::{Context, Ended, Exit, Kind, login},
    config::Place,
    credentials::{self, Holder},
};
use tessera_client::BaseUrl;

/// The options of `init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Make a profile of `TESSERA_BASE_URL`, `TESSERA_KIND`, `TESSERA_API_KEY` and `TESSERA_PIPELINE_URL`.
    #[arg(long, conflicts_with = "local")]
    pub from_env: bool,
    /// Make a profile of a folder of pictures.
    #[arg(long, value_name = "DIR")]
    pub local: Option<PathBuf>,
    /// The name of the profile; else one made of its address.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Store the secret of `TESSERA_API_SECRET`, too; else it stays in the environment.
    #[arg(long, requires = "from_env")]
    store: bool,
}

impl Init {
    /// Whether the person has to be asked.
    #[must_use]
    pub fn asks(&self) -> bool {
        !self.from_env && self.local.is_none()
    }

    /// Makes the profile.
    ///
    /// # Errors
    /// The environment lacks what it needs, or the profile cannot be written.
    pub fn run(self, context: &Context) -> Result<Exit, Ended> {
        let place = match self.local {
            Some(folder) => Place::Local { folder: whole(folder)? },
            None if self.from_env => from_environment(context)?,
            None => {
                let sentence = "without a terminal nobody can be asked: `tessera init --local DIR` for a \
                                folder of pictures, `tessera init --from-env` for a service of the \
                                environment, or `tessera profile add`";
                return Err(Ended::new(Exit::Usage, sentence));
            }
        };
        let profile = of(place, self.name);
        keep(context, &profile, false)?;
        if let (true, Place::Hosted { base_url, api_key }) = (self.store, &profile.place) {
            store(context, &profile.name, base_url, api_key)?;
        }
        Ok(Exit::Done)
    }
}

/// The service that the environment names.
fn from_environment(context: &Context) -> Result<Place, Ended> {
    let lacks = |name: &str| Ended::new(Exit::Usage, format!("--from-env needs {name} to be set"));
    let global = &context.global;
    let base_url = global.base_url.clone().ok_or_else(|| lacks("TESSERA_BASE_URL"))?;
    match global.kind.ok_or_else(|| lacks("TESSERA_KIND"))? {
        Kind::Hosted => {
            let api_key = env::var("TESSERA_API_KEY").ok().filter(|key| !key.trim().is_empty());
            Ok(Place::Hosted {
                base_url,
                api_key: api_key.ok_or_else(|| lacks("TESSERA_API_KEY"))?,
            })
        }
        Kind::Onprem => Ok(Place::OnPrem { base_url, pipeline_url: global.pipeline_url.clone() }),
        Kind::Local => {
            Err(Ended::new(Exit::Usage, "a folder is given with `tessera init --local DIR`"))
        }
    }
}

fn store(context: &Context, name: &str, base_url: &str, api_key: &str) -> Result<(), Ended> {
    let usage = |error: String| Ended::new(Exit::Usage, error);
    let secret = credentials::from_environment().map_err(usage)?;
    let (secret, _) =
        secret.ok_or_else(|| usage("--store needs TESSERA_API_SECRET to be set".into()))?;
    let secrets = login::secrets()?;
    // Told before anything is written.
    let store = secrets.best_store();
    context.note.say(format!("the secret is stored in {}", secrets.place(store)));
    let origin = BaseUrl::parse(base_url)?.to_string();
    let holder = Holder { profile: name, origin: &origin, api_key };
    secrets.keep(holder, &secret, store).map_err(|error| Ended::new(Exit::Failed, error))
}
