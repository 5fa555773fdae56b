//! The median, which outliers do not move.

/// The upper median; `None` of no values.
pub fn median(mut values: Vec<f32>) -> Option<f32> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f32::total_cmp).1)
}
