//! What an export or an import of embeddings has done.

use std::path::PathBuf;

use crate::Coverage;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingExport {
    /// The name of the model whose vectors were written. `None` stands for our own descriptor.
    pub model: Option<String>,
    pub dimension: usize,
    /// How many images and frames have a vector. Only these are in the file.
    pub coverage: Coverage,
    /// The list of names of an array.
    pub names: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingImport {
    /// The name of the file.
    pub name: String,
    pub dimension: usize,
    /// How many images and frames have an embedding now.
    pub coverage: Coverage,
    /// The number of rows that were left out.
    pub refused: u64,
    /// The first rows that were left out, with the reasons.
    pub examples: Vec<String>,
}
