//! A service that is run by the real binary.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

/// A service that ends with the test, and what it reported at its start.
pub struct Serving(pub Child, pub Value);

impl Serving {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, serde_json::from_str(&line).unwrap())
    }

    pub fn field(&self, field: &str) -> &str {
        self.1[field].as_str().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The service may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
