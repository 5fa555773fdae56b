//! The region picker: the picture with the region, its numbers, and the keys.

use ratatui::{layout::Rect, text::Line};

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
        overlay::Draw,
        widget::{bordered, draw_region_outline, put, text_field},
    },
};
use tessera_model::Region;
use tessera_picture::{Crop, Protocol};

impl Draw for RegionPicker {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let size = self.picture_size(ctx.app);
        let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
        let title =
            format!(" Pick a region   {}{size}   fractions of the picture ", self.image.name);
        bordered(ctx, area, Line::from(title), true);
        let RegionPickerAreas { picture, numbers, keys } = RegionPicker::areas(area);
        if ctx.app.protocol == Protocol::None {
            draw_presets(ctx, picture);
        } else {
            self::draw_picture(ctx, picture, self);
        }
        self::draw_numbers(ctx, numbers, self);
        self::draw_keys(ctx, keys, self);
    }
}

fn draw_picture(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let app = ctx.app;
    let sight = picker.displayed_picture(app);
    let framed = matches!(sight.crop, Crop::Highlighted(_));
    ctx.draw_picture(area, sight, RegionPicker::canvas(app));
    if let Some(covered) = picker.picture_cells(app).filter(|_| framed) {
        draw_region_outline(ctx, covered, picker.region);
    }
}

/// Draws the presets instead of a picture.
fn draw_presets(ctx: &mut DrawContext, area: Rect) {
    let theme = ctx.theme;
    put(ctx, area, 0, &[(" pictures are disabled: pick a preset, or type the numbers", theme.dim)]);
    for (row, (number, (name, _))) in (2..).zip((1..).zip(Region::PRESETS)) {
        let key = format!(" {number} ");
        put(ctx, area, row, &[(&key, theme.key), (name, theme.text)]);
    }
}

fn draw_numbers(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let theme = ctx.theme;
    for (row, side) in (1..area.height).zip(RegionField::ALL) {
        draw_number(ctx, Rect { y: area.y + row, height: 1, ..area }, side, picker);
    }
    if let Some(complaint) = picker.number_input.as_ref().and_then(|numbers| numbers.error) {
        put(ctx, area, 5, &[(" ! ", theme.failure), (complaint, theme.failure)]);
    }
    for (row, (name, value)) in (7..).zip(region_facts(ctx, picker)) {
        let name = format!("  {name:<7} ");
        put(ctx, area, row, &[(&name, theme.dim), (&value, theme.text)]);
    }
}

fn draw_number(ctx: &mut DrawContext, line: Rect, side: RegionField, picker: &RegionPicker) {
    let theme = ctx.theme;
    let typed = picker.number_input.as_ref().filter(|numbers| numbers.field == side);
    let style = if typed.is_some() { theme.accent } else { theme.text };
    let name = format!("  {:<7}", side.name());
    let Some(numbers) = typed else {
        let value = format!("[{:<9.6}]", side.value_in(picker.region));
        return put(ctx, line, 0, &[(&name, style), (&value, style)]);
    };
    put(ctx, line, 0, &[(&name, style), ("[         ]", style)]);
    text_field(
        ctx,
        Rect { x: line.x + 10, width: 9, ..line }.intersection(line),
        &numbers.text,
        true,
    );
}

fn region_facts(ctx: &DrawContext, picker: &RegionPicker) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(size) = picker.picture_size(ctx.app) {
        let ((x, y), (width, height)) = picker.region.pixels(size);
        facts.push(("pixels", format!("{width}×{height}")));
        facts.push(("at", format!("{x}, {y}")));
    }
    facts.push(("area", format!("{:.0}%", 100.0 * picker.region.area())));
    facts.push(("step", picker.step.name().to_owned()));
    if picker.zoomed {
        facts.push(("view", "region only".to_owned()));
    }
    facts
}

fn draw_keys(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let theme = ctx.theme;
    let lines: [&[(&str, &str)]; 2] = [
        &[
            ("hjkl", "move"),
            ("HJKL", "bottom right corner"),
            ("Alt-hjkl", "top left corner"),
            (", .", "step"),
            ("mouse", "drag"),
        ],
        &[
            ("Enter", "search"),
            ("w", "whole"),
            ("1-9", "presets"),
            ("z", if picker.zoomed { "zoom out" } else { "zoom in" }),
            ("Tab", "numbers"),
            ("u", "undo"),
            ("Esc", "close"),
        ],
    ];
    for (row, line) in (0..).zip(lines) {
        let words = line.iter().map(|(key, word)| (format!(" {key}"), format!(" {word} ")));
        let words: Vec<(String, String)> = words.collect();
        let parts: Vec<_> = words
            .iter()
            .flat_map(|(key, word)| [(key.as_str(), theme.key), (word.as_str(), theme.dim)])
            .collect();
        put(ctx, area, row, &parts);
    }
    let about = ctx.app.view().map_or_else(String::new, search_text);
    put(ctx, area, 2, &[(&about, theme.dim)]);
}

fn search_text(View { search, .. }: &View) -> String {
    let (entity, level) = (search.entity.as_str(), search.granularity.level());
    format!(" searches {entity} at granularity {level}; a change uploads the picture again")
}
