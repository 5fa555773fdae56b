//! `tessera config`: the settings, where each comes from, and changes to the user's file.
//!
//! These work on a broken file, too: they are what it is mended with.

use std::{fs, path::PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use crate::{
    cli::{Column, Context, Document, Ended, Exit},
    config::{
        self, Layers, edit,
        key::{self, Key},
        layer::{Given, Mistake},
        schema,
    },
};
use tessera_model::program::editor;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Print where the user's file is, or all the places.
    Path {
        /// Every file and folder of this program.
        #[arg(long)]
        all: bool,
    },
    /// Show every setting: its value, where it comes from, and what it hides.
    Show,
    /// Print one setting.
    Get {
        /// Its name: `ui.theme`.
        key: String,
    },
    /// Change one setting in the user's file; the rest of the file stays as it is.
    Set {
        /// Its name: `ui.theme`.
        key: String,
        /// Its value; of a list with commas.
        value: String,
    },
    /// Take one setting out of the user's file, so that the next layer holds.
    Unset {
        /// Its name: `ui.theme`.
        key: String,
    },
    /// Open the user's file in $VISUAL or $EDITOR, and check it afterwards.
    Edit,
    /// Check all files of settings, keys and themes, and tell all mistakes.
    Validate,
    /// Print a JSON Schema of the file.
    Schema,
}

const SETTINGS: &[Column] = &[
    Column::new("KEY", "key"),
    Column::new("VALUE", "value"),
    Column::new("ORIGIN", "origin"),
    Column::new("HIDES", "hides"),
];

const PLACES: &[Column] =
    &[Column::new("PLACE", "name"), Column::new("PATH", "path"), Column::new("THERE", "exists")];

const MISTAKES: &[Column] = &[
    Column::new("FILE", "file"),
    Column::new("LINE", "line"),
    Column::new("COLUMN", "column"),
    Column::new("MISTAKE", "reason"),
];

/// How a theme is checked: a theme belongs to the interface, which commands do not know.
pub type CheckTheme = fn(&str) -> Result<(), String>;

/// Runs one of them.
///
/// # Errors
/// Whatever keeps the answer away; [`Exit::Usage`] for settings with mistakes.
pub fn run(context: &Context, command: Config, theme: CheckTheme) -> Result<Exit, Ended> {
    match command {
        Config::Path { all } => path(context, all),
        Config::Show => show(context),
        Config::Get { key } => get(context, &key),
        Config::Set { key, value } => set(context, &key, &value),
        Config::Unset { key } => unset(context, &key),
        Config::Edit => edit(context, theme),
        Config::Validate => {
            let mistakes = mistakes(context, theme);
            validate(context, &mistakes)
        }
        Config::Schema => {
            let schema = schema::schema();
            context.out.text(&format!("{schema:#}\n"))?;
            Ok(Exit::Done)
        }
    }
}

/// The user's file.
pub(super) fn user_file(context: &Context) -> Result<PathBuf, Ended> {
    let file = context.global.config.clone().or_else(config::user_file);
    file.ok_or_else(|| Ended::new(Exit::Usage, "there is no home folder; give --config FILE"))
}

fn path(context: &Context, all: bool) -> Result<Exit, Ended> {
    let file = user_file(context)?;
    if !all && !context.out.is_machine() {
        context.out.text(&format!("{}\n", file.display()))?;
        return Ok(Exit::Done);
    }
    let project = context.global.sources().project;
    let state = config::state_folder("x").and_then(|path| path.parent().map(PathBuf::from));
    let places = [
        ("user", Some(file)),
        ("project", project),
        ("keys", config::keys_file()),
        ("themes", config::themes_folder()),
        ("state", state),
        ("local", config::local_folder()),
    ];
    let rows: Vec<Value> = places
        .into_iter()
        .map(|(name, path)| {
            let exists = path.as_ref().is_some_and(|path| path.exists());
            json!({ "name": name, "path": path, "exists": exists })
        })
        .collect();
    let answer = json!({ "places": rows });
    context.answer(&Document::list("tessera.places/1", answer, "places", PLACES))?;
    Ok(Exit::Done)
}

/// All layers; a mistake in them is an error.
fn layers(context: &Context) -> Result<Layers, Ended> {
    let (layers, mistakes) = Layers::read(&context.global.sources());
    if mistakes.is_empty() { Ok(layers) } else { Err(broken(&mistakes)) }
}

fn broken(mistakes: &[Mistake]) -> Ended {
    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    Ended::new(Exit::Usage, told.join("\n")).remedy("tessera config edit")
}

fn show(context: &Context) -> Result<Exit, Ended> {
    let layers = layers(context)?;
    let unset = key::KEYS.iter().filter(|key| layers.get(key.name).is_none());
    let unset = unset
        .map(|key| json!({ "key": key.name, "value": null, "origin": "not set", "hides": [] }));
    let rows: Vec<Value> =
        layers.all().filter_map(|(name, given)| row(name, given)).chain(unset).collect();
    let answer = json!({ "settings": rows });
    context.answer(&Document::list("tessera.config/1", answer, "settings", SETTINGS))?;
    Ok(Exit::Done)
}

fn row(name: &str, given: &[Given]) -> Option<Value> {
    let (first, hidden) = given.split_first()?;
    let hides: Vec<String> =
        hidden.iter().map(|given| format!("{} ({})", words(&given.value), given.origin)).collect();
    let origin = first.origin.to_string();
    Some(json!({ "key": name, "value": first.value, "origin": origin, "hides": hides }))
}

/// A value as a person would type it.
fn words(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// The key of this name.
fn known(name: &str) -> Result<&'static Key, Ended> {
    key::find(name).ok_or_else(|| {
        let nearest = key::nearest(name).map(|near| format!("; the nearest is `{near}`"));
        let sentence = format!("there is no setting `{name}`{}", nearest.unwrap_or_default());
        Ended::new(Exit::Usage, sentence).remedy("tessera config show")
    })
}

fn get(context: &Context, name: &str) -> Result<Exit, Ended> {
    let key = known(name)?;
    let layers = layers(context)?;
    let Some(given) = layers.get(name) else {
        let sentence = format!("`{name}` is not set; it takes {}", key.shape.words());
        return Err(Ended::new(Exit::NotFound, sentence));
    };
    if context.out.is_machine() {
        let origin = given.origin.to_string();
        let answer = json!({ "key": name, "value": given.value, "origin": origin });
        context.answer(&Document::one("tessera.setting/1", answer, &SETTINGS[..3]))?;
    } else {
        context.out.text(&format!("{}\n", words(&given.value)))?;
    }
    Ok(Exit::Done)
}

fn set(context: &Context, name: &str, word: &str) -> Result<Exit, Ended> {
    let key = known(name)?;
    let value = key.shape.read(word).ok_or_else(|| {
        Ended::new(Exit::Usage, format!("`{name}` takes {}, not `{word}`", key.shape.words()))
    })?;
    let file = user_file(context)?;
    if dry(context, &format!("{name} = {value}"), &file) {
        return Ok(Exit::Done);
    }
    edit::set(&file, name, &value).map_err(refused)?;
    context.note.say(format!("{name} = {value} in {}", file.display()));
    let (layers, _) = Layers::read(&context.global.sources());
    if let Some(nearer) = layers.get(name).filter(|given| given.value != value) {
        let hidden = format!("{} is nearer and says {}", nearer.origin, words(&nearer.value));
        context.note.warn(hidden);
    }
    Ok(Exit::Done)
}

fn unset(context: &Context, name: &str) -> Result<Exit, Ended> {
    known(name)?;
    let file = user_file(context)?;
    if dry(context, &format!("{name} taken out"), &file) {
        return Ok(Exit::Done);
    }
    if !edit::unset(&file, name).map_err(refused)? {
        context.note.say(format!("{name} is not in {}", file.display()));
    }
    Ok(Exit::Done)
}

/// Whether it is only told what would be written.
pub(super) fn dry(context: &Context, change: &str, file: &std::path::Path) -> bool {
    if context.global.dry_run {
        context
            .note
            .say(format!("would write to {}: {change}; nothing was changed", file.display()));
    }
    context.global.dry_run
}

/// A change that was not made.
pub(super) fn refused(sentence: String) -> Ended {
    Ended::new(Exit::Usage, sentence)
}

fn edit(context: &Context, theme: CheckTheme) -> Result<Exit, Ended> {
    let file = user_file(context)?;
    if !file.exists() {
        let begin = "# Settings of tessera: `tessera config show` lists them all.\n";
        config::file::replace(&file, begin)?;
    }
    let (editor, mut command) = editor(&file);
    let status = command.status()?;
    if !status.success() {
        let sentence = format!("{editor} could not edit {}: {status}", file.display());
        return Err(Ended::new(Exit::Failed, sentence));
    }
    let mistakes = mistakes(context, theme);
    if mistakes.is_empty() {
        context.note.say(format!("{} is in order", file.display()));
        return Ok(Exit::Done);
    }
    Err(broken(&mistakes))
}

fn validate(context: &Context, mistakes: &[Mistake]) -> Result<Exit, Ended> {
    let rows: Vec<Value> = mistakes
        .iter()
        .map(|mistake| {
            let (line, column) = mistake.at.unzip();
            json!({ "file": mistake.place, "line": line, "column": column, "reason": mistake.reason })
        })
        .collect();
    let answer = json!({ "valid": rows.is_empty(), "mistakes": rows });
    if mistakes.is_empty() && !context.out.is_machine() {
        context.note.say("settings, keys and themes are in order");
        return Ok(Exit::Done);
    }
    context.answer(&Document::list("tessera.mistakes/1", answer, "mistakes", MISTAKES))?;
    Ok(if mistakes.is_empty() { Exit::Done } else { Exit::Usage })
}

/// All that is wrong with the files of this user and of the project.
fn mistakes(context: &Context, theme: CheckTheme) -> Vec<Mistake> {
    let (layers, mut mistakes) = Layers::read(&context.global.sources());
    for (name, given) in layers.all() {
        let text = given.first().and_then(|given| Some((given, given.value.as_str()?)));
        let own = name.rsplit('.').next().unwrap_or(name);
        if let Some((given, text)) = text
            && let Err(reason) = super::profile::check_value(own, text)
        {
            mistakes.push(given.origin.mistake(reason));
        }
    }
    if let Some(file) = config::keys_file()
        && let Err(reason) = config::keymap(Some(&file))
    {
        let reason = reason.trim_start_matches(&format!("{}: ", file.display())).to_owned();
        mistakes.push(Mistake { place: file.display().to_string(), at: None, reason });
    }
    for path in themes() {
        let read = fs::read_to_string(&path).map_err(|error| error.to_string());
        if let Err(reason) = read.and_then(|source| theme(&source)) {
            mistakes.push(Mistake { place: path.display().to_string(), at: None, reason });
        }
    }
    mistakes
}

/// The person's own themes.
fn themes() -> Vec<PathBuf> {
    let entries = config::themes_folder().and_then(|folder| fs::read_dir(folder).ok());
    let paths = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}
