//! Which parts of a picture a filter reads.

/// Larger filters, steps and paddings are left to the runtime. With these, no size in here overflows.
const MAX_SIZE: usize = 64;

/// Where a filter is applied. Pairs are vertical, then horizontal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterGeometry {
    pub size: [usize; 2],
    pub strides: [usize; 2],
    pub dilations: [usize; 2],
    /// At the top, left, bottom and right.
    pub padding: [usize; 4],
}

impl FilterGeometry {
    pub fn is_supported(&self) -> bool {
        let positive = [self.size, self.strides, self.dilations];
        positive.as_flattened().iter().all(|size| (1..=MAX_SIZE).contains(size))
            && self.padding.iter().all(|size| *size <= MAX_SIZE)
    }

    /// Rows and columns that a filter reaches over.
    pub fn extent(&self) -> [usize; 2] {
        [0, 1].map(|axis| (self.size[axis] - 1) * self.dilations[axis] + 1)
    }

    /// The size of the output for one of the input. `None` if the filter is larger than the padded picture.
    pub fn output_size(&self, input: [usize; 2]) -> Option<[usize; 2]> {
        let size = |axis: usize| {
            let padded = input[axis] + self.padding[axis] + self.padding[axis + 2];
            Some(padded.checked_sub(self.extent()[axis])? / self.strides[axis] + 1)
        };
        Some([size(0)?, size(1)?])
    }
}
