//! Parse, compose, run: the only place that knows both a deployment and the terminal interface.

use std::process;

use clap::Parser as _;
use tessera::{
    cli::{self, Command, Ended, Line},
    config::{self, Settings},
};

mod open;

#[tokio::main]
async fn main() {
    let code = run(Line::parse()).await.unwrap_or_else(|ended| ended.told());
    // Indexing threads may still be at work; what they have acknowledged is on disk.
    process::exit(code);
}

async fn run(line: Line) -> Result<i32, Ended> {
    if let Some(Command::Serve(options)) = line.command {
        return cli::serve(options).await;
    }
    let settings = Settings::load(config::user_file().as_deref(), line.overrides())
        .map_err(|error| Ended::new(cli::Exit::Usage, error))?;
    match line.command {
        Some(Command::Demo { images, data })
            if !open::has_terminal() && settings.accessible.is_none() =>
        {
            let local = cli::paint(images, data).await?;
            cli::tell(&local).await?;
            local.stop().await.map(|()| 0)
        }
        _ => open::run(line, settings).await,
    }
}
