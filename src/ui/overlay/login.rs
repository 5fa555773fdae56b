//! The login: whose it is and where it is, and the form to check or replace it.

use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};
use tui_input::Input;

use super::Draw;
use crate::{
    app::overlay::{
        ScrollState,
        login::{LoginField, LoginForm, LoginOutcome, LoginTask},
    },
    ui::{
        DrawContext,
        widget::{FormOptions, FormRows, choice_text},
    },
};

const FIELD_COLUMN: u16 = 16;

impl Draw for LoginForm {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let name = ctx.app.setup().deployment_name.clone();
        let inside = ctx.dialog(area, &format!("Login of {name}"));
        let theme = ctx.theme;
        let footer: Vec<Line> = outcome_line(ctx, &self.outcome).into_iter().collect();
        let scroll = ScrollState::default();
        let facts = self.facts(ctx);
        let options = FormOptions { column: FIELD_COLUMN, footer: &footer, scroll };
        ctx.form(inside, &options, |rows| {
            for (label, value, style) in &facts {
                rows.choice((label, theme.dim), (value, *style), false);
            }
            rows.blank();
            for field in self.fields() {
                draw_field(rows, self, *field);
            }
        });
    }
}

fn outcome_line(ctx: &DrawContext, outcome: &LoginOutcome) -> Option<Line<'static>> {
    let theme = ctx.theme;
    let (mark, text, style) = match outcome {
        LoginOutcome::None => return None,
        LoginOutcome::Running => ("", "waiting for the service …", theme.moving),
        LoginOutcome::Accepted(text) => ("✔ ", text.as_str(), theme.success),
        LoginOutcome::Failed(text) => ("✖ ", text.as_str(), theme.failure),
    };
    Some(Line::from(vec![Span::raw(" "), Span::styled(format!("{mark}{text}"), style)]))
}

impl LoginForm {
    fn facts(&self, ctx: &DrawContext) -> [(&'static str, String, Style); 4] {
        let (app, theme) = (ctx.app, ctx.theme);
        let login = app.setup().login.as_ref();
        let service = login.map_or_else(String::new, |login| login.service.to_string());
        let key = match &app.login().key {
            Some(key) if key.is_empty() => "none yet".to_owned(),
            Some(key) => key.to_string(),
            None if app.login().rejection.is_some() => {
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
        let (state, style) = match (&app.login().rejection, app.token_time_left()) {
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

/// How long a token is valid; it is renewed before that.
pub(in crate::ui) fn token_text(left: std::time::Duration) -> String {
    match left.as_secs() {
        0 => "token expired".to_owned(),
        seconds @ ..=60 => format!("token {seconds} s"),
        seconds => format!("token {} min", seconds / 60),
    }
}

fn draw_field(rows: &mut FormRows, form: &LoginForm, field: LoginField) {
    let focused = form.field == field;
    let name = match field {
        LoginField::Task => "action",
        LoginField::ApiKey => "api_key",
        LoginField::ApiSecret => "api_secret",
        LoginField::Session => "cookie",
        LoginField::Store => "store secret",
    };
    let theme = rows.ctx.theme;
    let label = (name, theme.text);
    let choice = match field {
        LoginField::ApiKey => {
            let value = rows.field(label, focused);
            return rows.ctx.text_field(value, &form.api_key, focused);
        }
        LoginField::ApiSecret => return masked_field(rows, label, &form.api_secret.0, focused),
        LoginField::Session => return masked_field(rows, label, &form.session.0, focused),
        LoginField::Task => form.task.title().to_owned(),
        LoginField::Store => store_text(form),
    };
    let style = if focused { theme.accent } else { theme.text };
    rows.choice(label, (&choice_text(&choice, focused), style), focused);
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

/// Draws a dot for each typed character.
fn masked_field(rows: &mut FormRows, label: (&str, Style), input: &Input, focused: bool) {
    let value = rows.field(label, focused);
    let dots = Input::new("•".repeat(input.value().chars().count()));
    rows.ctx.text_field(value, &dots.with_cursor(input.cursor()), focused);
}
