//! Reads AVIF and HEIC. A file contains one picture in one or more coded tiles. The container is read here; the tiles
//! are decoded by `ffmpeg`, an optional program.

mod ffmpeg;
mod items;
mod sequence;

pub use ffmpeg::{find_ffmpeg, to_rgb};
pub use items::{ItemTable, VisiblePart};
pub use sequence::ImageSequence;

use self::items::ItemProperties;
use crate::{
    iso_boxes::{find_box, number},
    limits::{DecodeError, MAX_PIXELS, check_size},
    source_colors::{CodedColors, SourceColors},
};
use image::{RgbImage, imageops::crop_imm, metadata::Orientation};

/// The box that takes the place of the item table in small files (ISO/IEC 23008-12, annex O).
const SHORT_HEADER: [u8; 4] = *b"mini";
const START_CODE: [u8; 4] = [0, 0, 0, 1];
/// The offset of the parameter sets in the HEVC configuration, and the offset of the sequence header in the AV1
/// configuration.
const HEVC_ARRAYS: usize = 22;
const AV1_HEADER: usize = 4;
/// The unit that starts each AV1 picture.
const TEMPORAL_DELIMITER: [u8; 2] = [0x12, 0];
/// A picture with more tiles than this is refused.
const MAX_TILES: usize = 1024;
/// The limit for the bytes of all tiles together. The limit is needed because many items can claim the same part of a
/// file.
const MAX_CODED_BYTES: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Hevc,
    Av1,
}

pub struct CodedPicture<'a> {
    table: ItemTable<'a>,
    tiles: Vec<u64>,
    pub codec: Codec,
    configuration: &'a [u8],
    /// The size of all tiles together, of which a part may be shown.
    pub coded_size: (u32, u32),
    visible: VisiblePart,
    pub tile_size: (u32, u32),
    /// The number of tiles in a row.
    pub columns: u32,
    pub orientation: Orientation,
    color_profile: Option<&'a [u8]>,
    coded_colors: Option<CodedColors>,
    pub color_matrix: Option<(u64, bool)>,
    /// A picture of the same size whose gray values are the alpha channel.
    pub alpha: Option<Box<Self>>,
    /// Whether the colors are multiplied already with the alpha channel.
    pub is_premultiplied: bool,
}

impl<'a> CodedPicture<'a> {
    /// Reads the container, and checks the sizes that it declares.
    pub fn open(bytes: &'a [u8], name: &str) -> Result<Self, DecodeError> {
        let damaged = || DecodeError(format!("damaged {name}: no picture that can be read"));
        let unreadable = || match find_box(bytes, SHORT_HEADER) {
            Some(_) => DecodeError(format!(
                "a kind of {name} that cannot be opened: a short header (mini); convert it to JPEG"
            )),
            None => damaged(),
        };
        let picture = Self::read(bytes).ok_or_else(unreadable)?;
        for coded in [Some(&picture), picture.alpha.as_deref()].into_iter().flatten() {
            check_size(coded.coded_size)?;
            check_size(coded.tile_size)?;
            if !coded.is_covered() || coded.coded_size != picture.coded_size {
                return Err(damaged());
            }
        }
        Ok(picture)
    }

    /// Whether the tiles cover the picture and have at most twice as many pixels as a picture may have.
    fn is_covered(&self) -> bool {
        let [tiles, columns] = [self.tiles.len() as u64, self.columns.into()];
        let pixels = u64::from(self.tile_size.0) * u64::from(self.tile_size.1) * tiles;
        let covered = |side: u32, tile: u32, count: u64| u64::from(tile) * count >= u64::from(side);
        columns > 0
            && covered(self.coded_size.0, self.tile_size.0, columns)
            && covered(self.coded_size.1, self.tile_size.1, tiles / columns)
            && pixels <= 2 * MAX_PIXELS
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let table = ItemTable::open(bytes)?;
        let mut picture = Self::read_item(table, table.primary)?;
        let is_alpha = |item: &u64| {
            let properties = table.properties().and_then(|all| ItemProperties::read(all, *item));
            properties.is_some_and(|properties| properties.is_alpha)
        };
        if let Some(alpha) = table.auxiliaries(table.primary).into_iter().find(is_alpha) {
            picture.is_premultiplied = table.is_premultiplied(table.primary, alpha);
            let alpha = Self { visible: picture.visible, ..Self::read_item(table, alpha)? };
            picture.alpha = Some(Box::new(alpha));
        }
        Some(picture)
    }

    fn read_item(table: ItemTable<'a>, item: u64) -> Option<Self> {
        let primary = ItemProperties::read(table.properties()?, item)?;
        let is_grid = &table.kind(item)? == b"grid";
        let (tiles, columns, coded_size) = if is_grid {
            let grid = *table.contents(&[item])?.concat().first()?;
            let (columns, rows) = (usize::from(*grid.get(3)?) + 1, usize::from(*grid.get(2)?) + 1);
            let tiles = table.tiles(item)?;
            (tiles.len() == columns * rows && tiles.len() <= MAX_TILES).then_some(())?;
            (tiles, u32::try_from(columns).ok()?, grid_size(grid)?)
        } else {
            (vec![item], 1, primary.size?)
        };
        let tile = ItemProperties::read(table.properties()?, *tiles.first()?)?;
        let (codec, configuration) = match &table.kind(*tiles.first()?)? {
            b"hvc1" => (Codec::Hevc, tile.hevc?),
            b"av01" => (Codec::Av1, tile.av1?),
            _ => return None,
        };
        Some(Self {
            table,
            tiles,
            codec,
            configuration,
            coded_size,
            visible: VisiblePart::new(coded_size, primary.aperture),
            tile_size: tile.size?,
            columns,
            orientation: primary.orientation.unwrap_or(Orientation::NoTransforms),
            color_profile: primary.color_profile.or(tile.color_profile),
            coded_colors: primary.coded_colors.or(tile.coded_colors),
            color_matrix: primary.color_matrix.or(tile.color_matrix),
            alpha: None,
            is_premultiplied: false,
        })
    }

    /// The size of the part that is shown, before it is rotated.
    pub fn size(&self) -> (u32, u32) {
        self.visible.size
    }

    /// Returns the part that is shown of the pixels of all tiles.
    pub fn visible_part(&self, pixels: RgbImage) -> RgbImage {
        let VisiblePart { left, top, size } = self.visible;
        if size == pixels.dimensions() {
            return pixels;
        }
        crop_imm(&pixels, left, top, size.0, size.1).to_image()
    }

    /// Returns what the container says about the colors. An ICC profile takes precedence.
    pub fn source_colors(&self) -> Option<SourceColors> {
        let profile = self.color_profile.map(|bytes| SourceColors::Profile(bytes.to_vec()));
        profile.or(self.coded_colors.map(SourceColors::Coded))
    }

    pub fn tile_count(&self) -> usize {
        self.tiles.len()
    }

    /// Returns the tiles as one stream, which a decoder reads without the container. Returns `None` if a tile is
    /// damaged.
    pub fn stream(&self) -> Option<Vec<u8>> {
        let mut stream = Vec::new();
        if self.codec == Codec::Hevc {
            add_parameter_sets(self.configuration, &mut stream)?;
        }
        let contents = self.table.contents(&self.tiles)?;
        let length: usize = contents.iter().flatten().map(|part| part.len()).sum();
        (length <= MAX_CODED_BYTES).then_some(())?;
        for parts in contents {
            let coded = parts.concat();
            match self.codec {
                Codec::Hevc => add_units(&coded, self.configuration, &mut stream)?,
                Codec::Av1 => {
                    if !coded.starts_with(&TEMPORAL_DELIMITER) {
                        stream.extend(TEMPORAL_DELIMITER);
                        stream.extend(self.configuration.get(AV1_HEADER..)?);
                    }
                    stream.extend(coded);
                }
            }
        }
        Some(stream)
    }
}

/// Returns the size in the description of a grid, which has two or four bytes per side.
fn grid_size(grid: &[u8]) -> Option<(u32, u32)> {
    let (width, height) = if grid.get(1)? & 1 == 0 {
        (number::<2>(grid, 4), number::<2>(grid, 6))
    } else {
        (number::<4>(grid, 4), number::<4>(grid, 8))
    };
    Some((u32::try_from(width?).ok()?, u32::try_from(height?).ok()?))
}

/// Adds the parameter sets of HEVC, which the container stores separately from the tiles.
fn add_parameter_sets(configuration: &[u8], stream: &mut Vec<u8>) -> Option<()> {
    let mut at = HEVC_ARRAYS + 1;
    for _ in 0..*configuration.get(HEVC_ARRAYS)? {
        let count = number::<2>(configuration, at + 1)?;
        at += 3;
        for _ in 0..count {
            let length = usize::try_from(number::<2>(configuration, at)?).ok()?;
            stream.extend(START_CODE);
            stream.extend(configuration.get(at + 2..)?.get(..length)?);
            at += 2 + length;
        }
    }
    Some(())
}

/// Adds the units of an HEVC tile. In the container, each unit is preceded by its length.
fn add_units(mut coded: &[u8], configuration: &[u8], stream: &mut Vec<u8>) -> Option<()> {
    let size = usize::from(configuration.get(HEVC_ARRAYS - 1)? & 3) + 1;
    while !coded.is_empty() {
        let (length, rest) = coded.split_at_checked(size)?;
        let length = length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
        let (unit, rest) = rest.split_at_checked(length)?;
        stream.extend(START_CODE);
        stream.extend(unit);
        coded = rest;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILES: [&[u8]; 2] = [
        include_bytes!("../../tests/picture/heif/chart.avif"),
        include_bytes!("../../tests/picture/heif/chart.heic"),
    ];

    #[test]
    fn the_stream_is_that_of_the_codec() {
        let [av1, hevc] = FILES.map(|file| CodedPicture::open(file, "it").unwrap());
        assert_eq!((av1.codec, av1.size(), av1.tile_count()), (Codec::Av1, (96, 64), 1));
        assert!(av1.stream().unwrap().starts_with(&TEMPORAL_DELIMITER));
        assert_eq!((hevc.codec, hevc.size(), hevc.tile_size), (Codec::Hevc, (96, 64), (96, 64)));
        assert!(hevc.stream().unwrap().starts_with(&START_CODE));
    }

    proptest! {
        #[test]
        fn damaged_containers_are_read_or_refused(
            number in 0_usize..2,
            changes in prop::collection::vec((0_usize..700, any::<u8>()), 1..6),
        ) {
            let mut file = FILES[number].to_vec();
            for (at, byte) in changes {
                file[at] = byte;
            }
            if let Ok(picture) = CodedPicture::open(&file, "it") {
                let stream = picture.stream();
                prop_assert!(stream.is_none_or(|stream| stream.len() <= 2 * MAX_CODED_BYTES));
            }
        }
    }
}
