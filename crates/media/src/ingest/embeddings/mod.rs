//! Reads embeddings that were computed elsewhere: a Parquet file with the columns `file_name` and `embedding`, or an
//! array of `NumPy` with a list of names in the same order. Each row is checked on its own.

mod npy;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use half::f16;
use serde_json::Value;
use tessera_parquet::{Columns, ParquetFile};

use super::{
    sidecar::{csv_names, file_column, name_file_column},
    text_encoding::to_utf8,
};
use npy::NpyArray;
pub use npy::npy_header;

/// The maximum number of numbers of an embedding, as for a model.
pub const MAX_DIMENSION: usize = 1 << 16;
/// The maximum size of a list of names.
const MAX_NAMES_BYTES: u64 = 1 << 30;
/// The names of the column of vectors, in the order in which they are tried.
const VECTOR_COLUMNS: [&str; 3] = ["embedding", "embeddings", "vector"];
/// The extensions of the lists of names that are looked for beside an array.
const NAMES_EXTENSIONS: [&str; 2] = ["txt", "csv"];

/// A file with embeddings.
pub struct EmbeddingFile {
    path: PathBuf,
    /// The list of names of an array.
    names: Option<PathBuf>,
    rows: Rows,
}

enum Rows {
    Npy { array: NpyArray, names: Vec<String> },
    Parquet { file: ParquetFile, name: String, vector: &'static str },
}

/// A row of a file with embeddings.
pub struct EmbeddingRow<'a> {
    /// The number of the row, counted from 1.
    pub number: u64,
    /// The name of a file, as the writer of the file with embeddings called it.
    pub name: &'a str,
    /// The embedding as a unit vector, or what is wrong with it.
    pub vector: Result<Vec<f16>, String>,
}

impl EmbeddingFile {
    /// Opens a file. Without `names`, the names of the rows of an array are in the text file or CSV file beside it.
    ///
    /// # Errors
    /// The file cannot be read, or its rows are not embeddings. The sentence says why.
    pub fn open(path: &Path, names: Option<&Path>) -> Result<Self, String> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("npy") => Self::open_array(path, names).map_err(|why| about(path, &why)),
            Some("parquet") if names.is_some() => {
                Err("--names belongs to a .npy file; a Parquet file has names of its own"
                    .to_owned())
            }
            Some("parquet") => Self::open_parquet(path).map_err(|why| about(path, &why)),
            _ => Err(about(path, "its name ends neither in .npy nor in .parquet")),
        }
    }

    fn open_array(path: &Path, names: Option<&Path>) -> Result<Self, String> {
        let array = NpyArray::open(path)?;
        let beside = || NAMES_EXTENSIONS.map(|extension| path.with_extension(extension));
        let list = names.map(Path::to_owned);
        let list = list.or_else(|| beside().into_iter().find(|list| list.is_file()));
        let list = list.ok_or("it has no names; give a list in the same order with --names")?;
        let names = read_names(&list).map_err(|why| about(&list, &why))?;
        if names.len() as u64 != array.rows {
            let (rows, count) = (array.rows, names.len());
            return Err(format!("it has {rows} rows, but {} has {count} names", list.display()));
        }
        Ok(Self { path: path.to_owned(), names: Some(list), rows: Rows::Npy { array, names } })
    }

    fn open_parquet(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|cause| cause.to_string())?;
        let damaged = |cause| format!("it is not a Parquet file, or it is damaged: {cause}");
        let file = ParquetFile::open(file).map_err(damaged)?;
        let columns = file.column_names();
        let vector = VECTOR_COLUMNS.into_iter().find(|name| columns.iter().any(|it| it == name));
        let vector = vector.ok_or("it has no column embedding")?;
        let name = file_column(&columns).ok_or("it has no column file_name")?;
        let rows = Rows::Parquet { file, name, vector };
        Ok(Self { path: path.to_owned(), names: None, rows })
    }

    /// Returns the file, and the list of names if there is one.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.path), self.names.as_ref()].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Calls `each` with every row until it returns false.
    ///
    /// # Errors
    /// The file cannot be read to its end.
    pub fn for_each(self, mut each: impl FnMut(EmbeddingRow<'_>) -> bool) -> Result<(), String> {
        let read = match self.rows {
            Rows::Npy { array, names } => for_each_of_array(array, &names, &mut each),
            Rows::Parquet { file, name, vector } => {
                for_each_of_parquet(&file, &name, vector, &mut each)
            }
        };
        read.map_err(|why| about(&self.path, &why))
    }
}

fn about(path: &Path, why: &str) -> String {
    format!("{}: {why}", path.display())
}

/// Reads the names of the rows of an array: one per line, or the column of files of a CSV file.
fn read_names(list: &Path) -> Result<Vec<String>, String> {
    let length = fs::metadata(list).map_err(|cause| cause.to_string())?.len();
    if length > MAX_NAMES_BYTES {
        return Err("it is larger than 1 GiB".to_owned());
    }
    let bytes = to_utf8(fs::read(list).map_err(|cause| cause.to_string())?);
    if list.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return csv_names(&bytes, name_file_column).map(Iterator::collect);
    }
    Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

fn for_each_of_array(
    mut array: NpyArray,
    names: &[String],
    each: &mut impl FnMut(EmbeddingRow<'_>) -> bool,
) -> Result<(), String> {
    let mut row = Vec::new();
    for (number, name) in (1..).zip(names) {
        array.read_row(&mut row)?;
        if !each(EmbeddingRow { number, name, vector: unit_vector(&row) }) {
            break;
        }
    }
    Ok(())
}

fn for_each_of_parquet(
    file: &ParquetFile,
    name: &str,
    vector: &str,
    each: &mut impl FnMut(EmbeddingRow<'_>) -> bool,
) -> Result<(), String> {
    let (mut number, mut is_stopped, mut dimension) = (0, false, None);
    let read = file.for_each_row(Columns::Named(&[name, vector]), &mut |row| {
        number += 1;
        let name = row[name].as_str().unwrap_or_default();
        let vector = read_vector(&row[vector], &mut dimension);
        is_stopped = !each(EmbeddingRow { number, name, vector });
        if is_stopped { Err("stopped".into()) } else { Ok(()) }
    });
    if is_stopped { Ok(()) } else { read.map_err(|cause| cause.to_string()) }
}

/// Reads the vector of a row. All vectors have the dimension of the first one.
fn read_vector(value: &Value, dimension: &mut Option<usize>) -> Result<Vec<f16>, String> {
    let numbers = value.as_array().ok_or("it has no list of numbers")?;
    // JSON has no number for a value that is not finite.
    let numbers: Vec<f64> = numbers.iter().map(|it| it.as_f64().unwrap_or(f64::NAN)).collect();
    if numbers.is_empty() || numbers.len() > MAX_DIMENSION {
        return Err(format!("it has {} numbers; the limit is {MAX_DIMENSION}", numbers.len()));
    }
    let expected = *dimension.get_or_insert(numbers.len());
    if numbers.len() != expected {
        return Err(format!("it has {} numbers, and the first row has {expected}", numbers.len()));
    }
    unit_vector(&numbers)
}

/// Scales a vector to length 1.
fn unit_vector(numbers: &[f64]) -> Result<Vec<f16>, String> {
    if numbers.iter().any(|number| !number.is_finite()) {
        return Err("it has a number that is not finite".to_owned());
    }
    // Without this scale, the squares of large or small numbers would be infinite or zero.
    let scale = numbers.iter().fold(0.0_f64, |max, number| max.max(number.abs()));
    if scale == 0.0 {
        return Err("all its numbers are zero".to_owned());
    }
    let squares = numbers.iter().map(|number| (number / scale).powi(2));
    let length = squares.sum::<f64>().sqrt();
    Ok(numbers.iter().map(|number| f16::from_f64(number / scale / length)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_any_size_become_unit_vectors() {
        for scale in [1.0, 1e300, 1e-300] {
            let vector = unit_vector(&[3.0 * scale, 4.0 * scale]).unwrap();
            assert_eq!(vector, [f16::from_f64(0.6), f16::from_f64(0.8)]);
        }
        for refused in [[0.0, 0.0], [1.0, f64::NAN], [f64::INFINITY, 1.0]] {
            assert!(unit_vector(&refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn lists_of_names_are_read_as_editors_and_spreadsheets_write_them() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("a.txt", &b"a.jpg\nb c.jpg\n"[..]),
            ("b.txt", b"\xef\xbb\xbfa.jpg\r\nb c.jpg"),
            ("c.csv", b"row;path\r\n1;a.jpg\r\n2;\"b c.jpg\"\r\n"),
        ] {
            let list = folder.path().join(name);
            fs::write(&list, content).unwrap();
            assert_eq!(read_names(&list).unwrap(), ["a.jpg", "b c.jpg"], "{name}");
        }
    }
}
