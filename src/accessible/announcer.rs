//! One line after the other: every line out begins with the word that tells what it is, and every
//! question takes one line in. Nothing is ever drawn over.

use std::{
    fmt::Display,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};

use tessera_model::{Failure, SafeText};

/// Where answers come from and lines go to.
pub struct Announcer {
    input: Arc<Mutex<dyn BufRead + Send>>,
    output: Box<dyn Write + Send>,
}

impl Announcer {
    /// Over these two.
    pub fn new(answers: impl BufRead + Send + 'static, lines: impl Write + Send + 'static) -> Self {
        Self { input: Arc::new(Mutex::new(answers)), output: Box::new(lines) }
    }

    /// How things stand.
    ///
    /// # Errors
    /// Nobody listens any more; so for all that speak.
    pub fn status(&mut self, words: impl Display) -> io::Result<()> {
        self.line("status", &words)
    }

    /// What went wrong, with what to do.
    ///
    /// # Errors
    /// As [`Voice::status`].
    pub fn error(&mut self, words: impl Display) -> io::Result<()> {
        self.line("error", &words)
    }

    /// One of a list.
    ///
    /// # Errors
    /// As [`Voice::status`].
    pub fn item(&mut self, words: impl Display) -> io::Result<()> {
        self.line("item", &words)
    }

    /// Asks; `None` when there are no answers any more.
    ///
    /// # Errors
    /// As [`Voice::status`], or the answers cannot be read.
    pub async fn prompt(&mut self, question: impl Display) -> io::Result<Option<String>> {
        self.line("question", &question)?;
        let answers = Arc::clone(&self.input);
        // On a thread of its own: signals must get through while a person thinks.
        let read = tokio::task::spawn_blocking(move || {
            let mut answer = String::new();
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            let count = answers.read_line(&mut answer)?;
            Ok((count > 0).then(|| answer.trim().to_owned()))
        });
        read.await.map_err(io::Error::other)?
    }

    /// Asks for one of `count` things by its number, 1-based, until it is one or the person types 0
    /// or nothing; gives its place, 0-based.
    ///
    /// # Errors
    /// As [`Voice::ask`].
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

    /// Tells a failure, or hands on what there is.
    ///
    /// # Errors
    /// As [`Voice::status`].
    pub fn announce_failure<T>(&mut self, result: Result<T, Failure>) -> io::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(failure) => self.error(failure).map(|()| None),
        }
    }

    fn line(&mut self, word: &str, words: &dyn Display) -> io::Result<()> {
        // One line, whatever is in it: a line break would begin a line without its word.
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
