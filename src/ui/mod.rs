//! View only: reads the app, writes a frame.
