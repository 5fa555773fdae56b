//! The line-based output of the accessible interface.

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
async fn every_line_starts_with_its_kind_and_choices_are_numbers() {
    let output = Output::default();
    let mut announcer = Announcer::new(&b"9\nx\n2\n"[..], output.clone());
    announcer.status("two\nlines\u{1b}[2J").unwrap();
    assert_eq!(announcer.prompt_choice("Which?", 3).await.unwrap(), Some(1));
    assert_eq!(announcer.prompt_choice("Which?", 3).await.unwrap(), None, "end of input");
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    let kinds: Vec<&str> = written.lines().filter_map(|line| line.split(':').next()).collect();
    let expected = ["status", "question", "error", "question", "error", "question", "question"];
    assert_eq!(kinds, expected, "{written}");
    assert!(written.starts_with("status: two␊lines␛[2J\n"));
}
