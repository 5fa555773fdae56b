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
            region_picker::{KeyHint, RegionField, RegionPickerAreas, key_rows, preset_rows},
        },
    },
    ui::{
        DrawContext,
        widget::{below, display_width, line, rows_of_line, truncate},
    },
};
use tessera_picture::{Crop, Protocol};

impl Draw for RegionPicker {
    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        ctx.dialog(area, &self.title(ctx, usize::from(area.width.saturating_sub(4))));
        let has_pictures = ctx.app.screen().protocol != Protocol::None;
        let RegionPickerAreas { picture, numbers, keys } = RegionPicker::areas(area, has_pictures);
        if ctx.app.screen().protocol == Protocol::None {
            draw_presets(ctx, picture);
        } else {
            draw_picture(ctx, picture, self);
        }
        draw_numbers(ctx, numbers, self);
        draw_keys(ctx, keys, self);
    }
}

impl RegionPicker {
    /// The name of the picture is shortened, or missing, where there is no room for it.
    fn title(&self, ctx: &DrawContext, cells: usize) -> String {
        const MIN_NAME: usize = 8;
        let what = "Pick a region   ";
        let size = self.picture_size(ctx.app);
        let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
        let end = format!("{size}   fractions of the picture");
        let free = cells.saturating_sub(display_width(what) + display_width(&end));
        let name = self.image.name.as_str();
        if free < MIN_NAME.min(display_width(name)) {
            return "Pick a region   fractions of the picture".to_owned();
        }
        format!("{what}{}{end}", truncate(name, free))
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
    let preset = |(number, name): &KeyHint| {
        let number = Span::styled(format!(" {number} "), theme.key);
        [number, Span::styled(format!("{name} "), theme.text)]
    };
    let presets = preset_rows(area.width);
    if usize::from(area.height) <= presets.len() {
        let lines = presets.iter().map(|row| row.iter().flat_map(preset).collect::<Line>());
        return ctx.put_lines(area, &lines.collect::<Vec<_>>());
    }
    let presets = presets.iter().flatten().map(|it| Line::from(preset(it).to_vec()));
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
    let key = |(key, effect): &KeyHint| {
        let key = Span::styled(format!(" {key}"), theme.key);
        [key, Span::styled(format!(" {effect} "), theme.dim)]
    };
    let rows = key_rows(picker.zoomed, area.width, area.height);
    let lines: Vec<Line> = rows.iter().map(|row| row.iter().flat_map(key).collect()).collect();
    ctx.put_lines(area, &lines);
    let rest = below(area, u16::try_from(lines.len()).unwrap_or(u16::MAX));
    let text = Line::styled(ctx.app.view().map_or_else(String::new, search_text), theme.dim);
    if rows_of_line(&text, usize::from(rest.width)) <= usize::from(rest.height) {
        ctx.put_lines(rest, &[text]);
    }
}

fn search_text(View { search, .. }: &View) -> String {
    let (entity, level) = (search.entity.as_str(), search.granularity.level());
    format!(" searches {entity} at granularity {level}; a change uploads the picture again")
}
