//! Reads and writes the header of arrays in the format of `NumPy` (`.npy`). The array has a row of numbers for each
//! picture, and the numbers follow the header without gaps. Pickled objects are never read.

use std::{
    fs::File,
    io::{self, BufReader, Read as _},
    path::Path,
};

use half::f16;

use super::MAX_DIMENSION;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The magic number, the version of the format, and the length of the text in two bytes.
const PREFIX_BYTES: usize = 10;
/// The length of the header that is written, which does not depend on the number of rows.
const HEADER_BYTES: usize = 128;
const MAX_TEXT_BYTES: u64 = 64 << 10;
/// The maximum number of characters of an unknown type that a message quotes.
const QUOTED_CHARS: usize = 16;

/// Returns the header of an array of `f32`. All headers have the same length, so the header can be written again when
/// the number of rows is known.
pub fn npy_header(rows: u64, dimension: usize) -> Vec<u8> {
    let text =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dimension}), }}");
    let length = u8::try_from(HEADER_BYTES - PREFIX_BYTES).unwrap_or_default();
    let mut header = [MAGIC, &[1, 0, length, 0], text.as_bytes()].concat();
    header.resize(HEADER_BYTES - 1, b' ');
    header.push(b'\n');
    header
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberType {
    F16,
    F32,
    F64,
}

impl NumberType {
    fn size(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Reads little-endian numbers.
    fn read(self, bytes: &[u8], numbers: &mut Vec<f64>) {
        fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
            bytes.as_chunks().0.iter().copied()
        }
        match self {
            Self::F16 => numbers.extend(chunks(bytes).map(|it| f16::from_le_bytes(it).to_f64())),
            Self::F32 => numbers.extend(chunks(bytes).map(|it| f64::from(f32::from_le_bytes(it)))),
            Self::F64 => numbers.extend(chunks(bytes).map(f64::from_le_bytes)),
        }
    }
}

#[derive(Debug)]
pub(super) struct NpyArray {
    reader: BufReader<File>,
    numbers: NumberType,
    pub rows: u64,
    dimension: usize,
}

impl NpyArray {
    pub fn open(path: &Path) -> Result<Self, String> {
        let unreadable = |cause: io::Error| cause.to_string();
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut reader = BufReader::new(file);
        let (text, begin) = read_text(&mut reader)?;
        let (numbers, rows, dimension) = parse(&text)?;
        let row_bytes = (dimension * numbers.size()) as u64;
        let expected = rows.checked_mul(row_bytes).and_then(|bytes| bytes.checked_add(begin));
        if expected != Some(length) {
            let expected = expected.map_or_else(|| "more".to_owned(), |bytes| bytes.to_string());
            return Err(format!(
                "it is damaged or truncated: its {rows} rows of {dimension} numbers need {expected} bytes, and it has \
                 {length}"
            ));
        }
        Ok(Self { reader, numbers, rows, dimension })
    }

    /// Replaces `row` with the numbers of the next row.
    pub fn read_row(&mut self, row: &mut Vec<f64>) -> Result<(), String> {
        let mut bytes = vec![0; self.dimension * self.numbers.size()];
        self.reader.read_exact(&mut bytes).map_err(|cause| cause.to_string())?;
        row.clear();
        self.numbers.read(&bytes, row);
        Ok(())
    }
}

/// Reads the text of the header, and returns it with the position of the first number.
fn read_text(reader: &mut BufReader<File>) -> Result<(String, u64), String> {
    let damaged = |_| "its header is damaged".to_owned();
    let mut prefix = [0; 8];
    let is_whole = reader.read_exact(&mut prefix).is_ok();
    if prefix.starts_with(b"PK") {
        return Err("it is an archive of arrays (.npz); save one array with numpy.save".to_owned());
    }
    if !is_whole || !prefix.starts_with(MAGIC) {
        return Err("it is not a .npy file".to_owned());
    }
    let (length, begin) = if prefix[6] == 1 {
        let mut length = [0; 2];
        reader.read_exact(&mut length).map_err(damaged)?;
        (u64::from(u16::from_le_bytes(length)), PREFIX_BYTES as u64)
    } else {
        let mut length = [0; 4];
        reader.read_exact(&mut length).map_err(damaged)?;
        (u64::from(u32::from_le_bytes(length)), PREFIX_BYTES as u64 + 2)
    };
    if length > MAX_TEXT_BYTES {
        return Err("its header is longer than 64 KiB".to_owned());
    }
    let mut text = String::new();
    reader.take(length).read_to_string(&mut text).map_err(damaged)?;
    Ok((text, begin + length))
}

/// Parses the text of a header, which is a Python dictionary. Returns the type of the numbers, the number of rows, and
/// the number of numbers per row.
fn parse(text: &str) -> Result<(NumberType, u64, usize), String> {
    let value = |key: &str| {
        let (_, rest) = text.split_once(&format!("'{key}'"))?;
        rest.trim_start().strip_prefix(':').map(str::trim_start)
    };
    let damaged = || "its header is damaged".to_owned();
    let numbers = parse_type(value("descr").ok_or_else(damaged)?)?;
    match value("fortran_order") {
        Some(order) if order.starts_with("False") => {}
        Some(_) => {
            return Err(
                "its numbers are in Fortran order; save numpy.ascontiguousarray(array)".to_owned()
            );
        }
        None => return Err(damaged()),
    }
    let shape = value("shape").and_then(|shape| shape.strip_prefix('(')?.split_once(')'));
    let (shape, _) = shape.ok_or_else(damaged)?;
    let sides = shape.split(',').map(str::trim).filter(|side| !side.is_empty());
    let sides: Option<Vec<u64>> = sides.map(|side| side.parse().ok()).collect();
    let sides = sides.ok_or_else(damaged)?;
    let [rows, dimension] = sides[..] else {
        return Err(format!(
            "its shape is ({shape}), but embeddings have two dimensions: pictures and numbers"
        ));
    };
    match usize::try_from(dimension) {
        Ok(dimension) if (1..=MAX_DIMENSION).contains(&dimension) => Ok((numbers, rows, dimension)),
        _ => Err(format!("its rows have {dimension} numbers; the limit is {MAX_DIMENSION}")),
    }
}

fn parse_type(descr: &str) -> Result<NumberType, String> {
    let quoted = descr.strip_prefix('\'').and_then(|rest| Some(rest.split_once('\'')?.0));
    match quoted {
        Some("<f2") => Ok(NumberType::F16),
        Some("<f4") => Ok(NumberType::F32),
        Some("<f8") => Ok(NumberType::F64),
        Some(name) if name.contains('O') => Err(
            "it contains pickled Python objects, which are not read; save array.astype('float32')"
                .to_owned(),
        ),
        Some(name) if name.starts_with(">f") => {
            Err("its numbers are big-endian; save array.astype('<f4')".to_owned())
        }
        Some(name) => {
            let name: String = name.chars().take(QUOTED_CHARS).collect();
            Err(format!("its numbers have the type {name}; save array.astype('float32')"))
        }
        None => Err("its elements have several fields; save an array of numbers".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn array(descr: &str, order: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = u16::try_from(text.len()).unwrap().to_le_bytes();
        [MAGIC, &[1, 0], &length, text.as_bytes(), numbers].concat()
    }

    fn open(bytes: &[u8]) -> Result<NpyArray, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, bytes).unwrap();
        NpyArray::open(&path)
    }

    #[test]
    fn rows_of_all_precisions_are_read() {
        let numbers = [0.5_f64, -2.0, 0.25, 1.0];
        let bytes = |write: &dyn Fn(f64) -> Vec<u8>| -> Vec<u8> {
            numbers.iter().flat_map(|number| write(*number)).collect()
        };
        #[expect(clippy::cast_possible_truncation, reason = "the numbers are short fractions")]
        let singles = bytes(&|number| (number as f32).to_le_bytes().to_vec());
        for (descr, content) in [
            ("'<f2'", bytes(&|number| f16::from_f64(number).to_le_bytes().to_vec())),
            ("'<f4'", singles),
            ("'<f8'", bytes(&|number| number.to_le_bytes().to_vec())),
        ] {
            let mut array = open(&array(descr, "False", "(2, 2)", &content)).unwrap();
            let mut row = Vec::new();
            let mut read = Vec::new();
            while read.len() < numbers.len() {
                array.read_row(&mut row).unwrap();
                read.extend(&row);
            }
            assert_eq!((array.rows, &*read), (2, &numbers[..]), "{descr}");
        }
    }

    #[test]
    fn a_written_header_is_read_and_always_as_long() {
        for (rows, dimension) in [(0, 1), (3, 4), (u64::MAX, MAX_DIMENSION)] {
            let header = npy_header(rows, dimension);
            assert_eq!(header.len(), HEADER_BYTES);
            let text = str::from_utf8(&header[PREFIX_BYTES..]).unwrap();
            assert_eq!(parse(text), Ok((NumberType::F32, rows, dimension)));
        }
    }

    #[test]
    fn other_arrays_are_refused_with_what_to_do() {
        let long = format!("(1, {})", MAX_DIMENSION + 1);
        for (bytes, reason) in [
            (array("'|O'", "False", "(1,)", b"\x80\x04"), "pickled"),
            (array("'>f4'", "False", "(1, 1)", &[0; 4]), "big-endian"),
            (array("'<i8'", "False", "(1, 1)", &[0; 8]), "have the type <i8"),
            (array("[('a', '<f4')]", "False", "(1, 1)", &[0; 4]), "several fields"),
            (array("'<f4'", "True", "(1, 1)", &[0; 4]), "Fortran"),
            (array("'<f4'", "False", "(4,)", &[0; 16]), "two dimensions"),
            (array("'<f4'", "False", "(1, 0)", &[]), "0 numbers"),
            (array("'<f4'", "False", &long, &[]), "the limit is 65536"),
            (array("'<f4'", "False", "(2, 2)", &[0; 15]), "truncated"),
            (array("'<f4'", "False", "(9223372036854775807, 9)", &[0; 4]), "truncated"),
            (array("'<f4'", "False", "(1, -1)", &[0; 4]), "damaged"),
            (array("'<f4'", "False", "(1, 1)", &[0; 4])[..30].to_vec(), "damaged"),
            (b"PK\x03\x04and more".to_vec(), ".npz"),
            (b"file_name,embedding".to_vec(), "not a .npy file"),
            (Vec::new(), "not a .npy file"),
        ] {
            let refused = open(&bytes).unwrap_err();
            assert!(refused.contains(reason), "{refused}, {reason} expected");
        }
    }
}
