//! The `segmentation` of COCO annotations: polygons, or runs of pixels of a mask.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{description::BoundingBox, json};

/// Runs of pixels, column by column, the first of them outside of the object.
#[derive(Deserialize)]
struct RunLengthMask {
    /// Height and width of the picture.
    size: [u64; 2],
    counts: RunLengths,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RunLengths {
    Plain(Vec<u64>),
    /// As the COCO API writes them.
    Compressed(String),
}

/// The box around a segmentation; `None` if it is neither polygons nor a mask, or empty.
pub fn extent(segmentation: &RawValue) -> Option<BoundingBox> {
    if let Some(mask) = json::parse_object::<RunLengthMask>(segmentation.get()) {
        let runs = match mask.counts {
            RunLengths::Plain(runs) => runs,
            RunLengths::Compressed(text) => decompress(&text)?,
        };
        return around_runs(mask.size[0], &runs);
    }
    let polygons: Vec<Vec<f64>> = serde_json::from_str(segmentation.get()).ok()?;
    let points: Vec<[f64; 2]> =
        polygons.iter().flat_map(|polygon| polygon.as_chunks().0).copied().collect();
    BoundingBox::around(&points)
}

/// The box around the pixels of every second run.
fn around_runs(height: u64, runs: &[u64]) -> Option<BoundingBox> {
    let (mut left, mut right, mut top, mut bottom) = (u64::MAX, 0, u64::MAX, 0);
    let mut end = 0_u64;
    for (number, &length) in runs.iter().enumerate() {
        let start = end;
        end = start.checked_add(length)?;
        if number % 2 == 0 || length == 0 {
            continue;
        }
        let (first, last) = (start.checked_div(height)?, (end - 1) / height);
        (left, right) = (left.min(first), right.max(last + 1));
        // A run over several columns reaches from the lower to the upper border.
        let rows =
            if first == last { (start % height, (end - 1) % height + 1) } else { (0, height) };
        (top, bottom) = (top.min(rows.0), bottom.max(rows.1));
    }
    if right == 0 {
        return None;
    }
    let number = |count: u64| u32::try_from(count).ok().map(f64::from);
    let (x, y) = (number(left)?, number(top)?);
    BoundingBox::pixels([x, y, number(right)? - x, number(bottom)? - y])
}

/// Run lengths in groups of five bits from the lowest on, each in a character from 48; from the third on, the difference
/// from the length two before.
fn decompress(text: &str) -> Option<Vec<u64>> {
    let mut lengths: Vec<i64> = Vec::new();
    let mut bytes = text.bytes().map(|byte| byte.wrapping_sub(48)).peekable();
    while bytes.peek().is_some() {
        let (mut number, mut shift) = (0_i64, 0);
        loop {
            let group = bytes.next().filter(|&group| group < 64)?;
            // No picture has so long a run.
            if shift > 50 {
                return None;
            }
            number |= i64::from(group & 0x1F) << shift;
            shift += 5;
            if group & 0x20 == 0 {
                if group & 0x10 != 0 {
                    number |= -1 << shift;
                }
                break;
            }
        }
        if let [.., before, _] = lengths[..]
            && lengths.len() > 2
        {
            number = number.checked_add(before)?;
        }
        lengths.push(number);
    }
    lengths.into_iter().map(|length| u64::try_from(length).ok()).collect()
}
