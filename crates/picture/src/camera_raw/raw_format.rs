//! The formats of raw files.

use super::tiff_previews::{MAX_DIRECTORIES, SUBDIRECTORIES};
use crate::tiff_structure::{TiffDirectory, TiffStructure};

// Tags of TIFF, TIFF/EP and DNG.
const PHOTOMETRIC_INTERPRETATION: u16 = 0x0106;
const MAKE: u16 = 0x010F;
const DNG_VERSION: u16 = 0xC612;
/// Values of the photometric interpretation: a mosaic of colors, and the data of a sensor with all colors.
const SENSOR_COLORS: [u32; 2] = [32_803, 34_892];

/// A format of raw files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawFormat {
    /// Adobe, and several makers of cameras and phones.
    Dng,
    /// Canon, up to 2018, and since.
    Cr2,
    Cr3,
    /// Nikon.
    Nef,
    /// Sony.
    Arw,
    /// Olympus.
    Orf,
    /// Panasonic.
    Rw2,
    /// Pentax.
    Pef,
    /// Fujifilm.
    Raf,
    /// The standard that most of these follow, of other makers.
    TiffEp,
}

impl RawFormat {
    /// The format of a file with the signature of TIFF. `None` for other TIFF files, and if only the start of the file
    /// is given: the fields that distinguish them may be anywhere.
    pub fn detect_in_tiff(bytes: &[u8]) -> Option<Self> {
        let (structure, first) = TiffStructure::open(bytes)?;
        if structure.bytes(first, DNG_VERSION).is_some() {
            return Some(Self::Dng);
        }
        let is_sensor = |directory: TiffDirectory| {
            let colors = structure.integer(directory, PHOTOMETRIC_INTERPRETATION);
            colors.is_some_and(|colors| SENSOR_COLORS.contains(&colors))
        };
        let directories = structure.linked_directories(first, SUBDIRECTORIES, MAX_DIRECTORIES);
        let make = structure.text(first, MAKE)?.to_ascii_uppercase();
        let is_of = |maker: &str| make.starts_with(maker.as_bytes());
        directories.into_iter().any(is_sensor).then(|| match () {
            () if is_of("NIKON") => Self::Nef,
            () if is_of("SONY") => Self::Arw,
            () if is_of("PENTAX") || is_of("RICOH") => Self::Pef,
            () => Self::TiffEp,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Dng => "DNG",
            Self::Cr2 => "CR2",
            Self::Cr3 => "CR3",
            Self::Nef => "NEF",
            Self::Arw => "ARW",
            Self::Orf => "ORF",
            Self::Rw2 => "RW2",
            Self::Pef => "PEF",
            Self::Raf => "RAF",
            Self::TiffEp => "TIFF/EP",
        }
    }

    /// The usual extension of a file name, without a dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Dng => "dng",
            Self::Cr2 => "cr2",
            Self::Cr3 => "cr3",
            Self::Nef => "nef",
            Self::Arw => "arw",
            Self::Orf => "orf",
            Self::Rw2 => "rw2",
            Self::Pef => "pef",
            Self::Raf => "raf",
            Self::TiffEp => "tif",
        }
    }

    /// The media type. None is registered but that of DNG; the others are those of the desktop.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Dng => "image/x-adobe-dng",
            Self::Cr2 => "image/x-canon-cr2",
            Self::Cr3 => "image/x-canon-cr3",
            Self::Nef => "image/x-nikon-nef",
            Self::Arw => "image/x-sony-arw",
            Self::Orf => "image/x-olympus-orf",
            Self::Rw2 => "image/x-panasonic-rw2",
            Self::Pef => "image/x-pentax-pef",
            Self::Raf => "image/x-fuji-raf",
            Self::TiffEp => "image/tiff",
        }
    }
}
