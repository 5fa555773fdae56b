//! Limits the memory for request bodies that are read as a whole before their request is processed.

use std::{sync::Arc, time::Duration};

use axum::{body::Bytes, extract::Request};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{
    multipart_form::{SizeLimit, drain, max_body_bytes},
    problem::Problem,
};

/// The memory that large selections and query images share. A request waits until enough of it is free, so the memory
/// for bodies is bounded, whatever the number of connections is.
#[derive(Clone)]
pub(crate) struct BodyMemory {
    all_kib: u32,
    free_kib: Arc<Semaphore>,
    wait: Duration,
}

impl BodyMemory {
    pub fn new(bytes: u64, wait: Duration) -> Self {
        let all_kib = to_kib(bytes);
        Self { all_kib, free_kib: Arc::new(Semaphore::new(all_kib as usize)), wait }
    }

    pub(crate) fn reserved_bytes(&self) -> u64 {
        u64::from(self.all_kib).saturating_sub(self.free_kib.available_permits() as u64) << 10
    }

    /// Reserves memory for the body of a request, whose declared length must be acceptable. Fails with 503 if the
    /// memory does not become free in time.
    pub(crate) async fn reserve_for(
        &self,
        request: Request,
        limit: SizeLimit,
    ) -> Result<(Request, ReservedMemory), Problem> {
        match self.reserve(max_body_bytes(&request, limit)).await {
            Ok(memory) => Ok((request, memory)),
            Err(problem) => {
                drain(request).await;
                Err(problem)
            }
        }
    }

    async fn reserve(&self, bytes: u64) -> Result<ReservedMemory, Problem> {
        let free = self.free_kib.clone().acquire_many_owned(to_kib(bytes));
        let permit = timeout(self.wait, free).await.ok().and_then(Result::ok);
        permit.map(ReservedMemory).ok_or_else(Problem::busy)
    }
}

fn to_kib(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX)
}

pub(crate) struct ReservedMemory(OwnedSemaphorePermit);

impl ReservedMemory {
    /// Keeps the memory reserved until the last copy of the body is dropped.
    pub fn attach(self, body: Vec<u8>) -> Bytes {
        Bytes::from_owner(ReservedBody { body, _memory: self.0 })
    }
}

struct ReservedBody {
    body: Vec<u8>,
    _memory: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for ReservedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_waits_for_memory_until_another_is_dropped() {
        let memory = BodyMemory::new(3 << 10, Duration::ZERO);
        let first = memory.reserve(2 << 10).await.ok().unwrap().attach(vec![7; 5]);
        let copy = first.clone();
        drop(first);
        assert_eq!(memory.reserved_bytes(), 2 << 10);
        assert!(memory.reserve(2 << 10).await.is_err());
        assert!(memory.reserve(1 << 10).await.is_ok());
        assert_eq!(copy, [7; 5][..]);
        drop(copy);
        assert_eq!(memory.reserved_bytes(), 0);
        assert!(memory.reserve(3 << 10).await.is_ok());
        // This is more than the whole memory.
        assert!(memory.reserve(4 << 10).await.is_err());
    }
}
