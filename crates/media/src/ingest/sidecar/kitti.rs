//! KITTI: one object per line, as type, three numbers, left, top, right and bottom in pixels, seven numbers of the
//! object in space, and optionally a score.

use super::{
    description::{BoundingBox, MediaDescription, normalized_name},
    diagnostics::SidecarDiagnostics,
};

/// Parts of the picture in which objects were not labeled.
const UNLABELED: &str = "DontCare";

/// Whether the text is not blank and every line is an object.
pub fn is_kitti(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| parse_line(line).is_some())
}

pub fn parse(text: &str) -> (MediaDescription, SidecarDiagnostics) {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for line in text.lines() {
        diagnostics.next_position();
        let Some((kind, [left, top, right, bottom])) = parse_line(line) else { continue };
        if kind == UNLABELED {
            continue;
        }
        let extent = BoundingBox::pixels([left, top, right - left, bottom - top]);
        match (normalized_name(kind), extent) {
            (Some(label), Some(extent)) => description.push_object(label, extent),
            _ => diagnostics.report("its box is empty or outside the picture"),
        }
    }
    (description, diagnostics)
}

/// The type and the box of a line.
fn parse_line(line: &str) -> Option<(&str, [f64; 4])> {
    let (kind, rest) = line.trim().split_once(' ')?;
    let numbers: Vec<f64> =
        rest.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let is_word = kind.parse::<f64>().is_err();
    let [_, _, _, left, top, right, bottom, ..] = numbers[..] else { return None };
    (is_word && matches!(numbers.len(), 14 | 15)).then_some((kind, [left, top, right, bottom]))
}
