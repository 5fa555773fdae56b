//! The imperative shell: the loop, the terminal, the signals.
