//! YOLO: one object per line, as class and box in fractions (`class cx cy w h`, optionally with a
//! confidence), or as class and polygon (`class x1 y1 x2 y2 x3 y3 ...`).

use super::{
    class_names::ClassMap,
    description::{BoundingBox, MediaDescription},
    diagnostics::SidecarDiagnostics,
};

/// Whether the text is not blank and every line is a class and a box.
pub fn is_yolo(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| parse_line(line).is_some())
}

pub fn parse(text: &str, names: &ClassMap) -> (MediaDescription, SidecarDiagnostics) {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for line in text.lines() {
        diagnostics.next_position();
        match parse_line(line).map(|(class, sides)| (class, BoundingBox::normalized(sides))) {
            Some((class, Some(extent))) => {
                let label = names.get(&class).cloned();
                description.push_object(label.unwrap_or_else(|| format!("class {class}")), extent);
            }
            Some((_, None)) => diagnostics.report("its box is empty or outside the picture"),
            None if line.trim().is_empty() => {}
            None => diagnostics.report("it is not a class and a box in numbers"),
        }
    }
    (description, diagnostics)
}

/// Parses the class and `[x, y, width, height]` of a line.
fn parse_line(line: &str) -> Option<(u64, [f64; 4])> {
    let mut columns = line.split_ascii_whitespace();
    // Some tools write all numbers with a decimal point.
    let class = columns.next()?.trim_end_matches(".0").parse().ok()?;
    let numbers = columns
        .map(|column| column.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect::<Option<Vec<_>>>()?;
    match numbers[..] {
        [x, y, width, height] | [x, y, width, height, _] => {
            Some((class, [x - width / 2.0, y - height / 2.0, width, height]))
        }
        [_, _, _, _, _, _, ..] if numbers.len().is_multiple_of(2) => {
            let span = |first: usize| {
                let along = || numbers.iter().skip(first).step_by(2).copied();
                let (low, high) = (along().reduce(f64::min)?, along().reduce(f64::max)?);
                Some((low, high - low))
            };
            let ((x, width), (y, height)) = (span(0)?, span(1)?);
            Some((class, [x, y, width, height]))
        }
        _ => None,
    }
}
