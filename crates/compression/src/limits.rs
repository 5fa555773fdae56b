//! How much memory decoders may take.

/// The part of its output that a decoder keeps in memory, at most. `zstd --long` asks for as much, `xz -9` for half.
pub const MAX_DICTIONARY_BYTES: u64 = 128 << 20;
