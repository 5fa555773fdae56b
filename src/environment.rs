//! Answers questions about environment variables that several parts of the program ask.

use std::env;

/// Whether an environment variable has a value. A program that cannot remove a variable empties it instead.
pub(crate) fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Whether the user has turned colors off in all programs.
pub(crate) fn refuses_colors() -> bool {
    is_set("NO_COLOR")
}
