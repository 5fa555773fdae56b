//! Chooses the files of a local folder that belong to its dataset, with patterns that include and exclude files.

use tessera_model::PatternLists;

use crate::app::overlay::prelude::*;
use crate::{
    app::overlay::fields::{self, edit, split_words},
    drawing::FormOptions,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternField {
    Include,
    Exclude,
}

const FIELDS: [PatternField; 2] = [PatternField::Include, PatternField::Exclude];

#[derive(Clone, Debug)]
pub struct FilePatterns {
    dataset: DatasetId,
    field: PatternField,
    include: Input,
    exclude: Input,
}

impl FilePatterns {
    pub fn patterns(&self) -> PatternLists {
        let words = |input: &Input| split_words(input.value());
        PatternLists { include: words(&self.include), exclude: words(&self.exclude) }
    }
}

impl Dialog for FilePatterns {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        fields::handle_form_key(&mut self.field, &FIELDS, chord).unwrap_or_else(|| {
            if let Some(input) = self.text_input() {
                edit(input, chord);
            }
            KeyResult::Stay
        })
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (86, if screen.0 < 86 { 11 } else { 9 })
    }

    fn hints(&self) -> &'static str {
        "Tab next field   Enter rescan   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(match self.field {
            PatternField::Include => &mut self.include,
            PatternField::Exclude => &mut self.exclude,
        })
    }

    fn select_item(&mut self, index: usize, _: &App) {
        self.field = FIELDS.get(index).copied().unwrap_or(self.field);
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let request = Request::Rescan(self.dataset, Some(self.patterns()));
        app.outbox.send(Lane::Manage(self.dataset), request);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, "Choose the files of the dataset");
        let theme = ctx.theme;
        ctx.form(inside, &FormOptions::new(14, &[], self.field as usize), |rows| {
            rows.text(
                "Patterns as in .gitignore, separated by spaces: *.jpg scans/ !keep.jpg",
                theme.dim,
            );
            rows.text(
                "They are added to those in .tessera.toml. No original is touched.",
                theme.dim,
            );
            rows.blank();
            rows.input("include only", &self.include, "");
            rows.input("exclude", &self.exclude, "");
        });
    }
}

/// Requests the patterns of the dataset, which the dialog shows.
pub fn request_patterns(app: &mut App) {
    if let Some(id) = app.target_dataset().map(|dataset| dataset.id) {
        app.outbox.send(Lane::FilePatterns(id), Request::LocalDataset(id));
    }
}

pub fn open(app: &mut App, dataset: DatasetId, patterns: &PatternLists) {
    let input = |patterns: &[String]| Input::new(shell_words::join(patterns));
    let patterns = FilePatterns {
        dataset,
        field: PatternField::Exclude,
        include: input(&patterns.include),
        exclude: input(&patterns.exclude),
    };
    app.overlays.open_or_notify(patterns, "the choice of files", &mut app.outbox);
}
