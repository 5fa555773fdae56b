//! Divides the open dataset into sets such as training and validation: a form, which says how many media items each set
//! will have, and a question before saved selections are replaced. The worker divides the dataset and saves the sets.

use std::collections::HashSet;

use tessera_config::input::Action;
use tessera_model::{
    Dataset, DatasetTag, Operation, is_same_name,
    split::{Balance, Shares, SplitPlan},
    tag::REJECTED,
    text::{group_digits, grouped_with_noun},
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Setup, availability,
        overlay::fields::{self, edit},
        pane::cycle,
    },
    command_lines::split_command_line,
    drawing::{FormOptions, FormRows, wrapped_rows},
    message::SavedSet,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitField {
    Shares,
    Names,
    Balance,
    SkippedTags,
}

const FIELDS: [SplitField; 4] =
    [SplitField::Shares, SplitField::Names, SplitField::Balance, SplitField::SkippedTags];
const FIELD_COLUMN: u16 = 14;
const COLUMNS: u16 = 76;

#[derive(Clone, Debug)]
pub struct SplitForm {
    dataset: DatasetId,
    dataset_name: SafeText,
    field: SplitField,
    shares: Input,
    /// Without a text, the sets have the usual names.
    names: Input,
    balance: Balance,
    /// The tags whose media are in no set, separated by commas.
    skipped_tags: Input,
    /// What the worker was asked for.
    sent: Option<SplitPlan>,
}

impl SplitForm {
    pub(in crate::app) fn open(app: &mut App) {
        let Some(dataset) = app.dataset() else { return };
        let form = Self {
            dataset: dataset.id,
            dataset_name: dataset.name.clone(),
            field: SplitField::Shares,
            shares: "80/10/10".into(),
            names: Input::default(),
            balance: Balance::Size,
            skipped_tags: Input::default(),
            sent: None,
        };
        app.overlays.open(form);
    }

    fn plan(&self, app: &App) -> Result<SplitPlan, String> {
        let shares: Shares = self.shares.value().parse()?;
        let names = self.names.value().split(',').filter(|name| !name.trim().is_empty());
        Ok(SplitPlan {
            sets: shares.named(names).map_err(|reason| format!("names: {reason}"))?,
            balance: self.balance,
            without: self
                .skipped_tags(app)?
                .iter()
                .map(|tag| tag.name.received().to_owned())
                .collect(),
            seed: 0,
        })
    }

    fn usual_names(&self) -> String {
        let shares = self.shares.value().parse::<Shares>();
        shares.map(|shares| shares.usual_names().join(", ")).unwrap_or_default()
    }

    /// Returns the tags in use that were typed.
    fn skipped_tags<'a>(&self, app: &'a App) -> Result<Vec<&'a DatasetTag>, String> {
        let typed =
            self.skipped_tags.value().split(',').map(str::trim).filter(|name| !name.is_empty());
        let tag = |name: &str| {
            let mut tags = app.tagging.tags_of(self.dataset).iter();
            let found = tags.find(|tag| tag.count > 0 && is_same_name(tag.name.received(), name));
            found.ok_or_else(|| format!("skip tags: no media item has the tag {name}"))
        };
        let mut tags: Vec<&DatasetTag> = typed.map(tag).collect::<Result<_, _>>()?;
        let mut names = HashSet::new();
        tags.retain(|tag| names.insert(tag.name.received()));
        Ok(tags)
    }

    /// Names the tags whose media can be skipped, the one of rejected media first.
    fn tags_in_use(&self, app: &App) -> String {
        let tags = app.tagging.tags_of(self.dataset).iter().filter(|tag| tag.count > 0);
        let mut tags: Vec<&str> = tags.map(|tag| tag.name.as_str()).collect();
        tags.sort_by_key(|tag| *tag != REJECTED);
        let tags = if tags.is_empty() { "none".to_owned() } else { tags.join(", ") };
        format!("tags in use: {tags}")
    }

    /// Says how many media items each set will have, or what is wrong with the form.
    fn preview(&self, app: &App) -> Result<String, String> {
        let plan = self.plan(app)?;
        let all = app.service_data.dataset(self.dataset).and_then(Dataset::media_count);
        let skipped: Vec<u64> = self.skipped_tags(app)?.iter().map(|tag| tag.count).collect();
        let rest =
            all.map(|all| skipped.iter().fold(all, |rest, count| rest.saturating_sub(*count)));
        // Media items that have several of the tags are counted for each of them.
        let known_rest = rest.filter(|_| skipped.len() < 2);
        let unit = if known_rest.is_some() { "" } else { " %" };
        let sizes = plan.sizes(known_rest.unwrap_or(100)).into_iter().zip(&plan.sets);
        let sizes =
            sizes.map(|(size, set)| format!("{}{unit} in {}", group_digits(size), set.name));
        let sizes = sizes.collect::<Vec<_>>().join(", ");
        let counted = rest.map(|rest| grouped_with_noun(rest, "media item", "media items"));
        let media = match counted {
            Some(counted) if known_rest.is_some() => counted,
            Some(counted) => format!("At least {counted}"),
            None => "All media items".to_owned(),
        };
        Ok(format!("{media}: about {sizes}."))
    }

    pub(in crate::app) fn sets_saved(app: &mut App, dataset: DatasetId, sets: &[SavedSet]) {
        if app.overlays.dialog::<Self>().is_some_and(|form| form.dataset == dataset) {
            app.overlays.close();
        }
        let (level, text) = report(&app.setup, sets);
        app.outbox.notify(level, text);
    }

    /// Asks whether the saved selections are replaced. Without the form, a notification says why nothing was divided.
    pub(in crate::app) fn names_taken(app: &mut App, dataset: DatasetId, names: Vec<SafeText>) {
        let form = app.overlays.dialog::<Self>().filter(|form| form.dataset == dataset).cloned();
        match form.and_then(|form| Some((form.sent.clone()?, Box::new(form)))) {
            Some((plan, form)) => app.overlays.open(ReplaceSets { dataset, plan, names, form }),
            None => app.outbox.notify(Level::Warning, taken_text(&names)),
        }
    }

    fn draw_fields(&self, rows: &mut FormRows<App>) {
        let balance = match self.balance {
            Balance::Labels => "the same share of each label in every set",
            Balance::Size => "only the number of media items",
        };
        rows.input("shares", &self.shares, "");
        rows.input("names", &self.names, &self.usual_names());
        rows.choices("balance", balance);
        rows.input("skip tags", &self.skipped_tags, &self.tags_in_use(rows.ctx.app));
    }
}

/// Says how many media items each set has, and why sets are empty or how to go on.
fn report(setup: &Setup, sets: &[SavedSet]) -> (Level, String) {
    let size = |set: &SavedSet| format!("{} {}", set.name, group_digits(set.media as u64));
    let sizes = sets.iter().map(size).collect::<Vec<_>>().join(", ");
    let reasons: Vec<&str> =
        sets.iter().filter_map(|set| set.why_empty.as_ref()).map(SafeText::as_str).collect();
    if !reasons.is_empty() {
        return (Level::Warning, format!("saved {sizes}; {}", reasons.join("; ")));
    }
    let all = sets.iter().fold(0, |all: u64, set| all.saturating_add(set.media as u64));
    let media = grouped_with_noun(all, "media item", "media items");
    let key = setup.sign(" (5)", "");
    let text = format!("divided {media}: {sizes}; in the basket{key}, o loads a set by its name");
    (Level::Success, text)
}

fn taken_text(names: &[SafeText]) -> String {
    let listed = names.iter().map(SafeText::as_str).collect::<Vec<_>>().join(", ");
    match names.len() {
        1 => format!("A selection {listed} is saved already."),
        _ => format!("The selections {listed} are saved already."),
    }
}

impl Dialog for SplitForm {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        if let Some(result) = fields::handle_form_key(&mut self.field, &FIELDS, chord) {
            return result;
        }
        let step = match chord.key {
            Key::Char(' ') | Key::Right => Some(1),
            Key::Left => Some(-1),
            _ => None,
        };
        if let Some(input) = self.text_input() {
            edit(input, chord);
        } else if let Some(step) = step {
            self.balance = cycle(&[Balance::Size, Balance::Labels], self.balance, step);
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (COLUMNS, if screen.0 < COLUMNS { 18 } else { 13 })
    }

    fn hints(&self) -> &'static str {
        "Tab next field   Space change   Enter divide   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        match self.field {
            SplitField::Shares => Some(&mut self.shares),
            SplitField::Names => Some(&mut self.names),
            SplitField::SkippedTags => Some(&mut self.skipped_tags),
            SplitField::Balance => None,
        }
    }

    fn select_item(&mut self, index: usize, _: &App) {
        self.field = FIELDS.get(index).copied().unwrap_or(self.field);
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::Export))
    }

    fn accept(mut self: Box<Self>, app: &mut App) {
        let reason = availability::unavailable_reason(app, Action::Split);
        match reason.map_or_else(|| self.plan(app), Err) {
            Ok(plan) => {
                self.sent = Some(plan.clone());
                let request = Request::Split { dataset: self.dataset, plan, replaces: false };
                app.outbox.send(Lane::Split(self.dataset), request);
            }
            Err(reason) => app.outbox.notify(Level::Warning, reason),
        }
        app.overlays.open(*self);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Divide into sets: {}", self.dataset_name));
        let (app, theme) = (ctx.app, ctx.theme);
        let (preview, style) = match self.preview(app) {
            _ if app.tickets().is_open(&Lane::Split(self.dataset)) => {
                ("Dividing …".to_owned(), theme.attention)
            }
            Ok(preview) => (preview, theme.text),
            Err(reason) => (format!("! {reason}"), theme.failure),
        };
        let target = app.setup.command_target(self.dataset);
        let command = self.plan(app).map(|plan| split_command_line(&target, &plan));
        let command = command.iter().map(|it| Line::styled(format!(" {it}"), theme.dim));
        let footer: Vec<Line> = command.collect();
        let options = FormOptions::new(FIELD_COLUMN, &footer, self.field as usize);
        ctx.form(inside, &options, |rows| {
            rows.text(&preview, style);
            rows.text("Near-duplicates and the frames of a video stay in one set.", theme.dim);
            rows.blank();
            self.draw_fields(rows);
        });
    }
}

/// Asks before saved selections are replaced by sets.
#[derive(Clone, Debug)]
pub struct ReplaceSets {
    dataset: DatasetId,
    plan: SplitPlan,
    /// The names of the selections.
    names: Vec<SafeText>,
    form: Box<dyn Dialog>,
}

impl Dialog for ReplaceSets {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        match KeyResult::of_confirmation(chord, false) {
            KeyResult::Close => KeyResult::Back,
            result => result,
        }
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (COLUMNS, wrapped_rows(&taken_text(&self.names), COLUMNS - 3) + 3)
    }

    fn hints(&self) -> &'static str {
        "y replace   Esc back to the form"
    }

    fn form_below(&mut self) -> Option<&mut Box<dyn Dialog>> {
        Some(&mut self.form)
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let request = Request::Split { dataset: self.dataset, plan: self.plan, replaces: true };
        app.outbox.send(Lane::Split(self.dataset), request);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let texts = [&taken_text(&self.names), "The new sets would replace them."];
        ctx.texts_dialog(area, "Replace saved selections", &texts);
    }
}
