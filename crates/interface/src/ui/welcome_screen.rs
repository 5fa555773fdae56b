//! Draws the welcome screen: the choice of a deployment, its form, and the result of the connection
//! test.

use std::{ops::Range, path::Path, time::Duration};

use ratatui::{
    buffer::Buffer,
    widgets::{Block, BorderType, Clear, Widget},
};
use tessera_config::input::{Chord, Key};
use tessera_model::{
    Cover, Place, RecentPlace,
    text::{format_age, grouped_with_noun, truncate_start},
};

use crate::ui::prelude::*;
use crate::{
    app::{
        overlay::path_picker::{PathPicker, PickerAreas},
        screen::too_small_text,
        welcome::{ConnectionAttempt, SecretInput, Welcome, WelcomeField, WelcomeOption},
    },
    drawing::{
        ClickTarget, MouseTargets, Painter, PictureLayer, ScrollState, Theme, choice_text,
        picture_layer::{ColorDepth, GraphicsSettings, draw_half_blocks},
        rows_of_line,
    },
    ui::hints::make_clickable,
};

/// The columns between the box and the cover.
const COVER_GAP: u16 = 2;

/// What the screen shows.
#[derive(Clone, Copy, Debug)]
pub struct WelcomeScreen<'a> {
    pub state: &'a Welcome,
    pub home: Option<&'a Path>,
    /// The colors for pictures. Without them, no picture is drawn.
    pub depth: Option<ColorDepth>,
}

/// The lines of a step, and what a click on a line does.
#[derive(Default)]
struct StepLines {
    lines: Vec<Line<'static>>,
    clicks: Vec<(usize, ClickTarget)>,
    /// The lines of what is selected, which are on screen even if others are not.
    selected: Range<usize>,
}

impl StepLines {
    fn text(&mut self, line: impl Into<Line<'static>>) {
        self.lines.push(line.into());
    }

    /// Notes that the next `count` lines are selected.
    fn select_next(&mut self, count: usize) {
        self.selected = self.lines.len()..self.lines.len() + count;
    }

    /// Returns the rows of the first `count` lines.
    fn rows(&self, count: usize, cells: usize) -> usize {
        self.lines[..count].iter().map(|line| rows_of_line(line, cells)).sum()
    }

    fn clickable(&mut self, line: impl Into<Line<'static>>, target: ClickTarget) {
        self.clicks.push((self.lines.len(), target));
        self.text(line);
    }
}

impl WelcomeScreen<'_> {
    /// Draws the screen and collects what can be clicked.
    pub fn draw(self, theme: &Theme, buf: &mut Buffer, mouse: &mut MouseTargets) {
        mouse.clear();
        let color_depth = self.depth.unwrap_or(ColorDepth::Palette16);
        let layer = &mut PictureLayer::new(GraphicsSettings { in_tmux: false, color_depth });
        let mut ctx = Painter { app: self.state, theme, buf, layer, mouse };
        let screen = ctx.buf.area;
        if let Some(sentence) = too_small_text((screen.width, screen.height)) {
            return ctx.paragraph(&sentence);
        }
        let width = screen.width.min(84);
        let step = self.step_lines(theme, width);
        // The box is at least as high as the first step, so that it does not move. The hints are below.
        let rows = u16::try_from(step.lines.len() + 4).unwrap_or(u16::MAX);
        let height = rows.max(16).min(screen.height - 1);
        let (x, y) = ((screen.width - width) / 2, (screen.height - height) / 3);
        let recent = &self.state.recent;
        let has_covers = recent.iter().any(|(recent, _)| recent.cover.pixels().is_some());
        let beside = COVER_GAP + Cover::MAX_SIDE;
        let has_room = self.state.option.is_none() && screen.width >= width + beside;
        let depth = self.depth.filter(|_| has_covers && has_room);
        let x = if depth.is_some() { (screen.width - width - beside) / 2 } else { x };
        let area = Rect { x, y, width, height };
        if let Some(depth) = depth {
            let cover = Rect { x: area.right() + COVER_GAP, ..area };
            draw_cover(self.state, depth, cover, ctx.buf);
        }
        match &self.state.picker {
            Some(picker) => self.draw_picker(&mut ctx, picker, area),
            None => draw_step(&mut ctx, area, &step),
        }
        let hints = Rect { y: area.bottom(), height: 1, ..area };
        ctx.put(hints, 0, &[(self.hints(), theme.dim)]);
        make_clickable(&mut ctx, hints, self.hints());
    }

    fn step_lines(self, theme: &Theme, width: u16) -> StepLines {
        let mut step = match self.state.option {
            None => target_lines(self.state, theme, usize::from(width)),
            Some(option) => form_lines(self.state, option, theme, width.saturating_sub(22)),
        };
        step.text(Line::default());
        step.lines.extend(outcome_lines(self.state, theme));
        step
    }

    fn draw_picker(self, ctx: &mut Painter<Welcome>, picker: &PathPicker, area: Rect) {
        Clear.render(area, ctx.buf);
        let inside = ctx.dialog(area, "Choose a path on this machine");
        picker.draw(ctx, PickerAreas::without_preview(inside), self.state.listing(self.home));
    }

    fn hints(self) -> &'static str {
        match (self.state.option, &self.state.attempt) {
            (_, ConnectionAttempt::Connecting) => " Esc cancel",
            (None, _) if self.state.recent.is_empty() => {
                " 1-4 or Enter select   q quit (nothing is saved)"
            }
            (None, _) => " Enter opens what is selected   1-4 something else   q quit",
            (Some(_), _) if self.state.picker.is_some() => {
                " ↑ ↓ select   Tab complete or open a folder   Enter choose   Esc back"
            }
            (Some(_), _) if self.state.focused_path().is_some() => {
                " Tab complete   Ctrl-F browse   Enter next field   Esc back   Ctrl-C quit"
            }
            (Some(_), _) if self.state.has_focused_choice() => {
                " ← → change   Tab next field   Enter next field, then connect   Esc back"
            }
            (Some(_), _) => {
                " Tab next field   Enter next field, then connect   Esc back   Ctrl-C quit"
            }
        }
    }
}

fn draw_step(ctx: &mut Painter<Welcome>, area: Rect, step: &StepLines) {
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(ctx.theme.frame)
        .title(Line::styled(" Welcome to tessera ", ctx.theme.accent));
    let inside = block.inner(area);
    block.render(area, ctx.buf);
    let cells = usize::from(inside.width);
    let below = step.rows(step.selected.end, cells).saturating_sub(usize::from(inside.height));
    let hidden = below.min(step.rows(step.selected.start, cells));
    ctx.scrolled_lines(inside, &step.lines, ScrollState::from_start(hidden));
    for (index, target) in &step.clicks {
        let above = step.rows(*index, cells).checked_sub(hidden).map(u16::try_from);
        let Some(Ok(above)) = above else { continue };
        let row = Rect { y: inside.y.saturating_add(above), height: 1, ..inside };
        ctx.click(row.intersection(inside), *target);
    }
}

/// Returns what a click on a row of the first step does: it selects the row, or opens the selected row.
fn row_target(welcome: &Welcome, index: usize) -> ClickTarget {
    if index == welcome.cursor {
        ClickTarget::Key(Chord::plain(Key::Enter))
    } else {
        ClickTarget::Item(index)
    }
}

/// Draws the cover of the selected place at the top left of an area.
fn draw_cover(welcome: &Welcome, depth: ColorDepth, area: Rect, buf: &mut Buffer) {
    let recent = welcome.recent.get(welcome.cursor);
    let Some((pixels, width)) = recent.and_then(|(recent, _)| recent.cover.pixels()) else {
        return;
    };
    let rows = u16::try_from(pixels.len() / usize::from(width) / 2).unwrap_or(0);
    let area = Rect { width, height: rows, ..area }.intersection(buf.area);
    if area.width == width {
        draw_half_blocks(buf, area, &pixels, depth);
    }
}

/// Returns the name of a place that was opened before, which fits beside its facts, and the facts.
fn recent_texts(recent: &RecentPlace, age: Duration, width: usize) -> (String, String) {
    let name = match &recent.place {
        Place::Folder(path) => SafeText::detail(&path.to_string_lossy()),
        Place::Profile(name) => SafeText::name(name),
    };
    let media = recent.media.map(|media| grouped_with_noun(media, "media item", "media"));
    let facts: Vec<String> = media.into_iter().chain([format_age(age)]).collect();
    let facts = facts.join(" · ");
    // The frame, the mark and the gap take seven columns.
    let cells = width.saturating_sub(7 + display_width(&facts));
    (format!("{}  ", truncate_start(name.as_str(), cells)), facts)
}

fn target_lines(welcome: &Welcome, theme: &Theme, width: usize) -> StepLines {
    let mark = |index| {
        if index == welcome.cursor { (" ▸ ", theme.accent) } else { ("   ", theme.text) }
    };
    let mut step = StepLines::default();
    step.text(Line::default());
    if !welcome.recent.is_empty() {
        let mut title = vec![Span::raw(" Opened before   ")];
        if welcome.cursor < welcome.recent.len() {
            title.push(Span::styled("d", theme.key));
            title.push(Span::styled(" reviews the duplicates of the selected place", theme.dim));
        }
        step.lines.extend([Line::from(title), Line::default()]);
    }
    for (index, (recent, age)) in welcome.recent.iter().enumerate() {
        let (mark, style) = mark(index);
        let (name, facts) = recent_texts(recent, *age, width);
        let line = Line::from(vec![
            Span::styled(mark, style),
            Span::styled(name, style),
            Span::styled(facts, theme.dim),
        ]);
        if index == welcome.cursor {
            step.select_next(1);
        }
        step.clickable(line, row_target(welcome, index));
    }
    if !welcome.recent.is_empty() {
        step.text(Line::default());
    }
    step.lines.extend([Line::from(" What do you want to open?"), Line::default()]);
    for (index, option) in WelcomeOption::ALL.into_iter().enumerate() {
        let row = welcome.recent.len() + index;
        let (mark, style) = mark(row);
        let title = Line::from(vec![
            Span::styled(mark, style),
            Span::styled(format!("{} ", index + 1), theme.key),
            Span::styled(option.title(), style),
        ]);
        if row == welcome.cursor {
            step.select_next(2);
        }
        step.clickable(title, row_target(welcome, row));
        let description = Line::styled(format!("       {}", option.description()), theme.dim);
        step.clickable(description, row_target(welcome, row));
    }
    step
}

fn form_lines(welcome: &Welcome, option: WelcomeOption, theme: &Theme, cells: u16) -> StepLines {
    let mut step = StepLines::default();
    step.lines.extend([
        Line::default(),
        Line::styled(format!(" {}", option.title()), theme.accent),
        Line::styled(format!(" {}", option.description()), theme.dim),
        Line::default(),
    ]);
    for (index, &field) in welcome.fields().iter().enumerate() {
        let focused = index == welcome.field;
        let (mark, style) = if focused { ("▸", theme.accent) } else { (" ", theme.text) };
        let label = format!(" {mark} {:<14}", field.label());
        let mut line = Line::from(Span::styled(label, style));
        line.extend(field_value(welcome, field, focused, theme, usize::from(cells)));
        let changes = focused && welcome.has_focused_choice();
        let change = ClickTarget::Key(Chord::plain(Key::Right));
        if focused {
            step.select_next(1);
        }
        step.clickable(line, if changes { change } else { ClickTarget::Item(index) });
    }
    if option == WelcomeOption::Hosted {
        step.text(Line::default());
        step.text(Line::styled(format!(" {}", secret_text(welcome)), theme.dim));
    }
    step
}

/// Says what becomes of the secret, or where it is looked for.
fn secret_text(welcome: &Welcome) -> String {
    let place = &welcome.secret_place;
    let variable = match welcome.secret {
        SecretInput::Existing => {
            return format!(
                "The secret is read from TESSERA_API_SECRET_FILE or TESSERA_API_SECRET, if \
                 TESSERA_BASE_URL or TESSERA_PROFILE names this service, or else from {}.",
                place.name
            );
        }
        SecretInput::File => "TESSERA_API_SECRET_FILE",
        SecretInput::Typed => "TESSERA_API_SECRET",
    };
    match welcome.stores() {
        true if place.needs_consent => {
            format!("The secret is saved as plain text in {}.", place.name)
        }
        true => format!("The secret is saved in {}.", place.name),
        false => {
            format!("The secret is not saved; set TESSERA_PROFILE and {variable} the next time.")
        }
    }
}

fn field_value(
    welcome: &Welcome,
    field: WelcomeField,
    focused: bool,
    theme: &Theme,
    cells: usize,
) -> Vec<Span<'static>> {
    let choice = match field {
        WelcomeField::Store if !welcome.stores() => Some("do not save"),
        WelcomeField::Store if welcome.secret_place.needs_consent => Some("save in a file"),
        WelcomeField::Store => Some("save in the keyring"),
        WelcomeField::Secret => Some(welcome.secret.title()),
        _ => None,
    };
    if let Some(choice) = choice {
        return vec![Span::styled(choice_text(choice, focused), theme.text)];
    }
    let input = welcome.text(field);
    let shown = match field {
        WelcomeField::ApiSecret => "•".repeat(input.value().chars().count().min(40)),
        _ => SafeText::detail(input.value()).to_string(),
    };
    let empty = welcome.placeholder(field);
    match (shown.is_empty(), focused) {
        (true, false) => vec![Span::styled(empty, theme.dim)],
        (_, false) => vec![Span::styled(truncate(&shown, cells), theme.text)],
        (_, true) => vec![
            Span::styled(truncate(&shown, cells), theme.text),
            Span::styled(" ", theme.selected),
        ],
    }
}

fn outcome_lines(welcome: &Welcome, theme: &Theme) -> Vec<Line<'static>> {
    match &welcome.attempt {
        ConnectionAttempt::None => Vec::new(),
        ConnectionAttempt::Connecting => vec![Line::styled(" connecting …", theme.attention)],
        ConnectionAttempt::Failed(reason) => {
            let reason = SafeText::detail(reason);
            vec![Line::styled(format!(" ✖ {reason}"), theme.failure)]
        }
    }
}
