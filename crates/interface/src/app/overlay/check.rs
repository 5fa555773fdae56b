//! Checks the open dataset: a form with a limit for each kind of problem, and a table that says which limits are met.
//! The worker checks, and a command does the same in continuous integration.

use ratatui::style::Style;
use tessera_config::input::Action;
use tessera_model::{
    Filter, Operation, Search, ShellCommand,
    check::{Condition, ConditionResult, Limit, Rule},
    text::{count_with_noun, group_digits},
    vql::IssueMode,
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Pane, availability,
        overlay::fields::{self, edit, split_words},
        pane::{moved_cursor, rows_to_move},
    },
    command_lines::check_command_line,
    drawing::{FormOptions, FormRows, split_columns},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckField {
    /// The position of a rule among [`Rule::LIMITED`].
    Limit(usize),
    MinMedia,
    Captions,
    Labels,
    Leaks,
}

const FIELDS: [CheckField; 10] = [
    CheckField::Limit(0),
    CheckField::Limit(1),
    CheckField::Limit(2),
    CheckField::Limit(3),
    CheckField::Limit(4),
    CheckField::Limit(5),
    CheckField::MinMedia,
    CheckField::Captions,
    CheckField::Labels,
    CheckField::Leaks,
];
/// The limits that the form begins with.
const DEFAULT_LIMITS: [&str; 6] = ["1%", "2%", "2%", "2%", "", ""];
const FIELD_COLUMN: u16 = 14;
const FORM_NOTE: &str = "The largest allowed numbers, or shares of all media items such as 1%.";
const PARTS_NOTE: &str = "between two parts or more: folders, tag:NAME or selection:NAME";
/// The columns before the rule of a result.
const RULE_COLUMN: u16 = 24;
/// The columns for a limit, before what it counts.
const LIMIT_COLUMNS: u16 = 9;

#[derive(Clone, Debug)]
pub struct QualityCheck {
    dataset: DatasetId,
    dataset_name: SafeText,
    field: CheckField,
    /// The limits of [`Rule::LIMITED`].
    limits: [Input; 6],
    min_media: Input,
    captions: bool,
    labels: bool,
    /// The parts without leaks between them.
    parts: Input,
    /// What the worker was asked to check.
    sent: Vec<Condition>,
    /// The results, once they are known.
    results: Option<Vec<ConditionResult>>,
    /// The selected result.
    cursor: usize,
}

impl QualityCheck {
    pub(in crate::app) fn open(app: &mut App) {
        let Some(dataset) = app.dataset() else { return };
        let check = Self {
            dataset: dataset.id,
            dataset_name: dataset.name.clone(),
            field: FIELDS[0],
            limits: DEFAULT_LIMITS.map(Input::from),
            min_media: Input::default(),
            captions: false,
            labels: false,
            parts: Input::default(),
            sent: Vec::new(),
            results: None,
            cursor: 0,
        };
        app.overlays.open(check);
    }

    fn conditions(&self) -> Result<Vec<Condition>, String> {
        let mut conditions = Vec::new();
        let minimum = self.min_media.value().trim();
        if !minimum.is_empty() {
            let minimum = minimum.parse();
            let wrong = |_| format!("{}: expected a number", Rule::Media.id());
            conditions.push(Condition::AtLeast(minimum.map_err(wrong)?));
        }
        for (rule, limit) in Rule::LIMITED.into_iter().zip(&self.limits) {
            if !limit.value().trim().is_empty() {
                let limit: Result<Limit, String> = limit.value().parse();
                let limit = limit.map_err(|reason| format!("{}: {reason}", rule.id()))?;
                conditions.push(Condition::AtMost(rule, limit));
            }
        }
        let required = [(Rule::Captions, self.captions), (Rule::Labels, self.labels)];
        let required = required.into_iter().filter(|(_, is_required)| *is_required);
        conditions.extend(required.map(|(rule, _)| Condition::AtMost(rule, Limit::ZERO)));
        let parts = split_words(self.parts.value());
        if parts.len() == 1 {
            return Err("no leaks: give two parts, such as train val".to_owned());
        }
        for (index, a) in parts.iter().enumerate() {
            let others = parts[index + 1..].iter();
            conditions.extend(others.map(|b| Condition::NoLeaks([a.clone(), b.clone()])));
        }
        if conditions.is_empty() {
            return Err("nothing to check: type a limit".to_owned());
        }
        Ok(conditions)
    }

    fn command(&self, app: &App) -> Option<ShellCommand> {
        let conditions = match self.results {
            Some(_) => self.sent.clone(),
            None => self.conditions().ok()?,
        };
        Some(check_command_line(&app.setup.command_target(self.dataset), &conditions))
    }

    fn key_in_form(&mut self, chord: Chord) {
        let toggles = matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right);
        match self.field {
            CheckField::Captions => self.captions ^= toggles,
            CheckField::Labels => self.labels ^= toggles,
            CheckField::Limit(_) | CheckField::MinMedia | CheckField::Leaks => {
                if let Some(input) = self.text_input() {
                    edit(input, chord);
                }
            }
        }
    }

    fn key_in_results(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let results = self.results.as_deref().unwrap_or_default();
        let by = match chord.key {
            Key::Esc => {
                self.results = None;
                return KeyResult::Stay;
            }
            Key::Char('q') => return KeyResult::Close,
            Key::Char('y') => {
                if let Some(command) = self.command(app) {
                    app.outbox.copy_text("command", &command.into());
                }
                None
            }
            // A click on the selected result is the right arrow.
            Key::Enter | Key::Right => {
                if let Some(result) = results.get(self.cursor) {
                    show_counted(app, self.dataset, result);
                }
                return KeyResult::Close;
            }
            Key::Char('j') => Some(1),
            Key::Char('k') => Some(-1),
            key => rows_to_move(key),
        };
        self.cursor = moved_cursor(self.cursor, by.unwrap_or(0), results.len());
        KeyResult::Stay
    }

    pub(in crate::app) fn checked(
        app: &mut App,
        dataset: DatasetId,
        results: Vec<ConditionResult>,
    ) {
        let is_passed = results.iter().all(|result| result.passed);
        let level = if is_passed { Level::Success } else { Level::Warning };
        app.outbox.notify(level, summary(&results));
        let open = app.overlays.dialog_mut::<Self>().filter(|check| check.dataset == dataset);
        if let Some(check) = open {
            (check.results, check.cursor) = (Some(results), 0);
        }
    }

    fn send(&mut self, app: &mut App) -> Result<(), String> {
        let reason = availability::unavailable_reason(app, Action::Check);
        self.sent = reason.map_or_else(|| self.conditions(), Err)?;
        let request = Request::Check(self.dataset, self.sent.clone());
        app.outbox.send(Lane::Check(self.dataset), request);
        Ok(())
    }
}

fn summary(results: &[ConditionResult]) -> String {
    let failed = results.iter().filter(|result| !result.passed);
    let failed: Vec<&str> = failed.map(|result| result.name.as_str()).collect();
    let checks = count_with_noun(results.len(), "check", "checks");
    if failed.is_empty() {
        return format!("passed {checks}");
    }
    format!("failed {} of {checks}: {}", failed.len(), failed.join(", "))
}

/// Shows the media items that a result counts: by a search for their issue, or as the selection.
fn show_counted(app: &mut App, dataset: DatasetId, result: &ConditionResult) {
    let issue = result.rule.issue().map(|kind| Filter::issue(kind, IssueMode::In, None, None));
    if result.media.is_empty() {
        app.outbox.notify(Level::Warning, "no media item counts here");
    } else if let Some(Ok(filter)) = issue {
        app.open_search(Search { filters: vec![filter], ..Search::browse(dataset) });
    } else {
        let media = count_with_noun(result.media.len(), "media item", "media items");
        let text = format!("selected {media} that count; u restores the previous selection");
        app.baskets.replace(dataset, &result.media, &text, &mut app.outbox);
        app.panes.focus = Pane::Basket;
    }
}

impl Dialog for QualityCheck {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        if self.results.is_some() {
            return self.key_in_results(chord, app);
        }
        fields::handle_form_key(&mut self.field, &FIELDS, chord).unwrap_or_else(|| {
            self.key_in_form(chord);
            KeyResult::Stay
        })
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let rows = match &self.results {
            Some(results) => u16::try_from(results.len() + 8).unwrap_or(u16::MAX),
            None => 17,
        };
        (86, if screen.0 < 86 { rows.saturating_add(2) } else { rows })
    }

    fn hints(&self) -> &'static str {
        match self.results {
            Some(_) => "Enter show what counts   y copy the command   Esc change the limits",
            None => "Tab next field   Space change   Enter check   Esc close",
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        match self.field {
            _ if self.results.is_some() => None,
            CheckField::Limit(index) => self.limits.get_mut(index),
            CheckField::MinMedia => Some(&mut self.min_media),
            CheckField::Leaks => Some(&mut self.parts),
            CheckField::Captions | CheckField::Labels => None,
        }
    }

    fn select_item(&mut self, index: usize, _: &App) {
        match &self.results {
            Some(results) => self.cursor = moved_cursor(index, 0, results.len()),
            None => self.field = FIELDS.get(index).copied().unwrap_or(self.field),
        }
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        self.results.is_none().then_some((self.dataset, Operation::Export))
    }

    fn accept(mut self: Box<Self>, app: &mut App) {
        if let Err(reason) = self.send(app) {
            app.outbox.notify(Level::Warning, reason);
        }
        app.overlays.open(*self);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Check {}", self.dataset_name));
        let command = self.command(ctx.app);
        let command = command.iter().map(|it| Line::styled(format!(" {it}"), ctx.theme.dim));
        let footer: Vec<Line> = command.collect();
        let focused = match self.results {
            Some(_) => self.cursor,
            None => fields::position(&FIELDS, &self.field),
        };
        let is_list = self.results.is_some();
        let options = FormOptions { is_list, ..FormOptions::new(FIELD_COLUMN, &footer, focused) };
        ctx.form(inside, &options, |rows| match &self.results {
            Some(results) => draw_results(rows, results),
            None => self.draw_form(rows),
        });
    }
}

impl QualityCheck {
    fn draw_form(&self, rows: &mut FormRows<App>) {
        let (app, theme) = (rows.ctx.app, rows.ctx.theme);
        let is_running = app.tickets().is_open(&Lane::Check(self.dataset));
        match self.conditions() {
            _ if is_running => rows.text("Checking …", theme.attention),
            Ok(_) => rows.text(FORM_NOTE, theme.text),
            Err(reason) => rows.text(&format!("! {reason}"), theme.failure),
        }
        rows.blank();
        for (rule, limit) in Rule::LIMITED.into_iter().zip(&self.limits) {
            rows.short_input(rule.id(), (limit, LIMIT_COLUMNS), rule.description());
        }
        let note = "at least this many in the dataset";
        rows.short_input(Rule::Media.id(), (&self.min_media, LIMIT_COLUMNS), note);
        for (rule, is_required, condition) in [
            ("captions", self.captions, "every media item has one"),
            ("labels", self.labels, "every media item has one, or an object with one"),
        ] {
            rows.choices(rule, if is_required { condition } else { "not required" });
        }
        rows.input("no leaks", &self.parts, PARTS_NOTE);
    }
}

fn draw_results(rows: &mut FormRows<App>, results: &[ConditionResult]) {
    let (setup, theme) = (&rows.ctx.app.setup, rows.ctx.theme);
    rows.text(&summary(results), theme.text);
    rows.blank();
    let heading = rows.label(&Span::styled("result", theme.dim));
    draw_columns(rows, heading, ["found", "limit", "rule"], theme.dim);
    for result in results {
        let (verdict, style) = if result.passed {
            (setup.sign("✓ passed", "passed"), theme.success)
        } else {
            (setup.sign("✗ failed", "failed"), theme.failure)
        };
        let found = group_digits(result.found as u64);
        let area = rows.field(&Span::styled(verdict, style));
        rows.clickable(area, true);
        let style = if rows.is_focused() { theme.accent } else { theme.text };
        draw_columns(rows, area, [&found, &result.limit, result.name.as_str()], style);
    }
}

/// Draws what was found, the limit and the rule beside each other. A long rule continues below.
fn draw_columns(rows: &mut FormRows<App>, area: Rect, texts: [&str; 3], style: Style) {
    let [found, limit, rule] = texts;
    let (left, right) = split_columns(area, RULE_COLUMN);
    rows.ctx.put(left, 0, &[(format!("{found:>7}  {limit:<15}"), style)]);
    rows.value(Rect { width: right.width.max(1), ..right }, rule, style);
}
