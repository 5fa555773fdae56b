//! Builds raw files of cameras from their fields. Each file has a large and a small JPEG, and the orientation of a
//! camera that was rotated to the left, which means that the picture must be rotated to the right.

/// Exif data with the same orientation, as a segment of a JPEG.
const EXIF: &[u8] =
    b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
/// The start of a lossless JPEG of 4000 x 3000 pixels. Raw files store the data of the sensor in this form.
const LOSSLESS_JPEG: &[u8] = b"\xFF\xD8\xFF\xC3\0\x0B\x0E\x0B\xB8\x0F\xA0\x01\x01\x11\0\xFF\xDA";
const ROTATED: Field = (0x0112, Value::Short(6));
const MOSAIC: Field = (0x0106, Value::Short(32_803));

#[derive(Clone, Copy)]
enum Value<'a> {
    Short(u16),
    Long(u32),
    Longs(&'a [u32]),
    Bytes(&'a [u8]),
    Text(&'a str),
}

type Field<'a> = (u16, Value<'a>);

/// Returns a file of each format, with its extension.
pub fn camera_raw_files(large: &[u8], small: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("dng", dng(large, small)),
        ("cr2", cr2(large, small)),
        ("cr3", cr3(large, small)),
        ("nef", nef(large)),
        ("arw", arw(large, small)),
        ("orf", orf(large)),
        ("rw2", rw2(large)),
        ("pef", pef(large, small)),
        ("raf", raf(large)),
        ("tif", tiff_ep(large)),
    ]
}

/// A TIFF structure that is being built.
struct Tiff {
    bytes: Vec<u8>,
    is_big_endian: bool,
}

impl Tiff {
    fn new(header: &[u8]) -> Self {
        Self { bytes: header.to_vec(), is_big_endian: header.starts_with(b"M") }
    }

    fn number(&self, number: u32, length: usize) -> Vec<u8> {
        if self.is_big_endian {
            number.to_be_bytes()[4 - length..].to_vec()
        } else {
            number.to_le_bytes()[..length].to_vec()
        }
    }

    /// Adds bytes. Returns their position and length.
    fn add(&mut self, bytes: &[u8]) -> [u32; 2] {
        let offset = self.bytes.len();
        self.bytes.extend(bytes);
        [offset, bytes.len()].map(|number| u32::try_from(number).unwrap())
    }

    /// Adds a directory. Returns its position.
    fn directory(&mut self, fields: &[Field], next: u32) -> u32 {
        let mut directory = self.number(u32::try_from(fields.len()).unwrap(), 2);
        for &(tag, value) in fields {
            let (kind, size, mut values) = match value {
                Value::Short(number) => (3, 2, self.number(number.into(), 2)),
                Value::Long(number) => (4, 4, self.number(number, 4)),
                Value::Longs(numbers) => {
                    (4, 4, numbers.iter().flat_map(|&number| self.number(number, 4)).collect())
                }
                Value::Bytes(bytes) => (7, 1, bytes.to_vec()),
                Value::Text(text) => (2, 1, [text.as_bytes(), b"\0"].concat()),
            };
            let count = u32::try_from(values.len() / size).unwrap();
            if values.len() > 4 {
                let [offset, _] = self.add(&values);
                values = self.number(offset, 4);
            }
            values.resize(4, 0);
            for part in [self.number(tag.into(), 2), self.number(kind, 2), self.number(count, 4)] {
                directory.extend(part);
            }
            directory.extend(values);
        }
        directory.extend(self.number(next, 4));
        self.add(&directory)[0]
    }

    /// Adds a directory that refers to a JPEG with the fields of thumbnails.
    fn thumbnail(&mut self, jpeg: &[u8], next: u32) -> u32 {
        let [offset, length] = self.add(jpeg);
        self.directory(&[(0x0201, Value::Long(offset)), (0x0202, Value::Long(length))], next)
    }

    /// Adds a directory whose pixels are a JPEG.
    fn strip(&mut self, jpeg: &[u8], compression: u16, others: &[Field], next: u32) -> u32 {
        let [offset, length] = self.add(jpeg);
        let strip = [
            (0x0103, Value::Short(compression)),
            (0x0111, Value::Long(offset)),
            (0x0117, Value::Long(length)),
        ];
        self.directory(&[&strip, others].concat(), next)
    }

    /// Returns the file. `first` is the position of its first directory.
    fn finish(mut self, first: u32) -> Vec<u8> {
        let first = self.number(first, 4);
        self.bytes[4..8].copy_from_slice(&first);
        self.bytes
    }
}

fn dng(large: &[u8], small: &[u8]) -> Vec<u8> {
    let mut file = Tiff::new(b"II*\0\0\0\0\0");
    let sensor = file.strip(LOSSLESS_JPEG, 7, &[MOSAIC], 0);
    let linked = [file.strip(small, 7, &[], 0), sensor, file.strip(large, 7, &[], 0)];
    let version = (0xC612, Value::Bytes(&[1, 4, 0, 0]));
    let first = file.directory(&[ROTATED, (0x014A, Value::Longs(&linked)), version], 0);
    file.finish(first)
}

fn cr2(large: &[u8], small: &[u8]) -> Vec<u8> {
    let mut file = Tiff::new(b"II*\0\0\0\0\0CR\x02\0\0\0\0\0");
    let sensor = file.strip(LOSSLESS_JPEG, 6, &[], 0);
    let thumbnail = file.thumbnail(small, sensor);
    let first = file.strip(large, 6, &[(0x010F, Value::Text("Canon")), ROTATED], thumbnail);
    file.finish(first)
}

fn nef(large: &[u8]) -> Vec<u8> {
    let mut file = Tiff::new(b"MM\0*\0\0\0\0");
    let linked = [file.thumbnail(large, 0), file.directory(&[MOSAIC], 0)];
    let make = (0x010F, Value::Text("NIKON CORPORATION"));
    let model = (0x0110, Value::Text("NIKON D90"));
    let first = file.directory(&[make, model, ROTATED, (0x014A, Value::Longs(&linked))], 0);
    file.finish(first)
}

fn arw(large: &[u8], small: &[u8]) -> Vec<u8> {
    let mut file = Tiff::new(b"II*\0\0\0\0\0");
    let sensor = file.directory(&[MOSAIC], 0);
    let next = file.thumbnail(small, 0);
    let [offset, length] = file.add(large);
    let jpeg = [(0x0201, Value::Long(offset)), (0x0202, Value::Long(length))];
    let make = (0x010F, Value::Text("SONY"));
    let fields = [&[make, ROTATED, (0x014A, Value::Long(sensor))], &jpeg[..]].concat();
    let first = file.directory(&fields, next);
    file.finish(first)
}

fn orf(large: &[u8]) -> Vec<u8> {
    let mut notes = Tiff::new(b"OLYMPUS\0II\x03\0");
    // The settings follow the directory of the notes, which has one field. The JPEG follows the settings.
    let (settings, jpeg) = (12 + 18, 12 + 18 + 30);
    notes.directory(&[(0x2020, Value::Long(settings))], 0);
    let length = u32::try_from(large.len()).unwrap();
    notes.directory(&[(0x0101, Value::Long(jpeg)), (0x0102, Value::Long(length))], 0);
    notes.add(large);
    let mut file = Tiff::new(b"IIRO\0\0\0\0");
    let exif = file.directory(&[(0x927C, Value::Bytes(&notes.bytes))], 0);
    let first = file.directory(&[ROTATED, (0x8769, Value::Long(exif))], 0);
    file.finish(first)
}

fn rw2(large: &[u8]) -> Vec<u8> {
    let mut file = Tiff::new(b"IIU\0\0\0\0\0");
    let first = file.directory(&[(0x002E, Value::Bytes(large)), ROTATED], 0);
    file.finish(first)
}

fn pef(large: &[u8], small: &[u8]) -> Vec<u8> {
    let mut file = Tiff::new(b"MM\0*\0\0\0\0");
    let last = file.thumbnail(large, 0);
    let next = file.thumbnail(small, last);
    let make = (0x010F, Value::Text("PENTAX Corporation"));
    let first = file.directory(&[MOSAIC, make, ROTATED], next);
    file.finish(first)
}

fn tiff_ep(large: &[u8]) -> Vec<u8> {
    let mut file = Tiff::new(b"II*\0\0\0\0\0");
    let linked = [file.strip(large, 7, &[], 0), file.directory(&[MOSAIC], 0)];
    let make = (0x010F, Value::Text("SAMSUNG"));
    let first = file.directory(&[make, ROTATED, (0x014A, Value::Longs(&linked))], 0);
    file.finish(first)
}

fn raf(large: &[u8]) -> Vec<u8> {
    let jpeg = [&large[..2], EXIF, &large[2..]].concat();
    let mut file = b"FUJIFILMCCD-RAW 0201FF383501X-T1".to_vec();
    file.resize(84, 0);
    file.extend(148_u32.to_be_bytes());
    file.extend(u32::try_from(jpeg.len()).unwrap().to_be_bytes());
    file.resize(148, 0);
    [file, jpeg].concat()
}

fn cr3(large: &[u8], small: &[u8]) -> Vec<u8> {
    let part = |kind: &[u8], body: &[&[u8]]| {
        let body = body.concat();
        let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
        [&length, kind, &body].concat()
    };
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_be_bytes();
    let metadata = 0x85C0_B687_820F_11E0_8111_F4CE_462B_6A48_u128.to_be_bytes();
    let preview = 0xEAF4_2B5E_1C98_4B88_B9FB_B7DC_406E_4D16_u128.to_be_bytes();
    let mut fields = Tiff::new(b"II*\0\0\0\0\0");
    let first = fields.directory(&[ROTATED], 0);
    let fields = part(b"uuid", &[&metadata, &part(b"CMT1", &[&fields.finish(first)])]);
    let start = part(b"ftyp", &[b"crx \0\0\0\x01crx isom"]);
    let index = |at: usize| {
        let offsets = part(b"co64", &[&[0; 7], &[1], &(at as u64).to_be_bytes()]);
        let sizes = part(b"stsz", &[&[0; 4], &size(large), &[0, 0, 0, 1]]);
        let table = part(b"stbl", &[&sizes, &offsets]);
        let track = part(b"trak", &[&part(b"mdia", &[&part(b"minf", &[&table])])]);
        part(b"moov", &[&fields, &track])
    };
    let box_of_preview = part(b"PRVW", &[&[0; 12], &size(small), small]);
    let preview = part(b"uuid", &[&preview, &[0; 8], &box_of_preview]);
    let before = start.len() + index(0).len() + preview.len();
    [start, index(before + 8), preview, part(b"mdat", &[large])].concat()
}
