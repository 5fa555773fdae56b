//! Defines the result of a check of `tessera doctor`. The terminal and the kinds of deployments add their own results.

use std::env;

use tessera_config::text_enum;

use crate::cli::prelude::*;

/// The result of a check of `tessera doctor`.
#[derive(Clone, Debug)]
pub struct DoctorResult {
    subject: String,
    message: String,
    state: CheckState,
    /// The exit code of a failed check.
    pub exit: Option<Exit>,
}

text_enum! {
    /// How a check of `tessera doctor` ended.
    pub enum CheckState:
        /// Returns the name as it is printed and as it is in the document.
        name
    {
        Ok = "ok",
        Warning = "warning",
        Error = "error",
    }
}

impl DoctorResult {
    pub fn passed(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { subject: subject.into(), message: message.into(), state: CheckState::Ok, exit: None }
    }

    pub fn warning(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { state: CheckState::Warning, ..Self::passed(subject, message) }
    }

    pub fn failed(subject: impl Into<String>, message: impl Into<String>, exit: Exit) -> Self {
        Self { state: CheckState::Error, exit: Some(exit), ..Self::passed(subject, message) }
    }

    /// Returns the result of a check that an error has ended.
    pub fn of_error(subject: impl Into<String>, error: CliError) -> Self {
        Self::failed(subject, error.message, error.exit)
    }

    pub fn line(&self) -> String {
        let subject = SafeText::name(&self.subject);
        let message = SafeText::detail(&redact_home(&self.message));
        format!("{:<9}{subject}: {message}\n", self.state.name())
    }

    pub fn row(&self) -> Value {
        json!({
            "state": self.state.name(),
            "subject": redact_home(&self.subject),
            "message": redact_home(&self.message),
            "exit_code": self.exit.map(|exit| exit as i32),
        })
    }
}

/// Replaces the home directory with `~`, because it contains the user's name.
pub(super) fn redact_home(text: &str) -> String {
    match env::home_dir().map(|home| home.display().to_string()) {
        Some(home) if home.len() > 1 => replace_path(text, &home, "~"),
        _ => text.to_owned(),
    }
}

/// Replaces a path and the beginnings of paths below it, but not a part of a longer name, as in an address.
fn replace_path(text: &str, path: &str, replacement: &str) -> String {
    let continues = |it: char| it.is_alphanumeric() || ['-', '_', '~'].contains(&it);
    let mut parts = text.split(path).peekable();
    let mut replaced = String::with_capacity(text.len());
    while let Some(part) = parts.next() {
        replaced.push_str(part);
        let Some(after) = parts.peek() else { break };
        let is_whole = !replaced.ends_with(continues) && !after.starts_with(continues);
        replaced.push_str(if is_whole { replacement } else { path });
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_paths_are_replaced() {
        for (text, expected) in [
            ("/data, /data/data", "~, ~/data"),
            ("open /data/a and `/data`: /data.", "open ~/a and `~`: ~."),
            ("postgres://host/database, x/data/y", "postgres://host/database, x/data/y"),
            ("/data-2 and file:///data/a", "/data-2 and file://~/a"),
        ] {
            assert_eq!(replace_path(text, "/data", "~"), expected);
        }
    }
}
