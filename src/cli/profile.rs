//! `tessera profile` and `tessera init`: manages named deployments. A profile never contains a
//! secret.

use std::collections::BTreeMap;

use secrecy::SecretString;
use tessera_config::{DeploymentConfig, DeploymentKind, Profile, ProfileOptions, edit};

use crate::cli::prelude::*;
use crate::{
    cli::{
        ServiceTarget, absolute_path, auth::logout_document, config::user_file, deployment, login,
        model_folder,
    },
    credentials::EnvironmentLoginPermission,
    usecase::{NewProfile, create_profile, secret_location},
};

#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// List the profiles.
    List,
    /// Show one profile, and where its secret is stored.
    Show {
        /// Name of the profile [default: the active one].
        name: Option<String>,
    },
    /// Add a profile from --kind, --base-url and --pipeline-url or --folder.
    Add(ProfileAddOptions),
    /// Make a profile the default.
    Use {
        /// Name of the profile.
        name: String,
    },
    /// Remove a profile and its secret.
    Remove {
        /// Name of the profile.
        name: String,
    },
}

#[derive(Debug, Args)]
pub struct ProfileAddOptions {
    /// Name of the profile: letters, digits, - and _.
    name: String,
    /// API key; `tessera auth` stores its secret.
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Folder of a model in the layout of a model hub, or the name of an added one, for --kind local.
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Lifetime of tokens, for example 10m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    token_ttl: Option<std::time::Duration>,
    /// Path for text searches, with `{dataset_id}` in it.
    #[arg(long, value_name = "PATH")]
    text_search_path: Option<String>,
    /// A dataset that the service does not list; repeatable.
    #[arg(long, value_name = "ID")]
    pin: Vec<String>,
    /// Make it the default profile.
    #[arg(long = "use")]
    make_default: bool,
}

pub fn run(context: &Context, command: ProfileCommand) -> CliResult {
    match command {
        ProfileCommand::List => list(context),
        ProfileCommand::Show { name } => show(context, name.as_deref()),
        ProfileCommand::Add(add) => {
            let make_default = add.make_default;
            let profile = add.into_profile(context)?;
            save_profile(context, &NewProfile { profile: &profile, make_default, secret: None })
        }
        ProfileCommand::Use { name } => {
            let profile = deployment::profile_by_name(&context.settings, &name)?;
            make_default(context, &profile)
        }
        ProfileCommand::Remove { name } => remove(context, &name),
    }
}

fn make_default(context: &Context, profile: &Profile) -> CliResult {
    let (name, file) = (&profile.name, user_file(context)?);
    context.only_plans(&format!("default_profile = {name}"), Some(&file))?;
    let value = toml::Value::from(name.clone());
    edit::set(&file, "default_profile", &value)?;
    context.messages.info(format!("{name} is now the default"));
    let mut row = profile_document(context, profile);
    row["default"] = true.into();
    context.print_for_programs(&Document::new("tessera.profiles/1", json!({ "profiles": [row] })))
}

fn list(context: &Context) -> CliResult {
    let profiles = &context.settings.profiles;
    let rows: Vec<Value> =
        profiles.iter().map(|profile| profile_document(context, profile)).collect();
    if rows.is_empty() {
        context.messages.info("no profiles yet: `tessera init`, or `tessera profile add`");
    }
    let answer = json!({ "profiles": rows });
    context.print(&Document::new("tessera.profiles/1", answer))
}

fn profile_document(context: &Context, profile: &Profile) -> Value {
    let settings: BTreeMap<&str, toml::Value> = profile.settings().collect();
    json!({
        "name": profile.name,
        "kind": profile.deployment.kind(),
        "address": profile.deployment.address(),
        "base_url": settings.get("base_url"),
        "pipeline_url": settings.get("pipeline_url"),
        "folder": settings.get("folder"),
        "api_prefix": settings.get("api_prefix"),
        "api_key": settings.get("api_key"),
        "token_ttl": settings.get("token_ttl"),
        "text_search_path": settings.get("text_search_path"),
        "ca_file": settings.get("ca_file"),
        "model": settings.get("model"),
        "allow_http": profile.options.allow_http,
        "read_only": profile.options.read_only,
        "pinned": profile.options.pinned,
        "default": context.settings.default_profile.as_ref() == Some(&profile.name),
    })
}

fn show(context: &Context, name: Option<&str>) -> CliResult {
    let profile = if let Some(name) = name {
        deployment::profile_by_name(&context.settings, name)?
    } else {
        let target = deployment::select_target(&context.global, &context.settings)?;
        let message = "no profile is selected; `tessera profile list` lists them";
        let profile = target.and_then(ServiceTarget::into_saved);
        profile.ok_or_else(|| CliError::usage(message))?
    };
    let mut row = profile_document(context, &profile);
    row["secret"] = secret_location(&profile, &login::open_secrets()?)?.into();
    context.print(&Document::new("tessera.profile/1", row))
}

impl ProfileAddOptions {
    fn into_profile(self, context: &Context) -> CliResult<Profile> {
        let global = &context.global;
        let base_url = global.base_url.clone();
        let base_url =
            || base_url.ok_or_else(|| CliError::usage("give the address with --base-url"));
        let deployment = match global.kind {
            None => {
                let message =
                    "give --kind hosted (with login), onprem (without) or local (a folder)";
                return Err(CliError::usage(message));
            }
            Some(DeploymentKind::Hosted) => DeploymentConfig::Hosted {
                base_url: base_url()?,
                api_key: self.api_key.unwrap_or_default(),
            },
            Some(DeploymentKind::Onprem) => DeploymentConfig::OnPrem {
                base_url: base_url()?,
                pipeline_url: global.pipeline_url.clone(),
            },
            Some(DeploymentKind::Local) => {
                let folder = global.folder.as_deref();
                let folder =
                    folder.ok_or_else(|| CliError::usage("give the folder with --folder"))?;
                let model = self.model.as_deref().map(model_folder);
                let model = model.as_deref().map(absolute_path).transpose()?;
                DeploymentConfig::Local { folder: absolute_path(folder)?, model }
            }
        };
        let options = ProfileOptions {
            read_only: global.read_only,
            pinned: self.pin,
            api_prefix: global.api_prefix.clone(),
            text_search_path: self.text_search_path,
            token_ttl: self.token_ttl,
            allow_http: global.allow_http,
            ca_file: global.ca_file.as_deref().map(absolute_path).transpose()?,
        };
        Ok(Profile { name: self.name, deployment, options })
    }
}

/// Creates a profile, and prints it.
pub(super) fn save_profile(context: &Context, new: &NewProfile<'_>) -> CliResult {
    let profile = new.profile;
    new.check().map_err(CliError::usage)?;
    let file = user_file(context)?;
    context.only_plans(&format!("the profile {}", profile.name), Some(&file))?;
    create_profile(&file, new)?;
    context.messages.info(format!("{} is in {}", profile.name, file.display()));
    if let Some(location) = secret_location(profile, &login::open_secrets()?)? {
        context.messages.info(format!("its secret: {location}"));
    }
    let fields = json!({ "profiles": [profile_document(context, profile)] });
    context.print(&Document::new("tessera.profiles/1", fields))
}

fn remove(context: &Context, name: &str) -> CliResult {
    deployment::profile_by_name(&context.settings, name)?;
    let file = user_file(context)?;
    context.only_plans(&format!("remove the profile {name} and its secret"), Some(&file))?;
    let question = format!("remove the profile {name} and its secret?");
    if !context.confirm(&question, "--yes")? {
        context.messages.info("nothing was changed");
        return Ok(Exit::Done);
    }
    let secrets = login::open_secrets()?;
    let remove_secret = || {
        let kept = |reason| format!("{name} stays, because its secret was not removed: {reason}");
        secrets.remove(name).map_err(kept)
    };
    let removed = edit::remove_profile(&file, name, remove_secret)?;
    let missing = || CliError::not_found(format!("{name} is not in {}", file.display()));
    let stores = removed.ok_or_else(missing)?;
    context.messages.info(format!("{name} was removed from {}", file.display()));
    for store in &stores {
        context.messages.info(format!("its secret was removed from {}", secrets.describe(*store)));
    }
    context.print_for_programs(&logout_document(name, &stores))
}

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
            let api_key =
                login::api_key_variable()?.ok_or_else(|| missing(login::API_KEY_VARIABLE))?;
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

/// Returns the secret in the environment, for a hosted profile. Where the secret will be stored is reported before
/// anything is written.
fn secret_to_store(context: &Context, profile: &Profile) -> CliResult<Option<SecretString>> {
    let DeploymentConfig::Hosted { base_url, .. } = &profile.deployment else { return Ok(None) };
    let origin = deployment::parse_base_url(base_url)?.to_string();
    let (secret, _) = EnvironmentLoginPermission::for_address(&origin)
        .and_then(EnvironmentLoginPermission::secret)
        .map_err(CliError::usage)?
        .ok_or_else(|| CliError::usage("--store needs TESSERA_API_SECRET to be set"))?;
    let secrets = login::open_secrets()?;
    let place = secrets.describe(secrets.preferred_location());
    context.messages.info(format!("the secret will be stored in {place}"));
    Ok(Some(secret))
}
