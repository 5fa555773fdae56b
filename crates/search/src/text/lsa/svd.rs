//! Computes a truncated singular value decomposition for the text space. Only products with the sparse matrix are
//! needed.

/// Additional directions per iteration, for faster convergence.
const OVERSAMPLING: usize = 16;
const ITERATIONS: usize = 5;
/// Directions weaker than this fraction of the strongest one are noise.
const MIN_RELATIVE_STRENGTH: f32 = 0.03;
/// Maximum number of sweeps of the eigenvalue solver, which converges after six to ten.
const MAX_JACOBI_SWEEPS: usize = 30;

/// A sparse, weighted matrix of texts by words, whose rows have unit length.
pub struct TextMatrix {
    weights: Vec<f32>,
    words: Vec<u32>,
    /// The end of each text in `words`, and the factor that scales the text to a unit vector.
    ends: Vec<(usize, f32)>,
}

impl TextMatrix {
    /// Creates an empty matrix. `weights` has one number per word.
    pub fn new(weights: Vec<f32>) -> Self {
        Self { weights, words: Vec::new(), ends: Vec::new() }
    }

    pub fn push_text(&mut self, words: impl Iterator<Item = u32>) {
        let start = self.words.len();
        self.words.extend(words);
        let weights = self.words[start..].iter().map(|&word| self.weights[word as usize]);
        let length = weights.map(|weight| weight * weight).sum::<f32>().sqrt();
        self.ends.push((self.words.len(), 1.0 / length.max(f32::EPSILON)));
    }

    pub fn weight(&self, word: usize) -> f32 {
        self.weights[word]
    }

    /// Returns `A' A x` for each of the vectors, where `A` is this matrix.
    fn multiply_gram(&self, vectors: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let width = vectors.len();
        let from = transposed(vectors, self.weights.len());
        let mut into = vec![0.0; from.len()];
        let mut sum = vec![0.0; width];
        let mut start = 0;
        for &(end, scale) in &self.ends {
            let words = &self.words[start..end];
            start = end;
            sum.fill(0.0);
            for &word in words {
                let row = &from[word as usize * width..][..width];
                add(&mut sum, scale * self.weights[word as usize], row);
            }
            for &word in words {
                let row = &mut into[word as usize * width..][..width];
                add(row, scale * self.weights[word as usize], &sum);
            }
        }
        let column = |at: usize| into.iter().skip(at).step_by(width).copied().collect();
        (0..width).map(column).collect()
    }
}

/// Returns up to `limit` right singular vectors with their singular values, largest first. `start` must contain at
/// least `limit` + 16 pseudorandom numbers per word. The result is deterministic.
pub fn truncated_svd(texts: &TextMatrix, start: &[Vec<f32>], limit: usize) -> Vec<(f32, Vec<f32>)> {
    let count = (limit + OVERSAMPLING).min(start.len());
    let column = |at: usize| start.iter().map(|numbers| numbers[at]).collect();
    let mut basis: Vec<Vec<f32>> = (0..count).map(column).collect();
    orthonormalize(&mut basis);
    for _ in 0..ITERATIONS {
        basis = texts.multiply_gram(&basis);
        orthonormalize(&mut basis);
    }
    let mapped = texts.multiply_gram(&basis);
    let products =
        basis.iter().map(|a| mapped.iter().map(|b| f64::from(dot(a, b))).collect()).collect();
    let mut directions: Vec<(f32, Vec<f32>)> = symmetric_eigen(products)
        .into_iter()
        .map(|(value, mix)| (singular_value(value), combine(&basis, &mix)))
        .collect();
    let least = directions.first().map_or(0.0, |(strongest, _)| strongest * MIN_RELATIVE_STRENGTH);
    directions.truncate(limit);
    directions.retain(|&(strength, _)| strength > least);
    directions
}

#[expect(clippy::cast_possible_truncation, reason = "singular values of unit rows are small")]
fn singular_value(eigenvalue: f64) -> f32 {
    eigenvalue.max(0.0).sqrt() as f32
}

#[expect(clippy::cast_possible_truncation, reason = "parts of a unit vector")]
fn combine(basis: &[Vec<f32>], mix: &[f64]) -> Vec<f32> {
    let mut sum = vec![0.0; basis.first().map_or(0, Vec::len)];
    basis.iter().zip(mix).for_each(|(vector, &part)| add(&mut sum, part as f32, vector));
    sum
}

fn transposed(vectors: &[Vec<f32>], length: usize) -> Vec<f32> {
    let mut rows = vec![0.0; vectors.len() * length];
    for (at, vector) in vectors.iter().enumerate() {
        let column = rows.iter_mut().skip(at).step_by(vectors.len());
        column.zip(vector).for_each(|(entry, &value)| *entry = value);
    }
    rows
}

/// Orthonormalizes the vectors (Gram-Schmidt). Linearly dependent vectors become zero.
fn orthonormalize(vectors: &mut [Vec<f32>]) {
    for at in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(at);
        let vector = &mut rest[0];
        let full = dot(vector, vector).sqrt();
        for other in before {
            let shared = dot(other, vector);
            add(vector, -shared, other);
        }
        let left = dot(vector, vector).sqrt();
        let scale = if left > full * 1e-4 { 1.0 / left } else { 0.0 };
        for value in vector.iter_mut() {
            *value *= scale;
        }
    }
}

/// Computes `sum += factor * vector`.
pub fn add(sum: &mut [f32], factor: f32, vector: &[f32]) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += factor * value);
}

/// Returns the dot product, computed in lanes that the compiler vectorizes.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut lanes = [0.0_f32; 16];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..16 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

/// Returns the eigenvalues and unit eigenvectors of a symmetric matrix, largest first (Jacobi).
fn symmetric_eigen(mut matrix: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let size = matrix.len();
    let unit = |at: usize| (0..size).map(|other| f64::from(u8::from(at == other))).collect();
    let mut vectors: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for _ in 0..MAX_JACOBI_SWEEPS {
        let total: f64 = matrix.iter().flatten().map(|value| value * value).sum();
        let outside: f64 = total - (0..size).map(|at| matrix[at][at] * matrix[at][at]).sum::<f64>();
        if outside <= total * 1e-14 {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                jacobi_rotate(&mut matrix, &mut vectors, p, q);
            }
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> =
        vectors.into_iter().enumerate().map(|(at, vector)| (matrix[at][at], vector)).collect();
    pairs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    pairs
}

/// Rotates in the plane of `p` and `q` so that their entry becomes zero.
fn jacobi_rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if matrix[p][q].abs() < f64::MIN_POSITIVE {
        return;
    }
    let slope = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for row in matrix.iter_mut() {
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    for rows in [matrix, vectors] {
        let (above, below) = rows.split_at_mut(q);
        for (a, b) in above[p].iter_mut().zip(&mut below[0]) {
            (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> impl FnMut() -> u32 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as u32
        }
    }

    #[test]
    fn the_strongest_directions_are_found() {
        let mut number = numbers();
        let mut texts = TextMatrix::new(vec![1.0; 40]);
        for _ in 0..200 {
            let topic = number() % 4 * 10;
            texts.push_text((0..5).map(|_| topic + number() % 10));
        }
        let mut sign = || if number().is_multiple_of(2) { 1.0 } else { -1.0 };
        let start: Vec<Vec<f32>> = (0..40).map(|_| (0..40).map(|_| sign()).collect()).collect();
        let found = truncated_svd(&texts, &start, 4);
        assert_eq!(found.len(), 4);
        for (at, (strength, direction)) in found.iter().enumerate() {
            for (other, (_, another)) in found.iter().enumerate() {
                let expected = f32::from(u8::from(at == other));
                assert!((dot(direction, another) - expected).abs() < 1e-4);
            }
            let stretched = &texts.multiply_gram(std::slice::from_ref(direction))[0];
            for (value, part) in stretched.iter().zip(direction) {
                assert!((value - strength * strength * part).abs() < 0.05 * strength * strength);
            }
        }
        assert!(found.is_sorted_by(|(a, _), (b, _)| a >= b));
    }

    #[test]
    fn uniform_texts_have_few_directions() {
        let mut texts = TextMatrix::new(vec![1.0; 3]);
        (0..5).for_each(|_| texts.push_text([0, 1].into_iter()));
        let start = vec![vec![1.0, -1.0, 1.0], vec![-1.0, -1.0, 1.0], vec![1.0, 1.0, -1.0]];
        let found = truncated_svd(&texts, &start, 3);
        assert_eq!(found.len(), 1);
        assert!((found[0].0 - 5.0_f32.sqrt()).abs() < 1e-4);
    }

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        let entry = |row: u32, column: u32| {
            f64::from((row.min(column) * 31 + row.max(column) * 17) % 23) / 11.0 - 1.0
        };
        let matrix: Vec<Vec<f64>> =
            (0..9).map(|row| (0..9).map(|column| entry(row, column)).collect()).collect();
        let found = symmetric_eigen(matrix.clone());
        for row in 0..9 {
            for column in 0..9 {
                let parts =
                    found.iter().map(|(value, vector)| value * vector[row] * vector[column]);
                assert!((parts.sum::<f64>() - matrix[row][column]).abs() < 1e-6);
            }
        }
    }
}
