//! Recognizes the columns of a box in pixels, by whatever names programs call them. Tables of texts, rows of JSON and
//! Parquet, and boxes that are objects of JSON share these names.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::bounding_box::sides_around;
use super::prelude::*;

/// What the names of columns begin with that belong only to a box. The longest one is first.
const PREFIXES: [&str; 3] = ["boundingbox", "bbox", "box"];
/// Columns whose values are lists of four numbers, or lists of such lists.
const LISTS: [&str; 4] = ["bbox", "bboxes", "boundingbox", "boundingboxes"];
const CORNERS: [[&str; 4]; 4] = [
    ["xmin", "ymin", "xmax", "ymax"],
    ["minx", "miny", "maxx", "maxy"],
    ["left", "top", "right", "bottom"],
    ["xtl", "ytl", "xbr", "ybr"],
];
const FIRST_CORNERS: [[&str; 2]; 6] =
    [["x", "y"], ["left", "top"], ["xmin", "ymin"], ["minx", "miny"], ["x1", "y1"], ["xtl", "ytl"]];
const CENTERS: [[&str; 2]; 3] = [["xcenter", "ycenter"], ["centerx", "centery"], ["cx", "cy"]];
const LENGTHS: [[&str; 2]; 2] = [["width", "height"], ["w", "h"]];

/// The columns with the size of the picture in which a box was drawn.
const PICTURE_SIZES: [[&str; 2]; 6] = [
    ["width", "height"],
    ["image_width", "image_height"],
    ["image_w", "image_h"],
    ["img_width", "img_height"],
    ["img_w", "img_h"],
    ["original_width", "original_height"],
];

/// How a box is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoxForm {
    /// By two opposite corners, or by all four.
    Points,
    /// By a corner and the lengths of the sides.
    Corner,
    /// By its center and the lengths of the sides.
    Center,
    /// By a list of a corner and the lengths of the sides.
    List,
}

/// The columns that together are a box.
#[derive(Debug)]
pub(super) struct BoxColumns<'n> {
    pub names: Vec<&'n str>,
    form: BoxForm,
    /// Whether the names belong only to boxes, also in a row without a label.
    is_certain: bool,
}

impl<'n> BoxColumns<'n> {
    /// Finds the columns of a box in a row, which are given in their order.
    pub fn of_row(columns: &[&'n str], has_label: bool) -> Option<Self> {
        let found = Self::find(columns)?;
        // A point and the size of the picture have the same names, but not in one order side by side.
        let is_box = found.is_certain
            || !["x", "y", "width", "height"].iter().eq(&found.names)
            || columns.windows(4).any(|names| names == found.names);
        (is_box && (has_label || found.is_certain)).then_some(found)
    }

    /// Finds the columns of a box. Columns with a prefix such as `bbox_` are tried first.
    fn find(columns: &[&'n str]) -> Option<Self> {
        let plain: Vec<(String, &'n str)> =
            columns.iter().map(|it| (plain_name(it), *it)).collect();
        let without_prefix = |(plain, name): &(String, &'n str)| {
            let rest = PREFIXES.iter().find_map(|prefix| plain.strip_prefix(prefix))?;
            Some((rest.to_owned(), *name))
        };
        let prefixed: Vec<_> = plain.iter().filter_map(without_prefix).collect();
        let list = || plain.iter().find(|(plain, _)| LISTS.contains(&plain.as_str()));
        let list = || list().map(|(_, name)| (vec![*name], BoxForm::List));
        if let Some((names, form)) = find_numbers(&prefixed).or_else(list) {
            return Some(Self { names, form, is_certain: true });
        }
        let (names, form) = find_numbers(&plain)?;
        let is_certain = names.iter().map(|it| plain_name(it)).eq(CORNERS[0]);
        Some(Self { names, form, is_certain })
    }

    /// Returns the column of lists.
    pub fn list(&self) -> Option<&'n str> {
        self.names.first().copied().filter(|_| self.form == BoxForm::List)
    }

    /// Returns corners of the box. `number` returns the number in a column.
    fn corners(&self, number: impl Fn(&str) -> Option<f64>) -> Option<Vec<[f64; 2]>> {
        let numbers: Vec<f64> =
            self.names.iter().map(|name| number(name)).collect::<Option<_>>()?;
        let (points, _) = numbers.as_chunks::<2>();
        match (self.form, points) {
            (BoxForm::Corner, &[[x, y], [width, height]]) => {
                Some(vec![[x, y], [x + width, y + height]])
            }
            (BoxForm::Center, &[[x, y], [width, height]]) => {
                let (right, down) = (width / 2.0, height / 2.0);
                Some(vec![[x - right, y - down], [x + right, y + down]])
            }
            (BoxForm::Points, points) => Some(points.to_vec()),
            _ => None,
        }
    }

    /// Adds the box in a row, and the size of its picture. `list` returns the box in a column of lists.
    pub fn push_box(
        &self,
        description: &mut MediaDescription,
        label: Option<&str>,
        number: impl Fn(&str) -> Option<f64>,
        list: impl Fn(&str) -> Option<[f64; 4]>,
    ) -> Result<(), &'static str> {
        // The width and the height of a row may be those of the box.
        let mut sizes = PICTURE_SIZES.iter().filter(|[width, _]| !self.names.contains(width));
        description.stated_size =
            sizes.find_map(|[width, height]| StatedSize::new(number(width), number(height)));
        let label = label.and_then(normalized_name).ok_or("its box has no label")?;
        let corners = match self.list() {
            Some(name) => {
                list(name).map(|[x, y, width, height]| vec![[x, y], [x + width, y + height]])
            }
            None => self.corners(number),
        };
        let corners = corners.unwrap_or_default();
        let extent = BoundingBox::around(&corners)
            .ok_or("its box is empty, outside the picture, or not in numbers")?;
        description.push_annotated(label, extent, Annotation::outline(corners))
    }
}

/// Finds columns by their names without case and separators.
fn find_numbers<'n>(columns: &[(String, &'n str)]) -> Option<(Vec<&'n str>, BoxForm)> {
    let find = |wanted: &str| columns.iter().find(|(plain, _)| plain == wanted).map(|it| it.1);
    let all = |wanted: &[&str]| wanted.iter().map(|name| find(name)).collect::<Option<Vec<_>>>();
    let with_lengths = |point: &[&str; 2]| {
        LENGTHS.iter().find_map(|lengths| all(&[point.as_slice(), lengths].concat()))
    };
    // Points are numbered from 0 or 1. Other numbers of points are landmarks.
    let first = u32::from(find("x0").is_none());
    let point = |number| Some([find(&format!("x{number}"))?, find(&format!("y{number}"))?]);
    let numbered: Vec<_> = (first..).map_while(point).flatten().collect();
    let numbered = Some(numbered).filter(|names| matches!(names.len(), 4 | 8));
    let corners = CORNERS.iter().find_map(|names| all(names)).or(numbered);
    let corner = || FIRST_CORNERS.iter().find_map(with_lengths);
    let center = || CENTERS.iter().find_map(with_lengths);
    let found = corners.map(|names| (names, BoxForm::Points));
    found
        .or_else(|| Some((corner()?, BoxForm::Corner)))
        .or_else(|| Some((center()?, BoxForm::Center)))
}

/// Returns a name in lower case and without separators.
fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Parses a box `[x, y, width, height]`, which may start at any corner and may be a text, or an object with the names
/// of columns.
pub(super) fn parse_box(value: &RawValue) -> Option<[f64; 4]> {
    let fields: BTreeMap<String, &RawValue> = match value.get().as_bytes() {
        [b'{', ..] => documents::parse_object(value.get())?,
        [b'"', ..] => return parse_box_text(&documents::parse_string(value)?),
        _ => return parse_box_text(value.get()),
    };
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let number = |name: &str| documents::parse_number(fields.get(name)?);
    sides_around(&BoxColumns::find(&names)?.corners(number)?)
}

/// Parses a box such as `[10, 20, 30, 40]`, `(10, 20, 30, 40)`, or `[10 20 30 40]` of `NumPy`.
pub(super) fn parse_box_text(text: &str) -> Option<[f64; 4]> {
    let text = text.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')']);
    let parts: Vec<&str> = if text.contains(',') {
        text.split(',').collect()
    } else {
        text.split_whitespace().collect()
    };
    let number = |part: &str| part.trim().trim_matches('"').trim().parse().ok();
    let numbers: Vec<f64> = parts.into_iter().map(number).collect::<Option<_>>()?;
    let [x, y, width, height] = numbers.try_into().ok()?;
    let is_box = [x, y, width, height].iter().all(|number: &f64| number.is_finite());
    is_box.then(|| [x + width.min(0.0), y + height.min(0.0), width.abs(), height.abs()])
}
