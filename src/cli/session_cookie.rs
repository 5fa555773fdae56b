//! The cookie of a browser session, entered without echo or piped. It is used once and never stored.

use std::io::{self, IsTerminal as _};

use rustix::{
    stdio::stdin,
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::cli::{CliError, context::read_stdin};
use tessera_wire::credentials::session_value;

/// Restores the terminal's echo setting on drop, also when the prompt is interrupted.
struct EchoGuard(Option<Termios>);

impl EchoGuard {
    /// Disables echo before the prompt appears: `rpassword` prints the prompt first, and a cookie
    /// pasted immediately would be echoed.
    fn off() -> Self {
        let before = tcgetattr(stdin()).ok();
        if let Some(mut now) = before.clone() {
            now.local_modes.remove(LocalModes::ECHO);
            // If the terminal rejects the settings, `rpassword` reports it.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &now);
        }
        Self(before)
    }
}

impl Drop for EchoGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // The terminal may be gone by now.
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

/// Reads the value of the cookie from standard input if it is `piped`, otherwise from a prompt.
pub(super) async fn read_session_cookie(
    piped: bool,
    no_input: bool,
) -> Result<SecretString, CliError> {
    let text = if piped {
        SecretString::from(read_stdin()?)
    } else if no_input || !io::stdin().is_terminal() {
        let message =
            "cannot prompt for the cookie without a terminal; pipe it with --cookie-stdin";
        return Err(CliError::usage(message));
    } else {
        let _echo = EchoGuard::off();
        let prompt = tokio::task::spawn_blocking(|| {
            rpassword::prompt_password("tessera: SESSION cookie of your browser (not shown): ")
        });
        let typed = prompt.await.map_err(|error| CliError::failed(error.to_string()))?;
        SecretString::from(typed.map_err(|error| CliError::io("read the terminal", &error))?)
    };
    let value = session_value(text.expose_secret());
    let error = || CliError::usage("this is not a cookie; copy only the value of SESSION");
    value.map(SecretString::from).ok_or_else(error)
}
