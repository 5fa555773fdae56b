//! A histogram: how many values are in each of some equal intervals.

/// The bounds of a histogram are multiples of this.
const BOUND: f64 = 0.05;

#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The lower bound of the first interval, and the upper bound of the last one.
    pub range: (f64, f64),
    pub counts: Vec<usize>,
}

impl Histogram {
    /// Counts values in `intervals` intervals. `None` without a finite value or an interval.
    pub fn new(values: &[f64], intervals: usize) -> Option<Self> {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (min, max) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
        let start = (min / BOUND).floor() * BOUND;
        // The end is above every value.
        let end = ((max / BOUND).floor() + 1.0) * BOUND;
        let mut histogram = Self { range: (start, end), counts: vec![0; intervals] };
        for value in finite() {
            let index = histogram.index_of(value)?;
            histogram.counts[index] += 1;
        }
        (intervals > 0).then_some(histogram)
    }

    /// The interval that a value is in; the first or last one for a value outside the range.
    pub fn index_of(&self, value: f64) -> Option<usize> {
        let (start, end) = self.range;
        let last = self.counts.len().checked_sub(1)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index of a few hundred, which saturates"
        )]
        let index = ((value - start) / (end - start) * self.counts.len() as f64) as usize;
        Some(index.min(last))
    }

    pub fn largest_count(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_equal_intervals() {
        let histogram = Histogram::new(&[0.11, 0.12, 0.19, 0.2], 4).unwrap();
        assert!((histogram.range.0 - 0.1).abs() < 1e-9 && (histogram.range.1 - 0.25).abs() < 1e-9);
        assert_eq!(histogram.counts, [2, 0, 2, 0]);
        assert_eq!(histogram.index_of(-1.0), Some(0));
        assert_eq!(histogram.index_of(9.0), Some(3));
    }

    #[test]
    fn equal_values_have_a_range_and_no_values_have_no_histogram() {
        assert_eq!(Histogram::new(&[0.0, 0.0], 3).unwrap().counts, [2, 0, 0]);
        assert_eq!(Histogram::new(&[f64::NAN], 3), None);
        assert_eq!(Histogram::new(&[0.5], 0), None);
    }
}
