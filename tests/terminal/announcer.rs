//! Tests the line-based output of the accessible interface.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use tessera::accessible::Announcer;

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn every_line_starts_with_its_kind_and_is_one_line() {
    let output = Output::default();
    let mut announcer = Announcer::new(&b" 9 \n\n"[..], output.clone());
    announcer.status("two\nlines\u{1b}[2J").unwrap();
    let mut lines = Vec::new();
    for _ in 0..3 {
        lines.push(announcer.prompt("Which?").unwrap().await.unwrap().unwrap());
    }
    assert_eq!(lines, [Some("9".to_owned()), Some(String::new()), None], "then the input ends");
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    assert_eq!(written, format!("status: two␊lines␛[2J\n{}", "question: Which?\n".repeat(3)));
}
