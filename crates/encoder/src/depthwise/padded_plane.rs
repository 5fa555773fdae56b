//! One channel of a picture with its padding.

use super::{filter_geometry::FilterGeometry, plane_filter::ROWS};

/// Rows are divided into as many parts as the stride has columns: the first part has every column that is read
/// first, and so on. What the loop reads is then in a row, and beyond a row and below the last one there is room for all of
/// its lanes.
pub struct PaddedPlane {
    numbers: Vec<f32>,
    padding: [usize; 2],
    strides: [usize; 2],
    part: usize,
    /// Where each weight of a filter reads, relative to the place of the output.
    offsets: Vec<usize>,
}

impl PaddedPlane {
    /// For an output of this size.
    pub fn new(geometry: &FilterGeometry, output: [usize; 2]) -> Self {
        let FilterGeometry { size, strides, dilations, padding } = *geometry;
        let [rows, lanes] = [output[0].next_multiple_of(ROWS), output[1].next_multiple_of(16)];
        let part = lanes + (geometry.extent()[1] - 1) / strides[1];
        let rows = rows.saturating_sub(1) * strides[0] + geometry.extent()[0];
        let row_length = part * strides[1];
        let offset = |row: usize, column: usize| {
            let column = column * dilations[1];
            row * dilations[0] * row_length + column % strides[1] * part + column / strides[1]
        };
        let offsets = (0..size[0])
            .flat_map(|row| (0..size[1]).map(move |column| offset(row, column)))
            .collect();
        let numbers = vec![0.0; rows * row_length];
        Self { numbers, padding: [padding[0], padding[1]], strides, part, offsets }
    }

    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The distance of what two rows of the output, one below the other, read.
    pub fn row_step(&self) -> usize {
        self.strides[0] * self.part * self.strides[1]
    }

    /// Copies a picture of this width into the padding, which stays 0.
    pub fn fill(&mut self, picture: &[f32], width: usize) {
        let [top, left] = self.padding;
        let stride = self.strides[1];
        let rows = self.numbers.chunks_exact_mut(self.part * stride).skip(top);
        for (source, target) in picture.chunks_exact(width).zip(rows) {
            for (at, target) in target.chunks_exact_mut(self.part).enumerate() {
                // The first column of the picture that belongs into this part.
                let first = (at + stride - left % stride) % stride;
                let source = source.get(first..).unwrap_or_default();
                let target = target.get_mut((first + left) / stride..).unwrap_or_default();
                copy_every(stride, source, target);
            }
        }
    }
}

/// Copies every number that a stride leads to. The usual strides are known to the compiler, which then uses vectors.
fn copy_every(stride: usize, source: &[f32], target: &mut [f32]) {
    match stride {
        1 => copy(source, target),
        2 => {
            let (pairs, rest) = source.as_chunks::<2>();
            copy(pairs.iter().map(|[first, _]| first), target);
            copy(rest, target.get_mut(pairs.len()..).unwrap_or_default());
        }
        _ => copy(source.iter().step_by(stride), target),
    }
}

fn copy<'a>(source: impl IntoIterator<Item = &'a f32>, target: &mut [f32]) {
    target.iter_mut().zip(source).for_each(|(target, number)| *target = *number);
}
