//! Reads the segments of a JPEG file that precede the pixels: size, tables, color space, color profile and orientation.

use std::{ops::Range, sync::Arc};

use image::metadata::Orientation;

use super::{
    error::JpegError,
    huffman::{HuffmanTable, standard_table},
};
use crate::tiff_structure::exif_orientation;

pub const START_OF_SCAN: u8 = 0xDA;
/// The names before Exif fields and before XMP in a segment of metadata.
pub const EXIF_PREFIX: &[u8] = b"Exif\0\0";
pub const XMP_PREFIX: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
/// The name before a part of the XMP that does not fit into its segment.
pub const EXTENDED_XMP_PREFIX: &[u8] = b"http://ns.adobe.com/xmp/extension/\0";

#[derive(Clone, Debug)]
pub struct Component {
    pub id: u8,
    /// The number of blocks of this component in one MCU (minimum coded unit), horizontally and vertically (1 to 4).
    pub sampling: (usize, usize),
    quantization_table: usize,
    dc: usize,
    ac: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorSpace {
    Rgb,
    YCbCr,
}

/// Everything before the entropy-coded data of the first scan.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// The width as stored, before the orientation is applied.
    pub width: u16,
    pub height: u16,
    pub orientation: Option<Orientation>,
    pub components: Vec<Component>,
    /// The number of MCUs between two restart markers, or 0 without restart markers.
    pub restart_interval: usize,
    /// The position at which the entropy-coded data of the first scan start.
    pub scan_start: usize,
    /// Whether the scaled decoder supports the file: one sequential scan of 8 bits.
    pub supports_scaled_decoding: bool,
    /// Whether the layout is one of those that nearly all encoders write: progressive or with one scan, with sampling
    /// factors that are powers of two, with no component that has more samples than the first one, with at most two
    /// different heights of components, and with markers that agree on the colors.
    pub has_common_layout: bool,
    /// The marker of the frame, which says how pixels are coded.
    frame_marker: u8,
    quantization_tables: [Option<[u16; 64]>; 4],
    dc: [Option<Arc<HuffmanTable>>; 4],
    ac: [Option<Arc<HuffmanTable>>; 4],
    /// The parts of the color profile: the number of each part, and its position in the file.
    profile_parts: Vec<(u8, Range<usize>)>,
    has_jfif: bool,
    adobe_transform: Option<u8>,
}

impl Header {
    /// Reads the segments up to the first scan.
    pub fn read(bytes: &[u8]) -> Result<Self, JpegError> {
        let mut header = Self::default();
        let mut at = 2;
        loop {
            let (marker, body, next) = segment(bytes, at)?;
            header.read_segment(marker, body, next)?;
            if marker == START_OF_SCAN {
                return Ok(header);
            }
            at = next;
        }
    }

    /// Reads a segment that ends at `end`.
    pub fn read_segment(&mut self, marker: u8, body: &[u8], end: usize) -> Result<(), JpegError> {
        match marker {
            0xC4 => self.read_huffman(body)?,
            0xC0..=0xCF if !matches!(marker, 0xC8 | 0xCC) => self.read_frame(marker, body)?,
            START_OF_SCAN => {
                self.read_scan(body)?;
                self.scan_start = end;
            }
            0xDB => self.read_quantization_tables(body)?,
            0xDD => self.restart_interval = usize::from(word(body, 0)?),
            0xE0 => self.has_jfif |= body.starts_with(b"JFIF\0"),
            0xE1 => self.read_exif(body),
            0xE2 => self.note_profile_part(body, end),
            0xEE if body.starts_with(b"Adobe") => self.adobe_transform = body.get(11).copied(),
            0xD9 => return Err(JpegError::Damaged("no picture before the end marker")),
            _ => {}
        }
        Ok(())
    }

    /// Whether a decoder needs all coefficients before it can produce the first pixel.
    pub fn is_progressive(&self) -> bool {
        self.frame_marker & 3 == 2
    }

    pub fn mcu_counts(&self) -> (usize, usize) {
        let (across, down) = self.max_sampling();
        (usize::from(self.width).div_ceil(8 * across), usize::from(self.height).div_ceil(8 * down))
    }

    pub fn max_sampling(&self) -> (usize, usize) {
        self.components.iter().fold((1, 1), |(across, down), component| {
            (across.max(component.sampling.0), down.max(component.sampling.1))
        })
    }

    /// Returns the color space of three components by the rules of `libjpeg`, which all programs follow: a JFIF marker
    /// takes precedence over an Adobe marker, which takes precedence over the component identifiers.
    pub fn color_space(&self) -> ColorSpace {
        match self.adobe_transform {
            _ if self.has_jfif => ColorSpace::YCbCr,
            Some(0) => ColorSpace::Rgb,
            None if self.has_rgb_ids() => ColorSpace::Rgb,
            _ => ColorSpace::YCbCr,
        }
    }

    fn has_rgb_ids(&self) -> bool {
        self.components.iter().map(|component| component.id).eq(*b"RGB")
    }

    /// Whether the first three of four components are stored as brightness and two differences.
    pub fn is_ycck(&self) -> bool {
        self.components.len() == 4 && self.adobe_transform.is_some_and(|transform| transform != 0)
    }

    /// Whether the decoder of the `image` crate would take other colors. That decoder knows no order of the markers.
    fn has_contradicting_markers(&self) -> bool {
        match self.components.len() {
            3 => {
                let is_rgb = self.adobe_transform == Some(0) || self.has_rgb_ids();
                is_rgb != (self.color_space() == ColorSpace::Rgb)
            }
            4 => self.is_ycck() && self.adobe_transform != Some(2),
            _ => false,
        }
    }

    /// Whether components have the same identifier. Decoders then take the components of a scan in their order.
    pub fn has_duplicate_ids(&self) -> bool {
        let mut ids: Vec<u8> = self.components.iter().map(|component| component.id).collect();
        ids.sort_unstable();
        ids.array_windows().any(|[one, next]| one == next)
    }

    /// Whether the file relies on the tables of the standard, like the frames of Motion JPEG.
    pub fn lacks_huffman_tables(&self) -> bool {
        !self.is_progressive() && self.dc.iter().chain(&self.ac).all(Option::is_none)
    }

    /// Joins the parts of the ICC profile.
    pub fn color_profile(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut parts = self.profile_parts.clone();
        parts.sort_unstable_by_key(|(number, _)| *number);
        let parts = parts.into_iter().filter_map(|(_, place)| bytes.get(place));
        let profile = parts.collect::<Vec<_>>().concat();
        (!profile.is_empty()).then_some(profile)
    }

    /// Returns the tables for DC and AC coefficients. A progressive scan needs only one of them.
    pub fn huffman_tables(&self, component: &Component) -> [Result<&HuffmanTable, JpegError>; 2] {
        let missing = JpegError::Damaged("a Huffman table is missing");
        [&self.dc[component.dc], &self.ac[component.ac]]
            .map(|table| table.as_deref().ok_or(missing))
    }

    /// Returns the numbers of blocks in a row and in a column of a scan with only this component.
    pub fn blocks_alone(&self, component: &Component) -> [usize; 2] {
        let ((max_across, max_down), (across, down)) = (self.max_sampling(), component.sampling);
        [(self.width, across, max_across), (self.height, down, max_down)]
            .map(|(side, factor, max)| (usize::from(side) * factor).div_ceil(8 * max))
    }

    /// Returns the components with fewer samples than another component, and more than a third one. Decoders count the
    /// blocks of such a component in a wrong way if it has a scan of its own.
    pub fn intermediate_components(&self) -> impl Iterator<Item = u8> {
        let (across, down) = self.max_sampling();
        let is_between = move |(blocks, rows): (usize, usize)| {
            (2..across).contains(&blocks) || (2..down).contains(&rows)
        };
        self.components.iter().filter(move |it| is_between(it.sampling)).map(|it| it.id)
    }

    /// Returns the quantization table of a component, in zigzag order.
    pub fn quantization_table(&self, component: &Component) -> Result<[u16; 64], JpegError> {
        self.quantization_tables[component.quantization_table]
            .ok_or(JpegError::Damaged("a quantization table is missing"))
    }

    fn read_frame(&mut self, marker: u8, body: &[u8]) -> Result<(), JpegError> {
        match marker {
            0xC3 | 0xC5..=0xC7 => {
                return Err(JpegError::Unsupported("lossless or hierarchical coding"));
            }
            0xC9.. => return Err(JpegError::Unsupported("arithmetic coding")),
            _ => {}
        }
        let [precision, height_high, height_low, width_high, width_low, count] = *first(body)?;
        if precision != 8 {
            return Err(JpegError::Unsupported("samples that do not have eight bits"));
        }
        self.height = u16::from_be_bytes([height_high, height_low]);
        self.width = u16::from_be_bytes([width_high, width_low]);
        self.components.clear();
        for index in 0..usize::from(count) {
            let [id, sampling, table] = *first(body.get(6 + 3 * index..).unwrap_or_default())?;
            self.components.push(Component {
                id,
                sampling: (usize::from(sampling >> 4), usize::from(sampling & 15)),
                quantization_table: usize::from(table & 3),
                dc: 0,
                ac: 0,
            });
        }
        let (across, down) = self.max_sampling();
        self.has_common_layout = self.components.first().map(|it| it.sampling)
            == Some((across, down))
            && !self.components.iter().any(|component| (2..down).contains(&component.sampling.1))
            && self.components.iter().all(|component| {
                component.sampling.0.is_power_of_two() && component.sampling.1.is_power_of_two()
            });
        // A single component is not interleaved, so its MCU is one block, whatever the header says.
        if let [only] = self.components.as_mut_slice() {
            only.sampling = (1, 1);
        }
        self.frame_marker = marker;
        self.supports_scaled_decoding =
            matches!(marker, 0xC0 | 0xC1) && self.has_integral_sampling();
        Ok(())
    }

    /// Whether each sample of a component covers a whole number of pixels.
    fn has_integral_sampling(&self) -> bool {
        let is_integral =
            |blocks: usize, max: usize| matches!(blocks, 1..=4) && max.is_multiple_of(blocks);
        let (across, down) = self.max_sampling();
        matches!(self.components.len(), 1 | 3)
            && self.components.iter().all(|component| {
                is_integral(component.sampling.0, across) && is_integral(component.sampling.1, down)
            })
    }

    fn read_scan(&mut self, body: &[u8]) -> Result<(), JpegError> {
        if self.components.is_empty() {
            return Err(JpegError::Damaged("a scan before the frame"));
        }
        let count = usize::from(*body.first().ok_or(JpegError::Truncated)?);
        let is_interleaved = count == self.components.len();
        self.has_common_layout &= is_interleaved || self.is_progressive();
        self.has_common_layout &= !self.has_contradicting_markers();
        self.supports_scaled_decoding &=
            is_interleaved && body.get(1 + 2 * count..) == Some(&[0, 63, 0]);
        for (index, &[id, tables]) in body[1..].as_chunks().0.iter().take(count).enumerate() {
            let is_named = |component: &Component| component.id == id;
            let is_in_order = self.components.get(index).is_some_and(is_named);
            self.supports_scaled_decoding &= is_in_order;
            let found =
                if is_in_order { Some(index) } else { self.components.iter().position(is_named) };
            if let Some(component) = found.and_then(|index| self.components.get_mut(index)) {
                component.dc = usize::from(tables >> 4 & 3);
                component.ac = usize::from(tables & 3);
            }
        }
        Ok(())
    }

    fn read_quantization_tables(&mut self, mut body: &[u8]) -> Result<(), JpegError> {
        while let [kind, rest @ ..] = body {
            let wide = kind >> 4 != 0;
            let size = if wide { 128 } else { 64 };
            let (values, after) = rest.split_at_checked(size).ok_or(JpegError::Truncated)?;
            let mut table = [0; 64];
            for (index, entry) in table.iter_mut().enumerate() {
                *entry = if wide { word(values, 2 * index)? } else { u16::from(values[index]) };
            }
            self.quantization_tables[usize::from(kind & 3)] = Some(table);
            body = after;
        }
        Ok(())
    }

    fn read_huffman(&mut self, mut body: &[u8]) -> Result<(), JpegError> {
        while let [kind, rest @ ..] = body {
            let (counts, rest) = rest.split_first_chunk::<16>().ok_or(JpegError::Truncated)?;
            let total = counts.iter().map(|&count| usize::from(count)).sum();
            let (symbols, after) = rest.split_at_checked(total).ok_or(JpegError::Truncated)?;
            let tables = if kind >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            let table = match standard_table(*counts, symbols) {
                Some(shared) => shared,
                None => Arc::new(HuffmanTable::new(*counts, symbols)?),
            };
            tables[usize::from(kind & 3)] = Some(table);
            body = after;
        }
        Ok(())
    }

    /// Notes a part of the color profile in a segment that ends at `end`. Annex B.4 of the ICC specification describes
    /// the layout.
    fn note_profile_part(&mut self, body: &[u8], end: usize) {
        if let Some([number, _count, part @ ..]) = body.strip_prefix(b"ICC_PROFILE\0") {
            self.profile_parts.push((*number, end - part.len()..end));
        }
    }

    /// Reads the orientation, which is the only Exif field that is used here.
    fn read_exif(&mut self, body: &[u8]) {
        let exif = body.strip_prefix(EXIF_PREFIX);
        self.orientation = exif.and_then(exif_orientation).or(self.orientation);
    }
}

/// The maximum number of segments that are read from a JPEG inside another file, because a hostile file can claim the
/// same bytes for many pictures.
pub const MAX_SEGMENTS: usize = 1000;

/// Returns the markers and bodies of all segments before the first scan, up to the first damaged segment.
pub fn segments_before_scan(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut at = 2;
    std::iter::from_fn(move || {
        let (marker, body, next) = segment(bytes, at).ok()?;
        at = next;
        (marker != START_OF_SCAN).then_some((marker, body))
    })
}

/// The largest number of bytes that may be between two segments. Some programs leave a few there.
const MAX_STRAY_BYTES: usize = 64;

/// Reads the segment at `at`. Returns its marker, its body, and the position of the next segment.
pub fn segment(bytes: &[u8], at: usize) -> Result<(u8, &[u8], usize), JpegError> {
    let rest = bytes.get(at..).unwrap_or_default();
    let stray = rest.iter().take_while(|&&byte| byte != 0xFF).take(MAX_STRAY_BYTES).count();
    let (at, rest) = (at + stray, &rest[stray..]);
    if rest.first().is_some_and(|&byte| byte != 0xFF) {
        return Err(JpegError::Damaged("a marker is missing"));
    }
    // Any number of FF bytes may precede a marker.
    let skipped = rest.iter().position(|&byte| byte != 0xFF).ok_or(JpegError::Truncated)?;
    let marker = rest[skipped];
    let body_at = at + skipped + 1;
    if matches!(marker, 0x00 | 0x01 | 0xD0..=0xD9) {
        return Ok((marker, &[], body_at));
    }
    let length = usize::from(word(bytes, body_at)?);
    let body = bytes.get(body_at + 2..body_at + length).ok_or(JpegError::Truncated)?;
    Ok((marker, body, body_at + length))
}

fn word(bytes: &[u8], at: usize) -> Result<u16, JpegError> {
    let pair = bytes.get(at..).and_then(<[u8]>::first_chunk::<2>);
    pair.map(|pair| u16::from_be_bytes(*pair)).ok_or(JpegError::Truncated)
}

fn first<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], JpegError> {
    bytes.first_chunk::<N>().ok_or(JpegError::Truncated)
}
