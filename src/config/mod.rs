//! Settings: the shipped defaults and what overrides them.
