//! The entropy-coded data of a sequential JPEG to planes of reduced size.

use super::{
    Fault,
    bits::Bits,
    header::{Component, Header},
    huffman::{Skips, Values},
    idct::{self, Low},
};

/// Row and column of each coefficient in the order of the file, as far as 4x4 samples need them.
const ZIGZAG: [(u8, u8); 25] = [
    (0, 0),
    (0, 1),
    (1, 0),
    (2, 0),
    (1, 1),
    (0, 2),
    (0, 3),
    (1, 2),
    (2, 1),
    (3, 0),
    (4, 0),
    (3, 1),
    (2, 2),
    (1, 3),
    (0, 4),
    (0, 5),
    (1, 4),
    (2, 3),
    (3, 2),
    (4, 1),
    (5, 0),
    (6, 0),
    (5, 1),
    (4, 2),
    (3, 3),
];

/// The samples of one component.
pub struct Plane {
    samples: Vec<u8>,
    stride: usize,
    /// Pixels of the picture per sample, in each direction.
    spread: (usize, usize),
}

impl Plane {
    /// The samples of a row of the picture, repeated into `room` where there are too few.
    pub fn row<'a>(&'a self, y: usize, room: &'a mut [u8]) -> &'a [u8] {
        let row = &self.samples[y / self.spread.1 * self.stride..][..self.stride];
        if self.spread.0 == 1 {
            return row;
        }
        for (places, &sample) in room.chunks_mut(self.spread.0).zip(row) {
            places.fill(sample);
        }
        room
    }
}

/// Decodes the scan to `SIDE` x `SIDE` samples (1, 2 or 4) for each block of 8x8.
pub fn decode<const SIDE: usize>(bytes: &[u8], header: &Header) -> Result<Vec<Plane>, Fault> {
    let mut bits = Bits::new(bytes, header.scan_start);
    let mut channels = header
        .components
        .iter()
        .map(|component| Channel::<SIDE>::new(component, header))
        .collect::<Result<Vec<_>, _>>()?;
    let decoded = decode_units(&mut bits, header, &mut channels);
    // What is read past the end looks like damage, but is not.
    if bits.is_overrun() {
        return Err(Fault::Truncated);
    }
    decoded?;
    Ok(channels.into_iter().map(|channel| channel.plane).collect())
}

/// Decodes all units (the smallest rectangles that hold whole blocks of every component).
fn decode_units<const SIDE: usize>(
    bits: &mut Bits,
    header: &Header,
    channels: &mut [Channel<SIDE>],
) -> Result<(), Fault> {
    let (across, down) = header.units();
    let mut until_restart = header.restart_interval;
    for y in 0..down {
        for x in 0..across {
            if header.restart_interval > 0 {
                if until_restart == 0 {
                    restart(bits, channels)?;
                    until_restart = header.restart_interval;
                }
                until_restart -= 1;
            }
            for channel in &mut *channels {
                channel.decode_unit(bits, x, y)?;
            }
        }
        if bits.is_overrun() {
            return Err(Fault::Truncated);
        }
    }
    Ok(())
}

fn restart<const SIDE: usize>(
    bits: &mut Bits,
    channels: &mut [Channel<SIDE>],
) -> Result<(), Fault> {
    if !bits.restart() {
        return Err(Fault::Truncated);
    }
    for channel in channels {
        channel.last_dc = 0;
    }
    Ok(())
}

/// One component while it is decoded.
struct Channel<const SIDE: usize> {
    plane: Plane,
    /// Blocks of one unit (across, down).
    blocks: (usize, usize),
    dc: Values,
    ac: Values,
    skip: Skips,
    quantiser: [u16; 64],
    last_dc: i32,
}

impl<const SIDE: usize> Channel<SIDE> {
    /// The last coefficient wanted, counted as in the file.
    const LAST: usize = match SIDE {
        1 => 0,
        2 => 4,
        _ => 24,
    };

    fn new(component: &Component, header: &Header) -> Result<Self, Fault> {
        let (across, down) = header.units();
        let stride = across * component.across * SIDE;
        let ac = header.ac_table(component)?;
        let (most_across, most_down) = header.most_blocks();
        Ok(Self {
            plane: Plane {
                samples: vec![0; stride * down * component.down * SIDE],
                stride,
                spread: (most_across / component.across, most_down / component.down),
            },
            blocks: (component.across, component.down),
            dc: Values::new(header.dc_table(component)?, false),
            ac: Values::new(ac, true),
            skip: Skips::new(ac),
            quantiser: header.quantiser(component)?,
            last_dc: 0,
        })
    }

    #[inline]
    fn decode_unit(&mut self, bits: &mut Bits, x: usize, y: usize) -> Result<(), Fault> {
        let (across, down) = self.blocks;
        for row in 0..down {
            for column in 0..across {
                self.decode_block(bits, x * across + column, y * down + row)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn decode_block(&mut self, bits: &mut Bits, x: usize, y: usize) -> Result<(), Fault> {
        let (_, difference) = self.dc.next(bits)?;
        // Wraps only on nonsense.
        self.last_dc = i32::from((self.last_dc + difference) as i16);
        let dc = self.last_dc * i32::from(self.quantiser[0]);
        let at = y * SIDE * self.plane.stride + x * SIDE;
        if SIDE == 1 {
            self.plane.samples[at] = idct::mean(dc.clamp(-1 << 16, 1 << 16));
            return self.skip.rest(bits, 1);
        }
        let mut low = Low::default();
        low[0][0] = dc as f32;
        self.read_low(bits, &mut low)?;
        if SIDE == 2 {
            self.store(at, idct::two(&low));
        } else {
            self.store(at, idct::four(&low));
        }
        Ok(())
    }

    /// Reads the AC coefficients that count into `low`, and passes over the rest.
    #[inline]
    fn read_low(&self, bits: &mut Bits, low: &mut Low) -> Result<(), Fault> {
        let mut at = 1;
        while at <= Self::LAST {
            let (run, value) = self.ac.next(bits)?;
            at += run;
            if at >= 64 {
                let is_end = run == super::huffman::END_OF_BLOCK;
                return if is_end { Ok(()) } else { Err(Fault::Damaged("too many coefficients")) };
            }
            if let Some(&(row, column)) = ZIGZAG.get(at)
                && let Some(place) =
                    low.get_mut(usize::from(row)).and_then(|row| row.get_mut(usize::from(column)))
            {
                *place = (value * i32::from(self.quantiser[at])) as f32;
            }
            at += 1;
        }
        self.skip.rest(bits, at)
    }

    #[inline]
    fn store<const N: usize>(&mut self, at: usize, block: [[u8; N]; N]) {
        let rows = self.plane.samples[at..].chunks_mut(self.plane.stride);
        for (row, samples) in rows.zip(block) {
            row[..N].copy_from_slice(&samples);
        }
    }
}
