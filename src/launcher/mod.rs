//! Opens a deployment in the interface, and the next one when the user switches deployments. Come here to follow the
//! program from its options to the event loop.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    path::PathBuf,
    sync::Arc,
};

use target::{LaunchTarget, key_pair_owner, login_setup};
use tessera::{
    accessible::{self, Announcer},
    cli::{
        self, CliError, Context, Exit, InterfaceCommand, LocalService, Messages, StartPane,
        TuiOptions, is_capable_terminal,
    },
    runtime::{self, RunOutcome, SignalReceiver},
    state::{StateFolder, remember_place},
    usecase::{KeyPairOwner, file_actions, open_secrets},
    worker::{self, DiskCacheOptions, WorkerOptions},
};
use tessera_client::Client;
use tessera_config::{DeploymentKind, Destination, Profile, Settings, Sources, input::Keymap};
use tessera_interface::app::{self, LoginSetup, Pane, ReopenCommand, StartView};
use tessera_model::{Cover, DatasetId, Place, RecentPlace, SafeText, SavedSession};

mod first_profile;
mod target;

const DEFAULT_SAMPLE_IMAGES: u32 = 240;

pub fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && is_capable_terminal()
}

fn no_terminal() -> CliError {
    CliError::usage(if is_capable_terminal() {
        "the interface needs a terminal; without one, use --accessible for line-based prompts, \
         `tessera demo` for a text tour, or `tessera serve DIR` for HTTP"
    } else {
        "the interface needs a terminal, and the variable TERM names none; set it, for example to \
         xterm-256color, or use --accessible for line-based prompts"
    })
}

/// Returns why nothing can be opened without a terminal. A folder that does not exist is wrong in any case, so it is
/// reported first. `bare` is whether the command line has no command.
fn unusable_without_terminal(target: &LaunchTarget, bare: bool) -> CliError {
    target.missing_folder().unwrap_or_else(|| {
        if bare {
            cli::print_help();
        }
        no_terminal()
    })
}

fn invalid_keys(error: &tessera_config::ConfigError) -> CliError {
    CliError::usage(error.to_string()).with_remedy("tessera config validate")
}

pub async fn run(context: Context, command: Option<InterfaceCommand>) -> Result<i32, CliError> {
    let bare = command.is_none();
    let start = match &command {
        Some(InterfaceCommand::Tui(tui)) => start_view(tui),
        _ => StartView::default(),
    };
    let is_named = !bare || cli::select_target(&context.global, &context.settings)?.is_some();
    let target = LaunchTarget::initial(&context, command)?;
    let Context { global, mut settings, messages, .. } = context;
    let (sources, read_only, fresh) = (global.sources(), global.read_only, global.fresh);
    let start = StartView { dataset: start.dataset.or_else(|| global.dataset.clone()), ..start };
    let (mut options, warnings) =
        runtime::RuntimeOptions::new(&settings).map_err(CliError::usage)?;
    let key_file = tessera_config::keymap_file();
    let keys = tessera_config::load_keymap(key_file.as_deref(), &settings.commands);
    let (keymap, key_warnings) = keys.map_err(|error| invalid_keys(&error))?;
    settings.warnings.extend(warnings.into_iter().chain(key_warnings));
    if !has_terminal() && settings.accessible.is_none() {
        return Err(unusable_without_terminal(&target, bare));
    }
    options.trace = global.open_trace()?;
    let trace = options.trace.clone();
    let mut launcher = Launcher {
        settings,
        sources,
        keymap,
        options,
        read_only,
        fresh,
        is_named,
        start,
        signals: None,
        reopen_command: ReopenCommand::default(),
        messages,
        unsaved: Vec::new(),
    };
    let code = launcher.run_until_exit(target).await;
    launcher.report_unsaved();
    let code = code?;
    trace.finish().map_err(|error| CliError::io("write the trace", &error))?;
    Ok(code)
}

fn start_view(tui: &TuiOptions) -> StartView {
    let pane = tui.tab.map(|tab| match tab {
        StartPane::Datasets => Pane::Datasets,
        StartPane::Results => Pane::Results,
        StartPane::Detail => Pane::Detail,
        StartPane::Query => Pane::Query,
        StartPane::Jobs => Pane::Jobs,
        StartPane::Basket => Pane::Basket,
    });
    let view = tui.view.as_deref().map(SafeText::name);
    StartView { dataset: tui.at.clone(), pane, view, review: tui.review }
}

/// A deployment that the interface shows.
struct LaunchedDeployment {
    client: Client,
    /// What the interface shows about the login.
    login: Option<LoginSetup>,
    deployment: DeploymentKind,
    /// The dataset to open first.
    dataset: Option<DatasetId>,
    /// The folders of local datasets.
    folders: BTreeMap<DatasetId, SafeText>,
    worker_options: WorkerOptions,
}

struct Launcher {
    settings: Settings,
    sources: Sources,
    keymap: Keymap,
    options: runtime::RuntimeOptions,
    read_only: bool,
    /// Whether to start without the last session.
    fresh: bool,
    /// Whether the command line, the environment or the settings name what is opened first.
    is_named: bool,
    /// Where to start, which applies to the first deployment only.
    start: StartView,
    /// The receiver of signals, which are watched from the first screen on.
    signals: Option<SignalReceiver>,
    reopen_command: ReopenCommand,
    messages: Messages,
    /// What the last interface did not save. The next interface shows it, or the end of the program does.
    unsaved: Vec<String>,
}

impl Launcher {
    fn report_unsaved(&mut self) {
        for line in self.unsaved.drain(..) {
            self.messages.warn(line);
        }
    }

    /// Opens a target, and then what the user switches to. Returns the exit code.
    async fn run_until_exit(&mut self, target: LaunchTarget) -> Result<i32, CliError> {
        let mut outcome = self.open(target).await?;
        loop {
            outcome = match outcome {
                RunOutcome::Exit(code) => return Ok(code),
                RunOutcome::Switch(destination) => match self.target(destination) {
                    Ok(target) => self.open(target).await?,
                    Err(error) => self.opening_failed(error).await?,
                },
            };
        }
    }

    /// Shows on the welcome screen why something that the user has chosen on a screen cannot be opened. What the command
    /// line names is opened before any screen, so its error ends the program.
    async fn opening_failed(&mut self, error: CliError) -> Result<RunOutcome, CliError> {
        match self.signals {
            None if self.is_named => Err(error),
            _ => self.run_welcome(Some(error.message), Vec::new()).await,
        }
    }

    fn target(&mut self, destination: Destination) -> Result<LaunchTarget, CliError> {
        Ok(match destination {
            Destination::Profile(name) => {
                self.reload_profiles();
                LaunchTarget::named(&self.settings, &name)?
            }
            Destination::Folder(folder) => LaunchTarget::folder(&self.settings, folder)?,
            Destination::Sample => {
                LaunchTarget::Sample { images: DEFAULT_SAMPLE_IMAGES, data: None }
            }
            Destination::Welcome => LaunchTarget::Welcome,
        })
    }

    /// Reads the profiles again, because a command may have given one another key pair or address meanwhile. If this
    /// fails, the profiles stay as they were, and the interface says so.
    fn reload_profiles(&mut self) {
        match Settings::load(&self.sources) {
            Ok(settings) => self.settings.profiles = settings.profiles,
            Err(error) => self.settings.warnings.push(error),
        }
    }

    /// Opens a target and runs the interface.
    async fn open(&mut self, target: LaunchTarget) -> Result<RunOutcome, CliError> {
        self.reopen_command = target.reopen_command();
        let place = target.place();
        match target {
            LaunchTarget::Sample { images, data } => {
                let state = tessera_config::sample_state_dir();
                match cli::start_demo(images, data).await {
                    Ok(local) => self.run_local(local, ("sample", state), (None, None)).await,
                    Err(error) => self.opening_failed(error).await,
                }
            }
            LaunchTarget::Folders { folders, opening, data, settings, profile } => {
                let name = profile.clone().unwrap_or_else(|| cli::LOCAL_NAME.to_owned());
                let state = tessera_config::local_state_dir();
                match LocalService::open_folders(&folders, opening, data, settings).await {
                    Ok(local) => self.run_local(local, (&name, state), (profile, place)).await,
                    Err(error) => self.opening_failed(error).await,
                }
            }
            LaunchTarget::Remote(profile, secret) => {
                let secrets = open_secrets().ok();
                let client = cli::profile_client(&profile, secret, secrets.as_ref());
                // A client without a secret is enough, because the interface opens the form for the
                // missing login.
                let client = client.or_else(|error| match error.exit {
                    Exit::Login if self.settings.accessible.is_none() => {
                        cli::profile_client_without_secret(&profile)
                    }
                    _ => Err(error),
                });
                match client {
                    Ok(client) => {
                        self.remember(place.as_ref(), None, Cover::default());
                        self.run_profile(client, &profile).await
                    }
                    Err(error) => self.opening_failed(error).await,
                }
            }
            LaunchTarget::Address(client, name) => {
                let login = login_setup(&client, None);
                let launched = self.remote_deployment(client, login, None);
                let state = tessera_config::state_dir(&name);
                self.run_interface(launched, (&name, state), None).await
            }
            LaunchTarget::Welcome => self.run_welcome(None, Vec::new()).await,
            LaunchTarget::Start => self.run_start().await,
        }
    }

    /// Remembers a place that was opened, how many media it has, and its cover. If this fails, the interface says so.
    fn remember(&mut self, place: Option<&Place>, media: Option<u64>, cover: Cover) {
        let (Some(place), Some(file)) = (place, tessera_config::recent_file()) else { return };
        let opened_at = cli::timestamp_now().as_secs();
        let opened = RecentPlace { place: place.clone(), media, opened_at, cover };
        if let Err(failure) = remember_place(&file, opened) {
            self.settings.warnings.push(failure.to_string());
        }
    }

    /// Runs a remote profile. The user may replace its key meanwhile.
    async fn run_profile(
        &mut self,
        client: Client,
        profile: &Profile,
    ) -> Result<RunOutcome, CliError> {
        let owner = key_pair_owner(profile, &client, self.sources.user.clone());
        let login = login_setup(&client, Some(profile));
        let name = profile.name.clone();
        let launched = self.remote_deployment(client, login, owner.clone());
        let named = (name.as_str(), tessera_config::state_dir(&name));
        let outcome = self.run_interface(launched, named, Some(name.clone())).await;
        let known = self.settings.profiles.iter_mut().find(|known| known.name == name);
        if let (Some(known), Some(owner)) = (known, owner) {
            known.deployment = owner.profile().deployment;
        }
        outcome
    }

    async fn run_local(
        &mut self,
        local: LocalService,
        named: (&str, Option<PathBuf>),
        (profile, place): (Option<String>, Option<Place>),
    ) -> Result<RunOutcome, CliError> {
        // A folder that cannot be opened is not remembered.
        self.remember(place.as_ref(), local.media_count(), Cover::default());
        let folders = local.dataset_folders()?.into_iter();
        let folders = folders.map(|(id, it)| (id, SafeText::file_name(&it.to_string_lossy())));
        let launched = LaunchedDeployment {
            client: local.client()?,
            login: None,
            deployment: DeploymentKind::Local,
            dataset: local.first_dataset(),
            folders: folders.collect(),
            // There is no disk cache, because the pictures are already on this machine.
            worker_options: WorkerOptions {
                later_warning: Some(Box::pin(local.skipped_warning())),
                originals: Some(local.original_finder()),
                models: Some(local.model_provider()),
                ..WorkerOptions::default()
            },
        };
        let outcome = self.run_interface(launched, named, profile).await;
        // The list is printed after the screen was restored, so that it is not lost.
        local.report_skipped();
        // The folder may have been indexed meanwhile.
        let cover = if place.is_some() { local.cover().await } else { Cover::default() };
        self.remember(place.as_ref(), local.media_count(), cover);
        local.stop().await?;
        outcome
    }

    fn remote_deployment(
        &self,
        client: Client,
        login: Option<LoginSetup>,
        key_pair_owner: Option<Arc<KeyPairOwner>>,
    ) -> LaunchedDeployment {
        let is_on_premises = client.service().is_on_premises();
        let deployment =
            if is_on_premises { DeploymentKind::Onprem } else { DeploymentKind::Hosted };
        let disk_cache = self.disk_cache();
        let worker_options =
            WorkerOptions { disk_cache, key_pair_owner, ..WorkerOptions::default() };
        let folders = BTreeMap::new();
        LaunchedDeployment { client, login, deployment, dataset: None, folders, worker_options }
    }

    /// Runs the interface with the name of a deployment and the folder of its saved state.
    async fn run_interface(
        &mut self,
        launched: LaunchedDeployment,
        (name, state): (&str, Option<PathBuf>),
        profile: Option<String>,
    ) -> Result<RunOutcome, CliError> {
        let state = state.map(StateFolder::in_dir).unwrap_or_default();
        let setup = self.setup(&launched, name, profile, &state);
        let worker = worker::spawn(launched.client, state, launched.worker_options);
        if self.settings.accessible.is_some() {
            let announcer = Announcer::new(io::BufReader::new(io::stdin()), io::stdout());
            let trace = self.options.trace.clone();
            // Signals keep their default effect, because the terminal needs no restoring.
            let running = accessible::run(setup, trace, worker, announcer);
            return Box::pin(running).await.map_err(|error| CliError::output(&error));
        }
        let options = self.options.clone();
        let signals = watch_once(&mut self.signals)?;
        let running = runtime::run(setup, options, worker, signals, &mut self.unsaved);
        // The future is large. It is boxed so that it does not enlarge the futures of all callers.
        let outcome = Box::pin(running).await.map_err(|error| terminal_error(&error));
        if !matches!(outcome, Ok(RunOutcome::Switch(_))) {
            // A signal may end the program while the local service stops, so the report does not wait for the service.
            self.report_unsaved();
        }
        outcome
    }

    fn setup(
        &mut self,
        launched: &LaunchedDeployment,
        name: &str,
        profile: Option<String>,
        state: &StateFolder,
    ) -> app::Setup {
        let (session, session_warning) = self.last_session(state, launched.dataset);
        let known = profile
            .as_ref()
            .and_then(|name| self.settings.profiles.iter().find(|each| each.name == *name));
        let kind = known.map(|known| known.deployment.kind());
        let profile_options = known.map(|known| known.options.clone()).unwrap_or_default();
        let mut start = std::mem::take(&mut self.start);
        // The session may have ended at the dataset of another folder.
        start.dataset = start.dataset.or(launched.dataset.map(|id| id.to_string()));
        let name = kind.map_or_else(|| name.to_owned(), |kind| format!("{name}·{kind}"));
        let warnings = [
            self.settings.warnings.clone(),
            session_warning,
            state.missing_guarantees(),
            interrupted_action(launched.deployment),
            self.unsaved.clone(),
        ];
        let settings = Settings { warnings: warnings.concat(), ..self.settings.clone() };
        app::Setup {
            profile,
            login: launched.login.clone(),
            read_only: self.read_only || profile_options.read_only,
            start,
            pinned: profile_options.pinned.iter().filter_map(|id| id.parse().ok()).collect(),
            session,
            deployment: launched.deployment,
            dataset_folders: launched.folders.clone(),
            reopen_command: self.reopen_command.clone(),
            home_dir: std::env::home_dir(),
            started_at: cli::timestamp_now(),
            protocol: self.options.initial_protocol(),
            user_themes: self.options.themes.user_themes().collect(),
            unreadable_theme: self.options.themes.unreadable_theme(),
            ..app::Setup::new(SafeText::name(&name), settings, self.keymap.clone())
        }
    }

    /// Returns the session that was saved when the interface last ended, or ended with a dataset, and why it cannot be
    /// read.
    fn last_session(
        &self,
        state: &StateFolder,
        dataset: Option<DatasetId>,
    ) -> (Option<SavedSession>, Vec<String>) {
        if self.fresh {
            return (None, Vec::new());
        }
        match state.session(dataset) {
            Ok(session) => (session, Vec::new()),
            Err(failure) => (None, vec![failure.to_string()]),
        }
    }

    /// Returns the disk cache for thumbnails of a remote service, unless the cache is turned off.
    fn disk_cache(&self) -> Option<DiskCacheOptions> {
        let max_bytes = self.settings.cache.max_mib << 20;
        let folder = tessera_config::thumbnails_dir().filter(|_| max_bytes > 0)?;
        Some(DiskCacheOptions { folder, max_bytes })
    }
}

/// Returns how far an action on original files came that a crash interrupted.
fn interrupted_action(deployment: DeploymentKind) -> Vec<String> {
    let interrupted = (deployment == DeploymentKind::Local).then(file_actions::interrupted);
    interrupted.flatten().map(|failure| failure.to_string()).into_iter().collect()
}

/// Returns the receiver of signals. Signals are watched from the first call on.
fn watch_once(signals: &mut Option<SignalReceiver>) -> Result<&mut SignalReceiver, CliError> {
    match signals {
        Some(signals) => Ok(signals),
        none => {
            let watched = runtime::watch_signals();
            let watched = watched.map_err(|error| CliError::io("wait for signals", &error))?;
            Ok(none.insert(watched))
        }
    }
}

fn terminal_error(error: &io::Error) -> CliError {
    CliError::io("use the terminal", error)
}
