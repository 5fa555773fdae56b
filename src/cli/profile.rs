//! `tessera profile`: the deployments that have a name. A profile never holds a secret.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::config::{dry, refused, user_file};
use crate::{
    cli::{Column, Context, Document, Ended, Exit, Kind, compose, login},
    config::{self, Manner, Place, Profile, edit, profile::suggested_name},
    credentials::Holder,
};
use tessera_client::{Authorities, BaseUrl, TextSearchPath};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Profiles {
    /// List the profiles.
    List,
    /// Show one: what it is, and where its secret is.
    Show {
        /// Its name; else the one in use.
        name: Option<String>,
    },
    /// Add one, of --kind, --base-url and --pipeline-url or --folder.
    Add(Add),
    /// Make one the default.
    Use {
        /// Its name.
        name: String,
    },
    /// Remove one, with its secret.
    Remove {
        /// Its name.
        name: String,
    },
}

/// The options of `profile add`.
#[derive(Debug, Args)]
pub struct Add {
    /// Its name: letters, digits, - and _.
    name: String,
    /// The key that names the secret; `tessera auth` stores the secret.
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// The folder of pictures, for --kind local.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// How long a token holds: 10m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    token_ttl: Option<std::time::Duration>,
    /// Where text searches are answered, with `{dataset_id}` in it.
    #[arg(long, value_name = "PATH")]
    text_search_path: Option<String>,
    /// A dataset that the service does not list; repeatable.
    #[arg(long, value_name = "ID")]
    pin: Vec<String>,
    /// Make it the default.
    #[arg(long = "use")]
    make_default: bool,
}

const LIST: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("KIND", "kind"),
    Column::new("ADDRESS", "address"),
    Column::new("DEFAULT", "default"),
];

const ONE: &[Column] = &[
    Column::new("name", "name"),
    Column::new("kind", "kind"),
    Column::new("address", "address"),
    Column::new("pipeline", "pipeline_url"),
    Column::new("API key", "api_key"),
    Column::new("secret", "secret"),
    Column::new("token holds", "token_ttl"),
    Column::new("text search", "text_search_path"),
    Column::new("certificates", "ca_file"),
    Column::new("unencrypted", "allow_http"),
    Column::new("read only", "read_only"),
    Column::new("pinned", "pinned"),
    Column::new("default", "default"),
];

/// Runs one of them.
///
/// # Errors
/// Whatever keeps the answer away.
pub fn run(context: &Context, command: Profiles) -> Result<Exit, Ended> {
    match command {
        Profiles::List => list(context),
        Profiles::Show { name } => show(context, name.as_deref()),
        Profiles::Add(add) => {
            let make_default = add.make_default;
            let profile = add.profile(context)?;
            keep(context, &profile, make_default)
        }
        Profiles::Use { name } => {
            compose::named(&context.settings, &name)?;
            let file = user_file(context)?;
            if !dry(context, &format!("default_profile = {name}"), &file) {
                let value = toml::Value::from(name.clone());
                edit::set(&file, "default_profile", &value).map_err(refused)?;
                context.note.say(format!("{name} is the default now"));
            }
            Ok(Exit::Done)
        }
        Profiles::Remove { name } => remove(context, &name),
    }
}

fn list(context: &Context) -> Result<Exit, Ended> {
    let rows: Vec<Value> =
        context.settings.profiles.iter().map(|profile| fields(context, profile)).collect();
    if rows.is_empty() {
        context.note.say("no profiles yet: `tessera init`, or `tessera profile add`");
    }
    let answer = json!({ "profiles": rows });
    context.answer(&Document::list("tessera.profiles/1", answer, "profiles", LIST))?;
    Ok(Exit::Done)
}

fn fields(context: &Context, profile: &Profile) -> Value {
    let (base_url, api_key, pipeline_url, folder) = match &profile.place {
        Place::Hosted { base_url, api_key } => {
            (Some(base_url), Some(api_key).filter(|key| !key.is_empty()), None, None)
        }
        Place::OnPrem { base_url, pipeline_url } => {
            (Some(base_url), None, pipeline_url.as_ref(), None)
        }
        Place::Local { folder } => (None, None, None, Some(folder)),
    };
    let manner = &profile.manner;
    let ttl = manner.token_ttl.map(|time| humantime::format_duration(time).to_string());
    json!({
        "name": profile.name,
        "kind": profile.place.kind(),
        "address": profile.place.address(),
        "base_url": base_url,
        "pipeline_url": pipeline_url,
        "folder": folder,
        "api_key": api_key,
        "token_ttl": ttl,
        "text_search_path": manner.text_search_path,
        "ca_file": manner.ca_file,
        "allow_http": manner.allow_http,
        "read_only": manner.read_only,
        "pinned": manner.pinned,
        "default": context.settings.default_profile.as_ref() == Some(&profile.name),
    })
}

fn show(context: &Context, name: Option<&str>) -> Result<Exit, Ended> {
    let profile = match name {
        Some(name) => compose::named(&context.settings, name)?,
        None => match compose::chosen(&context.global, &context.settings)? {
            Some(compose::Target::Profile(profile)) => profile,
            Some(compose::Target::Address(_)) | None => {
                return Err(Ended::new(Exit::Usage, "which profile? `tessera profile list`"));
            }
        },
    };
    let mut row = fields(context, &profile);
    row["secret"] = secret_place(&profile)?.into();
    context.answer(&Document::one("tessera.profile/1", row, ONE))?;
    Ok(Exit::Done)
}

/// Where the secret of a profile is, without it; `None` where none is needed.
fn secret_place(profile: &Profile) -> Result<Option<String>, Ended> {
    let Place::Hosted { base_url, api_key } = &profile.place else { return Ok(None) };
    let origin = BaseUrl::parse(base_url)?.to_string();
    let holder = Holder { profile: &profile.name, origin: &origin, api_key };
    let secrets = login::secrets()?;
    Ok(Some(match login::secret_of(holder, Some(&secrets)) {
        Ok(Some((_, source))) => source.place(&secrets),
        Ok(None) => "none yet: `tessera auth import`".to_owned(),
        Err(ended) => ended.sentence,
    }))
}

impl Add {
    fn profile(self, context: &Context) -> Result<Profile, Ended> {
        let global = &context.global;
        let base_url = || {
            global
                .base_url
                .clone()
                .ok_or_else(|| Ended::new(Exit::Usage, "give its address with --base-url"))
        };
        let place = match global.kind {
            None => {
                let sentence =
                    "give --kind hosted (with login), onprem (without) or local (a folder)";
                return Err(Ended::new(Exit::Usage, sentence));
            }
            Some(Kind::Hosted) => {
                Place::Hosted { base_url: base_url()?, api_key: self.api_key.unwrap_or_default() }
            }
            Some(Kind::Onprem) => {
                Place::OnPrem { base_url: base_url()?, pipeline_url: global.pipeline_url.clone() }
            }
            Some(Kind::Local) => {
                let folder = self
                    .folder
                    .ok_or_else(|| Ended::new(Exit::Usage, "give its folder with --folder"))?;
                Place::Local { folder: whole(folder)? }
            }
        };
        let manner = Manner {
            read_only: global.read_only,
            pinned: self.pin,
            text_search_path: self.text_search_path,
            token_ttl: self.token_ttl,
            allow_http: global.allow_http,
            ca_file: global.ca_file.clone().map(whole).transpose()?,
        };
        Ok(Profile { name: self.name, place, manner })
    }
}

/// A path that means the same from every folder.
pub(super) fn whole(path: PathBuf) -> Result<PathBuf, Ended> {
    Ok(std::path::absolute(path)?)
}

/// Writes a profile, if all of it can be used, and shows it.
pub(super) fn keep(
    context: &Context,
    profile: &Profile,
    make_default: bool,
) -> Result<Exit, Ended> {
    check(profile)?;
    let file = user_file(context)?;
    if dry(context, &format!("the profile {}", profile.name), &file) {
        return Ok(Exit::Done);
    }
    edit::add_profile(&file, profile).map_err(refused)?;
    if make_default {
        edit::set(&file, "default_profile", &profile.name.clone().into()).map_err(refused)?;
    }
    context.note.say(format!("{} is in {}", profile.name, file.display()));
    if let (Place::Hosted { .. }, Some(place)) = (&profile.place, secret_place(profile)?) {
        context.note.say(format!("its secret: {place}"));
    }
    context.answer(&Document::list(
        "tessera.profiles/1",
        json!({ "profiles": [fields(context, profile)] }),
        "profiles",
        LIST,
    ))?;
    Ok(Exit::Done)
}

/// Whether the addresses, paths and files of a profile can be used.
fn check(profile: &Profile) -> Result<(), Ended> {
    let manner = &profile.manner;
    let (base_url, pipeline_url) = match &profile.place {
        Place::Hosted { base_url, .. } => (Some(base_url), None),
        Place::OnPrem { base_url, pipeline_url } => (Some(base_url), pipeline_url.as_ref()),
        Place::Local { folder } if !folder.is_dir() => {
            return Err(Ended::new(Exit::Usage, format!("{} is no folder", folder.display())));
        }
        Place::Local { .. } => (None, None),
    };
    let ca_file = manner.ca_file.as_ref().map(|path| path.to_string_lossy().into_owned());
    let values = [
        ("base_url", base_url.cloned()),
        ("pipeline_url", pipeline_url.cloned()),
        ("text_search_path", manner.text_search_path.clone()),
        ("ca_file", ca_file),
    ];
    for (key, value) in values.iter().filter_map(|(key, value)| Some((*key, value.as_ref()?))) {
        check_value(key, value).map_err(|reason| Ended::new(Exit::Usage, reason))?;
    }
    Ok(())
}

/// Whether a value can be used that only the client can judge.
pub(super) fn check_value(key: &str, value: &str) -> Result<(), String> {
    let told = |failure: tessera_model::Failure| format!("`{key}`: {failure}");
    match key {
        "base_url" | "pipeline_url" => BaseUrl::parse(value).map(drop).map_err(told),
        "text_search_path" => TextSearchPath::parse(value).map(drop).map_err(told),
        "ca_file" => Authorities::read(&config::at_home(value.into())).map(drop).map_err(told),
        _ => Ok(()),
    }
}

fn remove(context: &Context, name: &str) -> Result<Exit, Ended> {
    compose::named(&context.settings, name)?;
    let file = user_file(context)?;
    if dry(context, &format!("without the profile {name}, and its secret removed"), &file) {
        return Ok(Exit::Done);
    }
    let question = format!("remove the profile {name} and its secret?");
    if !context.confirm(&question, "--yes")? {
        context.note.say("nothing was changed");
        return Ok(Exit::Done);
    }
    if !edit::remove_profile(&file, name).map_err(refused)? {
        let sentence = format!("{name} is not in {}", file.display());
        return Err(Ended::new(Exit::NotFound, sentence));
    }
    context.note.say(format!("{name} is removed from {}", file.display()));
    let secrets = login::secrets()?;
    let stores = secrets.forget(name).map_err(|error| {
        Ended::new(Exit::Partly, format!("its secret may still be stored: {error}"))
    })?;
    for store in stores {
        context.note.say(format!("its secret is removed from {}", secrets.place(store)));
    }
    Ok(Exit::Done)
}

/// A profile of what the environment or a folder says; without a name, one made of its address.
pub(super) fn of(place: Place, name: Option<String>) -> Profile {
    let name = name.unwrap_or_else(|| suggested_name(&place));
    Profile::new(name, place)
}
