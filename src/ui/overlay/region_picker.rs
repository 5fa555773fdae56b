//! The region picker: the picture with the region, its numbers, and the keys.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use super::Draw;
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
        widget::{below, first_fitting, line},
    },
};
use tessera_model::Region;
use tessera_picture::{Crop, Protocol};

impl Draw for RegionPicker {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let size = self.picture_size(ctx.app);
        let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
        let titles = [
            format!("Pick a region   {}{size}   fractions of the picture", self.image.name),
            "Pick a region   fractions of the picture".to_owned(),
        ];
        let cells = usize::from(area.width.saturating_sub(4));
        ctx.dialog(area, first_fitting(&titles, cells));
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
    let text = " pictures are disabled: pick a preset, or type the numbers";
    let presets = (1..).zip(Region::PRESETS).map(|(number, (name, _))| {
        let number = Span::styled(format!(" {number} "), theme.key);
        Line::from(vec![number, Span::styled(name, theme.text)])
    });
    let lines: Vec<Line> =
        [Line::styled(text, theme.dim), Line::default()].into_iter().chain(presets).collect();
    ctx.put_lines(area, &lines);
}

fn draw_numbers(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let theme = ctx.theme;
    // Where rows are missing, the first one is not left blank.
    let top = u16::from(area.height > 12);
    for (row, side) in (top..area.height).zip(RegionField::ALL) {
        draw_number(ctx, line(area, row), side, picker);
    }
    let error = picker.number_input.as_ref().and_then(|numbers| numbers.error);
    let error = error.map(|error| {
        Line::from(vec![Span::styled(" ! ", theme.failure), Span::styled(error, theme.failure)])
    });
    let facts = region_facts(ctx, picker).into_iter().map(|(name, value)| {
        let name = Span::styled(format!("  {name:<7} "), theme.dim);
        Line::from(vec![name, Span::styled(value, theme.text)])
    });
    let lines: Vec<Line> =
        [error.unwrap_or_default(), Line::default()].into_iter().chain(facts).collect();
    ctx.put_lines(below(area, top + 4), &lines);
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
    let lines: [&[(&'static str, &'static str)]; 2] = [
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
    let keys = |line: &[(&'static str, &'static str)]| {
        let spans = line.iter().flat_map(|(key, effect)| {
            let key = Span::styled(format!(" {key}"), theme.key);
            [key, Span::styled(format!(" {effect} "), theme.dim)]
        });
        spans.collect::<Vec<Span>>()
    };
    let text = ctx.app.view().map_or_else(String::new, search_text);
    let text = Line::styled(text, theme.dim);
    let [first, second] = lines.map(keys);
    if first.iter().map(Span::width).sum::<usize>() <= usize::from(area.width) {
        ctx.put_lines(area, &[Line::from(first), Line::from(second), text]);
    } else {
        ctx.put_lines(area, &[Line::from([first, second].concat()), text]);
    }
}

fn search_text(View { search, .. }: &View) -> String {
    let (entity, level) = (search.entity.as_str(), search.granularity.level());
    format!(" searches {entity} at granularity {level}; a change uploads the picture again")
}
