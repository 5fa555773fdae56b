//! Shows a fact sheet, which is a read-only list of names with wrapped values. The record of a dataset and an entry of
//! the log are shown this way.

use tessera_model::{RecordField, text::format_age};

use crate::app::overlay::prelude::*;
use crate::drawing::display_width;

#[derive(Clone, Debug, Default)]
pub struct FactSheet {
    pub title: SafeText,
    /// Names with values. A name may be empty.
    pub facts: Vec<(SafeText, SafeText)>,
    pub scroll: ScrollState,
}

impl FactSheet {
    pub(in crate::app) fn new(title: impl AsRef<str>) -> Self {
        Self { title: SafeText::detail(title.as_ref()), ..Self::default() }
    }

    pub(in crate::app) fn fact(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.facts.push((SafeText::name(name), SafeText::caption(value.as_ref())));
        self
    }

    pub(in crate::app) fn request_record(app: &mut App) {
        if let Some(id) = app.selected_dataset().map(|dataset| dataset.id) {
            app.outbox.send(Lane::Record(id), Request::Record(id));
        }
    }

    /// Shows all fields that the service sent, known or not, and the observed status changes.
    pub(in crate::app) fn show_record(app: &mut App, id: DatasetId, fields: Vec<RecordField>) {
        let known = app.service_data.dataset(id);
        let name = known.map_or_else(|| id.to_string(), |it| it.name.to_string());
        let mut sheet = FactSheet::new(format!("Record of {name}"));
        if let Some(folder) = app.setup.dataset_folders.get(&id) {
            sheet = sheet.fact("folder", folder);
        }
        for RecordField { name, value } in fields {
            let zone = if name.as_str() == "created_at" { "  (zone not given)" } else { "" };
            sheet = sheet.fact(name.as_str(), format!("{value}{zone}"));
        }
        if let Some(past) = app.service_data.observed.get(id).filter(|it| !it.changes.is_empty()) {
            sheet = sheet.fact("", "").fact("seen by this program", "");
            for change in past.changes.iter().rev() {
                let age = format_age(app.outbox.now.saturating_sub(change.seen_at));
                let statuses = format!("{} → {}", change.from.as_str(), change.to.as_str());
                sheet = sheet.fact(&age, statuses);
            }
        }
        app.overlays.open_or_notify(sheet, "the record", &mut app.outbox);
    }
}

impl Dialog for FactSheet {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        self.scroll.handle_key(chord)
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        let rows = u16::try_from(self.facts.len()).unwrap_or(u16::MAX).saturating_add(6);
        (100, rows.min(screen.1.saturating_sub(4)))
    }

    fn hints(&self) -> &'static str {
        "j k scroll   Esc close"
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, self.title.as_str());
        let widest =
            self.facts.iter().map(|(name, _)| display_width(name.as_str())).max().unwrap_or(0);
        let names = widest.min(MAX_NAME_WIDTH);
        let room = usize::from(inside.width).saturating_sub(names + 4).max(1);
        let theme = ctx.theme;
        let mut lines = Vec::new();
        for (name, value) in &self.facts {
            let mut names_left = wrap_characters(name.as_str(), names.max(1)).into_iter();
            let mut values_left = wrap_characters(value.as_str(), room).into_iter();
            loop {
                let (name, value) = (names_left.next(), values_left.next());
                if name.is_none() && value.is_none() {
                    break;
                }
                let name = name.unwrap_or_default();
                let gap = " ".repeat(names.saturating_sub(display_width(&name)) + 2);
                lines.push(Line::from(vec![
                    Span::styled(format!(" {name}{gap}"), theme.dim),
                    Span::styled(value.unwrap_or_default(), theme.text),
                ]));
            }
        }
        ctx.scrolled_lines(inside, &lines, self.scroll);
    }
}

const MAX_NAME_WIDTH: usize = 24;

/// Splits a text into one or more pieces of at most `cells` cells, after a space if a piece has one. Joined, the
/// pieces are the text again.
fn wrap_characters(text: &str, cells: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        if display_width(&piece) + display_width(c.encode_utf8(&mut [0; 4])) > cells {
            let end = piece.rfind(' ').map_or(piece.len(), |space| space + 1);
            let rest = piece.split_off(end);
            pieces.push(std::mem::replace(&mut piece, rest));
        }
        piece.push(c);
    }
    pieces.push(piece);
    pieces
}
