//! The text space (latent semantic analysis): vectors of captions and queries that are close if the
//! texts have similar content, trained on the captions and labels of one dataset.
//!
//! Every word has a vector, and the vector of a text is the sum of its words. The first part of a
//! word vector is latent (words that occur together are close: "boat" and "sails"), the second part
//! separates words that the first does not (see `lsa/train.rs`).

mod svd;
mod text_space;
mod train;

pub use text_space::TextSpace;
