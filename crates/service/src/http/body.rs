//! Request bodies: multipart forms read part by part, with bounded memory and bounded patience,
//! and the last moments of a body that is refused.

use std::{
    error::Error,
    fmt, iter,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, ready},
    time::Duration,
};

use axum::{
    BoxError,
    body::{Body, BodyDataStream, Bytes},
    extract::{
        DefaultBodyLimit, FromRequest as _, Multipart, Request,
        multipart::{Field, MultipartError},
    },
    http::{StatusCode, header},
};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::timeout;

use super::problem::Problem;
use tessera_model::SafeText;

/// Longest wait for the next bytes of a body.
const IDLE: Duration = Duration::from_secs(30);
/// Longest and most that a refused body is swallowed.
const SWALLOW: (Duration, usize) = (Duration::from_secs(1), 1 << 20);
/// Most parts of a form.
const PARTS: usize = 10_000;
/// Most bytes before the content of a part: its name and the like, or what precedes the first.
const HEAD: usize = 64 << 10;

/// Most bytes of something, and the answer to more.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Bytes.
    pub bytes: u64,
    /// The words of the 413.
    pub words: &'static str,
}

impl Limit {
    /// Whether so many bytes may be.
    pub fn allow(self, bytes: u64) -> Result<(), Problem> {
        if bytes > self.bytes { Err(Problem::too_large(self.words)) } else { Ok(()) }
    }
}

/// A body that says it is larger than `limit` is not read.
pub fn fits(request: &Request, limit: Limit) -> Result<(), Problem> {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    limit.allow(length.unwrap_or_default())
}

/// Takes in a refused body for a moment, because a client that is cut off while it sends never
/// sees why. Who asked first whether to send it has sent nothing, and is not told to.
pub async fn swallow(request: Request) {
    if !request.headers().contains_key(header::EXPECT) {
        swallow_stream(request.into_body().into_data_stream()).await;
    }
}

async fn swallow_stream(mut body: BodyDataStream) {
    let (time, most) = SWALLOW;
    let all = async {
        let mut seen = 0;
        while let Some(Ok(chunk)) = body.next().await {
            seen += chunk.len();
            if seen > most {
                return;
            }
        }
    };
    // Whether it ended or not: the refusal goes out now.
    let _ = timeout(time, all).await;
}

/// Swallows what a parser that is gone was fed from.
async fn swallow_rest(body: Arc<Mutex<BodyDataStream>>) {
    if let Some(body) = Arc::into_inner(body) {
        swallow_stream(body.into_inner().unwrap_or_else(PoisonError::into_inner)).await;
    }
}

/// The parts of a form, one after another.
pub struct Parts {
    multipart: Multipart,
    /// What the parser is fed from.
    body: Arc<Mutex<BodyDataStream>>,
    pace: Arc<Pace>,
    limit: Limit,
    idle: Duration,
    seen: usize,
}

/// One part of a form; to be read to its end, or skipped, before the next.
pub struct Part<'a> {
    field: Field<'a>,
    pace: Arc<Pace>,
    limit: Limit,
    idle: Duration,
}

impl Parts {
    /// The parts of a request with a body of at most `limit`.
    ///
    /// # Errors
    /// 413 when it says that it is larger; 400 when it is no form.
    pub async fn of(mut request: Request, limit: Limit) -> Result<Self, Problem> {
        if let Err(problem) = fits(&request, limit) {
            swallow(request).await;
            return Err(problem);
        }
        let pace = Arc::new(Pace { refused: AtomicUsize::new(0), fed: AtomicUsize::new(0) });
        DefaultBodyLimit::disable().apply(&mut request);
        let (head, body) = request.into_parts();
        let body = Arc::new(Mutex::new(body.into_data_stream()));
        let fed = Body::from_stream(feed(body.clone(), pace.clone(), limit.bytes));
        let request = Request::from_parts(head, fed);
        match Multipart::from_request(request, &()).await {
            Ok(multipart) => Ok(Self { multipart, body, pace, limit, idle: IDLE, seen: 0 }),
            Err(cause) => {
                swallow_rest(body).await;
                Err(Problem::Plain(cause.status(), cause.body_text()))
            }
        }
    }

    /// The next part, if there is one.
    ///
    /// # Errors
    /// 400 for a broken form or too many parts, 408 when nothing comes, 413.
    pub async fn next(&mut self) -> Result<Option<Part<'_>>, Problem> {
        self.seen += 1;
        let next = timeout(self.idle, self.multipart.next_field()).await.map_err(|_| slow())?;
        let Some(field) = next.map_err(|cause| broken(&cause, self.limit))? else {
            return Ok(None);
        };
        if self.seen > PARTS {
            return Err(Problem::bad_request(format!("The form has more than {PARTS} parts")));
        }
        self.pace.satisfied();
        Ok(Some(Part { field, pace: self.pace.clone(), limit: self.limit, idle: self.idle }))
    }

    /// Takes in what is left for a moment, as [`swallow`] does.
    pub async fn swallow(self) {
        let Self { multipart, body, .. } = self;
        drop(multipart);
        swallow_rest(body).await;
    }
}

impl Part<'_> {
    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.field.name()
    }

    /// The file name it was sent with.
    pub fn file_name(&self) -> Option<&str> {
        self.field.file_name()
    }

    /// Its next bytes.
    ///
    /// # Errors
    /// 400 for a broken form, 408 when nothing comes, 413.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        let next = timeout(self.idle, self.field.chunk()).await.map_err(|_| slow())?;
        self.pace.satisfied();
        next.map_err(|cause| broken(&cause, self.limit))
    }

    /// All its bytes.
    ///
    /// # Errors
    /// As [`Part::chunk`], and 413 over `limit`.
    pub async fn bytes(mut self, limit: Limit) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            limit.allow((bytes.len() + chunk.len()) as u64)?;
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Reads past it.
    ///
    /// # Errors
    /// As [`Part::chunk`].
    pub async fn skip(mut self) -> Result<(), Problem> {
        while self.chunk().await?.is_some() {}
        Ok(())
    }
}

/// Between the parser, which takes all it is offered before it looks at any of it, and the body:
/// the parser is fed one piece at a time, and only when what it has is not enough.
struct Pace {
    /// How often the parser asked for more in vain since it was fed or found something.
    refused: AtomicUsize,
    /// Bytes fed since the parser last found something.
    fed: AtomicUsize,
}

/// Looking for the first boundary, the parser asks twice before it looks.
const REFUSALS: usize = 2;

impl Pace {
    fn satisfied(&self) {
        self.refused.store(0, Ordering::Relaxed);
        self.fed.store(0, Ordering::Relaxed);
    }
}

/// A body at its pace, of at most `most` bytes.
fn feed(
    body: Arc<Mutex<BodyDataStream>>,
    pace: Arc<Pace>,
    most: u64,
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
    let mut total = 0;
    stream::poll_fn(move |context| {
        if pace.refused.load(Ordering::Relaxed) < REFUSALS {
            pace.refused.fetch_add(1, Ordering::Relaxed);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if pace.fed.load(Ordering::Relaxed) > HEAD {
            return Poll::Ready(Some(Err(Overrun::Head.into())));
        }
        let mut body = body.lock().unwrap_or_else(PoisonError::into_inner);
        let next = ready!(body.poll_next_unpin(context));
        if let Some(Ok(chunk)) = &next {
            pace.refused.store(0, Ordering::Relaxed);
            pace.fed.fetch_add(chunk.len(), Ordering::Relaxed);
            total += chunk.len() as u64;
            if total > most {
                return Poll::Ready(Some(Err(Overrun::Body.into())));
            }
        }
        Poll::Ready(next.map(|chunk| chunk.map_err(Into::into)))
    })
}

/// What there is too much of.
#[derive(Clone, Copy, Debug)]
enum Overrun {
    Head,
    Body,
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "the head of a part is too long",
            Self::Body => "the body is too long",
        })
    }
}

impl Error for Overrun {}

fn broken(cause: &MultipartError, limit: Limit) -> Problem {
    let mut causes = iter::successors(Some(cause as &dyn Error), |&cause| cause.source());
    match causes.find_map(|cause| cause.downcast_ref()) {
        Some(Overrun::Body) => Problem::too_large(limit.words),
        Some(Overrun::Head) => {
            Problem::bad_request(format!("The head of a part is longer than {HEAD} bytes"))
        }
        // The words may repeat a name of the form, of any length and content.
        None => Problem::bad_request(SafeText::detail(&cause.body_text()).to_string()),
    }
}

/// 408: a body stopped coming.
pub fn slow() -> Problem {
    let words = "The request body did not arrive in time".to_owned();
    Problem::Plain(StatusCode::REQUEST_TIMEOUT, words)
}

#[cfg(test)]
mod tests;
