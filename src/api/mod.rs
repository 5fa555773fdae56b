//! The typed client of the interface.
