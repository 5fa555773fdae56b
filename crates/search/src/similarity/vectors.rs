//! Computes the distances of all vectors of a dataset from a query. The vectors are in memory, or in a file of which
//! `VectorMemory` decides how much is mapped.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt as _,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use half::f16;
use rayon::prelude::*;
use symbolic_common::ByteView;
use tessera_media::network_file_system::network_file_system_of;
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::kernel;

/// Number of rows per task, which is enough work for another core.
const ROWS_PER_TASK: usize = 1024;

/// Unit vectors, row by row. 100,000 rows of 256 numbers take 49 MiB.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    dimension: usize,
    rows: Vec<f16>,
}

impl Vectors {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, rows: Vec::new() }
    }

    /// Creates rows of zeros, for [`Self::set`].
    pub fn zeros(dimension: usize, rows: usize) -> Self {
        Self { dimension, rows: vec![f16::ZERO; rows * dimension] }
    }

    /// Creates rows from unit vectors that follow one another.
    pub fn from_numbers(dimension: usize, numbers: Vec<f16>) -> Self {
        Self { dimension, rows: numbers }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Appends a unit vector.
    ///
    /// # Panics
    /// Panics if the dimension differs.
    pub fn push(&mut self, vector: &[f16]) {
        assert_eq!(vector.len(), self.dimension, "a vector of another dimension");
        self.rows.extend_from_slice(vector);
    }

    /// Replaces a row by a unit vector.
    ///
    /// # Panics
    /// Panics if the dimension differs.
    pub fn set(&mut self, row: usize, vector: &[f16]) {
        self.rows[row * self.dimension..][..self.dimension].copy_from_slice(vector);
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.dimension.max(1)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn row(&self, row: usize) -> &[f16] {
        &self.rows[row * self.dimension..][..self.dimension]
    }

    pub(super) fn block(&self, first: usize, count: usize) -> &[f16] {
        let end = (first + count).min(self.len());
        &self.rows[first * self.dimension..end * self.dimension]
    }

    /// Returns the distance of every row from `query`.
    ///
    /// # Panics
    /// Panics if there are rows, and the dimension of the query differs.
    pub fn distances(&self, query: &[f16]) -> Vec<f32> {
        if self.is_empty() {
            return Vec::new();
        }
        assert_eq!(query.len(), self.dimension, "a query of another dimension");
        let mut distances = vec![0.0; self.len()];
        let query = kernel::prescaled(query);
        distances
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(self.rows.par_chunks(ROWS_PER_TASK * self.dimension))
            .for_each(|(out, rows)| kernel::scan(rows, &query, out));
        distances
    }
}

/// Number of rows that are read at a time. A piece of 256-number rows fits the second-level cache.
const ROWS_PER_READ: usize = 512;

/// Unit vectors in a file, row by row from its first byte on, in the byte order of the machine.
///
/// At the first query, as many vectors are mapped as there is memory for. Mapped vectors are in memory once for all
/// processes, as far as the operating system has room for them. The remaining vectors are read piece by piece for each
/// query. The file must be complete and must not change, because the process would crash if the file became shorter
/// during a query.
#[derive(Debug)]
pub struct VectorFile {
    file: File,
    dimension: usize,
    rows: usize,
    memory: VectorMemory,
    mapped: OnceLock<MappedRows>,
}

/// The mapped part of the file, which contains the first rows.
#[derive(Debug)]
struct MappedRows {
    file: ByteView<'static>,
    reservation: Reservation,
}

impl MappedRows {
    /// Returns the numbers of the mapped rows.
    fn numbers(&self) -> &[f16] {
        let bytes = self.file.get(..self.reservation.bytes()).unwrap_or_default();
        <[f16]>::ref_from_bytes(bytes).unwrap_or_default()
    }
}

impl VectorFile {
    pub fn new(file: File, dimension: usize, rows: usize, memory: &VectorMemory) -> Self {
        Self { file, dimension, rows, memory: memory.clone(), mapped: OnceLock::new() }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the distance of every row from `query`.
    ///
    /// # Panics
    /// Panics if there are rows, and the dimension of the query differs.
    pub fn distances(&self, query: &[f16]) -> io::Result<Vec<f32>> {
        if self.rows == 0 {
            return Ok(Vec::new());
        }
        assert_eq!(query.len(), self.dimension, "a query of another dimension");
        let mut distances = vec![0.0; self.rows];
        let query = kernel::prescaled(query);
        let mapped = self.mapped_numbers()?;
        distances.par_chunks_mut(ROWS_PER_READ).enumerate().try_for_each_init(
            Vec::new,
            |buffer, (chunk, out)| {
                let first = chunk * ROWS_PER_READ * self.dimension;
                let count = out.len() * self.dimension;
                if let Some(rows) = mapped.get(first..first + count) {
                    kernel::scan(rows, &query, out);
                } else {
                    buffer.resize(count, f16::ZERO);
                    self.read_numbers(first, buffer)?;
                    kernel::scan(buffer, &query, out);
                }
                Ok::<_, io::Error>(())
            },
        )?;
        Ok(distances)
    }

    /// Returns the mapped numbers. Returns none if the file has become shorter, because reading the file then reports
    /// the error.
    fn mapped_numbers(&self) -> io::Result<&[f16]> {
        let numbers = self.mapped.get_or_init(|| self.map_rows()).numbers();
        let is_complete = self.file.metadata()?.len() >= size_of_val(numbers) as u64;
        Ok(if is_complete { numbers } else { &[] })
    }

    /// Maps as many whole pieces as there is memory for. Maps nothing if the file cannot be mapped or is too short,
    /// because reading the file then reports the error.
    fn map_rows(&self) -> MappedRows {
        let file = ByteView::map_file_ref(&self.file).unwrap_or_else(|_| ByteView::from_slice(&[]));
        let piece = ROWS_PER_READ * self.dimension * size_of::<f16>();
        let all = self.rows * self.dimension * size_of::<f16>();
        let mut reservation = self.memory.reserve(if file.len() < all { 0 } else { all });
        if reservation.bytes() < all {
            reservation.reduce_to(reservation.bytes() - reservation.bytes() % piece);
        }
        MappedRows { file, reservation }
    }

    fn read_numbers(&self, first: usize, numbers: &mut [f16]) -> io::Result<()> {
        self.file.read_exact_at(numbers.as_mut_bytes(), (first * size_of::<f16>()) as u64)
    }
}

/// Maximum size of mapped vectors, which is the size for 1.5 million media items with 256 numbers each. With everything
/// else that searches of a million items need, a process stays below 1.2 GB.
const MAX_BYTES: usize = 736 << 20;
/// The divisor that gives the share of the memory that was available when the service started.
const SHARE: usize = 4;

/// The remaining memory for mapped vectors, shared by all vector files.
#[derive(Clone, Debug)]
pub struct VectorMemory(Arc<AtomicUsize>);

impl VectorMemory {
    /// Returns a quarter of the available memory, but at most 736 MiB. Returns none on a network file system.
    pub fn for_files_in(folder: &Path) -> Self {
        let info = fs::read_to_string("/proc/meminfo").ok();
        Self::new(limit(network_file_system_of(folder).is_some(), info.as_deref()))
    }

    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    /// Reserves up to `bytes` of the memory until the reservation is dropped.
    pub(super) fn reserve(&self, bytes: usize) -> Reservation {
        let take = |left: usize| Some(left - left.min(bytes));
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        Reservation { bytes: left.unwrap_or_default().min(bytes), memory: self.clone() }
    }
}

/// Returns the maximum number of mapped bytes. `info` is the content of `/proc/meminfo`.
fn limit(is_network: bool, info: Option<&str>) -> usize {
    if is_network {
        return 0;
    }
    let available = info.and_then(available_bytes).unwrap_or(usize::MAX);
    MAX_BYTES.min(available / SHARE)
}

/// Returns the memory that can be used without swapping. `info` is the content of `/proc/meminfo`.
fn available_bytes(info: &str) -> Option<usize> {
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[derive(Debug)]
pub(super) struct Reservation {
    bytes: usize,
    memory: VectorMemory,
}

impl Reservation {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Releases the bytes that are not needed.
    pub fn reduce_to(&mut self, bytes: usize) {
        let needed = self.bytes.min(bytes);
        self.memory.0.fetch_add(self.bytes - needed, Ordering::Relaxed);
        self.bytes = needed;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.reduce_to(0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const DIMENSION: usize = 4;
    const ROWS: usize = 2 * ROWS_PER_READ + 7;

    #[test]
    fn distances_do_not_depend_on_the_memory() {
        let number = |at: usize| f16::from_f32((at % 97) as f32 / 97.0);
        let numbers: Vec<f16> = (0..ROWS * DIMENSION).map(number).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(numbers.as_bytes()).unwrap();
        let query = &numbers[..DIMENSION];
        let distances = |memory: &VectorMemory| {
            let file = VectorFile::new(file.try_clone().unwrap(), DIMENSION, ROWS, memory);
            let first = file.distances(query).unwrap();
            assert_eq!(file.distances(query).unwrap(), first);
            (first, file.mapped.get().unwrap().numbers().len() / DIMENSION)
        };
        let (all_read, none) = distances(&VectorMemory::new(0));
        let row_bytes = DIMENSION * size_of::<f16>();
        let some = VectorMemory::new((ROWS_PER_READ + 9) * row_bytes);
        assert_eq!(distances(&some), (all_read.clone(), ROWS_PER_READ));
        assert_eq!(distances(&VectorMemory::new(usize::MAX)), (all_read, ROWS));
        assert_eq!(none, 0);
    }

    #[test]
    fn equal_vectors_have_the_distance_zero_and_others_keep_theirs() {
        const DIMENSION: usize = 40;
        let mut vectors = Vectors::new(DIMENSION);
        let rows = [1.0, 1.0, 1.03].map(|first: f32| {
            let numbers = (0..DIMENSION).map(|at| if at == 0 { first } else { 1.0 / at as f32 });
            let length = numbers.clone().map(|number| number * number).sum::<f32>().sqrt();
            // Shorter than one by more than half precision rounds.
            numbers.map(|number| f16::from_f32(number / length * 0.9995)).collect::<Vec<_>>()
        });
        for row in &rows {
            vectors.push(row);
        }
        let distances = vectors.distances(&rows[0]);
        assert_eq!(distances[..2], [0.0, 0.0]);
        assert!(distances[2] > 0.0 && distances[2] < 0.01, "{distances:?}");
        let graph = crate::similarity::neighbor_graph(&vectors, 2, |_| true).unwrap();
        let of_first: Vec<_> = graph[0].iter().map(|it| (it.row, it.distance == 0.0)).collect();
        assert_eq!(of_first, [(1, true), (2, false)]);
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len((ROWS * DIMENSION * size_of::<f16>()) as u64).unwrap();
        let memory = VectorMemory::new(usize::MAX);
        let vectors = VectorFile::new(file.try_clone().unwrap(), DIMENSION, ROWS, &memory);
        vectors.distances(&[f16::ZERO; DIMENSION]).unwrap();
        file.set_len(0).unwrap();
        assert!(vectors.distances(&[f16::ZERO; DIMENSION]).is_err());
    }

    #[test]
    fn a_file_that_is_too_short_is_an_error_and_takes_no_memory() {
        let memory = VectorMemory::new(1 << 20);
        let file = VectorFile::new(tempfile::tempfile().unwrap(), DIMENSION, ROWS, &memory);
        assert!(file.distances(&[f16::ZERO; DIMENSION]).is_err());
        assert_eq!(memory.reserve(1 << 20).bytes(), 1 << 20);
    }

    #[test]
    fn memory_is_given_while_there_is_some_and_given_back() {
        let memory = VectorMemory::new(100);
        let first = memory.reserve(70);
        let mut second = memory.reserve(70);
        assert_eq!((first.bytes(), second.bytes()), (70, 30));
        second.reduce_to(10);
        assert_eq!(memory.reserve(70).bytes(), 20);
        drop(first);
        assert_eq!(memory.reserve(100).bytes(), 90);
    }

    #[test]
    fn a_quarter_of_the_available_memory_is_mapped_but_not_on_a_network() {
        let info = Some("MemAvailable:   2048 kB\n");
        assert_eq!(limit(false, info), 512 << 10);
        assert_eq!(limit(false, Some("MemAvailable: 99999999 kB\n")), MAX_BYTES);
        assert_eq!(limit(false, None), MAX_BYTES);
        assert_eq!(limit(true, info), 0);
    }

    #[test]
    fn the_available_memory_is_read() {
        let info = "MemTotal:       24684140 kB\nMemAvailable:   24388388 kB\n";
        assert_eq!(available_bytes(info), Some(24_388_388 * 1024));
        assert_eq!(available_bytes("MemTotal: 1 kB\n"), None);
        assert_eq!(available_bytes("MemAvailable: many kB\n"), None);
    }
}
