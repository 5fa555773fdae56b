//! `tessera config`: shows the settings with their origins, and edits the user's file.
//!
//! These commands work even if the file is invalid, so that they can be used to repair it.

use std::fs;

use tessera_config::{
    Layers, edit,
    key::{self, SettingKey},
    settings_file::{ConfigError, Setting},
};
use tessera_wire::text_encoding::read_text;

use crate::cli::prelude::*;
use crate::{subprocess::editor_command, usecase::check_value};

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the path of the user's file, or all paths.
    Path {
        /// Show every file and folder that tessera uses.
        #[arg(long)]
        all: bool,
    },
    /// Show every setting: its value, its origin, and the values it overrides.
    Show,
    /// Print one setting.
    Get {
        /// Name of the setting, for example `ui.theme`.
        key: String,
    },
    /// Change one setting in the user's file; the rest of the file stays unchanged.
    Set {
        /// Name of the setting, for example `ui.theme`.
        key: String,
        /// New value; separate list items with commas.
        value: String,
    },
    /// Remove one setting from the user's file, so that the next layer applies.
    Unset {
        /// Name of the setting, for example `ui.theme`.
        key: String,
    },
    /// Open the user's file in $VISUAL or $EDITOR, and check it afterwards.
    Edit,
    /// Check all settings, key and theme files, and report every error.
    Validate,
    /// Print a JSON Schema of the settings file.
    Schema,
}

/// Validates a theme file. The caller provides this function, because themes belong to the
/// interface, which this module does not know.
pub type ThemeValidator = fn(&str) -> Result<(), ConfigError>;

pub fn run(context: &Context, command: ConfigCommand, theme: ThemeValidator) -> CliResult {
    match command {
        ConfigCommand::Path { all } => print_paths(context, all),
        ConfigCommand::Show => show_settings(context),
        ConfigCommand::Get { key } => get_setting(context, &key),
        ConfigCommand::Set { key, value } => set_setting(context, &key, &value),
        ConfigCommand::Unset { key } => unset_setting(context, &key),
        ConfigCommand::Edit => edit_settings(context, theme),
        ConfigCommand::Validate => {
            let errors = find_errors(context, theme);
            report_errors(context, &errors)
        }
        ConfigCommand::Schema => {
            context.out.print_text(tessera_config::SETTINGS_SCHEMA)?;
            Ok(Exit::Done)
        }
    }
}

pub(super) fn user_file(context: &Context) -> CliResult<PathBuf> {
    let file = context.global.config.clone().or_else(tessera_config::user_config_file);
    file.ok_or_else(|| CliError::usage(tessera_config::UNKNOWN_CONFIG_FILE))
}

fn print_paths(context: &Context, all: bool) -> CliResult {
    let file = user_file(context)?;
    if !all && !context.out.is_machine() {
        context.out.print_text(&format!("{}\n", file.display()))?;
        return Ok(Exit::Done);
    }
    let project = read_layers(context).0.project;
    let paths = [
        ("user", Some(file)),
        ("project", project),
        ("keys", tessera_config::keymap_file()),
        ("themes", tessera_config::themes_dir()),
        ("state", tessera_config::state_root_dir()),
        ("local", tessera_config::local_data_dir()),
        ("cache", tessera_config::thumbnails_dir()),
    ];
    let rows: Vec<Value> = paths
        .into_iter()
        .map(|(name, path)| {
            let exists = path.as_ref().is_some_and(|path| path.exists());
            let path = path.as_deref().map(Path::to_string_lossy);
            json!({ "name": name, "path": path, "exists": exists })
        })
        .collect();
    let answer = json!({ "paths": rows });
    context.print(&Document::new("tessera.paths/1", answer))
}

/// Reads all layers and their errors, and prints the warnings.
fn read_layers(context: &Context) -> (Layers, Vec<ConfigError>) {
    let (layers, errors) = Layers::read(&context.global.sources());
    for warning in &layers.warnings {
        context.messages.warn(warning);
    }
    (layers, errors)
}

fn read_valid_layers(context: &Context) -> CliResult<Layers> {
    let (layers, errors) = read_layers(context);
    if errors.is_empty() { Ok(layers) } else { Err(invalid_settings(context, &errors)) }
}

/// The remedy opens the user's file, so it is given only if this file has one of the errors.
fn invalid_settings(context: &Context, errors: &[ConfigError]) -> CliError {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let error = CliError::usage(lines.join("\n"));
    let Ok(file) = user_file(context) else { return error };
    let file = file.display().to_string();
    if !errors.iter().any(|error| error.location == file) {
        return error;
    }
    error.with_remedy(context.global.config_command("tessera config edit"))
}

fn show_settings(context: &Context) -> CliResult {
    let layers = read_valid_layers(context)?;
    let unset = key::KEYS
        .iter()
        .filter(|key| layers.get(key.name).is_none())
        .map(|key| json!({ "key": key.name, "value": null, "origin": "not set", "overrides": [] }));
    let set = layers.all().filter_map(|(name, settings)| setting_row(name, settings));
    let rows: Vec<Value> = set.chain(unset).collect();
    let answer = json!({ "settings": rows });
    context.print(&Document::new("tessera.settings/1", answer))
}

fn setting_row(name: &str, settings: &[Setting]) -> Option<Value> {
    let (first, hidden) = settings.split_first()?;
    let describe =
        |setting: &Setting| format!("{} ({})", value_text(&setting.value), setting.origin);
    let overrides: Vec<String> = hidden.iter().map(describe).collect();
    let origin = first.origin.to_string();
    Some(json!({ "key": name, "value": first.value, "origin": origin, "overrides": overrides }))
}

/// Returns a value in the form in which it is typed.
fn value_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(value_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn require_key(name: &str) -> CliResult<&'static SettingKey> {
    key::find(name).ok_or_else(|| {
        let nearest = key::suggest(name).map(|near| format!("; did you mean `{near}`?"));
        let message = format!("unknown setting `{name}`{}", nearest.unwrap_or_default());
        CliError::usage(message).with_remedy("tessera config show")
    })
}

fn get_setting(context: &Context, name: &str) -> CliResult {
    let key = require_key(name)?;
    let layers = read_valid_layers(context)?;
    let Some(setting) = layers.get(name) else {
        let message = format!("`{name}` is not set; it takes {}", key.value_type.description());
        return Err(CliError::not_found(message));
    };
    if context.out.is_text() {
        context.out.print_text(&format!("{}\n", value_text(&setting.value)))?;
    }
    print_setting(context, name, Some(setting))
}

/// Prints the value that applies, for programs.
fn print_setting(context: &Context, name: &str, setting: Option<&Setting>) -> CliResult {
    let origin = setting.map_or_else(|| "not set".to_owned(), |it| it.origin.to_string());
    let fields = json!({ "key": name, "value": setting.map(|it| &it.value), "origin": origin });
    context.print_for_programs(&Document::new("tessera.setting/1", fields))
}

fn set_setting(context: &Context, name: &str, word: &str) -> CliResult {
    let key = require_key(name)?;
    let value = key.value_type.parse(word).ok_or_else(|| {
        CliError::usage(format!("`{name}` takes {}, not `{word}`", key.value_type.description()))
    })?;
    let file = user_file(context)?;
    context.only_plans(&format!("{name} = {value}"), Some(&file))?;
    edit::set(&file, name, &value)?;
    context.messages.info(format!("{name} = {value} in {}", file.display()));
    if let Err(reason) = check_value(last_segment(name), word) {
        context.messages.warn(reason);
    }
    let (layers, _) = read_layers(context);
    if let Some(Setting { value, origin }) = layers.get(name).filter(|nearer| nearer.value != value)
    {
        let text = value_text(value);
        context.messages.warn(format!("{origin} takes precedence, with the value {text}"));
    }
    print_setting(context, name, layers.get(name))
}

fn unset_setting(context: &Context, name: &str) -> CliResult {
    require_key(name)?;
    let file = user_file(context)?;
    if context.global.config.is_some() && !file.exists() {
        return Err(CliError::usage(format!("{} does not exist", file.display())));
    }
    context.only_plans(&format!("{name} removed"), Some(&file))?;
    if !edit::unset(&file, name)? {
        context.messages.info(format!("{name} is not in {}", file.display()));
    }
    print_setting(context, name, read_layers(context).0.get(name))
}

fn edit_settings(context: &Context, theme: ThemeValidator) -> CliResult {
    let file = user_file(context)?;
    context.only_plans("what an editor changes", Some(&file))?;
    if !file.exists() {
        let begin = "# Settings of tessera: `tessera config show` lists them all.\n";
        tessera_files::write_user_file(&file, begin)
            .map_err(|error| CliError::io(format_args!("write {}", file.display()), &error))?;
    }
    let (editor, mut command) = editor_command(&file);
    let status = command.status();
    let status = status.map_err(|error| CliError::io(format_args!("run {editor}"), &error))?;
    if !status.success() {
        let message = format!("{editor} could not edit {}: {status}", file.display());
        return Err(CliError::failed(message));
    }
    let errors = find_errors(context, theme);
    if errors.is_empty() {
        context.messages.info(format!("{} is valid", file.display()));
        return Ok(Exit::Done);
    }
    Err(invalid_settings(context, &errors))
}

fn report_errors(context: &Context, errors: &[ConfigError]) -> CliResult {
    let rows: Vec<Value> = errors
        .iter()
        .map(|error| {
            let (line, column) = error.position.unzip();
            json!({ "file": error.location, "line": line, "column": column, "message": error.reason })
        })
        .collect();
    let answer = json!({ "valid": rows.is_empty(), "diagnostics": rows });
    if errors.is_empty() && !context.out.is_machine() {
        context.messages.info("settings, keys and themes are valid");
        return Ok(Exit::Done);
    }
    context.print(&Document::new("tessera.settings_check/1", answer))?;
    Ok(if errors.is_empty() { Exit::Done } else { Exit::Usage })
}

fn find_errors(context: &Context, theme: ThemeValidator) -> Vec<ConfigError> {
    let (layers, mut errors) = read_layers(context);
    for (name, settings) in layers.all() {
        if let Some(setting) = settings.first()
            && let Some(text) = setting.value.as_str()
            && let Err(reason) = check_value(last_segment(name), text)
        {
            errors.push(setting.origin.error(reason));
        }
    }
    let key_file = tessera_config::keymap_file();
    if let Some(file) = &key_file
        && let Err(error) = tessera_config::load_keymap(Some(file), &[])
    {
        errors.push(error);
    } else if let Some(setting) = layers.get("commands")
        && let Err(error) =
            tessera_config::load_keymap(key_file.as_deref(), &layers.custom_commands())
    {
        errors.push(setting.origin.error(error.to_string()));
    }
    for path in user_themes() {
        let read = read_text(&path).map_err(|error| ConfigError::new("", error.to_string()));
        if let Err(error) = read.and_then(|source| theme(&source)) {
            errors.push(error.in_file(&path));
        }
    }
    errors
}

fn last_segment(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn user_themes() -> Vec<PathBuf> {
    let entries = tessera_config::themes_dir().and_then(|folder| fs::read_dir(folder).ok());
    let paths = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}
