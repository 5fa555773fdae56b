//! Defines what the launcher opens. The command line, a profile or the welcome screen chooses it.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use tessera::{
    app::ReopenCommand,
    cli::{
        self, CliError, Context, FolderOpening, InterfaceCommand, LocalFolder, LocalSettings,
        ServiceTarget,
    },
    config::{DeploymentConfig, Profile, Settings},
};
use tessera_client::Client;
use tessera_model::ShellCommand;

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
    /// The welcome screen, with the reason if nothing could be opened.
    Welcome(Option<String>),
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
                let model = model.or_of(&context.settings);
                let settings = cli::local_settings(model.as_deref(), patterns.chosen())?;
                let opening = FolderOpening::watching_if(watch);
                return Ok(Self::Folders { folders, opening, data, settings, profile: None });
            }
            Some(InterfaceCommand::Init(_)) => return Ok(Self::Welcome(None)),
            _ => {}
        }
        Ok(match cli::select_target(&context.global, &context.settings)? {
            None => Self::Welcome(None),
            Some(ServiceTarget::Profile(profile)) => Self::of_profile(profile, None)?,
            Some(ServiceTarget::Address(address)) => {
                Self::Address(cli::address_client(&address)?, address.name())
            }
            Some(ServiceTarget::Folder(LocalFolder { folder, model, .. })) => {
                let settings = cli::local_settings(model.as_deref(), None)?;
                let (folders, opening) = (vec![folder], FolderOpening::Update);
                Self::Folders { folders, opening, data: None, settings, profile: None }
            }
        })
    }

    pub fn named(settings: &Settings, name: &str) -> Result<Self, CliError> {
        Self::of_profile(cli::profile_by_name(settings, name)?, None)
    }

    pub fn of_profile(profile: Profile, secret: Option<SecretString>) -> Result<Self, CliError> {
        Ok(match profile.deployment {
            DeploymentConfig::Local { folder, model } => {
                let settings = cli::local_settings(model.as_deref(), None)?;
                let profile = Some(profile.name);
                let (folders, opening) = (vec![folder], FolderOpening::Update);
                Self::Folders { folders, opening, data: None, settings, profile }
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
            Self::Sample { .. } | Self::Folders { data: Some(_), .. } | Self::Welcome(_) => {
                ReopenCommand::Whole(command)
            }
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
                let prefix = url.own_prefix();
                (prefix.into_iter().fold(tessera, |it, own| it.option("--api-prefix", own)), None)
            }
            Self::Welcome(_) => (tessera, None),
        };
        data.into_iter().fold(command, |command, data| command.option("--data", full(data)))
    }
}
