//! What near-duplicates are reported as.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicatePair {
    /// The lower row and the higher one.
    pub rows: (u32, u32),
    /// 1.0: identical; from 0.84 on, matched by corners.
    pub similarity: f32,
}
