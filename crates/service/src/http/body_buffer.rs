//! Request bodies that are read as a whole before their request is processed. A body takes a slot as it grows, so a
//! client occupies only the memory for what it has sent, whatever length it declares. Few bodies can be large at a time,
//! so the memory for bodies is bounded, whatever the number of connections is.

use axum::body::Bytes;

use super::{
    connection_monitor::ConnectionGroup,
    connections::{ClientConnection, ConnectionSlots, GroupSlot},
    multipart_form::SizeLimit,
    options::ServerLimits,
    problem::Problem,
};

/// The maximum number of bytes of a body of any size.
pub(crate) const MAX_BODY: u64 = 32 << 20;

/// Returns the number of bytes that the bodies with slots can have.
pub(crate) fn reserved_bytes(slots: &ConnectionSlots) -> u64 {
    bytes_of(
        [ConnectionGroup::MediumBody, ConnectionGroup::LargeBody].map(|it| slots.member_count(it)),
    )
}

/// Returns the maximum of [`reserved_bytes`].
pub(crate) fn max_reserved_bytes(limits: &ServerLimits) -> u64 {
    bytes_of([limits.max_medium_bodies, limits.max_large_bodies])
}

fn bytes_of([medium, large]: [usize; 2]) -> u64 {
    medium as u64 * ConnectionGroup::MEDIUM_BODY + large as u64 * MAX_BODY
}

/// A body of which a part has arrived.
pub(crate) struct BodyBuffer {
    connection: ClientConnection,
    limit: SizeLimit,
    /// The declared length, which must be acceptable.
    declared: Option<u64>,
    bytes: Vec<u8>,
    /// The slots are taken in the order of their sizes, so that bodies never wait for each other.
    slots: Vec<GroupSlot>,
}

impl BodyBuffer {
    pub fn new(connection: ClientConnection, limit: SizeLimit, declared: Option<u64>) -> Self {
        Self { connection, limit, declared, bytes: Vec::new(), slots: Vec::new() }
    }

    /// Adds bytes. Fails with 413 if the body is too large, and with 503 if the memory does not become free in time.
    pub async fn push(&mut self, chunk: &[u8]) -> Result<(), Problem> {
        let bytes = (self.bytes.len() + chunk.len()) as u64;
        self.limit.check(bytes)?;
        if bytes > ConnectionGroup::SMALL_BODY {
            self.take_slot(0, ConnectionGroup::MediumBody).await?;
        }
        if bytes > ConnectionGroup::MEDIUM_BODY {
            self.take_slot(1, ConnectionGroup::LargeBody).await?;
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    async fn take_slot(&mut self, number: usize, group: ConnectionGroup) -> Result<(), Problem> {
        if self.slots.len() > number {
            return Ok(());
        }
        self.slots.push(self.connection.join(group).await?);
        if group == ConnectionGroup::LargeBody {
            // The full length is allocated at once, because a list that grows leaves its previous copies to the
            // allocator.
            let missing = self.declared.unwrap_or_default().saturating_sub(self.bytes.len() as u64);
            self.bytes.reserve_exact(usize::try_from(missing).unwrap_or_default());
        }
        Ok(())
    }

    /// Returns the body. Its slots stay occupied until the last copy of the body is dropped.
    pub fn finish(self) -> Bytes {
        Bytes::from_owner(CompleteBody { bytes: self.bytes, _slots: self.slots })
    }
}

struct CompleteBody {
    bytes: Vec<u8>,
    _slots: Vec<GroupSlot>,
}

impl AsRef<[u8]> for CompleteBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
