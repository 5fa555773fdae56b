//! The two inner loops of the search: one query against many rows, and many rows against many rows.
//!
//! The loops are plain loops over fixed-width lanes that the compiler vectorizes; `pulp` selects the widest
//! instructions of the processor at run time. Lanes are added in a fixed order, so that results are the same on every
//! machine.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatched call is compiled for its processor"
)]

use half::f16;
use pulp::Arch;

const LANES: usize = 16;
/// Number of lanes for one query. More lanes hide the latency of an addition.
const MORE_LANES: usize = 2 * LANES;
/// Number of rows of the left block that are processed together, so that each number of the right block is read once
/// for all of them.
const QUAD: usize = 4;
/// Number of rows per block of [`tile`]. A block with 256 numbers per row fits the second-level cache.
pub const BLOCK: usize = 128;
/// Rows of half precision have lengths of about one, so their distance from themselves is rounded to less than this.
const MAX_ROUNDING: f32 = 0.004;
/// The factor that [`exponent_kept`] omits: the difference of the exponent biases of both formats.
const RESCALE: f32 = f32::from_bits((127 + 112) << 23);

/// Returns the number times 2^-112. This conversion only moves bits and is vectorized, unlike the conversion
/// instruction.
#[inline(always)]
fn exponent_kept(value: f16) -> f32 {
    let spread = (u32::from(value.to_bits()) << 16).cast_signed() >> 3;
    // Keeps only the first copy of the sign bit.
    f32::from_bits(spread.cast_unsigned() & 0x8fff_ffff)
}

/// Returns a query for [`scan`], scaled by 2^112.
pub fn prescaled(query: &[f16]) -> Vec<f32> {
    query.iter().map(|value| value.to_f32() * RESCALE).collect()
}

/// Writes the cosine distances of `rows`, each as long as the [`prescaled`] `query`, to `out`.
pub fn scan(rows: &[f16], query: &[f32], out: &mut [f32]) {
    Arch::new().dispatch(Scan { rows, query, out });
}

/// A call with its arguments. A closure cannot be used, because its body would not be inlined and therefore not be
/// compiled for the processor.
struct Scan<'a> {
    rows: &'a [f16],
    query: &'a [f32],
    out: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (distance, row) in self.out.iter_mut().zip(self.rows.chunks_exact(self.query.len())) {
            *distance = to_distance(dot(row, self.query));
            if is_rounded(*distance) && are_equal(row, self.query) {
                *distance = 0.0;
            }
        }
    }
}

/// Returns the cosine distance of a row from a [`prescaled`] query, as [`scan`] computes it. Exchanging row and query
/// gives the same result, because products of half precision are exact.
pub fn distance(row: &[f16], query: &[f32]) -> f32 {
    let distance = to_distance(product(row, query));
    if is_rounded(distance) && are_equal(row, query) { 0.0 } else { distance }
}

/// Whether a distance may be that of equal vectors. Only such pairs are compared number by number, so that a picture
/// has the distance 0 from itself, and the distances of other pictures keep their order.
#[inline(always)]
fn is_rounded(distance: f32) -> bool {
    distance > 0.0 && distance < MAX_ROUNDING
}

#[cold]
fn are_equal(row: &[f16], query: &[f32]) -> bool {
    #[expect(clippy::float_cmp, reason = "equal numbers, not near ones")]
    row.iter().zip(query).all(|(value, query)| value.to_f32() * RESCALE == *query)
}

/// Returns the scalar product of a row and a vector that is scaled like a [`prescaled`] query.
pub fn product(row: &[f16], query: &[f32]) -> f32 {
    Arch::new().dispatch(Product { row, query })
}

struct Product<'a> {
    row: &'a [f16],
    query: &'a [f32],
}

impl pulp::NullaryFnOnce for Product<'_> {
    type Output = f32;

    #[inline(always)]
    fn call(self) -> f32 {
        dot(self.row, self.query)
    }
}

#[inline(always)]
fn dot(row: &[f16], query: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; MORE_LANES];
    let (rows, row_rest) = row.as_chunks::<MORE_LANES>();
    let (queries, query_rest) = query.as_chunks::<MORE_LANES>();
    for (row, query) in rows.iter().zip(queries) {
        for lane in 0..MORE_LANES {
            lanes[lane] += exponent_kept(row[lane]) * query[lane];
        }
    }
    for (lane, (value, query)) in lanes.iter_mut().zip(row_rest.iter().zip(query_rest)) {
        *lane += exponent_kept(*value) * query;
    }
    let sums: [f32; LANES] = std::array::from_fn(|lane| lanes[lane] + lanes[lane + LANES]);
    sums.iter().sum()
}

/// Converts a similarity to a distance. Rounding can make the distance of equal vectors slightly negative; such a
/// distance becomes 0.
#[inline(always)]
fn to_distance(similarity: f32) -> f32 {
    (1.0 - similarity).max(0.0)
}

/// Converts up to [`BLOCK`] rows to 32-bit numbers, padded with 0.
pub fn widen(rows: &[f16], dimension: usize) -> Vec<f32> {
    let mut wide = vec![0.0; BLOCK * dimension];
    Arch::new().dispatch(|| {
        for (to, from) in wide.iter_mut().zip(rows) {
            *to = exponent_kept(*from) * RESCALE;
        }
    });
    wide
}

/// Arranges a [`widen`]ed block in panels of [`LANES`] rows. A panel has the first numbers of all its rows, then the
/// second numbers, and so on.
pub fn panels(wide: &[f32], dimension: usize) -> Vec<f32> {
    let mut packed = vec![0.0; wide.len()];
    let panels = packed.chunks_exact_mut(LANES * dimension);
    for (panel, rows) in panels.zip(wide.chunks_exact(LANES * dimension)) {
        for (lane, row) in rows.chunks_exact(dimension).enumerate() {
            for (to, from) in panel[lane..].iter_mut().step_by(LANES).zip(row) {
                *to = *from;
            }
        }
    }
    packed
}

/// Computes the cosine distances between all rows of a [`widen`]ed block and all rows of a block in
/// [`panels`], as [`BLOCK`] lines of [`BLOCK`].
pub fn tile(left: &[f32], right: &[f32], dimension: usize, out: &mut [f32]) {
    for (column, panel) in right.chunks_exact(LANES * dimension).enumerate() {
        let strips = left.chunks_exact(QUAD * dimension).zip(out.chunks_exact_mut(QUAD * BLOCK));
        for (rows, lines) in strips {
            let sums = Arch::new().dispatch(Quad { rows, panel });
            let rows = rows.chunks_exact(dimension);
            for ((line, sums), row) in lines.chunks_exact_mut(BLOCK).zip(sums).zip(rows) {
                let distances = &mut line[column * LANES..][..LANES];
                for (distance, sum) in distances.iter_mut().zip(sums) {
                    *distance = to_distance(sum);
                }
                for (lane, distance) in distances.iter_mut().enumerate() {
                    if is_rounded(*distance) && row.iter().eq(panel[lane..].iter().step_by(LANES)) {
                        *distance = 0.0;
                    }
                }
            }
        }
    }
}

struct Quad<'a> {
    rows: &'a [f32],
    panel: &'a [f32],
}

impl pulp::NullaryFnOnce for Quad<'_> {
    type Output = [[f32; LANES]; QUAD];

    #[inline(always)]
    fn call(self) -> Self::Output {
        let (steps, _) = self.panel.as_chunks::<LANES>();
        let (top, bottom) = self.rows.split_at(self.rows.len() / 2);
        let (first, second) = top.split_at(steps.len());
        let (third, fourth) = bottom.split_at(steps.len());
        let mut sums = [[0.0_f32; LANES]; QUAD];
        let rows = first.iter().zip(second).zip(third.iter().zip(fourth));
        for (step, ((a, b), (c, d))) in steps.iter().zip(rows) {
            for lane in 0..LANES {
                sums[0][lane] += a * step[lane];
                sums[1][lane] += b * step[lane];
                sums[2][lane] += c * step[lane];
                sums[3][lane] += d * step[lane];
            }
        }
        sums
    }
}
