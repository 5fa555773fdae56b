//! The samples of a TIFF, of any number of bits and type, as bytes.

use tiff::decoder::DecodingResult;

use crate::tone_map::to_eight_bits;

/// The samples of whole bytes, with those of each pixel together. `planes` is the number of parts that are stored one after
/// the other, each with a sample of every pixel. Whole numbers without a sign fill their range; others are light, which is
/// tone-mapped.
pub fn to_bytes(stored: DecodingResult, planes: usize, channels: usize) -> Vec<u8> {
    let light = match stored {
        DecodingResult::U8(samples) => return interleaved(samples, planes, channels),
        DecodingResult::U16(samples) => {
            return first_bytes(samples, [planes, channels], u16::to_be_bytes);
        }
        DecodingResult::U32(samples) => {
            return first_bytes(samples, [planes, channels], u32::to_be_bytes);
        }
        DecodingResult::U64(samples) => {
            return first_bytes(samples, [planes, channels], u64::to_be_bytes);
        }
        DecodingResult::F32(samples) => interleaved(samples, planes, channels),
        DecodingResult::I8(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::I16(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::F16(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::I32(samples) => {
            to_light(samples, [planes, channels], |sample| approximate(sample.into()))
        }
        #[expect(clippy::cast_precision_loss, reason = "for eight bits")]
        DecodingResult::I64(samples) => {
            to_light(samples, [planes, channels], |sample| sample as f32)
        }
        DecodingResult::F64(samples) => to_light(samples, [planes, channels], approximate),
    };
    to_eight_bits(&light, channels)
}

/// Samples of less than eight bits, in rows that start with a byte.
pub fn unpacked(packed: &[u8], samples_per_row: usize, bits: u8) -> Vec<u8> {
    let bits = usize::from(bits);
    let row_bytes = (samples_per_row * bits).div_ceil(8).max(1);
    let mut samples = Vec::with_capacity(packed.len() / row_bytes * samples_per_row);
    for row in packed.chunks_exact(row_bytes) {
        samples.extend((0..samples_per_row).map(|index| {
            let (at, skipped) = (index * bits / 8, index * bits % 8);
            let pair = [row[at], row.get(at + 1).copied().unwrap_or(0)];
            let [first, _] = (u16::from_be_bytes(pair) << skipped).to_be_bytes();
            first >> (8 - bits)
        }));
    }
    samples
}

fn first_bytes<T: Copy, const N: usize>(
    samples: Vec<T>,
    [planes, channels]: [usize; 2],
    bytes: fn(T) -> [u8; N],
) -> Vec<u8> {
    interleaved(samples.into_iter().map(|sample| bytes(sample)[0]).collect(), planes, channels)
}

fn to_light<T: Copy>(
    samples: Vec<T>,
    [planes, channels]: [usize; 2],
    light: impl Fn(T) -> f32,
) -> Vec<f32> {
    interleaved(samples.into_iter().map(light).collect(), planes, channels)
}

#[expect(clippy::cast_possible_truncation, reason = "for eight bits")]
fn approximate(sample: f64) -> f32 {
    sample as f32
}

fn interleaved<T: Copy>(samples: Vec<T>, planes: usize, channels: usize) -> Vec<T> {
    let length = samples.len() / planes.max(1);
    if planes <= 1 || length == 0 {
        return samples;
    }
    let planes: Vec<&[T]> = samples.chunks_exact(length).take(channels).collect();
    (0..length).flat_map(|pixel| planes.iter().map(move |plane| plane[pixel])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_few_bits_start_with_a_byte() {
        assert_eq!(unpacked(&[0b1010_0000, 0b0100_0000], 3, 1), [1, 0, 1, 0, 1, 0]);
        assert_eq!(unpacked(&[0x12, 0x30, 0x45, 0x60], 3, 4), [1, 2, 3, 4, 5, 6]);
        assert_eq!(unpacked(&[0b1100_1101, 0b1000_0000], 3, 3), [6, 3, 3]);
    }

    #[test]
    fn planes_become_pixels() {
        let planes = DecodingResult::U16(vec![0x0100, 0x0200, 0x0A00, 0x0B00, 0x1000, 0x1100]);
        assert_eq!(to_bytes(planes, 3, 3), [1, 10, 16, 2, 11, 17]);
    }

    #[test]
    fn whole_numbers_fill_their_range_and_light_is_encoded() {
        assert_eq!(to_bytes(DecodingResult::U32(vec![0, 1 << 31, u32::MAX]), 1, 1), [0, 128, 255]);
        assert_eq!(to_bytes(DecodingResult::F64(vec![-1.0, 0.5, 1.0]), 1, 1), [0, 188, 255]);
        let heights = to_bytes(DecodingResult::I16(vec![-5, 300, 3000]), 1, 1);
        assert!(heights.is_sorted() && heights[0] == 0 && heights[2] == 255, "{heights:?}");
    }
}
