//! The region picker: the picture with the box on it, its numbers, and what the keys do.

use ratatui::{layout::Rect, text::Line};

use super::file::field;
use crate::{
    app::{
        View,
        overlay::{
            RegionPicker,
            region::{Parts, Side},
        },
    },
    ui::{
        Screen,
        widget::{boxed, outline, put},
    },
};
use tessera_model::Region;
use tessera_picture::{Part, Protocol};

/// Draws the picker.
pub(super) fn draw(screen: &mut Screen, area: Rect, picker: &RegionPicker) {
    let size = picker.size(screen.app);
    let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
    let title = format!(" Pick a region   {}{size}   fractions of the picture ", picker.image.name);
    boxed(screen, area, Line::from(title), true);
    let Parts { picture, numbers, keys } = RegionPicker::parts(area);
    if screen.app.protocol == Protocol::None {
        presets(screen, picture);
    } else {
        self::picture(screen, picture, picker);
    }
    self::numbers(screen, numbers, picker);
    self::keys(screen, keys, picker);
}

fn picture(screen: &mut Screen, area: Rect, picker: &RegionPicker) {
    let app = screen.app;
    let sight = picker.sight(app);
    let framed = matches!(sight.part, Part::Framed(_));
    screen.sight(area, sight, RegionPicker::canvas(app));
    if let Some(covered) = picker.covered(app).filter(|_| framed) {
        outline(screen, covered, picker.region);
    }
}

/// What stands in the place of the picture where none are drawn.
fn presets(screen: &mut Screen, area: Rect) {
    let theme = screen.theme;
    put(screen, area, 0, &[(" no pictures here: pick by number, or type the numbers", theme.dim)]);
    for (row, (number, (name, _))) in (2..).zip((1..).zip(Region::PRESETS)) {
        let key = format!(" {number} ");
        put(screen, area, row, &[(&key, theme.key), (name, theme.text)]);
    }
}

fn numbers(screen: &mut Screen, area: Rect, picker: &RegionPicker) {
    let theme = screen.theme;
    for (row, side) in (1..area.height).zip(Side::ALL) {
        number(screen, Rect { y: area.y + row, height: 1, ..area }, side, picker);
    }
    if let Some(complaint) = picker.numbers.as_ref().and_then(|numbers| numbers.complaint) {
        put(screen, area, 5, &[(" ! ", theme.failure), (complaint, theme.failure)]);
    }
    for (row, (name, value)) in (7..).zip(facts(screen, picker)) {
        let name = format!("  {name:<7} ");
        put(screen, area, row, &[(&name, theme.dim), (&value, theme.text)]);
    }
}

fn number(screen: &mut Screen, line: Rect, side: Side, picker: &RegionPicker) {
    let theme = screen.theme;
    let typed = picker.numbers.as_ref().filter(|numbers| numbers.side == side);
    let style = if typed.is_some() { theme.accent } else { theme.text };
    let name = format!("  {:<7}", side.name());
    let Some(numbers) = typed else {
        let value = format!("[{:<9.6}]", side.of(picker.region));
        return put(screen, line, 0, &[(&name, style), (&value, style)]);
    };
    put(screen, line, 0, &[(&name, style), ("[         ]", style)]);
    field(
        screen,
        Rect { x: line.x + 10, width: 9, ..line }.intersection(line),
        &numbers.typed,
        true,
    );
}

/// What the region amounts to.
fn facts(screen: &Screen, picker: &RegionPicker) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(size) = picker.size(screen.app) {
        let ((x, y), (width, height)) = picker.region.pixels(size);
        facts.push(("pixels", format!("{width}×{height}")));
        facts.push(("at", format!("{x}, {y}")));
    }
    facts.push(("area", format!("{:.0}% of it", 100.0 * picker.region.area())));
    facts.push(("step", picker.step.name().to_owned()));
    if picker.zoomed {
        facts.push(("view", "the box alone".to_owned()));
    }
    facts
}

fn keys(screen: &mut Screen, area: Rect, picker: &RegionPicker) {
    let theme = screen.theme;
    let lines: [&[(&str, &str)]; 2] = [
        &[
            ("hjkl", "move"),
            ("HJKL", "far corner"),
            ("Alt-hjkl", "near corner"),
            (", .", "step"),
            ("mouse", "drag"),
        ],
        &[
            ("Enter", "search"),
            ("w", "whole"),
            ("1-9", "presets"),
            ("z", if picker.zoomed { "all of it" } else { "enlarge" }),
            ("Tab", "numbers"),
            ("u", "undo"),
            ("Esc", "leave"),
        ],
    ];
    for (row, line) in (0..).zip(lines) {
        let words = line.iter().map(|(key, word)| (format!(" {key}"), format!(" {word} ")));
        let words: Vec<(String, String)> = words.collect();
        let parts: Vec<_> = words
            .iter()
            .flat_map(|(key, word)| [(key.as_str(), theme.key), (word.as_str(), theme.dim)])
            .collect();
        put(screen, area, row, &parts);
    }
    let about = screen.app.view().map_or_else(String::new, asked);
    put(screen, area, 2, &[(&about, theme.dim)]);
}

/// What the region will be searched with.
fn asked(View { search, .. }: &View) -> String {
    let (entity, level) = (search.entity.word(), search.granularity.level());
    format!(" searches {entity} with granularity {level}; another one sends the picture again")
}
