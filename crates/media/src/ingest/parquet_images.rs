//! Presents the images inside Parquet files as files. Each row is a file below its Parquet file, as if the Parquet file
//! were a folder.

use std::{
    io::{self, Cursor, ErrorKind},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use tessera_parquet::{Error, FileColumn, ParquetFile, Source};
use tessera_picture::PictureFormat;

use super::{
    FolderScan, OriginalFiles, ScannedFile, SourceFile,
    features::Features,
    file_names::{printable_path, sanitized_path},
    is_refused, is_unavailable,
    scan::{METADATA_PARQUET, is_parquet, row_of, row_stat},
};

/// Maximum number of rows of a Parquet file that become files. Archives have the same limit.
pub(crate) const MAX_ROWS: usize = 200_000;

/// Adds the rows of all Parquet files that have a column of images. Damaged files and files without such a column add
/// nothing. The known rows of a file that the system cannot read, or that object storage does not send, are kept. Fails
/// only if object storage cannot be reached. The error names the file.
pub fn list_images(files: &dyn OriginalFiles, scan: &mut FolderScan) -> io::Result<()> {
    let candidates = scan.files.iter().filter(|file| {
        is_parquet(&file.path) && file.path.file_name().is_some_and(|name| name != METADATA_PARQUET)
    });
    let candidates: Vec<ScannedFile> = candidates.cloned().collect();
    for file in &candidates {
        let rows = match ImageTable::open(files, &file.path).and_then(|table| row_names(&table)) {
            Ok(rows) => rows,
            Err(cause) if is_unavailable(&cause) => {
                let reason = format!("{}: {cause}", printable_path(&file.path));
                return Err(io::Error::new(cause.kind(), reason));
            }
            Err(cause) => {
                if cause.raw_os_error().is_some() || is_refused(&cause) {
                    scan.unreadable.insert(file.path.clone());
                }
                continue;
            }
        };
        let stat = row_stat(file.stat);
        let row = |name| ScannedFile { path: file.path.join(name), stat };
        scan.files.extend(rows.into_iter().map(row));
    }
    scan.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Returns the file on disk that is or contains the original at `path` in a folder: the Parquet file of a row, and
/// otherwise the file itself.
pub fn containing_file(folder: &Path, path: &Path) -> PathBuf {
    let file = folder.join(path);
    let table = file.parent().filter(|parent| is_parquet(parent) && parent.is_file());
    table.map(Path::to_owned).unwrap_or(file)
}

fn row_names(table: &ImageTable) -> io::Result<Vec<String>> {
    let rows = usize::try_from(table.count_rows()?).unwrap_or(MAX_ROWS).min(MAX_ROWS);
    if rows == 0 {
        return Ok(Vec::new());
    }
    let paths = table.paths(rows)?;
    let extension = if paths.iter().flatten().any(Option::is_none) {
        let first = table.images(0, 1)?.into_iter().flatten().flatten().next().unwrap_or_default();
        PictureFormat::detect(&first).map_or("jpg", PictureFormat::extension)
    } else {
        "jpg"
    };
    let is_list = table.column.is_list();
    let names = (1..).zip(&paths).flat_map(|(row, paths)| {
        let name = move |(position, path): (u64, &Option<Vec<u8>>)| {
            row_name(row, is_list.then_some(position), path.as_deref(), extension)
        };
        (1..).zip(paths).map(name)
    });
    Ok(names.take(MAX_ROWS).collect())
}

/// Returns the name of an image in a row, numbered from 1: `000012-cat.jpg`, or `000012.jpg` if the image has no path.
/// The second image of a list is `000012.2-cat.jpg`.
fn row_name(row: u64, position: Option<u64>, path: Option<&[u8]>, extension: &str) -> String {
    let path = path.map(String::from_utf8_lossy).unwrap_or_default();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let number = match position {
        Some(position) => format!("{row:06}.{position}"),
        None => format!("{row:06}"),
    };
    if name.is_empty() {
        return format!("{number}.{extension}");
    }
    format!("{number}-{}", sanitized_path(name).display())
}

/// Returns the position of an image in the list of its row, counted from 0. A row without a list has one image.
fn position_of(path: &Path) -> usize {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let after_row = name.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('.');
    let digits = after_row.and_then(|rest| rest.split(['-', '.']).next());
    digits
        .and_then(|digits| digits.parse::<usize>().ok())
        .map_or(0, |position| position.saturating_sub(1))
}

/// Number of rows that are read ahead when rows are opened in order. Reading ahead pays off because each read unpacks a
/// whole page.
const ROWS_AHEAD: usize = 64;

pub struct ParquetOriginals {
    /// The files of the dataset, including the Parquet files.
    files: Box<dyn OriginalFiles>,
    /// The Parquet file from which the latest image was opened.
    last_opened: Mutex<Option<OpenParquet>>,
}

struct OpenParquet {
    path: PathBuf,
    table: ImageTable,
    /// The row of the first image in `images`, counted from 0.
    first: u64,
    images: Vec<RowImages>,
}

/// The images of a row.
type RowImages = Vec<Option<Vec<u8>>>;

impl ParquetOriginals {
    pub fn new(files: Box<dyn OriginalFiles>) -> Self {
        Self { files, last_opened: Mutex::new(None) }
    }

    fn open_row(
        &self,
        parquet: &Path,
        (row, position): (u64, usize),
    ) -> io::Result<Box<dyn SourceFile>> {
        let mut current = self.last_opened.lock();
        let open = match current.take().filter(|open| open.path == parquet) {
            Some(open) => current.insert(open),
            None => current.insert(OpenParquet::open(&*self.files, parquet)?),
        };
        let image = open
            .image(row - 1, position)?
            .ok_or_else(|| io::Error::other("the row has no image"))?;
        Ok(Box::new(Cursor::new(image)))
    }
}

impl OriginalFiles for ParquetOriginals {
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let row = relative.parent().filter(|parent| is_parquet(parent)).zip(row_of(relative));
        let row = row.map(|(parquet, row)| (parquet, (row, position_of(relative))));
        let Some((parquet, row)) = row else { return self.files.open_file(relative) };
        if self.is_remote() {
            // The row is tried first, because the parent is hardly ever a folder and each failed attempt costs a
            // request.
            return self.open_row(parquet, row).or_else(|cause| match cause.kind() {
                ErrorKind::NotFound => match self.files.open_file(relative) {
                    // The first error says why the Parquet file cannot be read, which may be archived.
                    Err(other) if other.kind() == ErrorKind::NotFound => Err(cause),
                    opened => opened,
                },
                _ => Err(cause),
            });
        }
        match self.files.open_file(relative) {
            // The parent is a Parquet file, not a folder.
            Err(cause) if cause.kind() == ErrorKind::NotADirectory => self.open_row(parquet, row),
            opened => opened,
        }
    }

    fn is_remote(&self) -> bool {
        self.files.is_remote()
    }
}

impl OpenParquet {
    fn open(files: &dyn OriginalFiles, path: &Path) -> io::Result<Self> {
        let table = ImageTable::open(files, path)?;
        Ok(Self { path: path.to_owned(), table, first: 0, images: Vec::new() })
    }

    fn image(&mut self, row: u64, position: usize) -> io::Result<Option<Vec<u8>>> {
        let index = |first: u64| usize::try_from(row.checked_sub(first)?).ok();
        if index(self.first).is_none_or(|at| at >= self.images.len()) {
            self.read_ahead(row)?;
        }
        let images = index(self.first).and_then(|at| self.images.get(at));
        match images.and_then(|images| images.get(position).cloned().flatten()) {
            // Fewer rows or items of a list are read ahead if the images are large.
            None if images.is_none() || self.table.column.is_list() => {
                self.table.image(row, position)
            }
            image => Ok(image),
        }
    }

    /// Reads a row and those after it.
    fn read_ahead(&mut self, row: u64) -> io::Result<()> {
        // Several threads that share the rows open them only roughly in order.
        let next = self.first + self.images.len() as u64;
        let is_next = match self.images.len() {
            0 => row == next,
            _ => (next..next + ROWS_AHEAD as u64 / 2).contains(&row),
        };
        // The previous images are dropped first, so that they are not in memory together with the next ones.
        self.images = Vec::new();
        let (first, count) = if is_next { (next, ROWS_AHEAD) } else { (row, 1) };
        self.images = self.table.images(first, count)?;
        self.first = first;
        Ok(())
    }
}

/// An image in memory.
impl SourceFile for Cursor<Vec<u8>> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.get_ref().len() as u64)
    }

    fn version(&self) -> io::Result<Option<i64>> {
        Ok(None)
    }
}

struct ImageTable {
    file: ParquetFile,
    column: FileColumn,
}

impl ImageTable {
    pub fn open(folder: &dyn OriginalFiles, path: &Path) -> io::Result<Self> {
        let source = parquet_source(folder.open_file(path)?)?;
        let open = || {
            let file = ParquetFile::open(source)?;
            let column = Features::of(&file).image_column(&file);
            let (_, column) = column.ok_or("it has no column of images")?;
            Ok((file, column))
        };
        let (file, column) = open().map_err(described)?;
        Ok(Self { file, column })
    }

    pub fn count_rows(&self) -> io::Result<u64> {
        self.file.count_rows().map_err(described)
    }

    /// Returns the paths of the images in the first `count` rows. An image without a path gives `None`.
    pub fn paths(&self, count: usize) -> io::Result<Vec<RowImages>> {
        self.file.file_paths(self.column, count).map_err(described)
    }

    /// Returns the images of up to `count` rows (but at least one), starting at row `first`. Rows are counted from 0.
    pub fn images(&self, first: u64, count: usize) -> io::Result<Vec<RowImages>> {
        self.file.files(self.column, first, count).map_err(described)
    }

    pub fn image(&self, row: u64, position: usize) -> io::Result<Option<Vec<u8>>> {
        self.file.file(self.column, row, position).map_err(described)
    }
}

/// Returns the error of reading the file, or an error that says what is damaged.
fn described(cause: Error) -> io::Error {
    cause.downcast().map_or_else(io::Error::other, |cause| *cause)
}

/// Makes a file the source of a Parquet reader.
pub(crate) fn parquet_source(file: Box<dyn SourceFile>) -> io::Result<Source> {
    if let Some(file) = file.on_this_machine() {
        return Ok(file?.into());
    }
    let length = file.length()?;
    Ok(Source::remote(Box::new(file), length))
}
