//! Writes embeddings for other programs: a Parquet file with the columns `file_name` and `embedding`, or an array of
//! `NumPy` with a list of names. The files get their names when they are complete, and overwrite nothing.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use half::f16;
use tempfile::NamedTempFile;

use super::parquet_table::{
    Cell, Field,
    FieldKind::{Float, List, Text},
    TableWriter,
};
use tessera_files::{parent_dir, publish_new, sync_dir, synced};
use tessera_media::ingest::embeddings::npy_header;

pub(crate) struct EmbeddingWriter {
    dimension: usize,
    rows: u64,
    format: Format,
}

enum Format {
    Parquet { table: TableWriter<'static, BufWriter<File>>, file: NewFile },
    Npy { array: BufWriter<File>, file: NewFile, list: BufWriter<File>, names: NewFile },
}

/// A file that has a temporary name until it is complete.
struct NewFile {
    temporary: NamedTempFile,
    target: PathBuf,
}

fn unknown_format(target: &Path) -> String {
    format!("{}: give a name that ends in .parquet or .npy", target.display())
}

impl EmbeddingWriter {
    /// Fails unless the end of a name says which format its file has.
    pub fn check_extension(target: &Path) -> Result<(), String> {
        let extension = target.extension().unwrap_or_default().to_ascii_lowercase();
        let is_known = extension == "parquet" || extension == "npy";
        if is_known { Ok(()) } else { Err(unknown_format(target)) }
    }

    /// Begins a file for vectors of a dimension. The end of its name says which format it has.
    ///
    /// # Errors
    /// The file exists, cannot be created, or has another name.
    pub fn create(target: &Path, dimension: usize) -> Result<Self, String> {
        let extension = target.extension().unwrap_or_default().to_ascii_lowercase();
        let format = match extension.to_str() {
            Some("parquet") => {
                let file = NewFile::create(target)?;
                let fields = vec![
                    Field::required("file_name", Text),
                    Field::required("embedding", List(&Float)),
                ];
                let table = TableWriter::new(file.writer()?, fields, None);
                Format::Parquet { table: table.map_err(|error| file.failed(&error))?, file }
            }
            Some("npy") => {
                let names = NewFile::create(&target.with_extension("txt"))?;
                let file = NewFile::create(target)?;
                let (mut array, list) = (file.writer()?, names.writer()?);
                let header = npy_header(0, dimension);
                array.write_all(&header).map_err(|error| file.failed(&error))?;
                Format::Npy { array, file, list, names }
            }
            _ => return Err(unknown_format(target)),
        };
        Ok(Self { dimension, rows: 0, format })
    }

    pub fn push(&mut self, name: &str, vector: &[f16]) -> Result<(), String> {
        self.rows += 1;
        match &mut self.format {
            Format::Parquet { table, file } => {
                let numbers = vector.iter().map(|number| Cell::Float(number.to_f32()));
                let row = [Cell::text(name), Cell::List(numbers.collect())];
                table.push(row).map_err(|error| file.failed(&error))
            }
            Format::Npy { .. } if name.contains(['\n', '\r']) => Err(format!(
                "a list of names has one name per line, and {name:?} has a line break; export to .parquet"
            )),
            Format::Npy { array, file, list, names } => {
                let numbers: Vec<u8> =
                    vector.iter().flat_map(|number| number.to_f32().to_le_bytes()).collect();
                array.write_all(&numbers).map_err(|error| file.failed(&error))?;
                writeln!(list, "{name}").map_err(|error| names.failed(&error))
            }
        }
    }

    /// Gives the files their names. Returns the list of names of an array.
    pub fn finish(self) -> Result<Option<PathBuf>, String> {
        match self.format {
            Format::Parquet { table, file } => {
                let written = table.finish().map_err(|error| file.failed(&error))?;
                file.publish(written)?;
                Ok(None)
            }
            Format::Npy { mut array, file, list, names } => {
                let header = npy_header(self.rows, self.dimension);
                let rewritten = array.rewind().and_then(|()| array.write_all(&header));
                rewritten.map_err(|error| file.failed(&error))?;
                let list_path = names.target.clone();
                // The array comes last, so that an array never lacks its names.
                names.publish(list)?;
                file.publish(array).inspect_err(|_| {
                    // The list was published just now, and would be in the way of another try.
                    let _ = fs::remove_file(&list_path);
                })?;
                Ok(Some(list_path))
            }
        }
    }
}

impl NewFile {
    fn create(target: &Path) -> Result<Self, String> {
        let path = target.display();
        if target.symlink_metadata().is_ok() {
            return Err(format!(
                "{path} already exists, and nothing is overwritten; give another name"
            ));
        }
        let temporary = tessera_files::shared_temporary(target)
            .map_err(|error| format!("cannot write {path}: {error}"))?;
        Ok(Self { temporary, target: target.to_owned() })
    }

    fn writer(&self) -> Result<BufWriter<File>, String> {
        let file = self.temporary.as_file().try_clone();
        file.map(BufWriter::new).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &dyn std::error::Error) -> String {
        format!("cannot write {}: {error}", self.target.display())
    }

    /// Makes the file durable, and gives it its name.
    fn publish(self, written: BufWriter<File>) -> Result<(), String> {
        let Self { temporary, target } = self;
        let publish = || -> io::Result<()> {
            synced(written.into_inner()?.sync_all())?;
            publish_new(temporary.into_temp_path(), &target)?;
            sync_dir(parent_dir(&target))
        };
        publish().map_err(|error| format!("cannot write {}: {error}", target.display()))
    }
}
