//! The core: state and update, pure and synchronous.
