//! Line-based input and output. Every output line starts with its kind, and every prompt reads one
//! line. Nothing is ever drawn over.

use std::{
    fmt::Display,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tessera_model::{Failure, SafeText};

pub struct Announcer {
    input: Arc<Mutex<dyn BufRead + Send>>,
    output: Box<dyn Write + Send>,
}

impl Announcer {
    pub fn new(answers: impl BufRead + Send + 'static, lines: impl Write + Send + 'static) -> Self {
        Self { input: Arc::new(Mutex::new(answers)), output: Box::new(lines) }
    }

    /// Writes a status line.
    pub fn status(&mut self, words: impl Display) -> io::Result<()> {
        self.line("status", &words)
    }

    /// Writes an error and its remedy.
    pub fn error(&mut self, words: impl Display) -> io::Result<()> {
        self.line("error", &words)
    }

    pub fn item(&mut self, words: impl Display) -> io::Result<()> {
        self.line("item", &words)
    }

    /// Reads one line, or returns `None` at the end of the input.
    pub async fn prompt(&mut self, question: impl Display) -> io::Result<Option<String>> {
        self.line("question", &question)?;
        let answers = Arc::clone(&self.input);
        // On a blocking thread, so that signals are handled while the prompt waits.
        let read = tokio::task::spawn_blocking(move || {
            let mut answer = String::new();
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            let count = answers.read_line(&mut answer)?;
            Ok((count > 0).then(|| answer.trim().to_owned()))
        });
        read.await.map_err(io::Error::other)?
    }

    /// Prompts for one of `count` items by its 1-based number and returns its 0-based index. Zero
    /// or an empty line returns `None`.
    pub async fn prompt_choice(
        &mut self,
        question: &str,
        count: usize,
    ) -> io::Result<Option<usize>> {
        loop {
            let Some(answer) =
                self.prompt(format!("{question} 1 to {count}, or 0 for none")).await?
            else {
                return Ok(None);
            };
            match answer.parse::<usize>() {
                Ok(0) => return Ok(None),
                Ok(number) if number <= count => return Ok(Some(number - 1)),
                _ if answer.is_empty() => return Ok(None),
                _ => self.error(format!("{answer} is none of 1 to {count}"))?,
            }
        }
    }

    /// Announces a failure, or returns the value.
    pub fn announce_failure<T>(&mut self, result: Result<T, Failure>) -> io::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(failure) => self.error(failure).map(|()| None),
        }
    }

    fn line(&mut self, word: &str, words: &dyn Display) -> io::Result<()> {
        // One line in any case: a line break would start a line without a kind.
        let words = SafeText::new(&words.to_string(), SafeText::MAX_CAPTION);
        writeln!(self.output, "{word}: {words}")?;
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Paper(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn every_line_begins_with_its_word_and_answers_are_numbers() {
        let paper = Paper::default();
        let mut voice = Announcer::new(&b"9\nx\n2\n"[..], paper.clone());
        voice.status("two\nlines\u{1b}[2J").unwrap();
        assert_eq!(voice.prompt_choice("Which?", 3).await.unwrap(), Some(1));
        assert_eq!(voice.prompt_choice("Which?", 3).await.unwrap(), None, "no answers any more");
        let told = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
        let words: Vec<&str> = told.lines().filter_map(|line| line.split(':').next()).collect();
        let expected = ["status", "question", "error", "question", "error", "question", "question"];
        assert_eq!(words, expected, "{told}");
        assert!(told.starts_with("status: two␊lines␛[2J\n"));
    }
}
