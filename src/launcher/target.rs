//! Defines what the launcher opens. The command line, a profile or the welcome screen chooses it.
//! Also prepares what the interface shows about the login of the target.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::credentials;
use secrecy::SecretString;
use tessera::{
    cli::{self, CliError, Context, FolderOpening, InterfaceCommand, LocalSettings},
    credentials::{EnvironmentLoginPermission, SecretOwner, TOKEN_VARIABLE},
    state::read_recent,
    usecase::{KeyPairOwner, open_secrets},
};
use tessera_client::{AuthMethod, Client, Credentials};
use tessera_config::{DeploymentConfig, Profile, Settings};
use tessera_interface::app::{LoginSetup, ReopenCommand};
use tessera_model::{Place, SafeText, ShellCommand};

pub enum LaunchTarget {
    Sample {
        images: u32,
        data: Option<PathBuf>,
    },
    /// Folders whose index is in `data`.
    Folders {
        folders: Vec<PathBuf>,
        opening: FolderOpening,
        data: Option<PathBuf>,
        settings: LocalSettings,
        profile: Option<String>,
    },
    /// A remote profile, with a secret that was just entered.
    Remote(Profile, Option<SecretString>),
    /// An address from the command line.
    Address(Client, String),
    /// The screen of the first run.
    Welcome,
    /// The same screen, which also offers what was opened before.
    Start,
}

impl LaunchTarget {
    pub fn initial(context: &Context, command: Option<InterfaceCommand>) -> Result<Self, CliError> {
        match command {
            Some(InterfaceCommand::Demo { images, data }) => {
                return Ok(Self::Sample { images, data });
            }
            Some(InterfaceCommand::Open { folders, data, watch, patterns, model }) => {
                if context.global.folder.is_some() {
                    let message = "give the folders to open without --folder";
                    return Err(CliError::usage(message));
                }
                let model = model.or_from(&context.settings);
                let settings = cli::local_settings(model.as_deref(), patterns.chosen())?;
                let opening = FolderOpening::watching_if(watch);
                return Ok(Self::Folders { folders, opening, data, settings, profile: None });
            }
            Some(InterfaceCommand::Init(_)) => return Ok(Self::Welcome),
            _ => {}
        }
        Ok(match cli::select_target(&context.global, &context.settings)? {
            None => match last_opened_profile(&context.settings) {
                Some(profile) if !context.global.fresh => Self::of_profile(profile.clone(), None)?,
                _ => Self::Start,
            },
            Some(target) if target.is_saved => Self::of_profile(target.profile, None)?,
            Some(target) => match target.profile.deployment {
                DeploymentConfig::Local { folder, model } => {
                    Self::one_folder(folder, model.as_deref(), None)?
                }
                DeploymentConfig::Hosted { .. } | DeploymentConfig::OnPrem { .. } => {
                    Self::Address(target.client()?, target.profile.name)
                }
            },
        })
    }

    /// Opens a folder without a profile, as `tessera open` does.
    pub fn folder(settings: &Settings, folder: PathBuf) -> Result<Self, CliError> {
        Self::one_folder(folder, settings.model.as_deref(), None)
    }

    fn one_folder(
        folder: PathBuf,
        model: Option<&Path>,
        profile: Option<String>,
    ) -> Result<Self, CliError> {
        let settings = cli::local_settings(model, None)?;
        let (folders, opening) = (vec![folder], FolderOpening::Update);
        Ok(Self::Folders { folders, opening, data: None, settings, profile })
    }

    /// Returns what the list of recent places is to contain of this target.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Remote(Profile { name, .. }, _) | Self::Folders { profile: Some(name), .. } => {
                Some(Place::Profile(name.clone()))
            }
            Self::Folders { folders, data: None, .. } => {
                let folder = folders.first()?;
                Some(Place::Folder(cli::absolute_path(folder).unwrap_or_else(|_| folder.clone())))
            }
            Self::Folders { .. }
            | Self::Sample { .. }
            | Self::Address(..)
            | Self::Welcome
            | Self::Start => None,
        }
    }

    /// Returns the error of a folder that does not exist.
    pub fn missing_folder(&self) -> Option<CliError> {
        let Self::Folders { folders, .. } = self else { return None };
        folders.iter().find_map(|folder| cli::missing_folder(folder))
    }

    pub fn named(settings: &Settings, name: &str) -> Result<Self, CliError> {
        Self::of_profile(cli::profile_by_name(settings, name)?, None)
    }

    pub fn of_profile(profile: Profile, secret: Option<SecretString>) -> Result<Self, CliError> {
        Ok(match profile.deployment {
            DeploymentConfig::Local { folder, model } => {
                Self::one_folder(folder, model.as_deref(), Some(profile.name))?
            }
            DeploymentConfig::Hosted { .. } | DeploymentConfig::OnPrem { .. } => {
                Self::Remote(profile, secret)
            }
        })
    }

    /// Returns the shell command that opens the same deployment, without its model.
    pub fn reopen_command(&self) -> ReopenCommand {
        let command = self.equivalent_command();
        match self {
            // Other commands have no option for the index folder.
            Self::Sample { .. }
            | Self::Folders { data: Some(_), .. }
            | Self::Welcome
            | Self::Start => ReopenCommand::Whole(command),
            Self::Remote(..) | Self::Address(..) | Self::Folders { .. } => {
                ReopenCommand::Prefix(command)
            }
        }
    }

    fn equivalent_command(&self) -> ShellCommand {
        let full = |path: &Path| cli::absolute_path(path).unwrap_or_else(|_| path.to_owned());
        let tessera = ShellCommand::new("tessera");
        let (command, data) = match self {
            Self::Sample { images, data } => {
                (tessera.text("demo").option("--images", images.to_string()), data.as_deref())
            }
            Self::Remote(Profile { name, .. }, _) | Self::Folders { profile: Some(name), .. } => {
                (tessera.option("--profile", name), None)
            }
            // The index folder contains the datasets of all folders, so one folder is enough.
            Self::Folders { folders, data: None, .. } => {
                let first = folders.first().map(|folder| full(folder));
                (first.into_iter().fold(tessera, |it, folder| it.option("--folder", folder)), None)
            }
            Self::Folders { folders, data, .. } => {
                let open = tessera.text("open");
                (folders.iter().fold(open, |it, folder| it.word(full(folder))), data.as_deref())
            }
            Self::Address(client, _) => {
                let service = client.service();
                let kind = if service.is_on_premises() { "onprem" } else { "hosted" };
                let url = service.base_url();
                let tessera = tessera.option("--base-url", url.to_string()).option("--kind", kind);
                let command = match url.custom_prefix() {
                    Some(prefix) => tessera.option("--api-prefix", prefix),
                    None => tessera,
                };
                (command, None)
            }
            Self::Welcome | Self::Start => (tessera, None),
        };
        data.into_iter().fold(command, |command, data| command.option("--data", full(data)))
    }
}

/// Returns where key pairs of a profile are stored, or `None` for a profile without login.
pub(super) fn key_pair_owner(
    profile: &Profile,
    client: &Client,
    settings_file: Option<PathBuf>,
) -> Option<Arc<KeyPairOwner>> {
    let DeploymentConfig::Hosted { .. } = profile.deployment else { return None };
    let origin = client.service().base_url().to_string();
    let owner = KeyPairOwner::new(profile.clone(), origin, settings_file, open_secrets());
    Some(Arc::new(owner))
}

/// Returns what the interface shows about the login of `client`, or `None` if there is no login.
pub(super) fn login_setup(client: &Client, profile: Option<&Profile>) -> Option<LoginSetup> {
    let service = client.service();
    let origin = service.base_url().to_string();
    let (key, fixed) = match service.auth() {
        AuthMethod::Hosted(Credentials { api_key, .. }) => {
            let environment = |profile| environment_variable(profile, &origin, api_key);
            let fixed = match profile.map(environment) {
                Some(Some(name)) => Some(format!("{name}, which overrides a stored secret")),
                Some(None) => None,
                None => Some("the environment; a profile (P) stores a secret".to_owned()),
            };
            (api_key.as_str(), fixed)
        }
        AuthMethod::Token(_) => (TOKEN_VARIABLE, Some("the environment: a token".to_owned())),
        AuthMethod::Session(_) | AuthMethod::OnPremises => return None,
    };
    Some(LoginSetup {
        key: SafeText::name(key),
        fixed: fixed.as_deref().map(SafeText::detail),
        service: SafeText::detail(&origin),
    })
}

/// Returns the environment variable that provides the login of a profile.
fn environment_variable(profile: &Profile, origin: &str, api_key: &str) -> Option<&'static str> {
    let owner = SecretOwner { profile: &profile.name, origin, api_key };
    EnvironmentLoginPermission::for_profile(owner).ok()?;
    credentials::login_variables().next()
}

/// Returns the profile that the interface opened last, unless it opened a folder without a profile after that. The
/// profile is opened again if several profiles exist and none of them is the default.
fn last_opened_profile(settings: &Settings) -> Option<&Profile> {
    let recent = read_recent(&tessera_config::recent_file()?).ok()?;
    let Place::Profile(name) = &recent.first()?.place else { return None };
    settings.profiles.iter().find(|profile| profile.name == *name)
}
