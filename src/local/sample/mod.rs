//! Paints the sample dataset.
