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
const BODY_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest and most that a refused body is swallowed.
const DRAIN_LIMIT: (Duration, usize) = (Duration::from_secs(1), 1 << 20);
/// Most parts of a form.
const MAX_PARTS: usize = 10_000;
/// Most bytes before the content of a part: its name and the like, or what precedes the first.
const MAX_PART_HEAD: usize = 64 << 10;

/// Most bytes of something, and the answer to more.
#[derive(Clone, Copy, Debug)]
pub struct SizeLimit {
    /// Bytes.
    pub bytes: u64,
    /// The words of the 413.
    pub message: &'static str,
}

impl SizeLimit {
    /// Whether so many bytes may be.
    pub fn check(self, bytes: u64) -> Result<(), Problem> {
        if bytes > self.bytes { Err(Problem::too_large(self.message)) } else { Ok(()) }
    }
}

/// A body that says it is larger than `limit` is not read.
pub fn check_content_length(request: &Request, limit: SizeLimit) -> Result<(), Problem> {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    limit.check(length.unwrap_or_default())
}

/// Takes in a refused body for a moment, because a client that is cut off while it sends never
/// sees why. Who asked first whether to send it has sent nothing, and is not told to.
pub async fn drain(request: Request) {
    if !request.headers().contains_key(header::EXPECT) {
        drain_stream(request.into_body().into_data_stream()).await;
    }
}

async fn drain_stream(mut body: BodyDataStream) {
    let (time, most) = DRAIN_LIMIT;
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
async fn drain_rest(body: Arc<Mutex<BodyDataStream>>) {
    if let Some(body) = Arc::into_inner(body) {
        drain_stream(body.into_inner().unwrap_or_else(PoisonError::into_inner)).await;
    }
}

/// The parts of a form, one after another.
pub struct MultipartForm {
    multipart: Multipart,
    /// What the parser is fed from.
    body: Arc<Mutex<BodyDataStream>>,
    flow: Arc<FlowControl>,
    limit: SizeLimit,
    idle: Duration,
    part_count: usize,
}

/// One part of a form; to be read to its end, or skipped, before the next.
pub struct FormPart<'a> {
    field: Field<'a>,
    pace: Arc<FlowControl>,
    limit: SizeLimit,
    idle: Duration,
}

impl MultipartForm {
    /// The parts of a request with a body of at most `limit`.
    ///
    /// # Errors
    /// 413 when it says that it is larger; 400 when it is no form.
    pub async fn open(mut request: Request, limit: SizeLimit) -> Result<Self, Problem> {
        if let Err(problem) = check_content_length(&request, limit) {
            drain(request).await;
            return Err(problem);
        }
        let pace = Arc::new(FlowControl {
            pending_polls: AtomicUsize::new(0),
            bytes_fed: AtomicUsize::new(0),
        });
        DefaultBodyLimit::disable().apply(&mut request);
        let (head, body) = request.into_parts();
        let body = Arc::new(Mutex::new(body.into_data_stream()));
        let fed = Body::from_stream(paced_stream(body.clone(), pace.clone(), limit.bytes));
        let request = Request::from_parts(head, fed);
        match Multipart::from_request(request, &()).await {
            Ok(multipart) => Ok(Self {
                multipart,
                body,
                flow: pace,
                limit,
                idle: BODY_IDLE_TIMEOUT,
                part_count: 0,
            }),
            Err(cause) => {
                drain_rest(body).await;
                Err(Problem::Plain(cause.status(), cause.body_text()))
            }
        }
    }

    /// The next part, if there is one.
    ///
    /// # Errors
    /// 400 for a broken form or too many parts, 408 when nothing comes, 413.
    pub async fn next(&mut self) -> Result<Option<FormPart<'_>>, Problem> {
        self.part_count += 1;
        let next =
            timeout(self.idle, self.multipart.next_field()).await.map_err(|_| body_timeout())?;
        let Some(field) = next.map_err(|cause| multipart_problem(&cause, self.limit))? else {
            return Ok(None);
        };
        if self.part_count > MAX_PARTS {
            return Err(Problem::bad_request(format!("The form has more than {MAX_PARTS} parts")));
        }
        self.flow.reset();
        Ok(Some(FormPart { field, pace: self.flow.clone(), limit: self.limit, idle: self.idle }))
    }

    /// Takes in what is left for a moment, as [`swallow`] does.
    pub async fn drain(self) {
        let Self { multipart, body, .. } = self;
        drop(multipart);
        drain_rest(body).await;
    }
}

impl FormPart<'_> {
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
        let next = timeout(self.idle, self.field.chunk()).await.map_err(|_| body_timeout())?;
        self.pace.reset();
        next.map_err(|cause| multipart_problem(&cause, self.limit))
    }

    /// All its bytes.
    ///
    /// # Errors
    /// As [`Part::chunk`], and 413 over `limit`.
    pub async fn bytes(mut self, limit: SizeLimit) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            limit.check((bytes.len() + chunk.len()) as u64)?;
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
struct FlowControl {
    /// How often the parser asked for more in vain since it was fed or found something.
    pending_polls: AtomicUsize,
    /// Bytes fed since the parser last found something.
    bytes_fed: AtomicUsize,
}

/// Looking for the first boundary, the parser asks twice before it looks.
const MIN_PENDING_POLLS: usize = 2;

impl FlowControl {
    fn reset(&self) {
        self.pending_polls.store(0, Ordering::Relaxed);
        self.bytes_fed.store(0, Ordering::Relaxed);
    }
}

/// A body at its pace, of at most `most` bytes.
fn paced_stream(
    body: Arc<Mutex<BodyDataStream>>,
    pace: Arc<FlowControl>,
    most: u64,
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
    let mut total = 0;
    stream::poll_fn(move |context| {
        if pace.pending_polls.load(Ordering::Relaxed) < MIN_PENDING_POLLS {
            pace.pending_polls.fetch_add(1, Ordering::Relaxed);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if pace.bytes_fed.load(Ordering::Relaxed) > MAX_PART_HEAD {
            return Poll::Ready(Some(Err(LimitExceeded::Head.into())));
        }
        let mut body = body.lock().unwrap_or_else(PoisonError::into_inner);
        let next = ready!(body.poll_next_unpin(context));
        if let Some(Ok(chunk)) = &next {
            pace.pending_polls.store(0, Ordering::Relaxed);
            pace.bytes_fed.fetch_add(chunk.len(), Ordering::Relaxed);
            total += chunk.len() as u64;
            if total > most {
                return Poll::Ready(Some(Err(LimitExceeded::Body.into())));
            }
        }
        Poll::Ready(next.map(|chunk| chunk.map_err(Into::into)))
    })
}

/// What there is too much of.
#[derive(Clone, Copy, Debug)]
enum LimitExceeded {
    Head,
    Body,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Head => "the head of a part is too long",
            Self::Body => "the body is too long",
        })
    }
}

impl Error for LimitExceeded {}

fn multipart_problem(cause: &MultipartError, limit: SizeLimit) -> Problem {
    let mut causes = iter::successors(Some(cause as &dyn Error), |&cause| cause.source());
    match causes.find_map(|cause| cause.downcast_ref()) {
        Some(LimitExceeded::Body) => Problem::too_large(limit.message),
        Some(LimitExceeded::Head) => {
            Problem::bad_request(format!("The head of a part is longer than {MAX_PART_HEAD} bytes"))
        }
        // The words may repeat a name of the form, of any length and content.
        None => Problem::bad_request(SafeText::detail(&cause.body_text()).to_string()),
    }
}

/// 408: a body stopped coming.
pub fn body_timeout() -> Problem {
    let words = "The request body did not arrive in time".to_owned();
    Problem::Plain(StatusCode::REQUEST_TIMEOUT, words)
}

#[cfg(test)]
mod tests;
