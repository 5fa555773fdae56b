//! Writes JPEG files of any layout: sampling factors, order of the scans, restart markers, and progressive scans. The
//! pixels that a correct decoder shows are computed from the same coefficients, in floating point.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "samples, coefficients and sides are small"
)]

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The positions of the coefficients (8 times the row plus the column) in the order in which a file stores them.
const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];
const QUANTIZATION: i32 = 3;

#[derive(Clone, Debug)]
pub struct Layout {
    pub size: (usize, usize),
    /// The horizontal and vertical sampling factor of each component.
    pub sampling: Vec<(usize, usize)>,
    /// The components of each scan that has all coefficients, or the first coefficients of a progressive picture.
    pub groups: Vec<Vec<usize>>,
    pub progressive: bool,
    /// The number of MCUs between two restart markers, or 0.
    pub restart_interval: usize,
    /// The color transform in a segment of Adobe.
    pub adobe_transform: Option<u8>,
}

pub struct Jpeg {
    pub layout: Layout,
    /// The samples of each component at every pixel, by rows. A sample that covers several pixels is repeated.
    pub samples: Vec<Vec<f64>>,
    components: Vec<Component>,
}

struct Component {
    sampling: (usize, usize),
    /// The numbers of blocks in rows and columns that a scan of this component alone has.
    blocks: (usize, usize),
    /// The number of blocks in a row, of which those at the right edge are only in interleaved scans.
    stride: usize,
    /// The quantized coefficients of each block in zigzag order.
    coefficients: Vec<[i32; 64]>,
}

impl Layout {
    /// Returns a layout with one sequential scan.
    pub fn new(size: (usize, usize), sampling: Vec<(usize, usize)>) -> Self {
        Self {
            size,
            groups: vec![(0..sampling.len()).collect()],
            sampling,
            progressive: false,
            restart_interval: 0,
            adobe_transform: None,
        }
    }

    /// Whether no scan has MCUs of more than ten blocks.
    pub fn is_legal(&self) -> bool {
        let blocks = |number: &usize| self.sampling[*number].0 * self.sampling[*number].1;
        self.groups
            .iter()
            .all(|group| group.len() == 1 || group.iter().map(blocks).sum::<usize>() <= 10)
    }
}

impl Jpeg {
    /// Makes a picture whose components have the samples `value(component, x, y)`.
    pub fn new(layout: Layout, value: impl Fn(usize, f64, f64) -> f64) -> Self {
        let max = max_sampling(&layout.sampling);
        let mcus = (layout.size.0.div_ceil(8 * max.0), layout.size.1.div_ceil(8 * max.1));
        let component = |(number, &sampling): (usize, &(usize, usize))| {
            let step = (max.0 as f64 / sampling.0 as f64, max.1 as f64 / sampling.1 as f64);
            let side =
                |size: usize, factor: usize, max: usize| (size * factor).div_ceil(max).div_ceil(8);
            let (stride, rows) = (mcus.0 * sampling.0, mcus.1 * sampling.1);
            let block = |index: usize| {
                let at = (8 * (index % stride), 8 * (index / stride));
                quantized(|x, y| {
                    let center = |at: usize, step: f64| (at as f64 + 0.5) * step - 0.5;
                    value(number, center(at.0 + x, step.0), center(at.1 + y, step.1))
                })
            };
            Component {
                sampling,
                blocks: (
                    side(layout.size.0, sampling.0, max.0),
                    side(layout.size.1, sampling.1, max.1),
                ),
                stride,
                coefficients: (0..stride * rows).map(block).collect(),
            }
        };
        let components: Vec<Component> =
            layout.sampling.iter().enumerate().map(component).collect();
        let (width, height) = layout.size;
        let shown = |component: &Component| {
            let blocks: Vec<[f64; 64]> = component.coefficients.iter().map(samples).collect();
            let at = |pixel: usize| {
                let x = pixel % width * component.sampling.0 / max.0;
                let y = pixel / width * component.sampling.1 / max.1;
                blocks[y / 8 * component.stride + x / 8][y % 8 * 8 + x % 8]
            };
            (0..width * height).map(at).collect()
        };
        Self { samples: components.iter().map(shown).collect(), layout, components }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut file = vec![0xFF, 0xD8];
        if let Some(transform) = self.layout.adobe_transform {
            let flags = [0, 100, 0, 0, 0, 0, transform];
            segment(&mut file, 0xEE, &[&b"Adobe"[..], &flags].concat());
        }
        segment(&mut file, 0xDB, &[&[0][..], &[QUANTIZATION as u8; 64]].concat());
        let frame = if self.layout.progressive { 0xC2 } else { 0xC0 };
        segment(&mut file, frame, &self.frame());
        segment(&mut file, 0xC4, &huffman_table(0, 4, 12));
        segment(&mut file, 0xC4, &huffman_table(0x10, 8, 255));
        if self.layout.restart_interval > 0 {
            segment(&mut file, 0xDD, &(self.layout.restart_interval as u16).to_be_bytes());
        }
        for scan in self.scans() {
            self.write_scan(&mut file, &scan);
        }
        file.extend([0xFF, 0xD9]);
        file
    }

    fn frame(&self) -> Vec<u8> {
        let sides =
            [self.layout.size.1, self.layout.size.0].map(|side| (side as u16).to_be_bytes());
        let mut frame = vec![8];
        frame.extend(sides.concat());
        frame.push(self.components.len() as u8);
        for (number, component) in (1..).zip(&self.components) {
            frame.extend([number, (component.sampling.0 << 4 | component.sampling.1) as u8, 0]);
        }
        frame
    }

    fn scans(&self) -> Vec<Scan> {
        let (all, groups) = (0..self.components.len(), &self.layout.groups);
        let scan = |components: &Vec<usize>, band, bits| Scan {
            components: components.clone(),
            band,
            bits,
        };
        if !self.layout.progressive {
            return groups.iter().map(|group| scan(group, (0, 63), (0, 0))).collect();
        }
        let mut scans: Vec<Scan> = groups.iter().map(|group| scan(group, (0, 0), (0, 1))).collect();
        let parts = [((1, 5), (0, 1)), ((6, 63), (0, 1)), ((1, 63), (1, 0))];
        for (band, bits) in parts {
            scans.extend(all.clone().map(|number| scan(&vec![number], band, bits)));
        }
        scans.extend(groups.iter().map(|group| scan(group, (0, 0), (1, 0))));
        scans
    }

    fn write_scan(&self, file: &mut Vec<u8>, scan: &Scan) {
        let mut header = vec![scan.components.len() as u8];
        header.extend(scan.components.iter().flat_map(|&number| [number as u8 + 1, 0]));
        header.extend([scan.band.0 as u8, scan.band.1 as u8, scan.bits.0 << 4 | scan.bits.1]);
        segment(file, 0xDA, &header);
        let mut writer = BitWriter { file, byte: 0, count: 0 };
        let mut last_dc = [0; 4];
        for (index, mcu) in self.mcus(scan).into_iter().enumerate() {
            let interval = self.layout.restart_interval;
            if interval > 0 && index > 0 && index % interval == 0 {
                writer.finish();
                writer.file.extend([0xFF, 0xD0 | ((index / interval - 1) % 8) as u8]);
                last_dc = [0; 4];
            }
            for (number, block) in mcu {
                let block = &self.components[number].coefficients[block];
                scan.write_block(&mut writer, block, &mut last_dc[number]);
            }
        }
        writer.finish();
    }

    /// Returns the component and the index of the blocks of each MCU.
    fn mcus(&self, scan: &Scan) -> Vec<Vec<(usize, usize)>> {
        if let [only] = scan.components[..] {
            let component = &self.components[only];
            let (columns, rows) = component.blocks;
            let block = |index| index / columns * component.stride + index % columns;
            return (0..columns * rows).map(|index| vec![(only, block(index))]).collect();
        }
        let first = &self.components[0];
        let columns = first.stride / first.sampling.0;
        let rows = first.coefficients.len() / first.stride / first.sampling.1;
        let mcu = |index: usize| {
            let blocks = |&number: &usize| {
                let component = &self.components[number];
                let (across, down) = component.sampling;
                let start = (index % columns * across, index / columns * down);
                (0..across * down).map(move |block| {
                    let (x, y) = (start.0 + block % across, start.1 + block / across);
                    (number, y * component.stride + x)
                })
            };
            scan.components.iter().flat_map(blocks).collect()
        };
        (0..columns * rows).map(mcu).collect()
    }
}

struct Scan {
    components: Vec<usize>,
    /// The first and last coefficient.
    band: (usize, usize),
    /// The number of low bits that earlier scans omitted, and that this scan omits.
    bits: (u8, u8),
}

impl Scan {
    fn write_block(&self, writer: &mut BitWriter, block: &[i32; 64], last_dc: &mut i32) {
        let (first, low) = (self.band.0, self.bits.1);
        if first == 0 && self.bits.0 > 0 {
            return writer.write((block[0] >> low & 1) as u32, 1);
        }
        if first == 0 {
            let dc = block[0] >> low;
            let difference = dc - *last_dc;
            *last_dc = dc;
            let size = size(difference);
            writer.write(size, 4);
            writer.write_value(difference, size);
        }
        if self.band.1 == 0 {
            return;
        }
        if self.bits.0 > 0 { self.refine(writer, block) } else { self.write_band(writer, block) }
    }

    fn write_band(&self, writer: &mut BitWriter, block: &[i32; 64]) {
        let mut run = 0;
        for &value in &block[self.band.0.max(1)..=self.band.1] {
            // A division rounds toward zero, as the format demands.
            let value = value / (1 << self.bits.1);
            if value == 0 {
                run += 1;
                continue;
            }
            while run > 15 {
                writer.write(0xF0, 8);
                run -= 16;
            }
            writer.write(run << 4 | size(value), 8);
            writer.write_value(value, size(value));
            run = 0;
        }
        if run > 0 {
            writer.write(0, 8);
        }
    }

    /// Writes the next bit of coefficients that are not zero yet, and the coefficients that this bit makes one.
    fn refine(&self, writer: &mut BitWriter, block: &[i32; 64]) {
        let band = || block[self.band.0..=self.band.1].iter();
        let magnitude = |value: &i32| value.unsigned_abs() >> self.bits.1;
        let mut new = band().filter(|value| magnitude(value) == 1).count();
        let (mut run, mut corrections) = (0, Vec::new());
        for value in band() {
            let magnitude = magnitude(value);
            if magnitude == 0 {
                run += 1;
                continue;
            }
            while run > 15 && new > 0 {
                writer.write(0xF0, 8);
                corrections.drain(..).for_each(|bit| writer.write(bit, 1));
                run -= 16;
            }
            if magnitude > 1 {
                corrections.push(magnitude & 1);
            } else {
                writer.write(run << 4 | 1, 8);
                writer.write(u32::from(*value > 0), 1);
                corrections.drain(..).for_each(|bit| writer.write(bit, 1));
                (run, new) = (0, new - 1);
            }
        }
        if run > 0 || !corrections.is_empty() {
            writer.write(0, 8);
            corrections.drain(..).for_each(|bit| writer.write(bit, 1));
        }
    }
}

struct BitWriter<'a> {
    file: &'a mut Vec<u8>,
    byte: u8,
    count: u32,
}

impl BitWriter<'_> {
    fn write(&mut self, bits: u32, count: u32) {
        for index in (0..count).rev() {
            self.byte = self.byte << 1 | (bits >> index & 1) as u8;
            self.count += 1;
            if self.count == 8 {
                self.file.push(self.byte);
                if self.byte == 0xFF {
                    self.file.push(0);
                }
                (self.byte, self.count) = (0, 0);
            }
        }
    }

    /// Writes a signed value of `size` bits.
    fn write_value(&mut self, value: i32, size: u32) {
        let bits = if value < 0 { value + (1 << size) - 1 } else { value };
        self.write(bits as u32, size);
    }

    /// Fills the last byte with ones.
    fn finish(&mut self) {
        while self.count > 0 {
            self.write(1, 1);
        }
    }
}

/// Returns the number of bits of a value without its sign.
fn size(value: i32) -> u32 {
    32 - value.unsigned_abs().leading_zeros()
}

fn max_sampling(sampling: &[(usize, usize)]) -> (usize, usize) {
    let max = |side: fn(&(usize, usize)) -> usize| sampling.iter().map(side).max().unwrap_or(1);
    (max(|factors| factors.0), max(|factors| factors.1))
}

fn segment(file: &mut Vec<u8>, marker: u8, body: &[u8]) {
    file.extend([0xFF, marker]);
    file.extend((body.len() as u16 + 2).to_be_bytes());
    file.extend(body);
}

/// Returns a table in which all codes have the same length, and the code of a symbol is the symbol.
fn huffman_table(kind: u8, length: usize, count: u8) -> Vec<u8> {
    let mut table = [0; 17];
    table[0] = kind;
    table[length] = count;
    table.into_iter().chain(0..count).collect()
}

fn cosine(frequency: usize, at: usize) -> f64 {
    let scale = if frequency == 0 { FRAC_1_SQRT_2 } else { 1.0 };
    scale / 2.0 * ((2 * at + 1) as f64 * frequency as f64 * PI / 16.0).cos()
}

/// Returns the quantized coefficients of a block.
fn quantized(value: impl Fn(usize, usize) -> f64) -> [i32; 64] {
    let block: [f64; 64] = std::array::from_fn(|at| value(at % 8, at / 8) - 128.0);
    let rows: [f64; 64] =
        std::array::from_fn(|at| (0..8).map(|x| block[at / 8 * 8 + x] * cosine(at % 8, x)).sum());
    std::array::from_fn(|index| {
        let (u, v) = (ZIGZAG[index] % 8, ZIGZAG[index] / 8);
        let sum: f64 = (0..8).map(|y| rows[8 * y + u] * cosine(v, y)).sum();
        (sum / f64::from(QUANTIZATION)).round() as i32
    })
}

/// Returns the samples of a block by rows.
fn samples(coefficients: &[i32; 64]) -> [f64; 64] {
    let mut block = [0.0; 64];
    for (&coefficient, position) in coefficients.iter().zip(ZIGZAG) {
        block[position] = f64::from(coefficient * QUANTIZATION);
    }
    let rows: [f64; 64] =
        std::array::from_fn(|at| (0..8).map(|u| block[at / 8 * 8 + u] * cosine(u, at % 8)).sum());
    std::array::from_fn(|at| {
        let sum: f64 = (0..8).map(|v| rows[8 * v + at % 8] * cosine(v, at / 8)).sum();
        (sum + 128.0).clamp(0.0, 255.0)
    })
}
