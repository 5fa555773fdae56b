//! Parses the command line, and runs a command or the interface.

use std::{hint, io, os::unix::net::UnixStream, process};

use tessera::{
    cli::{self, Cli, CliCommand, CliError, Context, DoctorResult, InterfaceCommand, TerminalInfo},
    credentials, process_signals,
    runtime::{
        self,
        probe::{Capabilities, Environment, Explanation, probe_for_command},
    },
};
use tessera_interface::drawing::{picture_layer::ColorDepth, theme::Theme};
use tokio::runtime::Builder;

mod launcher;

/// A block of memory that is larger than those of most pictures, in bytes.
const LARGE_BLOCK: usize = 4 << 20;

/// Makes the allocator of glibc keep a few MiB of freed memory. Otherwise, the pages of each picture are given back to
/// the system and then mapped again, which costs a fifth of the processor time of indexing. When the first large block
/// is freed, glibc raises its thresholds to the size of this block (`M_MMAP_THRESHOLD` in mallopt(3)). Other allocators
/// are not affected.
fn keep_freed_memory() {
    drop(hint::black_box(Vec::<u8>::with_capacity(LARGE_BLOCK)));
}

fn main() {
    keep_freed_memory();
    // Without the handler, a write beyond the limit ends the process, as it does in other programs.
    let _ = process_signals::survive_file_size_limit();
    match check_sockets().and_then(|()| Builder::new_multi_thread().enable_all().build()) {
        Ok(runtime) => runtime.block_on(run_command_line()),
        Err(error) => {
            let machine = cli::parse_args().global.is_machine();
            process::exit(CliError::io("start", &error).report(machine));
        }
    }
}

/// Fails if the runtime could not open what it needs, which is fewer than eight sockets and files. It would panic without
/// the pair of sockets by which it learns of signals, which a sandbox may refuse.
fn check_sockets() -> io::Result<()> {
    let pairs: io::Result<Vec<_>> = (0..4).map(|_| UnixStream::pair()).collect();
    pairs.map(drop)
}

async fn run_command_line() {
    // Temporary files must not be created in the working directory. An empty variable counts as unset.
    if std::env::var_os("TMPDIR").is_some_and(|folder| folder.is_empty()) {
        let overridden = tempfile::env::override_temp_dir(std::path::Path::new("/tmp"));
        debug_assert!(overridden.is_ok(), "nothing has overridden it before");
    }
    // Core dumps are forbidden before any secret is in memory.
    let forbidden = credentials::forbid_core_dumps();
    match cli::print_candidates() {
        Ok(false) => {}
        // A shell that has closed its pipe wants no candidates.
        Ok(true) | Err(_) => process::exit(0),
    }
    let line = cli::parse_args();
    let machine = line.global.is_machine();
    if let Err(error) = forbidden {
        process::exit(CliError::io("turn off core dumps", &error).report(machine));
    }
    let code = Box::pin(run(line)).await.unwrap_or_else(|ended| ended.report(machine));
    // The process exits although indexing threads may still run, because everything that they have
    // acknowledged is on disk.
    process::exit(code);
}

async fn run(line: Cli) -> Result<i32, CliError> {
    let Cli { global, command } = line;
    let command = command.map(CliCommand::canonical);
    cli::refuse_before_change(&global, command.as_ref())?;
    let with_defaults = |global| Context::with_default_settings(global, describe_screen);
    let exit = match command {
        Some(CliCommand::Serve(options)) => return cli::serve(&global, options).await,
        Some(CliCommand::Work(options)) => return cli::work(&global, options).await,
        Some(CliCommand::Info(command)) => {
            cli::run_info(&with_defaults(global)?, command, cli::definition())?
        }
        Some(CliCommand::Model(command)) => {
            let context = with_defaults(global)?;
            let work = Box::pin(cli::run_model(&context, &command));
            cli::run_until_interrupted(&context, work).await?
        }
        Some(CliCommand::Store(command)) => cli::run_store(&with_defaults(global)?, &command)?,
        Some(CliCommand::Config(command)) => {
            let theme = |source: &str| Theme::parse(source).map(drop);
            cli::configure(&with_defaults(global)?, command, theme)?
        }
        Some(CliCommand::Doctor(options)) => {
            cli::run_doctor(global, options, describe_screen).await?
        }
        Some(CliCommand::Headless(verb)) => {
            let context = Context::new(global, describe_screen)?.with_trace()?;
            Box::pin(cli::run(&context, verb)).await?
        }
        Some(CliCommand::Interface(interface)) => {
            return open_interface(Context::new(global, describe_screen)?, Some(interface)).await;
        }
        None => return open_interface(Context::new(global, describe_screen)?, None).await,
    };
    Ok(exit as i32)
}

/// Opens the interface. Without a terminal, it runs the commands that need none.
async fn open_interface(
    context: Context,
    interface: Option<InterfaceCommand>,
) -> Result<i32, CliError> {
    match interface {
        Some(InterfaceCommand::Demo { images, data })
            if !launcher::has_terminal() && context.settings.accessible.is_none() =>
        {
            let local = cli::start_demo(images, data).await?;
            cli::run_text_tour(&local).await?;
            local.stop().await.map(|()| 0)
        }
        Some(InterfaceCommand::Init(init))
            if !(init.is_interactive() && launcher::has_terminal()) =>
        {
            init.run(&context).map(|exit| exit as i32)
        }
        interface => launcher::run(context, interface).await,
    }
}

fn describe_screen() -> TerminalInfo {
    let environment = Environment::read();
    let size = runtime::terminal::size().unwrap_or((80, 24));
    let name = environment.terminal_name();
    match probe_for_command(&environment) {
        Ok(capabilities) => TerminalInfo {
            name: if environment.in_tmux {
                format!("tmux in {}", capabilities.outer_name())
            } else {
                name
            },
            size,
            cell: capabilities.cell,
            answered: capabilities.replies.has_ended(),
            truecolor: capabilities.color_depth == ColorDepth::TrueColor,
            protocols: capabilities.cursor_protocols(),
            facts: terminal_facts(&capabilities, &environment),
        },
        // The terminal is gone, and the first output will report that.
        Err(_) => TerminalInfo { name, size, ..TerminalInfo::default() },
    }
}

fn terminal_facts(capabilities: &Capabilities, environment: &Environment) -> Vec<DoctorResult> {
    let set = |name| {
        std::env::var(name).ok().filter(|value| !value.is_empty()).map(|value| (name, value))
    };
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let locale = locale.as_ref().map(|(name, value)| (*name, value.as_str()));
    let facts = capabilities.explanations(environment, locale);
    let facts = facts.into_iter().chain([("clipboard", runtime::explain_copies())]);
    let result = |(subject, Explanation { text, is_warning }): (&str, _)| {
        let result = if is_warning { DoctorResult::warning } else { DoctorResult::passed };
        result(subject, text)
    };
    facts.map(result).collect()
}
