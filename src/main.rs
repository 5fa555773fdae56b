//! Parse, compose, run: the only place that knows both a deployment and the terminal interface.

use std::process;

use tessera::{
    cli::{self, Command, Context, Ended, Interface, Line, Out, Screen},
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
    let Line { global, command } = line;
    let exit = match command.map(Command::at_home) {
        Some(Command::Serve(options)) => return cli::serve(options).await,
        Some(Command::About(command)) => cli::about(&Out::new(&global), command)?,
        Some(Command::Config(command)) => {
            let theme = |source: &str| Theme::parse(source).map(drop);
            cli::configure(&Context::mending(global, screen)?, command, theme)?
        }
        Some(Command::Doctor(options)) => cli::doctor(global, options, screen).await?,
        Some(Command::Verb(verb)) => {
            cli::run(&Context::new(global, screen)?.traced()?, verb).await?
        }
        Some(Command::Interface(interface)) => {
            return show(Context::new(global, screen)?, Some(interface)).await;
        }
        None => return show(Context::new(global, screen)?, None).await,
    };
    Ok(exit as i32)
}

/// Opens the interface, or does without a terminal what can be done without one.
async fn show(context: Context, interface: Option<Interface>) -> Result<i32, Ended> {
    match interface {
        Some(Interface::Demo { images, data })
            if !open::has_terminal() && context.settings.accessible.is_none() =>
        {
            let local = cli::paint(images, data).await?;
            cli::tell(&local).await?;
            local.stop().await.map(|()| 0)
        }
        Some(Interface::Init(init)) if !(init.asks() && open::has_terminal()) => {
            init.run(&context).map(|exit| exit as i32)
        }
        interface => open::run(context, interface).await,
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
            background: found.background,
            truecolor: found.colours == Colours::Exact,
            draws: found.viewers(),
        },
        // It is gone: whoever draws will notice.
        Err(_) => Screen { name, size, ..Screen::default() },
    }
}
