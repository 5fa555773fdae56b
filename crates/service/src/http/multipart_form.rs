//! Reads multipart forms, part by part and with bounded memory.

use std::{
    borrow::Cow,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, ready},
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

use super::{problem::Problem, request_body::is_body_timeout};
use tessera_model::SafeText;

const MAX_PARTS: usize = 10_000;
/// The maximum number of bytes before the content of a part (its headers), or before the first part.
const MAX_PART_HEAD: usize = 64 << 10;

/// A limit in bytes, with the message of the 413 response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeLimit {
    pub bytes: u64,
    pub message: &'static str,
}

impl SizeLimit {
    pub fn check(self, bytes: u64) -> Result<(), Problem> {
        if bytes > self.bytes { Err(Problem::too_large(self.message)) } else { Ok(()) }
    }
}

/// Refuses a compressed body, and a body whose declared length exceeds `limit`.
pub(crate) fn check_body_headers(request: &Request, limit: SizeLimit) -> Result<(), Problem> {
    let encoding = request.headers().get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let message = "The body must not be compressed; send it without Content-Encoding";
        return Err(Problem::plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    limit.check(content_length(request).unwrap_or_default())
}

/// Returns the declared length of a body.
pub(crate) fn content_length(request: &Request) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

pub(crate) struct MultipartForm {
    multipart: Multipart,
    flow: Arc<FlowControl>,
    part_count: usize,
}

/// One part of a form. The part must be read to its end or skipped before the next part.
pub(crate) struct FormPart<'a> {
    field: Field<'a>,
    flow: &'a FlowControl,
}

impl MultipartForm {
    /// Opens a form. Fails with 413 if the declared length exceeds `limit`, with 415 if the body is compressed, and with
    /// 400 if the body is not a form.
    pub async fn open(mut request: Request, limit: SizeLimit) -> Result<Self, Problem> {
        check_body_headers(&request, limit)?;
        let flow = Arc::new(FlowControl::new(limit));
        DefaultBodyLimit::disable().apply(&mut request);
        let (head, body) = request.into_parts();
        let fed = Body::from_stream(paced_stream(body.into_data_stream(), flow.clone()));
        let request = Request::from_parts(head, fed);
        let multipart = Multipart::from_request(request, &()).await;
        let multipart = multipart.map_err(|_| {
            Problem::bad_request("The body must be a form: multipart/form-data with a boundary")
        })?;
        Ok(Self { multipart, flow, part_count: 0 })
    }

    /// Returns the next part. Fails with 400 for an invalid form or too many parts, with 408 after a timeout, and with
    /// 413 if the body is too large.
    pub async fn next(&mut self) -> Result<Option<FormPart<'_>>, Problem> {
        self.part_count += 1;
        let next = self.flow.check(self.multipart.next_field().await)?;
        let Some(field) = next else { return Ok(None) };
        if self.part_count > MAX_PARTS {
            return Err(Problem::bad_request(format!("The form has more than {MAX_PARTS} parts")));
        }
        self.flow.reset();
        Ok(Some(FormPart { field, flow: &self.flow }))
    }
}

impl FormPart<'_> {
    pub fn name(&self) -> Option<&str> {
        self.field.name()
    }

    /// Returns the file name. A header that is not UTF-8 is read as Latin-1.
    pub fn file_name(&self) -> Option<Cow<'_, str>> {
        let latin_1_name = || {
            let header = self.field.headers().get(header::CONTENT_DISPOSITION)?.as_bytes();
            let text: String = header.iter().copied().map(char::from).collect();
            let (_, name) = text.split_once("filename=\"")?;
            Some(Cow::Owned(name.split('"').next().unwrap_or_default().to_owned()))
        };
        self.field.file_name().map(Cow::Borrowed).or_else(latin_1_name)
    }

    /// Returns the next bytes. Fails with 400 for an invalid form, with 408 after a timeout, and with 413 if the body
    /// is too large.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        let next = self.flow.check(self.field.chunk().await);
        self.flow.reset();
        next
    }

    pub async fn bytes(mut self, limit: SizeLimit) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            limit.check((bytes.len() + chunk.len()) as u64)?;
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    pub async fn skip(mut self) -> Result<(), Problem> {
        while self.chunk().await?.is_some() {}
        Ok(())
    }
}

/// Flow control between the parser and the body. The parser takes all available input before it looks at any of it, so
/// it is fed one chunk at a time, and only when its input is not enough.
struct FlowControl {
    /// The limit of the whole body.
    limit: SizeLimit,
    /// The number of times that the parser polled in vain since it was fed or found something.
    pending_polls: AtomicUsize,
    /// The number of bytes that were fed since the parser last found something.
    bytes_fed: AtomicUsize,
    exceeded: OnceLock<LimitExceeded>,
}

/// The parser polls twice before it looks for the first boundary.
const MIN_PENDING_POLLS: usize = 2;

impl FlowControl {
    fn new(limit: SizeLimit) -> Self {
        let exceeded = OnceLock::new();
        Self { limit, pending_polls: 0.into(), bytes_fed: 0.into(), exceeded }
    }

    fn reset(&self) {
        self.pending_polls.store(0, Ordering::Relaxed);
        self.bytes_fed.store(0, Ordering::Relaxed);
    }

    fn exceed(&self, limit: LimitExceeded) -> BoxError {
        self.exceeded.get_or_init(|| limit);
        "a limit of the body was exceeded".into()
    }

    /// Returns the response to an error of the parser.
    fn check<T>(&self, next: Result<T, MultipartError>) -> Result<T, Problem> {
        next.map_err(|cause| match self.exceeded.get() {
            Some(LimitExceeded::Body) => Problem::too_large(self.limit.message),
            Some(LimitExceeded::Time) => Problem::body_timeout(),
            Some(LimitExceeded::Head) => Problem::bad_request(format!(
                "The head of a part is longer than {MAX_PART_HEAD} bytes"
            )),
            // The message may contain a name from the form, which has any length and content.
            None => Problem::bad_request(SafeText::detail(&cause.body_text()).to_string()),
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum LimitExceeded {
    Head,
    Body,
    Time,
}

fn paced_stream(
    mut body: BodyDataStream,
    flow: Arc<FlowControl>,
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send {
    let mut total = 0;
    stream::poll_fn(move |context| {
        if flow.pending_polls.load(Ordering::Relaxed) < MIN_PENDING_POLLS {
            flow.pending_polls.fetch_add(1, Ordering::Relaxed);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if flow.bytes_fed.load(Ordering::Relaxed) > MAX_PART_HEAD {
            return Poll::Ready(Some(Err(flow.exceed(LimitExceeded::Head))));
        }
        let next = ready!(body.poll_next_unpin(context));
        if let Some(Ok(chunk)) = &next {
            flow.pending_polls.store(0, Ordering::Relaxed);
            flow.bytes_fed.fetch_add(chunk.len(), Ordering::Relaxed);
            total += chunk.len() as u64;
            if total > flow.limit.bytes {
                return Poll::Ready(Some(Err(flow.exceed(LimitExceeded::Body))));
            }
        }
        Poll::Ready(next.map(|chunk| {
            chunk.map_err(|cause| {
                if is_body_timeout(&cause) {
                    flow.exceed(LimitExceeded::Time)
                } else {
                    cause.into()
                }
            })
        }))
    })
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, time::Duration};

    use axum::response::IntoResponse as _;

    use super::*;
    use crate::http::{
        connection_monitor::ConnectionMonitor, options::ServerLimits, request_body::TimedBody,
    };

    const LIMIT: SizeLimit = SizeLimit { bytes: 1 << 30, message: "too much" };

    fn request(body: Body) -> Request {
        let form = "multipart/form-data; boundary=X";
        Request::builder().header(header::CONTENT_TYPE, form).body(body).unwrap()
    }

    async fn parts(body: impl Into<Body>, limit: SizeLimit) -> MultipartForm {
        MultipartForm::open(request(body.into()), limit).await.unwrap()
    }

    /// Returns a body that is available at once, in chunks, and a counter of the chunks that were read.
    fn chunks(all: Vec<Bytes>) -> (Body, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let count = read.clone();
        let stream = stream::iter(all).inspect(move |piece| {
            count.fetch_add(piece.len(), Ordering::Relaxed);
        });
        (Body::from_stream(stream.map(Ok::<_, Infallible>)), read)
    }

    fn part(head: &str, content: &str) -> String {
        format!("--X\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
    }

    fn status<T>(end: Result<T, Problem>) -> u16 {
        end.err().unwrap().into_response().status().as_u16()
    }

    #[tokio::test]
    async fn parts_are_read_in_order_with_their_names() {
        let form = part("name=\"a\"; filename=\"x y.png\"", "one") + &part("name=b", "") + "--X--";
        let mut parts = parts(form, LIMIT).await;
        let first = parts.next().await.unwrap().unwrap();
        assert_eq!((first.name(), first.file_name().as_deref()), (Some("a"), Some("x y.png")));
        assert_eq!(first.bytes(LIMIT).await.unwrap(), b"one");
        let second = parts.next().await.unwrap().unwrap();
        assert_eq!((second.name(), second.file_name()), (Some("b"), None));
        second.skip().await.unwrap();
        assert!(parts.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_file_name_that_is_not_utf_8_is_read_as_latin_1() {
        let form = part("name=files; filename=\"?ber.png\"; a=\"b\"", "one");
        let (before, after) = form.split_once('?').unwrap();
        let form = [before.as_bytes(), b"\xfc", after.as_bytes(), b"--X--"].concat();
        let mut parts = parts(form, LIMIT).await;
        let part = parts.next().await.unwrap().unwrap();
        assert_eq!(part.file_name().as_deref(), Some("über.png"));
    }

    #[tokio::test]
    async fn body_is_read_no_faster_than_its_parts() {
        let mut all = vec![Bytes::from(part("name=small", "x").repeat(1_000))];
        all.push(part("name=large", "").trim_end().to_owned().into());
        all.extend(vec![Bytes::from(vec![b'y'; 64 << 10]); 100]);
        let (body, read) = chunks(all);
        let mut parts = parts(body, LIMIT).await;
        for _ in 0..1_000 {
            parts.next().await.unwrap().unwrap().skip().await.unwrap();
        }
        let read = read.load(Ordering::Relaxed);
        assert!(read < 256 << 10, "{read} bytes were read for the small parts");
    }

    #[tokio::test]
    async fn form_is_parsed_from_chunks_of_any_size() {
        let form = part("name=a", &"y".repeat(100_000)) + &part("name=b", "z") + "--X--";
        for first in [1, 2, 3, 20, 50, 60] {
            let (head, tail) = form.split_at(first);
            let all = [head, tail].map(|piece| Bytes::from(piece.to_owned()));
            let mut parts = parts(chunks(all.into()).0, LIMIT).await;
            let part = parts.next().await.unwrap().unwrap();
            assert_eq!(part.bytes(LIMIT).await.unwrap().len(), 100_000);
            let part = parts.next().await.unwrap().unwrap();
            assert_eq!(part.bytes(LIMIT).await.unwrap(), b"z");
            assert!(parts.next().await.unwrap().is_none());
        }
        let all = form.bytes().map(|byte| Bytes::from(vec![byte])).collect();
        let mut parts = parts(chunks(all).0, LIMIT).await;
        assert_eq!(parts.next().await.unwrap().unwrap().name(), Some("a"));
    }

    #[tokio::test]
    async fn endless_part_head_is_refused_early() {
        let mut all = vec![Bytes::from("--X\r\nContent-Disposition: form-data; name=\"")];
        all.extend(vec![Bytes::from(vec![b'n'; 16 << 10]); 1_000]);
        let (body, read) = chunks(all);
        assert_eq!(status(parts(body, LIMIT).await.next().await), 400);
        assert!(read.load(Ordering::Relaxed) < 256 << 10);
        let (body, read) = chunks(vec![Bytes::from(vec![b' '; 16 << 10]); 1_000]);
        assert_eq!(status(parts(body, LIMIT).await.next().await), 400, "no boundary");
        assert!(read.load(Ordering::Relaxed) < 256 << 10);
    }

    #[tokio::test]
    async fn body_over_its_limit_is_413() {
        let limit = SizeLimit { bytes: 200, message: "too much" };
        let declared = Request::builder().header(header::CONTENT_LENGTH, "201");
        let declared = declared.body(Body::empty()).unwrap();
        assert_eq!(status(MultipartForm::open(declared, limit).await), 413);
        let long = Bytes::from(part("name=a", &"x".repeat(100)));
        let (body, _) = chunks(vec![long.clone(), long.clone(), long]);
        let mut parts = parts(body, limit).await;
        assert_eq!(status(parts.next().await.unwrap().unwrap().skip().await), 413);
        let small = SizeLimit { bytes: 10, message: "too much" };
        let mut parts = self::parts(part("name=a", &"x".repeat(11)), LIMIT).await;
        assert_eq!(status(parts.next().await.unwrap().unwrap().bytes(small).await), 413);
    }

    #[tokio::test]
    async fn stalled_body_is_408() {
        let begun = stream::once(async { Ok::<_, Infallible>(part("name=a", "x")) });
        let body = Body::from_stream(begun.chain(stream::pending()));
        let body_timeout = Duration::from_millis(20);
        let limits = Arc::new(ServerLimits { body_timeout, ..ServerLimits::default() });
        let monitor = ConnectionMonitor::new(limits, [127, 0, 0, 1].into());
        let mut parts = parts(TimedBody::wrap(body, monitor), LIMIT).await;
        assert_eq!(status(parts.next().await.unwrap().unwrap().skip().await), 408);
    }
}
