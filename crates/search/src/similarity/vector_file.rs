//! Vectors in a file. At the first query, those that memory is left for are mapped: they are in memory once for all
//! processes, as far as the operating system has room for them. The others are read piece by piece for each query.

use std::{fs::File, io, os::unix::fs::FileExt as _, sync::OnceLock};

use half::f16;
use rayon::prelude::*;
use symbolic_common::ByteView;
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::{
    kernel,
    vector_memory::{Reservation, VectorMemory},
};

/// Rows read at a time. Those of 256 numbers fit the second-level cache.
const ROWS_PER_READ: usize = 512;

/// Unit vectors, row by row, from the first byte of a file on, in the byte order of the machine. The file is complete
/// and never changed: the process ends if it becomes shorter during a query.
#[derive(Debug)]
pub struct VectorFile {
    file: File,
    dimension: usize,
    rows: usize,
    memory: VectorMemory,
    mapped: OnceLock<MappedRows>,
}

/// The first rows, and what is mapped of the file.
#[derive(Debug)]
struct MappedRows {
    file: ByteView<'static>,
    reservation: Reservation,
}

impl MappedRows {
    /// Their numbers, one after the other.
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

    /// The distance of every row from `query`.
    ///
    /// # Panics
    /// There are rows, and the dimension of the query differs.
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

    /// Empty if the file has become shorter, which reading it then reports.
    fn mapped_numbers(&self) -> io::Result<&[f16]> {
        let numbers = self.mapped.get_or_init(|| self.map_rows()).numbers();
        let is_complete = self.file.metadata()?.len() >= size_of_val(numbers) as u64;
        Ok(if is_complete { numbers } else { &[] })
    }

    /// As many whole pieces as there is memory for. None if the file cannot be mapped or is too short, which reading
    /// it then reports.
    fn map_rows(&self) -> MappedRows {
        let file = ByteView::map_file_ref(&self.file).unwrap_or_else(|_| ByteView::from_slice(&[]));
        let piece = ROWS_PER_READ * self.dimension * size_of::<f16>();
        let all = self.rows * self.dimension * size_of::<f16>();
        let mut reservation = self.memory.reserve(if file.len() < all { 0 } else { all });
        if reservation.bytes() < all {
            reservation.shrink(reservation.bytes() - reservation.bytes() % piece);
        }
        MappedRows { file, reservation }
    }

    fn read_numbers(&self, first: usize, numbers: &mut [f16]) -> io::Result<()> {
        self.file.read_exact_at(numbers.as_mut_bytes(), (first * size_of::<f16>()) as u64)
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
}
