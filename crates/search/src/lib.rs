//! Computes what a search compares: descriptors and keypoints of pictures (`index`), neighbors and near-duplicates
//! (`similarity`), granularities and outliers (`cluster`), and words, stems and vectors of texts (`text`). Everything
//! here works on values in memory or on index files; nothing depends on the store.

pub mod cluster;
pub mod index;
pub mod member_search;
pub mod similarity;
pub mod text;
