//! The public interface of the crate: decoding, fitting and encoding of pictures.

#![expect(clippy::expect_used, reason = "a failed setup fails the test")]

mod crop;
mod decode;
mod fit;
mod jpeg;
mod libraries;
mod orientation;
mod sixel;
mod thumbnail;
