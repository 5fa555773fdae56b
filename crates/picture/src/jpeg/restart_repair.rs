//! Repairs JPEG files with restart markers whose data is damaged. As in `libjpeg`, damage is limited to the MCUs up to
//! the next restart marker, because the numbers of the markers show how much of the data is missing. The decoders of
//! whole files would lose everything that follows the damage.

use std::{mem, ops::Range};

use memchr::memchr;

use super::{
    Jpeg,
    error::JpegError,
    header::{Header, START_OF_SCAN, segment},
    huffman::{BitReader, HuffmanTable},
    scan,
};
use crate::limits::Deadline;

/// A file to which more has to be added is not repaired.
const MAX_ADDED_BYTES: usize = 64 << 20;

/// A bit for each coefficient of a block, in zigzag order.
type CoefficientBits = u64;

impl Jpeg<'_> {
    /// Returns the file with complete data between all of its restart markers, if data is damaged or missing. What is
    /// missing becomes plain. Returns `None` if the file is intact, or cannot be repaired.
    pub fn repaired(&self) -> Option<Vec<u8>> {
        let is_intact = || {
            self.header.supports_scaled_decoding
                && scan::decode::<1>(self.bytes, &self.header).is_ok()
        };
        if self.header.restart_interval == 0 || is_intact() {
            return None;
        }
        let mut repair = Repair {
            bytes: self.bytes,
            header: Header::default(),
            nonzero: Vec::new(),
            output: Vec::new(),
            is_damaged: false,
            deadline: Deadline::new(),
        };
        repair.copy_file()?;
        repair.is_damaged.then_some(repair.output)
    }
}

struct Repair<'a> {
    bytes: &'a [u8],
    /// The segments that were read so far.
    header: Header,
    /// Which coefficients of each block of each component are not zero, because refining scans have bits of these.
    nonzero: Vec<Vec<CoefficientBits>>,
    output: Vec<u8>,
    is_damaged: bool,
    deadline: Deadline,
}

struct Scan {
    /// The indices of the components, and the number of blocks of each in one MCU.
    components: Vec<(usize, usize)>,
    is_progressive: bool,
    /// The coefficients of the scan.
    band: (usize, usize),
    is_refining: bool,
    mcus: usize,
    /// The MCUs in a row, and the blocks of the component in a row.
    stride: (usize, usize),
}

/// The state between two MCUs.
#[derive(Clone, Copy)]
struct Position<'a> {
    bits: BitReader<'a>,
    /// The number of blocks, starting with the next one, that have no new coefficients.
    empty_blocks: usize,
}

impl Repair<'_> {
    fn copy_file(&mut self) -> Option<()> {
        let mut at = 2;
        self.output.extend_from_slice(self.bytes.get(..at)?);
        while let Ok((marker, body, next)) = segment(self.bytes, at) {
            self.output.extend_from_slice(self.bytes.get(at..next)?);
            at = next;
            if marker == 0xD9 {
                break;
            }
            // The size of a second frame would not be checked.
            let is_second_frame =
                matches!(marker, 0xC0..=0xC3) && !self.header.components.is_empty();
            self.header.read_segment(marker, body, next).ok()?;
            (!is_second_frame && self.header.components.len() <= 4).then_some(())?;
            if marker == START_OF_SCAN {
                at = self.copy_scan(&self.scan(body)?, next)?;
            }
        }
        self.output.extend_from_slice(self.bytes.get(at..)?);
        Some(())
    }

    fn scan(&self, body: &[u8]) -> Option<Scan> {
        let (count, rest) = body.split_first()?;
        let (components, band) = rest.split_at_checked(2 * usize::from(*count))?;
        let &[first, last, bits] = band.first_chunk()?;
        let header = &self.header;
        let index = |id: u8| header.components.iter().position(|component| component.id == id);
        let indices: Vec<usize> =
            components.iter().step_by(2).map(|&id| index(id)).collect::<Option<_>>()?;
        let (mcus, stride) = match indices[..] {
            [only] => {
                let [across, down] = header.blocks_alone(&header.components[only]);
                let stride = header.mcu_counts().0 * header.components[only].sampling.0;
                (across * down, (across, stride))
            }
            _ => (header.mcu_counts().0 * header.mcu_counts().1, (1, 1)),
        };
        let blocks = |index: usize| match (indices.len(), header.components[index].sampling) {
            (1, _) => 1,
            (_, (across, down)) => across * down,
        };
        let scan = Scan {
            components: indices.iter().map(|&index| (index, blocks(index))).collect(),
            is_progressive: header.is_progressive(),
            band: (first.into(), last.into()),
            is_refining: header.is_progressive() && bits >> 4 != 0,
            mcus,
            stride,
        };
        let is_valid = first <= last && last < 64 && (first == 0 || indices.len() == 1);
        (is_valid && (!scan.is_progressive || first > 0 || last == 0)).then_some(scan)
    }

    /// Copies the data of a scan, which begins at `start`. Returns where it ends.
    fn copy_scan(&mut self, scan: &Scan, start: usize) -> Option<usize> {
        let interval = match self.header.restart_interval {
            0 => scan.mcus.max(1),
            interval => interval,
        };
        let (across, down) = self.header.mcu_counts();
        self.nonzero.resize_with(self.header.components.len(), Vec::new);
        for (nonzero, component) in self.nonzero.iter_mut().zip(&self.header.components) {
            let (wide, high) = component.sampling;
            nonzero.resize(if scan.is_progressive { across * down * wide * high } else { 0 }, 0);
        }
        let count = scan.mcus.div_ceil(interval);
        // Some programs write wrong numbers, which have no effect if no marker is missing.
        let is_numbered = markers(self.bytes, start).take_while(is_restart).count() + 1 != count;
        self.is_damaged |= is_numbered;
        let (mut at, mut data) = (start, Some(start));
        for index in 0..count {
            self.deadline.check().ok()?;
            (self.output.len() <= self.bytes.len() + MAX_ADDED_BYTES).then_some(())?;
            let first = index * interval;
            self.copy_interval(scan, data, first..scan.mcus.min(first + interval))?;
            if index + 1 < count {
                self.output.extend([0xFF, 0xD0 | (index % 8) as u8]);
                data = self.next_interval(&mut at, is_numbered.then_some(index));
            }
        }
        let mut rest = markers(self.bytes, at).skip_while(is_restart);
        Some(rest.next().map_or(self.bytes.len(), |(at, _)| at))
    }

    /// Returns the start of the data after the restart marker with this number, or after the next one. Returns `None`
    /// if the data is missing. The rules are those of `libjpeg` (`jpeg_resync_to_restart`).
    fn next_interval(&self, at: &mut usize, number: Option<usize>) -> Option<usize> {
        for (found, marker) in markers(self.bytes, *at) {
            let distance = number.map_or(0, |number| usize::from(marker).wrapping_sub(number) % 8);
            match marker {
                // A marker that is not defined is a part of the damage.
                0x01..=0xBF => {}
                0xD0..=0xD7 => match distance {
                    1 | 2 => return None,
                    // An earlier marker.
                    6 | 7 => {}
                    _ => {
                        *at = found + 2;
                        return Some(*at);
                    }
                },
                _ => return None,
            }
            *at = found + 2;
        }
        None
    }

    /// Copies the intact MCUs of an interval, and makes plain ones for all others.
    fn copy_interval(
        &mut self,
        scan: &Scan,
        data: Option<usize>,
        mcus: Range<usize>,
    ) -> Option<()> {
        let start = data.unwrap_or(self.bytes.len());
        let mut position = Position { bits: BitReader::new(self.bytes, start), empty_blocks: 0 };
        let mut next = mcus.start;
        while next < mcus.end
            && let Ok(after) = self.read_mcu(scan, position, next)
        {
            position = after;
            next += 1;
        }
        self.is_damaged |= next < mcus.end;
        let (end, used) = position.bits.position();
        self.output.extend_from_slice(&self.bytes[start..end]);
        let partial = self.bytes.get(end).map_or(0, |byte| u32::from(*byte) >> (8 - used));
        let mut writer = BitWriter { output: mem::take(&mut self.output), bits: 0, count: 0 };
        writer.write(partial, used);
        for mcu in next..mcus.end {
            self.write_plain_mcu(scan, &mut writer, &mut position.empty_blocks, mcu)?;
        }
        self.output = writer.finish();
        Some(())
    }

    fn tables(&self, component: usize) -> [Result<&HuffmanTable, JpegError>; 2] {
        self.header.huffman_tables(&self.header.components[component])
    }

    /// Returns the index of the only block of an MCU.
    fn block(scan: &Scan, mcu: usize) -> usize {
        mcu / scan.stride.0 * scan.stride.1 + mcu % scan.stride.0
    }

    /// Reads an MCU. Returns the position after it, or an error if it is damaged.
    fn read_mcu<'a>(
        &mut self,
        scan: &Scan,
        position: Position<'a>,
        mcu: usize,
    ) -> Result<Position<'a>, JpegError> {
        let Position { mut bits, mut empty_blocks } = position;
        if scan.is_progressive && scan.band.0 > 0 {
            let (component, block) = (scan.components[0].0, Self::block(scan, mcu));
            let mut nonzero = self.nonzero[component][block];
            let table = self.tables(component)[1]?;
            read_ac(scan, table, &mut bits, &mut empty_blocks, &mut nonzero)?;
            if bits.is_overrun() {
                return Err(JpegError::Truncated);
            }
            self.nonzero[component][block] = nonzero;
            return Ok(Position { bits, empty_blocks });
        }
        for &(component, blocks) in &scan.components {
            let [dc, ac] = self.tables(component);
            for _ in 0..blocks {
                if scan.is_refining {
                    bits.skip_bits(1);
                    continue;
                }
                dc?.dc_difference(&mut bits)?;
                if !scan.is_progressive {
                    ac?.skipper().skip_block(&mut bits, 1)?;
                }
            }
        }
        if bits.is_overrun() {
            Err(JpegError::Truncated)
        } else {
            Ok(Position { bits, empty_blocks })
        }
    }

    /// Writes an MCU without new coefficients.
    fn write_plain_mcu(
        &self,
        scan: &Scan,
        writer: &mut BitWriter,
        empty_blocks: &mut usize,
        mcu: usize,
    ) -> Option<()> {
        if scan.is_progressive && scan.band.0 > 0 {
            let (component, block) = (scan.components[0].0, Self::block(scan, mcu));
            if *empty_blocks == 0 {
                let table = self.tables(component)[1].ok()?;
                let end_of_run = |size: u8| Some((table.code(size << 4)?, u32::from(size)));
                let (code, size) = (0..15).find_map(end_of_run)?;
                writer.write_code(code);
                writer.write(0, size);
                *empty_blocks = 1 << size;
            }
            *empty_blocks -= 1;
            if scan.is_refining {
                let refined = self.nonzero[component][block] & bits_of(scan.band);
                (0..refined.count_ones()).for_each(|_| writer.write(0, 1));
            }
            return Some(());
        }
        for &(component, blocks) in &scan.components {
            let [dc, ac] = self.tables(component);
            for _ in 0..blocks {
                if scan.is_refining {
                    writer.write(0, 1);
                    continue;
                }
                writer.write_code(dc.ok()?.code(0)?);
                if !scan.is_progressive {
                    writer.write_code(ac.ok()?.code(0)?);
                }
            }
        }
        Some(())
    }
}

/// Reads the coefficients of a block in a progressive AC scan (ITU-T T.81, G.1.2).
fn read_ac(
    scan: &Scan,
    table: &HuffmanTable,
    bits: &mut BitReader,
    empty_blocks: &mut usize,
    nonzero: &mut CoefficientBits,
) -> Result<(), JpegError> {
    let (mut at, last) = scan.band;
    while *empty_blocks == 0 && at <= last {
        bits.refill();
        let symbol = table.symbol(bits)?;
        let (mut zeros, size) = (symbol >> 4, u32::from(symbol & 15));
        if size == 0 && zeros < 15 {
            let more = if zeros == 0 { 0 } else { bits.peek(zeros.into()) };
            bits.consume(zeros.into());
            *empty_blocks = (1 << zeros) + more;
            break;
        }
        bits.consume(size);
        while at <= last {
            if scan.is_refining && *nonzero >> at & 1 == 1 {
                bits.skip_bits(1);
            } else if zeros == 0 {
                break;
            } else {
                zeros -= 1;
            }
            at += 1;
        }
        if size > 0 {
            if at > last {
                return Err(JpegError::Damaged("too many coefficients"));
            }
            *nonzero |= 1 << at;
        }
        at += 1;
    }
    if *empty_blocks > 0 {
        *empty_blocks -= 1;
        if scan.is_refining && at <= last {
            bits.skip_bits((*nonzero & bits_of((at, last))).count_ones());
        }
    }
    Ok(())
}

/// Returns a bit for each coefficient from the first to the last one.
fn bits_of((first, last): (usize, usize)) -> CoefficientBits {
    CoefficientBits::MAX << first & CoefficientBits::MAX >> (63 - last)
}

/// Returns the positions of all markers in entropy-coded data, and the markers.
fn markers(bytes: &[u8], mut at: usize) -> impl Iterator<Item = (usize, u8)> {
    std::iter::from_fn(move || {
        loop {
            let found = at + memchr(0xFF, bytes.get(at..)?)?;
            let marker = *bytes.get(found + 1)?;
            at = found + if marker == 0xFF { 1 } else { 2 };
            if !matches!(marker, 0 | 0xFF) {
                return Some((found, marker));
            }
        }
    })
}

/// Whether a marker is a restart marker, or one that is not defined.
fn is_restart(&(_, marker): &(usize, u8)) -> bool {
    matches!(marker, 0x01..=0xBF | 0xD0..=0xD7)
}

struct BitWriter {
    output: Vec<u8>,
    /// The bits of a byte that is not complete, and their number.
    bits: u32,
    count: u32,
}

impl BitWriter {
    fn write(&mut self, bits: u32, count: u32) {
        for index in (0..count).rev() {
            self.bits = self.bits << 1 | (bits >> index & 1);
            self.count += 1;
            if self.count == 8 {
                let byte = self.bits as u8;
                self.output.push(byte);
                if byte == 0xFF {
                    self.output.push(0);
                }
                (self.bits, self.count) = (0, 0);
            }
        }
    }

    fn write_code(&mut self, (code, length): (u32, u32)) {
        self.write(code, length);
    }

    /// Fills the last byte with ones.
    fn finish(mut self) -> Vec<u8> {
        while self.count > 0 {
            self.write(1, 1);
        }
        self.output
    }
}
