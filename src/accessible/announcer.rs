//! Line-based input and output: each line starts with its kind, and nothing is drawn over.

use std::{
    fmt::Display,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tessera_model::SafeText;

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

    /// Reads one line, or returns `None` at the end of the input.
    pub async fn prompt(&mut self, question: impl Display) -> io::Result<Option<String>> {
        self.line("question", &question)?;
        let input = Arc::clone(&self.input);
        // On a blocking thread, so that signals are handled while the prompt waits.
        let read = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
            let count = input.read_line(&mut line)?;
            Ok((count > 0).then(|| line.trim().to_owned()))
        });
        read.await.map_err(io::Error::other)?
    }

    /// Prompts for one of `count` items, and returns its index; `None` for 0 or an empty line.
    pub async fn prompt_choice(
        &mut self,
        question: &str,
        count: usize,
    ) -> io::Result<Option<usize>> {
        loop {
            let Some(line) = self.prompt(format!("{question} 1 to {count}, or 0 for none")).await?
            else {
                return Ok(None);
            };
            match line.parse::<usize>() {
                Ok(0) => return Ok(None),
                Ok(number) if number <= count => return Ok(Some(number - 1)),
                _ if line.is_empty() => return Ok(None),
                _ => self.error(format!("{line} is not a number from 1 to {count}"))?,
            }
        }
    }

    fn line(&mut self, kind: &str, text: &dyn Display) -> io::Result<()> {
        // One line in any case: a line break would start a line without a kind.
        let text = SafeText::new(&text.to_string(), SafeText::MAX_CAPTION);
        writeln!(self.output, "{kind}: {text}")?;
        self.output.flush()
    }
}
