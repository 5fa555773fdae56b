//! Profiles: the deployments a person has named, each in a table `[profiles.NAME]` of the user's
//! file. A profile never holds a secret.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// A deployment with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name on screen and in the file.
    pub name: String,
    /// Which deployment it is.
    pub place: Place,
}

/// Where a deployment is and how one gets in. The kind is stated, never guessed (M01).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Place {
    /// Every request carries a token made of a key and its secret.
    Hosted {
        /// Address of the service.
        base_url: String,
        /// Names the secret; no secret itself. Empty until a pair is imported or entered.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        api_key: String,
        /// Where text searches are answered, as the interface leaves it open: a path with
        /// `{dataset_id}` in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_search_path: Option<String>,
    },
    /// No login, and no `Authorization` header at all.
    OnPrem {
        /// Address of the service.
        base_url: String,
        /// Address of the pipeline, which adds media there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pipeline_url: Option<String>,
        /// As for a hosted one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_search_path: Option<String>,
    },
    /// A folder of this machine, served by this program.
    Local {
        /// The folder.
        folder: PathBuf,
    },
}

/// What to open next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A profile, by its name.
    Profile(String),
    /// The painted sample.
    Sample,
    /// Whatever the person decides in the welcome.
    Welcome,
}

impl Place {
    /// The kind in a word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hosted { .. } => "hosted",
            Self::OnPrem { .. } => "onprem",
            Self::Local { .. } => "local",
        }
    }

    /// The address or folder, for people.
    #[must_use]
    pub fn address(&self) -> String {
        match self {
            Self::Hosted { base_url, .. } | Self::OnPrem { base_url, .. } => base_url.clone(),
            Self::Local { folder } => folder.display().to_string(),
        }
    }
}

/// Whether `name` can name a profile: it becomes a key of the file and a folder name.
///
/// # Errors
/// A sentence that says what a name may hold.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 40 || !name.chars().all(fits) {
        return Err("a profile name has 1 to 40 letters, digits, - and _".to_owned());
    }
    Ok(())
}

/// Adds a profile at the end of the user's file, which keeps every line it has.
///
/// # Errors
/// A sentence with the file: the name is taken or no name, or the file cannot be written.
pub fn add(file: &Path, profile: &Profile) -> Result<(), String> {
    check_name(&profile.name)?;
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let mut source = match fs::read_to_string(file) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(told(&error)),
    };
    let table = toml::to_string(&profile.place).map_err(|error| told(&error))?;
    if !source.is_empty() && !source.ends_with('\n') {
        source.push('\n');
    }
    source += &["\n[profiles.", &profile.name, "]\n", &table].concat();
    // What would not be read back must not be written.
    super::parse(&source, &file.display().to_string())?;
    super::file::replace(file, &source).map_err(|error| told(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Settings};

    fn lab() -> Profile {
        let base_url = "http://media.lab.example".to_owned();
        let place = Place::OnPrem { base_url, pipeline_url: None, text_search_path: None };
        Profile { name: "lab".to_owned(), place }
    }

    #[test]
    fn m01_profiles_are_added_to_what_a_person_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(&file, "# mine\n[ui]\nmouse = false").unwrap();
        add(&file, &lab()).unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with("# mine\n[ui]\nmouse = false\n"));
        let settings = Settings::load(Some(&file), Overrides::default()).unwrap();
        assert_eq!(settings.profiles, [lab()]);
        assert!(!settings.mouse);
        let taken = add(&file, &lab()).unwrap_err();
        assert!(taken.contains("config.toml") && taken.contains("lab"), "{taken}");
    }

    #[test]
    fn m01_a_kind_or_a_field_that_does_not_exist_is_named() {
        for (source, word) in [
            ("[profiles.x]\nkind = 'cloud'\nbase_url = 'u'\n", "cloud"),
            ("[profiles.x]\nkind = 'onprem'\nbase_url = 'u'\napi_secret = 's'\n", "api_secret"),
            ("[profiles.x]\nkind = 'hosted'\napi_key = 'k'\n", "base_url"),
        ] {
            let error = super::super::parse(source, "config.toml").map(|_| ()).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
        assert!(check_name("../up").is_err() && check_name("").is_err());
    }
}
