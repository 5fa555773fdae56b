//! Shows the login dialog, which says whose login is used and where its secret is. The dialog checks or replaces the
//! login, and leads to the list of other deployments.

use std::time::Duration;

use ratatui::style::Style;
use secrecy::SecretString;
use tessera_config::{Destination, text_enum};
use tessera_model::{NO_SECRET, login_check_text};
use tessera_wire::credentials::{secret_value, session_value};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        overlay::{
            command_list::{CommandList, ListKind},
            fields::{self, edit},
            pick_list::{Command, PickItem},
        },
        pane::cycle,
        welcome::RedactedInput,
    },
    drawing::{FormOptions, FormRows, wrapped_rows},
    message::{ImportedLogin, LoginImport, LoginPlaces, TypedSecret},
};

text_enum! {
    /// What can be done about a login.
    pub enum LoginTask: title {
        Check = "check the login",
        EnterKeyPair = "enter a key pair",
        ImportSession = "import a key pair with the SESSION cookie of your browser",
        SwitchProfile = "open another deployment",
    }
}

text_enum! {
    /// The fields of the form, in the order of the Tab key.
    pub enum LoginField: label {
        Task = "action",
        ApiKey = "api_key",
        ApiSecret = "api_secret",
        Session = "cookie",
        Store = "store secret",
    }
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
    /// Whether to store the secret. `None` until the user has decided.
    store: Option<bool>,
    pub places: Option<LoginPlaces>,
    pub outcome: LoginOutcome,
}

impl LoginForm {
    pub fn tasks(setup: &Setup) -> &'static [LoginTask] {
        if can_import(setup) {
            &LoginTask::ALL
        } else {
            &[LoginTask::Check, LoginTask::SwitchProfile]
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

    /// Returns whether the secret is stored. Storing a secret in a plain file needs the user's consent, which the
    /// keyring does not need.
    pub fn stores(&self) -> bool {
        let needs_consent = self.places.as_ref().is_none_or(|places| places.needs_consent);
        self.store.unwrap_or(!needs_consent)
    }

    fn key_in_field(&mut self, chord: Chord, app: &App) {
        let changes = matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right);
        match self.field {
            LoginField::Task if changes => {
                let by = if chord.key == Key::Left { -1 } else { 1 };
                self.task = cycle(Self::tasks(&app.setup), self.task, by);
            }
            LoginField::Store if changes => self.store = Some(!self.stores()),
            _ => _ = self.text_input().map(|input| edit(input, chord)),
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

    pub(in crate::app) fn open(app: &mut App) {
        let rejection = app.login.rejection.as_ref();
        let is_missing = rejection.is_some_and(|failure| failure.code == Some(NO_SECRET));
        let form = LoginForm {
            task: if is_missing { LoginTask::ImportSession } else { LoginTask::Check },
            field: LoginField::Task,
            api_key: Input::default(),
            api_secret: RedactedInput::default(),
            session: RedactedInput::default(),
            store: None,
            places: None,
            outcome: rejection
                .map_or(LoginOutcome::None, |failure| LoginOutcome::Failed(failure.to_safe_text())),
        };
        app.overlays.open(form);
        if can_import(&app.setup) {
            app.outbox.send(Lane::LoginPlaces, Request::LoginPlaces);
        }
    }

    pub(in crate::app) fn places_loaded(app: &mut App, places: LoginPlaces) {
        if let Some(form) = app.overlays.dialog_mut::<Self>() {
            form.places = Some(places);
        }
    }

    pub(in crate::app) fn imported(app: &mut App, login: ImportedLogin) {
        if app.overlays.dialog::<Self>().is_some() {
            app.overlays.close();
        }
        app.login_imported(login);
    }

    pub(in crate::app) fn accepted(app: &mut App) {
        let text = SafeText::detail("the login is accepted");
        Self::show_outcome(app, LoginOutcome::Accepted(text));
    }

    pub(in crate::app) fn failed(app: &mut App, lane: &Lane, failure: &Failure) {
        let known = failure.status.filter(|_| *lane == Lane::LoginCheck);
        let by_dataset = app.dataset().is_some();
        let text = known.and_then(|status| login_check_text(status, by_dataset));
        let text = text.map_or_else(|| failure.to_string(), str::to_owned);
        Self::show_outcome(app, LoginOutcome::Failed(SafeText::detail(&text)));
    }

    /// Shows the outcome of a request of the form. If the form was closed, the outcome is a notification.
    fn show_outcome(app: &mut App, outcome: LoginOutcome) {
        if let Some(form) = app.overlays.dialog_mut::<Self>() {
            form.outcome = outcome;
            return;
        }
        match outcome {
            LoginOutcome::Failed(text) => app.outbox.notify(Level::Error, text.as_str()),
            LoginOutcome::Accepted(text) => app.outbox.notify(Level::Success, text.as_str()),
            LoginOutcome::None | LoginOutcome::Running => {}
        }
    }

    pub(in crate::app) fn open_profile_list(app: &mut App) {
        let item =
            |destination, name: &str| PickItem::new(Command::OpenDeployment(destination), name);
        let profiles = app.setup.settings.profiles.iter().map(|profile| {
            let note = format!("{:<7} {}", profile.deployment.kind(), profile.deployment.address());
            item(Destination::Profile(profile.name.clone()), &profile.name)
                .note(note)
                .current(Some(&profile.name) == app.setup.profile.as_ref())
        });
        let others = [
            item(Destination::Sample, "sample").note("generated dataset, no account needed"),
            item(Destination::Welcome, "new …")
                .note("a folder, a hosted or an on-premises service"),
        ];
        let items = profiles.chain(others).collect();
        CommandList::open(app, ListKind::Profiles, "Open another deployment", items);
    }

    fn facts(&self, ctx: &DrawContext) -> [(&'static str, String, Style); 4] {
        let (app, theme) = (ctx.app, ctx.theme);
        let login = app.setup.login.as_ref();
        let service = login.map_or_else(String::new, |login| login.service.to_string());
        let key = match &app.login.key {
            Some(key) if key.is_empty() => "none yet".to_owned(),
            Some(key) => key.to_string(),
            None if app.login.rejection.is_some() => {
                "none: this deployment is opened without login; open it as a hosted one".to_owned()
            }
            None => "none: this deployment needs no login".to_owned(),
        };
        let place = match (login.and_then(|login| login.fixed.as_ref()), &self.places) {
            (Some(reason), _) => reason.to_string(),
            (None, Some(places)) => places.current.to_string(),
            (None, None) if login.is_none() => "—".to_owned(),
            (None, None) => "…".to_owned(),
        };
        let (state, style) =
            match (&app.login.rejection, app.login.token_time_left(app.outbox.clock())) {
                (Some(failure), _) => (failure.message.to_string(), theme.failure),
                (None, Some(left)) => (token_text(left), theme.text),
                (None, None) => ("no request was rejected".to_owned(), theme.text),
            };
        [
            ("service", service, theme.text),
            ("key", key, theme.text),
            ("secret in", place, theme.text),
            ("state", state, style),
        ]
    }
}

fn can_import(setup: &Setup) -> bool {
    setup.login.as_ref().is_some_and(|login| login.fixed.is_none())
}

impl Dialog for LoginForm {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let fields = self.fields();
        fields::handle_form_key(&mut self.field, fields, chord).unwrap_or_else(|| {
            self.key_in_field(chord, app);
            KeyResult::Stay
        })
    }

    /// The outcome may need several rows, because its remedy may be long.
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

    fn select_item(&mut self, index: usize, _: &App) {
        self.field = self.fields().get(index).copied().unwrap_or(self.field);
    }

    fn accept(mut self: Box<Self>, app: &mut App) {
        match self.task {
            LoginTask::SwitchProfile => {
                return LoginForm::open_profile_list(app);
            }
            LoginTask::Check => {
                let dataset = app.dataset().map(|dataset| dataset.id);
                app.outbox.send(Lane::LoginCheck, Request::CheckLogin(dataset));
                self.outcome = LoginOutcome::Running;
            }
            LoginTask::EnterKeyPair | LoginTask::ImportSession => match self.import() {
                // An import is sent only once, because a second one would create another key pair.
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
        app.overlays.open(*self);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let name = ctx.app.setup.deployment_name.clone();
        let inside = ctx.dialog(area, &format!("Login of {name}"));
        let theme = ctx.theme;
        let footer: Vec<Line> = outcome_line(ctx, &self.outcome).into_iter().collect();
        let facts = self.facts(ctx);
        let focused = fields::position(self.fields(), &self.field);
        ctx.form(inside, &FormOptions::new(FIELD_COLUMN, &footer, focused), |rows| {
            for (label, value, style) in &facts {
                rows.fact(&Span::styled(*label, theme.dim), &Span::styled(value, *style));
            }
            rows.blank();
            for field in self.fields() {
                draw_field(rows, self, *field);
            }
        });
    }
}

const FIELD_COLUMN: u16 = 16;

fn outcome_line(ctx: &DrawContext, outcome: &LoginOutcome) -> Option<Line<'static>> {
    let theme = ctx.theme;
    let (mark, text, style) = match outcome {
        LoginOutcome::None => return None,
        LoginOutcome::Running => ("", "waiting for the service …", theme.attention),
        LoginOutcome::Accepted(text) => ("✔ ", text.as_str(), theme.success),
        LoginOutcome::Failed(text) => ("✖ ", text.as_str(), theme.failure),
    };
    Some(Line::from(vec![Span::raw(" "), Span::styled(format!("{mark}{text}"), style)]))
}

/// Says how long a token is still valid. The token is renewed before it expires.
pub(crate) fn token_text(left: Duration) -> String {
    match left.as_secs() {
        0 => "token expired".to_owned(),
        seconds @ ..=60 => format!("token {seconds} s"),
        seconds => format!("token {} min", seconds / 60),
    }
}

fn draw_field(rows: &mut FormRows<App>, form: &LoginForm, field: LoginField) {
    let name = field.label();
    match field {
        LoginField::Task => rows.choices(name, form.task.title()),
        LoginField::ApiKey => rows.input(name, &form.api_key, ""),
        LoginField::ApiSecret => rows.input(name, &masked(&form.api_secret.0), ""),
        LoginField::Session => rows.input(name, &masked(&form.session.0), ""),
        LoginField::Store => rows.choices(name, &store_text(form)),
    }
}

fn store_text(form: &LoginForm) -> String {
    match (&form.places, form.stores()) {
        (Some(places), true) => format!("in {}", places.new),
        (Some(places), false) if form.task == LoginTask::EnterKeyPair => {
            format!("no, only until the program ends; or in {}", places.new)
        }
        (Some(places), false) => format!("no; or in {}", places.new),
        (None, _) => "looking for the keyring …".to_owned(),
    }
}

/// Returns a dot for each typed character.
fn masked(input: &Input) -> Input {
    let dots = Input::new("•".repeat(input.value().chars().count()));
    dots.with_cursor(input.cursor())
}
