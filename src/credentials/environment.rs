//! Secrets in environment variables.

use std::{env, fs};

use secrecy::{SecretString, zeroize::Zeroizing};

pub const SECRET_VARIABLE: &str = "TESSERA_API_SECRET";
pub const SECRET_FILE_VARIABLE: &str = "TESSERA_API_SECRET_FILE";
pub const TOKEN_VARIABLE: &str = "TESSERA_TOKEN";

/// The secret in the environment, with the variable's name.
pub fn from_environment() -> Result<Option<(SecretString, &'static str)>, String> {
    if let Some(path) = environment_variable(SECRET_FILE_VARIABLE) {
        let secret = fs::read_to_string(path.as_str())
            .map(Zeroizing::new)
            .map_err(|error| format!("{SECRET_FILE_VARIABLE}: {}: {error}", path.as_str()))?;
        return Ok(Some((SecretString::from(secret.trim()), SECRET_FILE_VARIABLE)));
    }
    Ok(environment_variable(SECRET_VARIABLE)
        .map(|secret| (SecretString::from(secret.trim()), SECRET_VARIABLE)))
}

pub fn token_from_environment() -> Option<SecretString> {
    environment_variable(TOKEN_VARIABLE).map(|token| SecretString::from(token.trim()))
}

fn environment_variable(name: &str) -> Option<Zeroizing<String>> {
    let value = env::var(name).ok().map(Zeroizing::new);
    value.filter(|value| !value.trim().is_empty())
}
