//! `tessera init`: creates the first profile without prompts. In a terminal and without options,
//! the interface's welcome screen does it.

use std::path::PathBuf;

use clap::Args;
use secrecy::SecretString;

use super::profile::save_profile;
use crate::{
    cli::{CliError, CliResult, Context, absolute_path, login},
    config::{DeploymentConfig, DeploymentKind, Profile},
    credentials::EnvironmentLogin,
    usecase::NewProfile,
};
use tessera_client::BaseUrl;

#[derive(Debug, Args)]
pub struct InitOptions {
    /// Create a profile from `TESSERA_BASE_URL`, `TESSERA_KIND`, `TESSERA_API_KEY` and
    /// `TESSERA_PIPELINE_URL`.
    #[arg(long, conflicts_with = "local")]
    pub from_env: bool,
    /// Create a profile for a folder of images.
    #[arg(long, value_name = "DIR")]
    pub local: Option<PathBuf>,
    /// Name of the profile [default: derived from its address].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Also store the secret from `TESSERA_API_SECRET`; otherwise it stays in the environment.
    #[arg(long, requires = "from_env")]
    store: bool,
}

impl InitOptions {
    pub fn is_interactive(&self) -> bool {
        !self.from_env && self.local.is_none()
    }

    pub fn run(self, context: &Context) -> CliResult {
        let deployment = match self.local {
            Some(folder) => {
                DeploymentConfig::Local { folder: absolute_path(&folder)?, model: None }
            }
            None if self.from_env => deployment_from_environment(context)?,
            None => {
                return Err(CliError::usage(
                    "without a terminal, use `tessera init --local DIR` for a folder of pictures, \
                     `tessera init --from-env` for a service of the environment, or `tessera \
                     profile add`",
                ));
            }
        };
        let profile = Profile::named(self.name, deployment);
        let secret = self.store.then(|| secret_to_store(context, &profile)).transpose()?.flatten();
        let new = NewProfile { profile: &profile, make_default: false, secret: secret.as_ref() };
        save_profile(context, &new)
    }
}

fn deployment_from_environment(context: &Context) -> CliResult<DeploymentConfig> {
    let missing = |name: &str| CliError::usage(format!("--from-env needs {name} to be set"));
    let global = &context.global;
    let base_url = global.base_url.clone().ok_or_else(|| missing("TESSERA_BASE_URL"))?;
    match global.kind.ok_or_else(|| missing("TESSERA_KIND"))? {
        DeploymentKind::Hosted => {
            let api_key = login::nonempty_variable(login::API_KEY_VARIABLE);
            let api_key = api_key.ok_or_else(|| missing(login::API_KEY_VARIABLE))?;
            Ok(DeploymentConfig::Hosted { base_url, api_key })
        }
        DeploymentKind::Onprem => {
            Ok(DeploymentConfig::OnPrem { base_url, pipeline_url: global.pipeline_url.clone() })
        }
        DeploymentKind::Local => {
            Err(CliError::usage("use `tessera init --local DIR` for a folder"))
        }
    }
}

/// The secret in the environment, for a hosted profile. Reports where the secret will be stored, before
/// anything is written.
fn secret_to_store(context: &Context, profile: &Profile) -> CliResult<Option<SecretString>> {
    let DeploymentConfig::Hosted { base_url, .. } = &profile.deployment else { return Ok(None) };
    let origin = BaseUrl::parse(base_url)?.to_string();
    let (secret, _) = EnvironmentLogin::for_address(&origin)
        .and_then(EnvironmentLogin::secret)
        .map_err(CliError::usage)?
        .ok_or_else(|| CliError::usage("--store needs TESSERA_API_SECRET to be set"))?;
    let secrets = login::open_secrets()?;
    let place = secrets.describe(secrets.preferred_store());
    context.messages.info(format!("the secret will be stored in {place}"));
    Ok(Some(secret))
}
