//! The hosted profile that a command works with, and its login.

use std::time::Duration;

use crate::{
    cli::{
        CliError, Context, ServiceAddress, ServiceTarget,
        login::{ServiceLogin, open_secrets},
    },
    config::{DeploymentConfig, DeploymentKind, Profile},
    credentials::SecretOwner,
};
use tessera_client::{BaseUrl, TOKEN_LIFETIME};
use tessera_model::ShellCommand;

pub(super) struct HostedProfile {
    pub profile: Profile,
    pub base_url: BaseUrl,
    pub origin: String,
    pub api_key: String,
}

impl HostedProfile {
    pub fn owner(&self) -> SecretOwner<'_> {
        SecretOwner { profile: &self.profile.name, origin: &self.origin, api_key: &self.api_key }
    }

    pub fn selected(context: &Context) -> Result<Self, CliError> {
        match context.target()? {
            ServiceTarget::Profile(profile) => Self::from_profile(profile),
            ServiceTarget::Address(ServiceAddress { base_url, .. }) => {
                let message =
                    "secrets are stored per profile; add a profile for this address first";
                let remedy = ShellCommand::new("tessera profile add NAME --kind hosted")
                    .option("--base-url", base_url);
                Err(CliError::usage(message).with_remedy(remedy))
            }
        }
    }

    fn from_profile(profile: Profile) -> Result<Self, CliError> {
        let DeploymentConfig::Hosted { base_url, api_key } = &profile.deployment else {
            let (name, kind) = (&profile.name, profile.deployment.kind());
            let message = format!("the profile `{name}` is {kind}: it needs no login");
            return Err(CliError::usage(message));
        };
        let base_url = BaseUrl::parse(base_url)?;
        let (origin, api_key) = (base_url.to_string(), api_key.clone());
        Ok(Self { profile, base_url, origin, api_key })
    }
}

pub(super) fn command_login(context: &Context) -> Result<(ServiceLogin, Duration), CliError> {
    match context.target()? {
        ServiceTarget::Profile(profile) => {
            let life = profile.options.token_ttl.unwrap_or(TOKEN_LIFETIME);
            let hosted = HostedProfile::from_profile(profile)?;
            Ok((ServiceLogin::for_profile(hosted.owner(), None, Some(&open_secrets()?))?, life))
        }
        ServiceTarget::Address(ServiceAddress {
            kind: DeploymentKind::Hosted, base_url, ..
        }) => Ok((ServiceLogin::for_address(&BaseUrl::parse(&base_url)?)?, TOKEN_LIFETIME)),
        ServiceTarget::Address(ServiceAddress {
            kind: DeploymentKind::Onprem | DeploymentKind::Local,
            ..
        }) => Err(CliError::usage("this deployment needs no login")),
    }
}
