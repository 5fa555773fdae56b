//! What is told of every exchange with the service: with `-v` a line on standard error, with
//! `--trace FILE` a line of JSON, as the interface writes them among its keys and frames.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use crate::{
    api::Witness,
    cli::{Ended, Exit},
    model::{Exchange, Outcome},
};

/// A trace that is being written. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Trace {
    began: Instant,
    /// With why nothing is written any more.
    file: Arc<Mutex<(File, Option<io::Error>)>>,
}

impl Trace {
    /// Begins a new file.
    ///
    /// # Errors
    /// It is there already or cannot be made.
    pub fn to(path: &Path) -> Result<Self, Ended> {
        let file = File::create_new(path).map_err(|error| {
            Ended::new(Exit::Usage, format!("--trace {}: {error}", path.display()))
        })?;
        Ok(Self { began: Instant::now(), file: Arc::new(Mutex::new((file, None))) })
    }

    /// Writes an exchange down, as soon as it is over: a command may be killed.
    pub fn exchange(&self, exchange: &Exchange) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (out, broken) = &mut *file;
        if broken.is_none() {
            let mut line = Witness::record(exchange);
            let at = self.began.elapsed().as_micros();
            line["at_us"] = u64::try_from(at).unwrap_or(u64::MAX).into();
            *broken = writeln!(out, "{line}").err();
        }
    }

    /// Why the trace is not complete, once.
    pub fn broken(&self) -> Option<io::Error> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).1.take()
    }
}

/// Tells every exchange, on standard error and in a trace.
pub fn teller(verbose: bool, trace: Option<Trace>) -> Witness {
    Witness::new(move |exchange| {
        if let Some(trace) = &trace {
            trace.exchange(&exchange);
        }
        if !verbose {
            return;
        }
        let outcome = match &exchange.outcome {
            Outcome::Answered { status, bytes } => format!("{status}, {bytes} bytes"),
            Outcome::Refused { status, words: Some(words) } => format!("{status}: {words}"),
            Outcome::Refused { status, words: None } => status.to_string(),
            Outcome::Lost(cause) => format!("no answer: {cause}"),
        };
        let took = exchange.took.as_millis();
        // Nobody is left to be told when standard error is closed.
        let _ = writeln!(
            io::stderr(),
            "tessera: {} {} -> {outcome} ({took} ms)",
            exchange.method,
            exchange.target
        );
    })
}
