//! Line-based input and output: each line starts with its kind, and nothing is drawn over.

use std::{
    fmt::Display,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tessera_model::SafeText;
use tokio::task::JoinHandle;

/// A line that is being read.
pub type PromptedLine = JoinHandle<io::Result<Option<String>>>;

pub struct Announcer {
    input: Arc<Mutex<dyn BufRead + Send>>,
    output: Box<dyn Write + Send>,
}

impl Announcer {
    pub fn new(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> Self {
        Self { input: Arc::new(Mutex::new(input)), output: Box::new(output) }
    }

    pub fn status(&mut self, text: impl Display) -> io::Result<()> {
        self.line("status", &text)
    }

    pub fn error(&mut self, text: impl Display) -> io::Result<()> {
        self.line("error", &text)
    }

    pub fn item(&mut self, text: impl Display) -> io::Result<()> {
        self.line("item", &text)
    }

    /// Prints a question and reads one line, or `None` at the end of the input. It is read on a blocking
    /// thread, so that responses are handled meanwhile.
    pub fn prompt(&mut self, question: impl Display) -> io::Result<PromptedLine> {
        self.line("question", &question)?;
        let input = Arc::clone(&self.input);
        Ok(tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
            let count = input.read_line(&mut line)?;
            Ok((count > 0).then(|| line.trim().to_owned()))
        }))
    }

    fn line(&mut self, kind: &str, text: &dyn Display) -> io::Result<()> {
        // One line in any case: a line break would start a line without a kind.
        let text = SafeText::new(&text.to_string(), SafeText::MAX_CAPTION);
        writeln!(self.output, "{kind}: {text}")?;
        self.output.flush()
    }
}
