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

/// Returns the objects of a text and the problems of its lines.
pub fn parse(text: &str, names: &ClassMap) -> (MediaDescription, SidecarDiagnostics) {
    let (mut description, mut diagnostics) =
        (MediaDescription::default(), SidecarDiagnostics::new("line", "lines"));
    for (number, line) in (1..).zip(text.lines()) {
        diagnostics.set_position(number);
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
    let mut words = line.split_ascii_whitespace();
    // Some tools write all numbers with a decimal point.
    let class = words.next()?.trim_end_matches(".0").parse().ok()?;
    let numbers = words
        .map(|word| word.parse().ok().filter(|number: &f64| number.is_finite()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_boxes_or_polygons() {
        for (line, expected) in [
            ("3 0.5 0.5 0.25 0.5", Some((3, [0.375, 0.25, 0.25, 0.5]))),
            ("\t3.0  0.5 0.5 0.25 0.5 0.9\r", Some((3, [0.375, 0.25, 0.25, 0.5]))),
            ("0 0.5 0.25 1 0.5 0.75 1", Some((0, [0.5, 0.25, 0.5, 0.75]))),
            ("0 0 0 1 0 1 1 0 1", Some((0, [0.0, 0.0, 1.0, 1.0]))),
            ("0 0.5 0.5 0.25", None),
            ("0 0 0 1 0 1 1 0", None),
            ("-1 0.5 0.5 0.25 0.5", None),
            ("1.5 0.5 0.5 0.25 0.5", None),
            ("dog 0.5 0.5 0.25 0.5", None),
            ("0 nan nan 1 1", None),
            ("0 0.5 0.5 1e999 1", None),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(parse_line(line), expected, "{line}");
            assert_eq!(is_yolo(line), expected.is_some(), "{line}");
        }
        assert!(!is_yolo("0 0.5 0.5 0.2 0.2\na boat"));
    }

    #[test]
    fn invalid_lines_are_reported_and_the_others_used() {
        let text = "0 0.5 0.5 0.2 0.2\n\n1 0.5 0.5 0 0.2\r\n0 320 240 64 48\nx\n9 1 1 1 1";
        let (description, diagnostics) = parse(text, &ClassMap::from([(0, "dog".to_owned())]));
        let labels: Vec<_> = description.objects.into_iter().map(|object| object.label).collect();
        assert_eq!(labels, ["dog", "class 9"]);
        let why = "line 3: its box is empty or outside the picture; 2 more lines";
        assert_eq!(diagnostics.summary().unwrap(), why);
    }
}
