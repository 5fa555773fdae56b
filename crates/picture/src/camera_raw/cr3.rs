//! The boxes of a CR3, the raw file of Canon since 2018.

use crate::iso_boxes::{boxes, find_box, number};

/// The box of a user-defined kind starts with the identifier of that kind.
const UUID_SIZE: usize = 16;
/// The fields of the camera, in `moov`.
const METADATA: [u8; UUID_SIZE] = 0x85C0_B687_820F_11E0_8111_F4CE_462B_6A48_u128.to_be_bytes();
const PREVIEW: [u8; UUID_SIZE] = 0xEAF4_2B5E_1C98_4B88_B9FB_B7DC_406E_4D16_u128.to_be_bytes();
const XMP: [u8; UUID_SIZE] = 0xBE7A_CFCB_97A9_42E8_9C71_9994_91E3_AFAC_u128.to_be_bytes();
/// Where the box of the preview starts after the identifier, and the JPEG in that box.
const PREVIEW_HEADER: usize = 8;
const PREVIEW_JPEG: usize = 16;

#[derive(Default)]
pub struct Cr3<'a> {
    /// Those of the preview, and the first picture of each track: one of them is as large as the picture.
    pub jpegs: Vec<&'a [u8]>,
    /// The first directory of the fields, a structure as in TIFF files.
    pub fields: Option<&'a [u8]>,
    /// XML.
    pub xmp: Option<&'a [u8]>,
}

impl<'a> Cr3<'a> {
    /// Reads the boxes up to the first damaged one.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut read = Self::default();
        for (kind, body) in boxes(bytes) {
            if &kind == b"moov" {
                read.read_index(bytes, body);
            } else if let Some(preview) = user_box((kind, body), PREVIEW) {
                let preview =
                    preview.get(PREVIEW_HEADER..).and_then(|body| find_box(body, *b"PRVW"));
                read.jpegs.extend(preview.and_then(|body| body.get(PREVIEW_JPEG..)));
            } else if let Some(xmp) = user_box((kind, body), XMP) {
                read.xmp = Some(xmp);
            }
        }
        read
    }

    fn read_index(&mut self, file: &'a [u8], index: &'a [u8]) {
        for (kind, body) in boxes(index) {
            if &kind == b"trak" {
                self.jpegs.extend(first_sample(file, body));
            } else if let Some(metadata) = user_box((kind, body), METADATA) {
                self.fields = find_box(metadata, *b"CMT1");
            }
        }
    }
}

/// The content of a box of the user-defined kind `uuid`.
fn user_box(found: ([u8; 4], &[u8]), uuid: [u8; UUID_SIZE]) -> Option<&[u8]> {
    let (kind, body) = found;
    (&kind == b"uuid").then(|| body.strip_prefix(&uuid)).flatten()
}

/// The first picture of a track.
fn first_sample<'a>(file: &'a [u8], track: &[u8]) -> Option<&'a [u8]> {
    let path = [*b"mdia", *b"minf", *b"stbl"];
    let table = path.into_iter().try_fold(track, |body, kind| find_box(body, kind))?;
    // After version, flags and count.
    let offset = match find_box(table, *b"co64") {
        Some(offsets) => number::<8>(offsets, 8)?,
        None => number::<4>(find_box(table, *b"stco")?, 8)?,
    };
    let sizes = find_box(table, *b"stsz")?;
    // One size for all samples, or a list after their count.
    let size = number::<4>(sizes, 4).filter(|&size| size > 0).or_else(|| number::<4>(sizes, 12))?;
    let [offset, size] = [offset, size].map(|number| usize::try_from(number).ok());
    file.get(offset?..)?.get(..size?)
}
