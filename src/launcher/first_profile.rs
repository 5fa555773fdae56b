//! Runs the welcome screen, and saves the profile that is created there.

use super::{Launcher, target::LaunchTarget, terminal_error, watch_once};
use tessera::{
    cli::{self, CliError},
    credentials::read_secret_file,
    runtime::{self, RunOutcome, welcome_loop::WelcomeDecision},
    state::read_recent,
    usecase::{self, NewProfile, create_profile, require_source},
};
use tessera_config::{DeploymentConfig, Profile};
use tessera_interface::app::welcome::{CandidateProfile, SecretPlace, Welcome};
use tessera_model::RecentPlace;

impl Launcher {
    /// Shows the welcome screen with what was opened before.
    pub(super) async fn run_start(&mut self) -> Result<RunOutcome, CliError> {
        let recent = tessera_config::recent_file().map(|file| read_recent(&file)).transpose();
        match recent {
            Ok(recent) => self.run_welcome(None, recent.unwrap_or_default()).await,
            Err(failure) => self.run_welcome(Some(failure.to_string()), Vec::new()).await,
        }
    }

    /// Shows the welcome screen. A profile is saved only after its connection test has succeeded.
    pub(super) async fn run_welcome(
        &mut self,
        error: Option<String>,
        recent: Vec<RecentPlace>,
    ) -> Result<RunOutcome, CliError> {
        if self.settings.accessible.is_some() {
            let nothing = "nothing to open: try `tessera --accessible demo`, `tessera --accessible open \
                           FOLDER`, or select a profile";
            return Err(CliError::usage(error.unwrap_or_else(|| nothing.to_owned())));
        }
        let (name, needs_consent) = usecase::preferred_place(&usecase::open_secrets());
        let mut state = Welcome::new(error).with_recent(recent, cli::timestamp_now().as_secs());
        state.secret_place = SecretPlace { name, needs_consent };
        let reach = |candidate| {
            Box::pin(async { test_connection(candidate).await.map_err(|error| error.message) }) as _
        };
        let signals = watch_once(&mut self.signals)?;
        let theme = &self.settings.ui.theme;
        let running = runtime::welcome_loop::run(&self.options, signals, theme, state, reach);
        // The future contains the screen, so it is boxed.
        match Box::pin(running).await.map_err(|error| terminal_error(&error))? {
            WelcomeDecision::Exit(code) => Ok(RunOutcome::Exit(code)),
            WelcomeDecision::Open(destination) => Ok(RunOutcome::Switch(destination)),
            WelcomeDecision::Review(place) => {
                self.start.review = true;
                Ok(RunOutcome::Switch(place))
            }
            WelcomeDecision::SaveAndOpen(candidate) => self.save_profile_and_open(candidate).await,
        }
    }

    async fn save_profile_and_open(
        &mut self,
        candidate: Box<CandidateProfile>,
    ) -> Result<RunOutcome, CliError> {
        let CandidateProfile { profile, secret, store_secret, .. } = *candidate;
        let file = self.sources.user.as_deref();
        let Some(file) = file else {
            let error = CliError::usage(tessera_config::UNKNOWN_CONFIG_FILE);
            return Box::pin(self.opening_failed(error)).await;
        };
        let secret_to_store = secret.as_ref().filter(|_| store_secret);
        let new = NewProfile { profile: &profile, make_default: false, secret: secret_to_store };
        if let Err(error) = create_profile(file, &new) {
            return Box::pin(self.opening_failed(error.into())).await;
        }
        self.settings.profiles.push(profile.clone());
        match LaunchTarget::of_profile(profile, secret) {
            Ok(target) => Box::pin(self.open(target)).await,
            Err(error) => Box::pin(self.opening_failed(error)).await,
        }
    }
}

/// Connects with a new profile, and returns it with its secret and with absolute paths, because it is also opened from
/// other working directories.
async fn test_connection(
    candidate: Box<CandidateProfile>,
) -> Result<Box<CandidateProfile>, CliError> {
    let candidate = usecase::run_blocking(move || prepare(candidate)).await?;
    if let DeploymentConfig::Local { folder, .. } = &candidate.profile.deployment {
        if tessera_config::is_storage_uri(folder) {
            cli::check_storage_folder(folder).await?;
        }
        return Ok(candidate);
    }
    let secrets = usecase::open_secrets().ok();
    let secret = candidate.secret.clone();
    let client = cli::profile_client(&candidate.profile, secret, secrets.as_ref())?;
    client.list_datasets().await?;
    Ok(candidate)
}

/// Reads the secret and makes paths absolute. Checks the folder of a local deployment.
fn prepare(mut candidate: Box<CandidateProfile>) -> Result<Box<CandidateProfile>, CliError> {
    if let Some(file) = &candidate.secret_file {
        candidate.secret = Some(read_secret_file(file).map_err(CliError::usage)?);
    }
    let Profile { deployment, options, .. } = &mut candidate.profile;
    if let Some(file) = &mut options.ca_file {
        *file = cli::absolute_path(file)?;
    }
    if let DeploymentConfig::Local { folder, .. } = deployment {
        *folder = cli::absolute_path(folder)?;
        if !tessera_config::is_storage_uri(folder) {
            require_source(folder).map_err(CliError::usage)?;
        }
    }
    Ok(candidate)
}
