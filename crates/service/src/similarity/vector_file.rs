//! Vectors in a file. Those that memory is left for are read at the first query and kept; the others are read piece by
//! piece for each query, and only what the operating system caches of them is in memory.

use std::{fs::File, io, os::unix::fs::FileExt as _, sync::OnceLock};

use half::f16;
use rayon::prelude::*;
use zerocopy::IntoBytes as _;

use super::{
    kernel,
    vector_memory::{Reservation, VectorMemory},
};

/// Rows read at a time. Those of 256 numbers fit the second-level cache.
const ROWS_PER_READ: usize = 512;

/// Unit vectors, row by row, from the first byte of a file on, in the byte order of the machine.
#[derive(Debug)]
pub struct VectorFile {
    file: File,
    dimension: usize,
    rows: usize,
    memory: VectorMemory,
    kept: OnceLock<KeptRows>,
}

/// The first rows, in memory.
#[derive(Debug)]
struct KeptRows {
    numbers: Vec<f16>,
    _reservation: Reservation,
}

impl VectorFile {
    pub fn new(file: File, dimension: usize, rows: usize, memory: &VectorMemory) -> Self {
        Self { file, dimension, rows, memory: memory.clone(), kept: OnceLock::new() }
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
        let kept = &self.kept.get_or_init(|| self.keep_rows()).numbers;
        distances.par_chunks_mut(ROWS_PER_READ).enumerate().try_for_each_init(
            Vec::new,
            |buffer, (chunk, out)| {
                let first = chunk * ROWS_PER_READ * self.dimension;
                let count = out.len() * self.dimension;
                if let Some(rows) = kept.get(first..first + count) {
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

    /// As many whole pieces as there is memory for. None if they cannot be read, which the query then reports.
    fn keep_rows(&self) -> KeptRows {
        let piece = ROWS_PER_READ * self.dimension;
        let all = self.rows * self.dimension;
        let mut reservation = self.memory.reserve(all * size_of::<f16>());
        let mut count = reservation.bytes() / size_of::<f16>();
        if count < all {
            count -= count % piece;
        }
        let mut numbers = vec![f16::ZERO; count];
        let pieces = numbers.par_chunks_mut(piece).enumerate();
        let read = |(at, numbers): (usize, &mut [f16])| self.read_numbers(at * piece, numbers);
        if pieces.try_for_each(read).is_err() {
            numbers = Vec::new();
        }
        reservation.shrink(numbers.len() * size_of::<f16>());
        KeptRows { numbers, _reservation: reservation }
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
            (first, file.kept.get().unwrap().numbers.len() / DIMENSION)
        };
        let (all_read, none) = distances(&VectorMemory::new(0));
        let row_bytes = DIMENSION * size_of::<f16>();
        let some = VectorMemory::new((ROWS_PER_READ + 9) * row_bytes);
        assert_eq!(distances(&some), (all_read.clone(), ROWS_PER_READ));
        assert_eq!(distances(&VectorMemory::new(usize::MAX)), (all_read, ROWS));
        assert_eq!(none, 0);
    }

    #[test]
    fn a_file_that_is_too_short_is_an_error_and_keeps_no_memory() {
        let memory = VectorMemory::new(1 << 20);
        let file = VectorFile::new(tempfile::tempfile().unwrap(), DIMENSION, ROWS, &memory);
        assert!(file.distances(&[f16::ZERO; DIMENSION]).is_err());
        assert_eq!(memory.reserve(1 << 20).bytes(), 1 << 20);
    }
}
