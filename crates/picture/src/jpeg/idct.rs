//! The inverse cosine transform at reduced size: takes the low frequencies of an 8x8 block as a block
//! of 4x4, 2x2 or 1x1.

/// The dequantized low frequencies of a block, as rows of four.
pub type LowFrequencies = [[f32; 4]; 4];

/// The mean of a block from its DC coefficient.
#[inline]
pub fn idct_1x1(dc: i32) -> u8 {
    clamp(((dc + 4) >> 3) + 128)
}

#[inline]
pub fn idct_2x2(low: &LowFrequencies) -> [[u8; 2]; 2] {
    let [[a, b, ..], [c, d, ..], ..] = *low;
    [
        [sample((a + b + c + d) / 8.0), sample((a - b + c - d) / 8.0)],
        [sample((a + b - c - d) / 8.0), sample((a - b - c + d) / 8.0)],
    ]
}

#[inline]
pub fn idct_4x4(low: &LowFrequencies) -> [[u8; 4]; 4] {
    let rows = transpose(transform_columns(*low));
    let columns = transpose(transform_columns(rows));
    columns.map(|row| row.map(sample))
}

/// The four-point transform down each column.
fn transform_columns([x0, x1, x2, x3]: LowFrequencies) -> LowFrequencies {
    // cos(k pi / 8) / 2 for k = 1, 2, 3.
    const C1: f32 = 0.461_939_77;
    const C2: f32 = 0.353_553_4;
    const C3: f32 = 0.191_341_72;
    let mut out = LowFrequencies::default();
    for i in 0..4 {
        let (near, far) = (C2 * (x0[i] + x2[i]), C2 * (x0[i] - x2[i]));
        let (outer, inner) = (C1 * x1[i] + C3 * x3[i], C3 * x1[i] - C1 * x3[i]);
        out[0][i] = near + outer;
        out[1][i] = far + inner;
        out[2][i] = far - inner;
        out[3][i] = near - outer;
    }
    out
}

fn transpose(low: LowFrequencies) -> LowFrequencies {
    let mut out = LowFrequencies::default();
    for (y, row) in low.into_iter().enumerate() {
        for (x, value) in row.into_iter().enumerate() {
            out[x][y] = value;
        }
    }
    out
}

/// Converts a level around zero to a sample; the cast saturates.
#[inline]
fn sample(level: f32) -> u8 {
    (level + 128.5) as u8
}

#[inline]
fn clamp(level: i32) -> u8 {
    level.clamp(0, 255) as u8
}
