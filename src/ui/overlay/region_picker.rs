//! The region picker: the picture with the box on it, its numbers, and what the keys do.

use ratatui::{layout::Rect, text::Line};

use super::file_picker::text_field;
use crate::{
    app::{
        View,
        overlay::{
            RegionPicker,
            region_picker::{RegionField, RegionPickerAreas},
        },
    },
    ui::{
        DrawContext,
        widget::{bordered, draw_region_outline, put},
    },
};
use tessera_model::Region;
use tessera_picture::{Crop, Protocol};

/// Draws the picker.
pub(super) fn draw(screen: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let size = picker.picture_size(screen.app);
    let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
    let title = format!(" Pick a region   {}{size}   fractions of the picture ", picker.image.name);
    bordered(screen, area, Line::from(title), true);
    let RegionPickerAreas { picture, numbers, keys } = RegionPicker::areas(area);
    if screen.app.protocol == Protocol::None {
        draw_presets(screen, picture);
    } else {
        self::draw_picture(screen, picture, picker);
    }
    self::draw_numbers(screen, numbers, picker);
    self::draw_keys(screen, keys, picker);
}

fn draw_picture(screen: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let app = screen.app;
    let sight = picker.displayed_picture(app);
    let framed = matches!(sight.crop, Crop::Highlighted(_));
    screen.draw_picture(area, sight, RegionPicker::canvas(app));
    if let Some(covered) = picker.picture_cells(app).filter(|_| framed) {
        draw_region_outline(screen, covered, picker.region);
    }
}

/// What stands in the place of the picture where none are drawn.
fn draw_presets(screen: &mut DrawContext, area: Rect) {
    let theme = screen.theme;
    put(screen, area, 0, &[(" no pictures here: pick by number, or type the numbers", theme.dim)]);
    for (row, (number, (name, _))) in (2..).zip((1..).zip(Region::PRESETS)) {
        let key = format!(" {number} ");
        put(screen, area, row, &[(&key, theme.key), (name, theme.text)]);
    }
}

fn draw_numbers(screen: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let theme = screen.theme;
    for (row, side) in (1..area.height).zip(RegionField::ALL) {
        draw_number(screen, Rect { y: area.y + row, height: 1, ..area }, side, picker);
    }
    if let Some(complaint) = picker.number_input.as_ref().and_then(|numbers| numbers.error) {
        put(screen, area, 5, &[(" ! ", theme.failure), (complaint, theme.failure)]);
    }
    for (row, (name, value)) in (7..).zip(region_facts(screen, picker)) {
        let name = format!("  {name:<7} ");
        put(screen, area, row, &[(&name, theme.dim), (&value, theme.text)]);
    }
}

fn draw_number(screen: &mut DrawContext, line: Rect, side: RegionField, picker: &RegionPicker) {
    let theme = screen.theme;
    let typed = picker.number_input.as_ref().filter(|numbers| numbers.field == side);
    let style = if typed.is_some() { theme.accent } else { theme.text };
    let name = format!("  {:<7}", side.name());
    let Some(numbers) = typed else {
        let value = format!("[{:<9.6}]", side.value_in(picker.region));
        return put(screen, line, 0, &[(&name, style), (&value, style)]);
    };
    put(screen, line, 0, &[(&name, style), ("[         ]", style)]);
    text_field(
        screen,
        Rect { x: line.x + 10, width: 9, ..line }.intersection(line),
        &numbers.text,
        true,
    );
}

/// What the region amounts to.
fn region_facts(screen: &DrawContext, picker: &RegionPicker) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(size) = picker.picture_size(screen.app) {
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

fn draw_keys(screen: &mut DrawContext, area: Rect, picker: &RegionPicker) {
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
    let about = screen.app.view().map_or_else(String::new, search_text);
    put(screen, area, 2, &[(&about, theme.dim)]);
}

/// What the region will be searched with.
fn search_text(View { search, .. }: &View) -> String {
    let (entity, level) = (search.entity.word(), search.granularity.level());
    format!(" searches {entity} with granularity {level}; another one sends the picture again")
}
