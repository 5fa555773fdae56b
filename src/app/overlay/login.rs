//! The login: what it is, and how to check it, replace it, or open another deployment.

use secrecy::SecretString;
use tessera_model::{Failure, NO_SECRET, SafeText, login_check_text};
use tessera_wire::credentials::{secret_value, session_value};
use tui_input::Input;

use super::{Dialog, KeyResult, Overlay, form, text_field::edit};
use crate::{
    app::{App, Level, pane::cycle, welcome::RedactedInput, wrapping::wrapped_rows},
    input::{Chord, Key},
    message::{Lane, LoginImport, LoginPlaces, Payload, Request, TypedSecret},
};

/// What can be done about a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginTask {
    Check,
    EnterKeyPair,
    ImportSession,
    SwitchProfile,
}

impl LoginTask {
    pub fn title(self) -> &'static str {
        match self {
            Self::Check => "check the login",
            Self::EnterKeyPair => "enter a key pair",
            Self::ImportSession => "import a key pair with the SESSION cookie of your browser",
            Self::SwitchProfile => "open another deployment",
        }
    }
}

/// The fields of the form, in the order of the Tab key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginField {
    Task,
    ApiKey,
    ApiSecret,
    Session,
    Store,
}

/// The result of the last check or import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginOutcome {
    None,
    Running,
    Accepted(SafeText),
    Failed(SafeText),
}

#[derive(Clone, Debug)]
pub struct LoginForm {
    pub task: LoginTask,
    pub field: LoginField,
    pub api_key: Input,
    pub api_secret: RedactedInput,
    pub session: RedactedInput,
    /// Whether to store the secret, once the user has decided.
    store: Option<bool>,
    pub places: Option<LoginPlaces>,
    pub outcome: LoginOutcome,
}

impl LoginForm {
    pub fn tasks(app: &App) -> &'static [LoginTask] {
        use LoginTask::{Check, EnterKeyPair, ImportSession, SwitchProfile};
        if can_import(app) {
            &[Check, EnterKeyPair, ImportSession, SwitchProfile]
        } else {
            &[Check, SwitchProfile]
        }
    }

    pub fn fields(&self) -> &'static [LoginField] {
        use LoginField::{ApiKey, ApiSecret, Session, Store, Task};
        match self.task {
            LoginTask::Check | LoginTask::SwitchProfile => &[Task],
            LoginTask::EnterKeyPair => &[Task, ApiKey, ApiSecret, Store],
            LoginTask::ImportSession => &[Task, Session, Store],
        }
    }

    /// Storing a secret in a plain file needs the user's consent, the keyring does not.
    pub fn stores(&self) -> bool {
        let needs_consent = self.places.as_ref().is_none_or(|places| places.needs_consent);
        self.store.unwrap_or(!needs_consent)
    }

    fn key_in_field(&mut self, chord: Chord, app: &App) {
        let changes = matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right);
        match self.field {
            LoginField::Task if changes => {
                let by = if chord.key == Key::Left { -1 } else { 1 };
                self.task = cycle(Self::tasks(app), self.task, by);
            }
            LoginField::Store if changes => self.store = Some(!self.stores()),
            LoginField::Task | LoginField::Store => {}
            LoginField::ApiKey => _ = edit(&mut self.api_key, chord),
            LoginField::ApiSecret => _ = edit(&mut self.api_secret.0, chord),
            LoginField::Session => _ = edit(&mut self.session.0, chord),
        }
    }

    fn import(&self) -> Result<LoginImport, (LoginField, &'static str)> {
        if self.task == LoginTask::ImportSession {
            let session = session_value(self.session.0.value())
                .ok_or((LoginField::Session, "copy only the value of the cookie SESSION"))?;
            let session = TypedSecret(SecretString::from(session));
            if !self.stores() {
                let reason = "the service shows the secret only once, so it has to be stored";
                return Err((LoginField::Store, reason));
            }
            return Ok(LoginImport::Session(session));
        }
        let api_key = self.api_key.value().trim();
        if api_key.is_empty() {
            return Err((LoginField::ApiKey, "enter the API key"));
        }
        let secret = secret_value(self.api_secret.0.value())
            .ok_or((LoginField::ApiSecret, "enter the API secret, without spaces"))?;
        Ok(LoginImport::KeyPair {
            api_key: api_key.to_owned(),
            api_secret: TypedSecret(SecretString::from(secret)),
            store: self.stores(),
        })
    }
}

fn can_import(app: &App) -> bool {
    app.setup.login.as_ref().is_some_and(|login| login.fixed.is_none())
}

impl Dialog for LoginForm {
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        let fields = self.fields();
        form::handle_key(&mut self.field, fields, chord).unwrap_or_else(|| {
            self.key_in_field(chord, app);
            KeyResult::Stay
        })
    }

    /// With rows for the outcome, whose remedy may be long.
    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        const COLUMNS: u16 = 92;
        let outcome = match &self.outcome {
            LoginOutcome::Accepted(text) | LoginOutcome::Failed(text) => {
                wrapped_rows(text.as_str(), COLUMNS.min(screen.0).saturating_sub(6))
            }
            LoginOutcome::None | LoginOutcome::Running => 1,
        };
        let wrapped = if screen.0 < COLUMNS { 6 } else { 0 };
        (COLUMNS, outcome.saturating_add(13 + wrapped).max(15))
    }

    fn hints(&self) -> &'static str {
        "Tab next field   ← → change   Enter run   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        match self.field {
            LoginField::ApiKey => Some(&mut self.api_key),
            LoginField::ApiSecret => Some(&mut self.api_secret.0),
            LoginField::Session => Some(&mut self.session.0),
            LoginField::Task | LoginField::Store => None,
        }
    }

    fn accept(mut self, app: &mut App) {
        match self.task {
            LoginTask::SwitchProfile => return app.open_profile_list(),
            LoginTask::Check => {
                let dataset = app.dataset().map(|dataset| dataset.id);
                app.outbox.send(Lane::LoginCheck, Request::CheckLogin(dataset));
                self.outcome = LoginOutcome::Running;
            }
            LoginTask::EnterKeyPair | LoginTask::ImportSession => match self.import() {
                // An import is sent once: a second one would create another key pair.
                Ok(_) if app.outbox.tickets.is_open(&Lane::LoginImport) => {}
                Ok(import) => {
                    app.outbox.send(Lane::LoginImport, Request::ImportLogin(import));
                    self.outcome = LoginOutcome::Running;
                }
                Err((field, reason)) => {
                    self.field = field;
                    self.outcome = LoginOutcome::Failed(SafeText::detail(reason));
                }
            },
        }
        app.overlays.open(Overlay::Login(Box::new(self)));
    }
}

impl App {
    pub(in crate::app) fn open_login(&mut self) {
        let rejection = self.login.rejection.as_ref();
        let is_missing = rejection.is_some_and(|failure| failure.code == Some(NO_SECRET));
        let form = LoginForm {
            task: if is_missing { LoginTask::ImportSession } else { LoginTask::Check },
            field: LoginField::Task,
            api_key: Input::default(),
            api_secret: RedactedInput::default(),
            session: RedactedInput::default(),
            store: None,
            places: None,
            outcome: rejection.map_or(LoginOutcome::None, |failure| {
                LoginOutcome::Failed(SafeText::detail(&failure.to_string()))
            }),
        };
        self.overlays.open(Overlay::Login(Box::new(form)));
        if can_import(self) {
            self.outbox.send(Lane::LoginPlaces, Request::LoginPlaces);
        }
    }

    /// Shows the result of a request of the form; as a notification if the form was closed.
    pub(in crate::app) fn login_response(&mut self, lane: &Lane, result: Result<Payload, Failure>) {
        let outcome = match result {
            Ok(Payload::LoginPlaces(places)) => {
                if let Some(Overlay::Login(form)) = self.overlays.current_mut() {
                    form.places = Some(places);
                }
                return;
            }
            Ok(Payload::LoginImported(login)) => {
                if matches!(self.overlays.current(), Some(Overlay::Login(_))) {
                    self.overlays.close();
                }
                return self.login_imported(login);
            }
            Ok(_) => LoginOutcome::Accepted(SafeText::detail("the login is accepted")),
            Err(failure) => {
                let known = failure.status.filter(|_| *lane == Lane::LoginCheck);
                let by_dataset = self.dataset().is_some();
                let text = known.and_then(|status| login_check_text(status, by_dataset));
                let text = text.map_or_else(|| failure.to_string(), str::to_owned);
                LoginOutcome::Failed(SafeText::detail(&text))
            }
        };
        if let Some(Overlay::Login(form)) = self.overlays.current_mut() {
            form.outcome = outcome;
            return;
        }
        match outcome {
            LoginOutcome::Failed(text) => self.outbox.notify(Level::Error, text.as_str()),
            LoginOutcome::Accepted(text) => self.outbox.notify(Level::Success, text.as_str()),
            LoginOutcome::None | LoginOutcome::Running => {}
        }
    }
}
