//! `tessera completion`, `man`, `spec` and `version`: describe the program. Everything is derived from the definition
//! of the command line.

use std::{any::TypeId, fs, io, net::SocketAddr, num::NonZeroUsize};

use clap::{Arg, ArgAction, Command, builder::Resettable};
use clap_complete::{Shell, env::Shells};
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};
use serde_json::Map;
use tessera_client::ExistingFile;
use tessera_config::tables::rows;
use tessera_model::{Fraction, check::Limit};

use crate::cli::prelude::*;
use crate::cli::{
    help, local,
    output::table::DOCUMENT_SCHEMAS,
    values::{check_new_file, existing_file, write_result},
};

#[derive(Debug, Subcommand)]
pub enum InfoCommand {
    /// Print the script that lets a shell complete commands, options and names.
    Completion {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual in the format that `man -l -` reads.
    Man {
        /// Write the manual to this directory instead, one page per command.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Replace existing files.
        #[arg(long, requires = "dir")]
        force: bool,
    },
    /// Describe every command, option, exit code and document as JSON.
    Spec,
    /// Show version information.
    ///
    /// With --verbose, also show how the program was built.
    Version,
}

/// Environment variables that do not correspond to an option.
const ENVIRONMENT_VARIABLES: &str = include_str!("../../assets/environment.txt");

/// The codes of errors beyond those of the exit codes.
const ERROR_CODES: &str = include_str!("../../assets/error_codes.txt");

/// The C library that the program was linked with.
const C_LIBRARY: Option<&str> = if cfg!(target_env = "gnu") {
    Some("glibc")
} else if cfg!(target_env = "musl") {
    Some("musl")
} else {
    None
};

/// Runs an information command. `root` is the definition of the command line.
pub fn run_info(context: &Context, command: InfoCommand, root: Command) -> CliResult {
    let out = &context.out;
    match command {
        InfoCommand::Completion { shell } => {
            out.require_text("this command prints a script")?;
            out.print_text(&shell_script(&shell.to_string())?)?;
        }
        InfoCommand::Man { dir: None, .. } => {
            out.require_text("this command prints a page of the manual")?;
            out.print_text(&render_page(&root).map_err(|error| unwritten(&error))?)?;
        }
        InfoCommand::Man { dir: Some(folder), force } => {
            write_pages(context, &folder, existing_file(force), root)?;
        }
        InfoCommand::Spec => {
            out.print_whole(&spec_document(root).map_err(|error| unwritten(&error))?)?;
        }
        InfoCommand::Version => {
            let unknown = out.is_text().then_some("unknown");
            let mut version = json!({
                "version": env!("CARGO_PKG_VERSION"),
                "commit": option_env!("TESSERA_COMMIT").or(unknown),
                "api": tessera_wire::endpoints::API_PREFIX,
                "platform": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
                "c_library": C_LIBRARY,
                "optimized": !cfg!(debug_assertions),
                "local_deployment": cfg!(feature = "local"),
            });
            let mut table = "tessera.version/1";
            if context.global.verbose {
                table = "version with build";
                version["target"] = env!("TESSERA_BUILD_TARGET").into();
                version["profile"] = env!("TESSERA_BUILD_PROFILE").into();
                version["compiler"] = env!("TESSERA_BUILD_COMPILER").into();
                version["sqlite"] = local::sqlite_version().into();
            }
            out.print(&Document::new("tessera.version/1", version).with_table(table))?;
        }
    }
    Ok(Exit::Done)
}

fn write_pages(
    context: &Context,
    folder: &Path,
    existing: ExistingFile,
    root: Command,
) -> CliResult<()> {
    context.only_plans("the pages of the manual", Some(folder))?;
    context.out.require_text("this command prints the names of files")?;
    let refused = |error| CliError::io(format_args!("create {}", folder.display()), &error);
    fs::create_dir_all(folder).map_err(refused)?;
    let pages = render_all(root).map_err(|error| unwritten(&error))?;
    for (name, _) in &pages {
        check_new_file(&folder.join(name), existing)?;
    }
    for (name, page) in pages {
        let path = folder.join(name);
        write_result(&path, page, existing)?;
        context.out.print_text(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

fn unwritten(error: &std::io::Error) -> CliError {
    CliError::io("describe the commands", error)
}

const FILE_DESCRIPTIONS: [(&str, &str); 5] = [
    ("~/.config/tessera/config.toml", "settings and profiles of the user; no secrets"),
    ("~/.config/tessera/keys.toml, themes/", "custom keys and themes"),
    ("~/.local/state/tessera/", "jobs, selections, saved views and history, by deployment"),
    ("~/.local/share/tessera/", "index and login of local deployments"),
    ("~/.cache/tessera/", "thumbnails of services"),
];

/// The width of examples in the manual, which indents its texts, in columns.
const MANUAL_WIDTH: usize = 72;

pub(super) fn render_page(command: &Command) -> io::Result<String> {
    // The exit codes and the examples are removed here, because they have sections of their own. The manual describes
    // an option only if the short help lists it.
    let command = command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset);
    let command = command.mut_args(|option| option.hide_short_help(false));
    let examples = command.get_bin_name().and_then(|name| name.split_once(' '));
    let examples = examples.and_then(|(_, path)| help::examples(path, MANUAL_WIDTH));
    let name = command.get_name().to_owned();
    let man = Man::new(command).manual("User Commands");
    let mut bytes = Vec::new();
    man.render(&mut bytes)?;
    let mut page = String::from_utf8_lossy(&bytes).into_owned();
    if let Some(lines) = examples {
        // Lines that are filled like prose would run a part of an example when they are copied.
        let mut roff = Roff::new();
        roff.control("SH", ["EXAMPLES"]).control("nf", []).text([roman(lines)]).control("fi", []);
        page += &roff.render();
    }
    if name == "tessera" {
        page += &table("EXIT STATUS", Exit::ALL.map(|exit| (exit as i32, exit.meaning())));
        page += &table("ENVIRONMENT", rows(ENVIRONMENT_VARIABLES));
        page += &table("FILES", FILE_DESCRIPTIONS);
    }
    Ok(page)
}

pub(super) fn render_all(mut root: Command) -> io::Result<Vec<(String, String)>> {
    root.build();
    let mut pages = Vec::new();
    collect_pages(&root, &mut pages)?;
    Ok(pages)
}

fn collect_pages(command: &Command, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    pages.push((Man::new(command.clone()).get_filename(), render_page(command)?));
    command
        .get_subcommands()
        .filter(|each| each.get_name() != "help")
        .try_for_each(|each| collect_pages(each, pages))
}

fn table(title: &str, rows: impl IntoIterator<Item = (impl ToString, &'static str)>) -> String {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (name, meaning) in rows {
        roff.control("TP", []);
        roff.text([bold(name.to_string())]);
        roff.text([roman(meaning)]);
    }
    roff.render()
}

fn document_schemas() -> serde_json::Result<Vec<Value>> {
    let known: Map<String, Value> = serde_json::from_str(DOCUMENT_SCHEMAS)?;
    let described = |(name, schema): (String, Value)| json!({ "schema": name, "meaning": schema["description"], "json_schema": schema });
    Ok(known.into_iter().map(described).collect())
}

pub(super) fn spec_document(mut root: Command) -> io::Result<Document> {
    root.build();
    let mut commands = Vec::new();
    collect_commands(&root, &mut Vec::new(), &mut commands);
    let global: Vec<Value> =
        root.get_arguments().filter(|each| each.is_global_set()).map(argument_json).collect();
    let codes = Exit::ALL.map(
        |exit| json!({ "exit_code": exit as i32, "code": exit.code(), "meaning": exit.meaning() }),
    );
    let errors =
        rows(ERROR_CODES).map(|(code, meaning)| json!({ "code": code, "meaning": meaning }));
    let variables = rows(ENVIRONMENT_VARIABLES)
        .map(|(name, meaning)| json!({ "name": name, "meaning": meaning }));
    let variables: Vec<Value> = variables.collect();
    let answer = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commands": commands,
        "options": global,
        "exit_codes": codes,
        "error_codes": errors.collect::<Vec<Value>>(),
        "environment": variables,
        "documents": document_schemas()?,
    });
    Ok(Document::new("tessera.spec/1", answer))
}

/// Collects a command and its subcommands. Commands that only group others are omitted.
fn collect_commands(command: &Command, path: &mut Vec<String>, commands: &mut Vec<Value>) {
    path.push(command.get_name().to_owned());
    if !command.is_subcommand_required_set() {
        let arguments: Vec<Value> = command
            .get_arguments()
            .filter(|each| !each.is_global_set() && each.get_id() != "help")
            .map(argument_json)
            .collect();
        let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
        commands.push(json!({ "command": path.join(" "), "about": about, "arguments": arguments }));
    }
    for each in command.get_subcommands().filter(|each| each.get_name() != "help") {
        collect_commands(each, path, commands);
    }
    path.pop();
}

fn argument_json(each: &Arg) -> Value {
    let action = each.get_action();
    let choices: Vec<String> = each
        .get_possible_values()
        .iter()
        .filter(|_| action.takes_values())
        .map(|value| value.get_name().to_owned())
        .collect();
    let default = each.get_default_values().first().map(|value| value.to_string_lossy());
    let several = each.get_num_args().is_some_and(|range| range.max_values() > 1);
    json!({
        "name": each.get_id().as_str(),
        "long": each.get_long().map(|long| format!("--{long}")),
        "short": each.get_short().map(|short| format!("-{short}")),
        "type": if choices.is_empty() { value_type(each) } else { "choice" },
        "choices": choices,
        "default": default,
        "required": each.is_required_set(),
        "repeatable": matches!(action, ArgAction::Append | ArgAction::Count) || several,
        "environment": each.get_env().map(|name| name.to_string_lossy()),
        "about": each.get_help().map(ToString::to_string),
    })
}

fn value_type(each: &Arg) -> &'static str {
    if !each.get_action().takes_values() {
        return "flag";
    }
    let parsed = each.get_value_parser().type_id();
    let names = [
        (TypeId::of::<u16>(), "integer"),
        (TypeId::of::<u32>(), "integer"),
        (TypeId::of::<u64>(), "integer"),
        (TypeId::of::<NonZeroUsize>(), "integer"),
        (TypeId::of::<f64>(), "number"),
        (TypeId::of::<Fraction>(), "number"),
        (TypeId::of::<Limit>(), "number_or_percent"),
        (TypeId::of::<bool>(), "boolean"),
        (TypeId::of::<PathBuf>(), "path"),
        (TypeId::of::<Duration>(), "duration"),
        (TypeId::of::<SocketAddr>(), "address"),
    ];
    names.iter().find(|(known, _)| parsed == *known).map_or("text", |(_, name)| *name)
}

/// The variable that names the shell that asks for candidates. The scripts of `tessera completion`
/// set it.
pub(super) const SHELL_VARIABLE: &str = "TESSERA_COMPLETE";

/// Returns the script that makes a shell ask for candidates.
fn shell_script(shell: &str) -> CliResult<String> {
    // The scripts of the library insert paths with spaces as two words, and quote the home folder.
    match shell {
        "bash" => return Ok(include_str!("../../assets/completion/tessera.bash").to_owned()),
        "zsh" => return Ok(include_str!("../../assets/completion/tessera.zsh").to_owned()),
        _ => {}
    }
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let found = shells.completer(shell).ok_or_else(|| CliError::usage("unknown shell"))?;
    found
        .write_registration(SHELL_VARIABLE, "tessera", "tessera", "tessera", &mut script)
        .map_err(|error| CliError::io("write the script", &error))?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}
