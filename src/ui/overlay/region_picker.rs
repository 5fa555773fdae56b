//! The region picker: the picture with the region, its numbers, and the keys.

use ratatui::{layout::Rect, style::Style};

use super::Draw;
use crate::{
    app::{
        View,
        overlay::{
            RegionPicker,
            region_picker::{RegionField, RegionPickerAreas},
        },
    },
    ui::{DrawContext, widget::line},
};
use tessera_model::Region;
use tessera_picture::{Crop, Protocol};

impl Draw for RegionPicker {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let size = self.picture_size(ctx.app);
        let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
        let title = format!("Pick a region   {}{size}   fractions of the picture", self.image.name);
        ctx.dialog(area, &title);
        let RegionPickerAreas { picture, numbers, keys } = RegionPicker::areas(area);
        if ctx.app.protocol == Protocol::None {
            draw_presets(ctx, picture);
        } else {
            draw_picture(ctx, picture, self);
        }
        draw_numbers(ctx, numbers, self);
        draw_keys(ctx, keys, self);
    }
}

fn draw_picture(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let app = ctx.app;
    let view = picker.displayed_picture(app);
    let is_highlighted = matches!(view.crop, Crop::Highlighted(_));
    ctx.draw_picture(area, view, RegionPicker::canvas(app));
    if let Some(covered) = picker.picture_cells(app).filter(|_| is_highlighted) {
        ctx.draw_region_outline(covered, picker.region);
    }
}

fn draw_presets(ctx: &mut DrawContext, area: Rect) {
    let theme = ctx.theme;
    ctx.put(area, 0, &[(" pictures are disabled: pick a preset, or type the numbers", theme.dim)]);
    for (row, (number, (name, _))) in (2..).zip((1..).zip(Region::PRESETS)) {
        ctx.put(area, row, &[(format!(" {number} ").as_str(), theme.key), (name, theme.text)]);
    }
}

fn draw_numbers(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let theme = ctx.theme;
    for (row, side) in (1..area.height).zip(RegionField::ALL) {
        draw_number(ctx, line(area, row), side, picker);
    }
    if let Some(error) = picker.number_input.as_ref().and_then(|numbers| numbers.error) {
        ctx.put(area, 5, &[(" ! ", theme.failure), (error, theme.failure)]);
    }
    for (row, (name, value)) in (7..).zip(region_facts(ctx, picker)) {
        ctx.put(area, row, &[(format!("  {name:<7} "), theme.dim), (value, theme.text)]);
    }
}

fn draw_number(ctx: &mut DrawContext, line: Rect, side: RegionField, picker: &RegionPicker) {
    let theme = ctx.theme;
    let Some(input) = picker.number_input.as_ref().filter(|input| input.field == side) else {
        let text = format!("  {:<7}[{:<9.6}]", side.name(), side.value_in(picker.region));
        return ctx.put(line, 0, &[(text, theme.text)]);
    };
    ctx.put(line, 0, &[(format!("  {:<7}[         ]", side.name()), theme.accent)]);
    let field = Rect { x: line.x + 10, width: 9, ..line }.intersection(line);
    ctx.text_field(field, &input.text, true);
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
        let parts: Vec<(String, Style)> = line
            .iter()
            .flat_map(|(key, effect)| {
                [(format!(" {key}"), theme.key), (format!(" {effect} "), theme.dim)]
            })
            .collect();
        ctx.put(area, row, &parts);
    }
    ctx.put(area, 2, &[(ctx.app.view().map_or_else(String::new, search_text), theme.dim)]);
}

fn search_text(View { search, .. }: &View) -> String {
    let (entity, level) = (search.entity.as_str(), search.granularity.level());
    format!(" searches {entity} at granularity {level}; a change uploads the picture again")
}
