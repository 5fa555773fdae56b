//! Parse, compose, run: the only place that knows both a deployment and the terminal interface.

use std::{
    io::{self, IsTerminal},
    net::{Ipv4Addr, SocketAddr},
    process,
};

use clap::Parser as _;
use tessera::{
    api::Client,
    app, cli,
    cli::{Command, Ended, Exit, Line},
    config::{self, Settings},
    input::Keymap,
    journal::Journal,
    local::{Access, Credentials},
    model::{DatasetId, SafeText},
    runtime, worker,
};

#[tokio::main]
async fn main() {
    let code = run(Line::parse()).await.unwrap_or_else(|ended| ended.told());
    // Indexing threads may still be at work; what they have acknowledged is on disk.
    process::exit(code);
}

async fn run(line: Line) -> Result<i32, Ended> {
    let settings = Settings::load(config::user_file().as_deref(), line.overrides())
        .map_err(|error| Ended::new(Exit::Usage, error))?;
    match line.command {
        Some(Command::Serve(options)) => cli::serve(options).await,
        Some(Command::Demo { images, data }) => {
            let local = cli::paint(images, data).await?;
            if has_terminal() {
                return show_local(local, "demo", &settings).await;
            }
            cli::tell(&local).await?;
            local.stop().await.map(|()| 0)
        }
        Some(Command::Open { folder, data, encoding }) => {
            needs_terminal("for a folder without one, `tessera serve DIR` answers over HTTP")?;
            let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let access = Access::Token(Credentials::generate());
            let own = encoding.settings()?;
            let local = cli::Local::start(data, &[folder], listen, own, access.into()).await?;
            let (deployment, datasets) = (local.deployment.clone(), local.datasets.clone());
            let code = show_local(local, "local", &settings).await;
            // Told when the screen is the shell's again: what was left out must not go unsaid.
            for dataset in datasets {
                cli::tell_skipped(&deployment, dataset);
            }
            code
        }
        None => {
            let (Some(url), Some(kind)) = (&line.deployment.base_url, line.deployment.kind) else {
                let sentence = "nothing to open: try `tessera demo`, `tessera open FOLDER`, or \
                                `tessera --base-url URL --kind hosted|onprem`";
                return Err(Ended::new(Exit::Usage, sentence));
            };
            needs_terminal("without one, `tessera demo` tells its tour as text")?;
            let client = cli::remote(url, kind)?;
            let place = url.trim_start_matches("https://").trim_start_matches("http://");
            show(client, place, None, &settings).await
        }
    }
}

fn has_terminal() -> bool {
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !dumb
}

fn needs_terminal(instead: &str) -> Result<(), Ended> {
    let sentence = format!("the interface needs a terminal for input and output; {instead}");
    has_terminal().then_some(()).ok_or_else(|| Ended::new(Exit::Usage, sentence))
}

async fn show_local(local: cli::Local, place: &str, settings: &Settings) -> Result<i32, Ended> {
    let code = show(local.client()?, place, local.datasets.first().copied(), settings).await?;
    local.stop().await.map(|()| code)
}

async fn show(
    client: Client,
    place: &str,
    open: Option<DatasetId>,
    settings: &Settings,
) -> Result<i32, Ended> {
    let usage = |error: String| Ended::new(Exit::Usage, error);
    let options = runtime::Options::new(settings).map_err(usage)?;
    let journal = config::state_folder(place).map(Journal::in_folder).unwrap_or_default();
    let setup = app::Setup {
        place: SafeText::name(place),
        dataset: open,
        keymap: Keymap::shipped().map_err(usage)?,
        downloads: SafeText::file(&settings.download_dir),
        home: std::env::home_dir(),
        size: (0, 0),
        protocol: options.first_protocol(),
        theme: settings.theme.clone(),
    };
    Ok(runtime::run(setup, options, worker::spawn(client, journal)).await?)
}
