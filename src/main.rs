//! Parse, compose, run: the only place that knows both a deployment and the terminal interface.

use std::process;

use tessera::{
    cli::{self, Command, Context, Ended, Line, Out, Screen},
    credentials,
    runtime::{
        self,
        probe::{Environment, glance},
    },
    ui::{layer::Colours, theme::Theme},
};

mod open;

#[tokio::main]
async fn main() {
    let line = cli::parsed();
    let machine = line.global.is_machine();
    // Before any secret is in memory.
    if let Err(error) = credentials::forbid_core_dumps() {
        process::exit(Ended::from(error).told(machine));
    }
    let code = run(line).await.unwrap_or_else(|ended| ended.told(machine));
    // Indexing threads may still be at work; what they have acknowledged is on disk.
    process::exit(code);
}

async fn run(line: Line) -> Result<i32, Ended> {
    match line.command {
        Some(Command::Serve(options)) => return cli::serve(options).await,
        Some(Command::About(command)) => {
            return cli::about(&Out::new(&line.global), command).map(|exit| exit as i32);
        }
        Some(Command::Config(command)) => {
            let theme = |source: &str| Theme::parse(source).map(drop);
            return cli::configure(&Context::mending(line.global, screen)?, command, theme)
                .map(|exit| exit as i32);
        }
        Some(Command::Doctor(options)) => {
            let done = cli::doctor(line.global, options, screen).await;
            return done.map(|exit| exit as i32);
        }
        _ => {}
    }
    let context = Context::new(line.global, screen)?;
    match line.command.map(Command::at_home) {
        Some(Command::Demo { images, data })
            if !open::has_terminal() && context.settings.accessible.is_none() =>
        {
            let local = cli::paint(images, data).await?;
            cli::tell(&local).await?;
            local.stop().await.map(|()| 0)
        }
        Some(Command::Init(init)) if init.asks() && open::has_terminal() => {
            open::run(context, Some(Command::Init(init))).await
        }
        command @ (None | Some(Command::Demo { .. } | Command::Open { .. } | Command::Tui(_))) => {
            open::run(context, command).await
        }
        Some(command) => cli::run(&context, command).await.map(|exit| exit as i32),
    }
}

/// What the terminal draws, in the words of the commands.
fn screen() -> Screen {
    let environment = Environment::read();
    let size = runtime::terminal::size().unwrap_or((80, 24));
    let name = environment.name();
    match glance(&environment) {
        Ok(found) => Screen {
            name,
            size,
            cell: found.cell,
            answered: found.answered,
            truecolor: found.colours == Colours::Exact,
            draws: found.viewers(),
        },
        // It is gone: whoever draws will notice.
        Err(_) => Screen { name, size, ..Screen::default() },
    }
}
