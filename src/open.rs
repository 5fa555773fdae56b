//! From a wish to a running interface: which deployment, over which client; one after the other,
//! when the person switches.

use std::{
    io::{self, IsTerminal},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::SystemTime,
};

use secrecy::SecretString;
use tessera::{
    accessible::{self, Beginning, Voice},
    app::{self, Pane, welcome::Candidate},
    cli::{self, Context, Ended, Exit, Interface, Local, Tab, Target, Tui},
    config::{self, Destination, Place, Profile, Settings},
    credentials::Holder,
    journal::Journal,
    runtime::{
        self, Ending, Received,
        welcome::{Decided, Surroundings},
    },
    worker,
};
use tessera_client::Client;
use tessera_client::trace::Trace;
use tessera_model::{DatasetId, SafeText, shell::quote};
use tessera_service::{Access, Credentials};

/// What is opened next.
enum Wish {
    /// The painted sample.
    Sample { images: u32, data: Option<PathBuf> },
    /// A folder, indexed in `data`.
    Folder {
        folder: PathBuf,
        data: Option<PathBuf>,
        own: tessera_service::Settings,
        profile: Option<String>,
    },
    /// A profile elsewhere, with a secret that was just entered.
    Elsewhere(Profile, Option<SecretString>),
    /// An address from the command line.
    Address(Client, String),
    /// Whatever the person decides; with the reason why nothing is open.
    Ask(Option<String>),
}

/// Images of the sample when nobody says how many.
const SAMPLE: u32 = 240;

/// Whether there is a terminal for an interface.
pub fn has_terminal() -> bool {
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !dumb
}

fn usage(error: impl Into<String>) -> Ended {
    Ended::new(Exit::Usage, error.into())
}

/// Runs the interface until the person leaves it.
pub async fn run(context: Context, command: Option<Interface>) -> Result<i32, Ended> {
    let bare = command.is_none();
    let start = match &command {
        Some(Interface::Tui(tui)) => Start::of(tui),
        _ => Start::default(),
    };
    let wish = first(&context, command)?;
    let Context { global, settings, .. } = context;
    let (trace, read_only) = (global.trace, global.read_only);
    let start = Start { dataset: start.dataset.or(global.dataset), ..start };
    if !has_terminal() && settings.accessible.is_none() {
        if bare {
            cli::tell_help()?;
        }
        return Err(usage(
            "the interface needs a terminal for input and output; without one, --accessible asks and \
             answers line by line, `tessera demo` tells its tour as text and `tessera serve DIR` \
             answers over HTTP",
        ));
    }
    let mut options = runtime::Options::new(&settings).map_err(usage)?;
    if let Some(path) = trace {
        options.trace = Trace::to(&path)
            .map_err(|error| usage(format!("--trace {}: {error}", path.display())))?;
    }
    let trace = options.trace.clone();
    let mut house =
        House { settings, options, read_only, start, signals: None, command: String::new() };
    let mut wish = wish;
    loop {
        match house.open(wish).await? {
            Ending::Code(code) => {
                trace.finish()?;
                return Ok(code);
            }
            Ending::Switch(destination) => wish = house.wish(destination)?,
        }
    }
}

/// What the command line wishes.
fn first(context: &Context, command: Option<Interface>) -> Result<Wish, Ended> {
    match command {
        Some(Interface::Demo { images, data }) => return Ok(Wish::Sample { images, data }),
        Some(Interface::Open { folder, data, encoding }) => {
            let own = encoding.settings()?;
            return Ok(Wish::Folder { folder, data, own, profile: None });
        }
        Some(Interface::Init(_)) => return Ok(Wish::Ask(None)),
        _ => {}
    }
    Ok(match cli::chosen(&context.global, &context.settings)? {
        None => Wish::Ask(None),
        Some(Target::Profile(profile)) => wish_for(profile, None),
        Some(Target::Address(address)) => Wish::Address(cli::remote(&address)?, address.place()),
    })
}

fn named(settings: &Settings, name: &str) -> Result<Wish, Ended> {
    Ok(wish_for(cli::named(settings, name)?, None))
}

fn wish_for(profile: Profile, secret: Option<SecretString>) -> Wish {
    match profile.place {
        Place::Local { folder } => {
            let own = tessera_service::Settings::default();
            Wish::Folder { folder, data: None, own, profile: Some(profile.name) }
        }
        Place::Hosted { .. } | Place::OnPrem { .. } => Wish::Elsewhere(profile, secret),
    }
}

/// What a shell opens the same with; own encoders have to be named again.
fn command(wish: &Wish) -> String {
    let path = |path: &Path| {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        full.to_string_lossy().into_owned()
    };
    let mut words = vec!["tessera".to_owned()];
    let data = match wish {
        Wish::Sample { images, data } => {
            words.extend(["demo".to_owned(), "--images".to_owned(), images.to_string()]);
            data.as_deref()
        }
        Wish::Elsewhere(Profile { name, .. }, _) | Wish::Folder { profile: Some(name), .. } => {
            words.extend(["--profile".to_owned(), name.clone()]);
            None
        }
        Wish::Folder { folder, data, .. } => {
            words.extend(["open".to_owned(), path(folder)]);
            data.as_deref()
        }
        Wish::Address(client, _) => {
            let endpoint = client.endpoint();
            let kind = if endpoint.is_on_premises() { "onprem" } else { "hosted" };
            let url = endpoint.base_url().to_string();
            words.extend(["--base-url".to_owned(), url, "--kind".to_owned(), kind.to_owned()]);
            None
        }
        Wish::Ask(_) => None,
    };
    words.extend(data.into_iter().flat_map(|data| ["--data".to_owned(), path(data)]));
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// Where the interface is opened.
#[derive(Default)]
struct Start {
    /// The dataset, by its id or its name.
    dataset: Option<String>,
    pane: Option<Pane>,
    /// A saved view, by its name.
    view: Option<SafeText>,
}

impl Start {
    fn of(tui: &Tui) -> Self {
        let pane = tui.tab.map(|tab| match tab {
            Tab::Datasets => Pane::Datasets,
            Tab::Results => Pane::Results,
            Tab::Detail => Pane::Detail,
            Tab::Query => Pane::Query,
            Tab::Jobs => Pane::Jobs,
            Tab::Basket => Pane::Basket,
        });
        let view = tui.view.as_deref().map(SafeText::name);
        Self { dataset: tui.at.clone(), pane, view }
    }
}

/// What stays while deployments come and go.
struct House {
    settings: Settings,
    options: runtime::Options,
    read_only: bool,
    /// Where the first deployment is opened.
    start: Start,
    /// Watched from the first screen on.
    signals: Option<Received>,
    /// What a shell opens the same with.
    command: String,
}

impl House {
    fn wish(&self, destination: Destination) -> Result<Wish, Ended> {
        Ok(match destination {
            Destination::Profile(name) => named(&self.settings, &name)?,
            Destination::Sample => Wish::Sample { images: SAMPLE, data: None },
            Destination::Welcome => Wish::Ask(None),
        })
    }

    /// Opens what is wished and runs it. What cannot be opened leads back to the welcome.
    async fn open(&mut self, wish: Wish) -> Result<Ending, Ended> {
        self.command = command(&wish);
        match wish {
            Wish::Sample { images, data } => {
                let local = cli::paint(images, data).await?;
                self.show_local(local, "sample", None).await
            }
            Wish::Folder { folder, data, own, profile } => {
                let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                let access = Access::Token(Credentials::generate());
                let local = Local::start(data, &[folder], listen, own, access.into()).await?;
                let (deployment, datasets) = (local.deployment.clone(), local.datasets.clone());
                let place = profile.clone().unwrap_or_else(|| "local".to_owned());
                let ending = self.show_local(local, &place, profile).await;
                // Told when the screen is the shell's again: what was left out must not go unsaid.
                for dataset in datasets {
                    cli::tell_skipped(&deployment, dataset);
                }
                ending
            }
            Wish::Elsewhere(profile, secret) => {
                let secrets = cli::secrets().ok();
                match cli::client_of(&profile, secret, secrets.as_ref()) {
                    Ok(client) => {
                        let place = profile.name.clone();
                        let on_premises = matches!(profile.place, Place::OnPrem { .. });
                        self.show(client, &place, None, Some(profile.name), on_premises).await
                    }
                    Err(ended) => self.ask(Some(ended.sentence)).await,
                }
            }
            Wish::Address(client, place) => {
                let on_premises = client.endpoint().is_on_premises();
                self.show(client, &place, None, None, on_premises).await
            }
            Wish::Ask(trouble) => self.ask(trouble).await,
        }
    }

    async fn show_local(
        &mut self,
        local: Local,
        place: &str,
        profile: Option<String>,
    ) -> Result<Ending, Ended> {
        let first = local.datasets.first().copied();
        let ending = self.show(local.client()?, place, first, profile, false).await;
        local.stop().await?;
        ending
    }

    async fn show(
        &mut self,
        client: Client,
        place: &str,
        dataset: Option<DatasetId>,
        profile: Option<String>,
        on_premises: bool,
    ) -> Result<Ending, Ended> {
        if let Some(reason) = self.settings.accessible {
            return self.tell(client, place, dataset, reason).await;
        }
        let journal = config::state_folder(place).map(Journal::in_folder).unwrap_or_default();
        let known = profile
            .as_ref()
            .and_then(|name| self.settings.profiles.iter().find(|each| each.name == *name));
        let kind = known.map(|known| known.place.kind());
        let manner = known.map(|known| known.manner.clone()).unwrap_or_default();
        let start = std::mem::take(&mut self.start);
        // The name alone keeps the journal; the kind beside it is for the header.
        let place = kind.map_or_else(|| place.to_owned(), |kind| format!("{place}·{kind}"));
        let (keymap, warnings) = config::keymap(config::keys_file().as_deref()).map_err(usage)?;
        // Before 1970 there is no time of day; ages then count from the start of the program.
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let setup = app::Setup {
            profile,
            read_only: self.read_only || manner.read_only,
            pane: start.pane,
            view: start.view,
            pinned: manner.pinned.iter().filter_map(|id| id.parse().ok()).collect(),
            search: self.settings.search.clone(),
            export: self.settings.export.clone(),
            warnings,
            profiles: self.settings.profiles.clone(),
            on_premises,
            dataset: start.dataset.or(dataset.map(|id| id.to_string())),
            command: self.command.clone(),
            downloads: SafeText::file(&self.settings.export.download_dir),
            home: std::env::home_dir(),
            clock,
            protocol: self.options.first_protocol(),
            theme: self.settings.theme.clone(),
            tile: self.settings.tile,
            mouse: self.settings.mouse,
            cadence: self.settings.poll,
            notify: self.settings.notify.clone(),
            ..app::Setup::new(SafeText::name(&place), keymap)
        };
        let worker = worker::spawn(client, journal);
        let options = self.options.clone();
        let running = runtime::run(setup, options, worker, watched(&mut self.signals)?);
        // The loop with its terminal is large; on the heap it does not swell everything around it.
        Ok(Box::pin(running).await?)
    }

    /// The same as a conversation in lines, over standard input and output.
    async fn tell(
        &self,
        client: Client,
        place: &str,
        dataset: Option<DatasetId>,
        reason: &'static str,
    ) -> Result<Ending, Ended> {
        let voice = Voice::new(io::BufReader::new(io::stdin()), io::stdout());
        let downloads = PathBuf::from(&self.settings.export.download_dir);
        let place = SafeText::name(place);
        let clusters = (self.settings.search.entity, self.settings.search.granularity);
        let cadence = self.settings.poll;
        let beginning = Beginning { place, dataset, reason, downloads, clusters, cadence };
        // Signals do what they do to any program: there is no terminal to be given back.
        accessible::run(client, beginning, voice).await?;
        Ok(Ending::Code(0))
    }

    /// The welcome. What was decided is remembered only after it was reached.
    async fn ask(&mut self, trouble: Option<String>) -> Result<Ending, Ended> {
        if self.settings.accessible.is_some() {
            let nothing = "nothing to open: try `tessera --accessible demo`, `tessera --accessible open \
                           FOLDER`, or name a profile";
            return Err(usage(trouble.unwrap_or_else(|| nothing.to_owned())));
        }
        let place = cli::secrets().ok().map(|secrets| secrets.place(secrets.best_store()));
        let around = Surroundings {
            trouble,
            theme: self.settings.theme.clone(),
            home: std::env::home_dir(),
            secrets: place.unwrap_or_else(|| "no folder: nothing can be stored".to_owned()),
        };
        let reach = |candidate| Box::pin(reach(candidate)) as _;
        let signals = watched(&mut self.signals)?;
        match runtime::welcome::welcome(&self.options, signals, around, reach).await? {
            Decided::Leave(code) => Ok(Ending::Code(code)),
            Decided::Open(destination) => Ok(Ending::Switch(destination)),
            Decided::Keep(candidate) => self.keep(candidate).await,
        }
    }

    async fn keep(&mut self, candidate: Candidate) -> Result<Ending, Ended> {
        let Candidate { profile, secret, store } = candidate;
        let file = config::user_file().ok_or_else(|| usage("there is no folder for settings"))?;
        config::edit::add_profile(&file, &profile).map_err(usage)?;
        self.settings.profiles.push(profile.clone());
        if let (Some(secret), true, Place::Hosted { base_url, api_key, .. }, Some(secrets)) =
            (&secret, store, &profile.place, cli::secrets().ok())
        {
            let origin = tessera_client::BaseUrl::parse(base_url)?.to_string();
            let holder = Holder { profile: &profile.name, origin: &origin, api_key };
            secrets.keep(holder, secret, secrets.best_store()).map_err(usage)?;
        }
        Box::pin(self.open(wish_for(profile, secret))).await
    }
}

/// The signals, watched from now on if they were not yet.
fn watched(signals: &mut Option<Received>) -> io::Result<&mut Received> {
    match signals {
        Some(signals) => Ok(signals),
        none => Ok(none.insert(runtime::watch_signals()?)),
    }
}

/// Tries a candidate: its datasets are listed, or its folder is looked at.
async fn reach(candidate: Candidate) -> Result<(), String> {
    if let Place::Local { folder } = &candidate.profile.place {
        let found = tokio::fs::metadata(folder).await;
        return match found {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => Err(format!("{} is no folder", folder.display())),
            Err(error) => Err(format!("{}: {error}", folder.display())),
        };
    }
    let client = cli::client_of(&candidate.profile, candidate.secret, None)
        .map_err(|ended| ended.sentence)?;
    client.datasets().await.map(|_| ()).map_err(|failure| failure.to_string())
}
