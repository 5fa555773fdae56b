//! Draws the welcome screen: the choice of a deployment, its form, and the result of the connection
//! test.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
    widgets::{Block, BorderType, Paragraph, Widget, Wrap},
};
use tessera_model::{
    Cover, Place, SafeText,
    text::{format_age, grouped_with_noun, truncate, truncate_start},
};

use crate::{
    app::welcome::{ConnectionAttempt, Welcome, WelcomeField, WelcomeOption},
    drawing::{
        Theme, choice_text, display_width,
        picture_layer::{ColorDepth, draw_half_blocks},
    },
};

/// The columns between the box and the cover.
const COVER_GAP: u16 = 2;

/// Draws the screen. `secrets` is the path of the file that stores secrets. Without a color depth, no picture is drawn.
pub fn draw(
    welcome: &Welcome,
    theme: &Theme,
    secrets: &str,
    depth: Option<ColorDepth>,
    buf: &mut Buffer,
) {
    let screen = buf.area;
    let width = screen.width.min(84);
    let mut lines = match welcome.option {
        None => target_lines(welcome, theme, usize::from(width)),
        Some(option) => form_lines(welcome, option, theme, secrets, width.saturating_sub(22)),
    };
    lines.push(Line::default());
    lines.extend(outcome_lines(welcome, theme));
    // The box is at least as high as the first step, so that it does not move.
    let rows = u16::try_from(lines.len() + 4).unwrap_or(u16::MAX);
    let height = rows.max(16).min(screen.height);
    let (x, y) = ((screen.width - width) / 2, (screen.height - height) / 3);
    let has_covers = welcome.recent.iter().any(|(recent, _)| recent.cover.pixels().is_some());
    let beside = COVER_GAP + Cover::MAX_SIDE;
    let has_room = welcome.option.is_none() && screen.width >= width + beside;
    let depth = depth.filter(|_| has_covers && has_room);
    let x = if depth.is_some() { (screen.width - width - beside) / 2 } else { x };
    let area = Rect { x, y, width, height };
    if let Some(depth) = depth {
        draw_cover(welcome, depth, Rect { x: area.right() + COVER_GAP, ..area }, buf);
    }
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.frame)
        .title(Line::styled(" Welcome to tessera ", theme.accent));
    let inside = block.inner(area);
    block.render(area, buf);
    Paragraph::new(lines).wrap(Wrap { trim: false }).render(inside, buf);
    let hints = match (welcome.option, &welcome.attempt) {
        (_, ConnectionAttempt::Connecting) => " Esc cancel",
        (None, _) if welcome.recent.is_empty() => {
            " 1-4 or Enter select   q quit (nothing is saved)"
        }
        (None, _) => " Enter opens what is selected   1-4 something else   q quit",
        (Some(_), _) => " Tab next field   Enter next field, then connect   Esc back   Ctrl-C quit",
    };
    if area.bottom() < screen.bottom() {
        buf.set_stringn(area.x, area.bottom(), hints, usize::from(width), theme.dim);
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

fn target_lines(welcome: &Welcome, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    let mark = |index| {
        if index == welcome.cursor { (" ▸ ", theme.accent) } else { ("   ", theme.text) }
    };
    let mut lines = vec![Line::default()];
    if !welcome.recent.is_empty() {
        let mut title = vec![Span::raw(" Opened before   ")];
        if welcome.cursor < welcome.recent.len() {
            title.push(Span::styled("d", theme.key));
            title.push(Span::styled(" reviews the duplicates of the selected place", theme.dim));
        }
        lines.extend([Line::from(title), Line::default()]);
    }
    for (index, (recent, age)) in welcome.recent.iter().enumerate() {
        let (mark, style) = mark(index);
        let name = match &recent.place {
            Place::Folder(path) => SafeText::detail(&path.to_string_lossy()),
            Place::Profile(name) => SafeText::name(name),
        };
        let media = recent.media.map(|media| grouped_with_noun(media, "media item", "media"));
        let facts: Vec<String> = media.into_iter().chain([format_age(*age)]).collect();
        let facts = facts.join(" · ");
        // The frame, the mark and the gap take seven columns.
        let cells = width.saturating_sub(7 + display_width(&facts));
        let name = truncate_start(name.as_str(), cells);
        lines.push(Line::from(vec![
            Span::styled(mark, style),
            Span::styled(format!("{name}  "), style),
            Span::styled(facts, theme.dim),
        ]));
    }
    if !welcome.recent.is_empty() {
        lines.push(Line::default());
    }
    lines.extend([Line::from(" What do you want to open?"), Line::default()]);
    for (index, option) in WelcomeOption::ALL.into_iter().enumerate() {
        let (mark, style) = mark(welcome.recent.len() + index);
        lines.push(Line::from(vec![
            Span::styled(mark, style),
            Span::styled(format!("{} ", index + 1), theme.key),
            Span::styled(option.title(), style),
        ]));
        lines.push(Line::styled(format!("       {}", option.description()), theme.dim));
    }
    lines
}

fn form_lines(
    welcome: &Welcome,
    option: WelcomeOption,
    theme: &Theme,
    secrets: &str,
    cells: u16,
) -> Vec<Line<'static>> {
    let mut lines = vec![
        Line::default(),
        Line::styled(format!(" {}", option.title()), theme.accent),
        Line::styled(format!(" {}", option.description()), theme.dim),
        Line::default(),
    ];
    for (index, &field) in welcome.fields().iter().enumerate() {
        let focused = index == welcome.field;
        let (mark, style) = if focused { ("▸", theme.accent) } else { (" ", theme.text) };
        let label = format!(" {mark} {:<14}", field.label());
        let mut line = Line::from(Span::styled(label, style));
        line.extend(field_value(welcome, field, focused, theme, usize::from(cells)));
        lines.push(line);
    }
    if welcome.fields().contains(&WelcomeField::Store) {
        lines.push(Line::default());
        let consequence = if welcome.store {
            format!(" The secret is saved in {secrets} as plain text that only you can read.")
        } else {
            " The secret is not saved; set TESSERA_PROFILE and TESSERA_API_SECRET the next time."
                .to_owned()
        };
        lines.push(Line::styled(consequence, theme.dim));
    }
    lines
}

fn field_value(
    welcome: &Welcome,
    field: WelcomeField,
    focused: bool,
    theme: &Theme,
    cells: usize,
) -> Vec<Span<'static>> {
    if field == WelcomeField::Store {
        let choice = if welcome.store { "save in a file" } else { "do not save" };
        return vec![Span::styled(choice_text(choice, focused), theme.text)];
    }
    let input = welcome.text(field);
    let shown = match field {
        WelcomeField::ApiSecret => "•".repeat(input.value().chars().count().min(40)),
        _ => SafeText::detail(input.value()).to_string(),
    };
    let empty = match field {
        WelcomeField::Name => "default: from the address",
        WelcomeField::PipelineUrl => "optional: needed to add media",
        WelcomeField::BaseUrl => "https://…",
        WelcomeField::Folder => "~/photos",
        WelcomeField::ApiKey | WelcomeField::ApiSecret | WelcomeField::Store => "",
    };
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
        ConnectionAttempt::Connecting => vec![Line::styled(" connecting …", theme.moving)],
        ConnectionAttempt::Failed(reason) => {
            let reason = SafeText::detail(reason);
            vec![Line::styled(format!(" ✖ {reason}"), theme.failure)]
        }
    }
}
