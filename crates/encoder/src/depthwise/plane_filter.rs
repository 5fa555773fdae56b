//! The inner loop of a depthwise convolution: plain loops over lanes that the compiler vectorizes; `pulp` selects the widest
//! instructions of the processor at run time. Products are added in the order of the weights, so results are the same on
//! every machine.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatched call is compiled for its processor"
)]

use pulp::Arch;

/// Rows that are filtered together: their sums stay in registers, and each weight is read once for all of them.
pub const ROWS: usize = 4;

/// A weight, and where it reads relative to the place of an output.
#[derive(Clone, Copy)]
pub struct Tap {
    pub offset: usize,
    pub weight: f32,
}

/// The filter of one channel.
pub struct PlaneFilter<'a> {
    /// With room for all lanes and [`ROWS`].
    pub plane: &'a [f32],
    pub row_step: usize,
    pub taps: &'a [Tap],
    pub bias: f32,
    /// Of the output.
    pub width: usize,
}

impl PlaneFilter<'_> {
    pub fn run<const LANES: usize>(&self, output: &mut [f32]) {
        Arch::new().dispatch(FilterCall::<LANES> { filter: self, output });
    }

    /// The sums of a block of outputs.
    #[inline(always)]
    fn sums<const LANES: usize>(&self, begin: usize) -> [[f32; LANES]; ROWS] {
        let mut sums = [[self.bias; LANES]; ROWS];
        // Without an index of rows, all sums are in registers.
        let [first, second, third, fourth] = &mut sums;
        let plane = &self.plane[begin..];
        for tap in self.taps {
            let rows = &plane[tap.offset..];
            let row = |number: usize| &rows[number * self.row_step..][..LANES];
            add_products(first, row(0), tap.weight);
            add_products(second, row(1), tap.weight);
            add_products(third, row(2), tap.weight);
            add_products(fourth, row(3), tap.weight);
        }
        sums
    }
}

#[inline(always)]
fn add_products<const LANES: usize>(sums: &mut [f32; LANES], numbers: &[f32], weight: f32) {
    for lane in 0..LANES {
        sums[lane] += numbers[lane] * weight;
    }
}

/// The body of a closure would not be inlined, and so not be compiled for the processor.
struct FilterCall<'a, const LANES: usize> {
    filter: &'a PlaneFilter<'a>,
    output: &'a mut [f32],
}

impl<const LANES: usize> pulp::NullaryFnOnce for FilterCall<'_, LANES> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let PlaneFilter { width, row_step, .. } = *self.filter;
        for (band, rows) in self.output.chunks_mut(ROWS * width).enumerate() {
            for left in (0..width).step_by(LANES) {
                let sums = self.filter.sums::<LANES>(band * ROWS * row_step + left);
                for (row, sums) in rows.chunks_exact_mut(width).zip(&sums) {
                    let rest = &mut row[left..];
                    if let Some(whole) = rest.first_chunk_mut() {
                        *whole = *sums;
                    } else {
                        rest.copy_from_slice(&sums[..rest.len()]);
                    }
                }
            }
        }
    }
}
