//! Limits the number of open connections, of requests that are served, of uploads, and of large bodies in memory. When
//! a limit is reached, a client that keeps the service waiting is evicted for the next one.
//!
//! Connections are accepted whether or not their requests can be served, because only the request shows whether it is a
//! probe. The connections without a served request can always be evicted, and there are always some, so that nobody
//! can keep the service from accepting the next client.

use std::{
    cmp::Reverse,
    collections::HashMap,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Extension,
    extract::Request,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use parking_lot::Mutex;
use tokio::{
    sync::{Mutex as AsyncMutex, MutexGuard, OwnedSemaphorePermit, Semaphore},
    task::yield_now,
    time::{Instant, timeout},
};

use super::{
    connection_monitor::{ConnectionGroup, ConnectionMonitor},
    options::ServerLimits,
    problem::Problem,
};

/// The interval at which a client that waits for a slot checks whether another client can be evicted.
const EVICTION_INTERVAL: Duration = Duration::from_millis(20);
/// At most one of this many members of a group is evicted at a time.
const EVICTION_DIVISOR: usize = 16;
const BUSY: &str = "Too many requests are running; try again in a moment";

pub(crate) struct ConnectionSlots {
    limits: Arc<ServerLimits>,
    open: Mutex<Vec<ConnectionMonitor>>,
    /// The free slots of each group.
    free: [Arc<Semaphore>; ConnectionGroup::COUNT],
    /// Locked while a pipelined request is handled.
    pipelined: AsyncMutex<()>,
}

/// The slot of one connection, which becomes free when it is dropped.
pub(crate) struct ConnectionSlot {
    pub monitor: ConnectionMonitor,
    slots: Arc<ConnectionSlots>,
    _permit: OwnedSemaphorePermit,
}

/// The slot of one connection in a further group, which becomes free when it is dropped.
pub(crate) struct GroupSlot {
    monitor: ConnectionMonitor,
    group: ConnectionGroup,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlots {
    pub fn new(limits: Arc<ServerLimits>) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            free: limits.group_sizes().map(|slots| Arc::new(Semaphore::new(slots))),
            pipelined: AsyncMutex::default(),
            limits,
        })
    }

    pub(crate) fn open_count(&self) -> usize {
        self.open.lock().len()
    }

    /// Returns the number of members of a group.
    pub(crate) fn member_count(&self, group: ConnectionGroup) -> usize {
        let size = self.limits.group_sizes()[group as usize];
        size.saturating_sub(self.free[group as usize].available_permits())
    }

    /// Waits for a slot for a connection. Returns `None` if too many clients of the address are being served.
    pub async fn admit(self: &Arc<Self>, remote: IpAddr) -> Option<ConnectionSlot> {
        let address = group_address(remote);
        let of_address = |monitor: &ConnectionMonitor| monitor.address() == address;
        let connected = self.open.lock().iter().filter(|monitor| of_address(monitor)).count();
        let limit = self.limits.max_connections_of_address();
        if limit < self.limits.max_connections
            && connected >= limit
            && !self.evict(ConnectionGroup::All, of_address)
        {
            return None;
        }
        let permit = self.take(ConnectionGroup::All).await?;
        let monitor = ConnectionMonitor::new(self.limits.clone(), address);
        self.open.lock().push(monitor.clone());
        Some(ConnectionSlot { monitor, slots: self.clone(), _permit: permit })
    }

    /// Waits until no other pipelined request is handled and nothing else is left to do. Clients that wait for each
    /// response are therefore served before a client that has sent thousands of requests at once.
    pub(super) async fn pipelined_turn(&self) -> MutexGuard<'_, ()> {
        let turn = self.pipelined.lock().await;
        yield_now().await;
        turn
    }

    /// Waits for a slot of a group in the order of the calls, and evicts clients meanwhile.
    async fn take(&self, group: ConnectionGroup) -> Option<OwnedSemaphorePermit> {
        let free = &self.free[group as usize];
        if let Ok(permit) = free.clone().try_acquire_owned() {
            return Some(permit);
        }
        let mut permit = std::pin::pin!(free.clone().acquire_owned());
        loop {
            self.evict(group, |_| true);
            if let Ok(permit) = timeout(EVICTION_INTERVAL, permit.as_mut()).await {
                return permit.ok();
            }
        }
    }

    /// Evicts clients of a group: of the address with the most connections, those that are overdue longest. Several are
    /// evicted at a time, because the search for them would cost more than the service of a light request. Returns
    /// whether a slot becomes free in a moment.
    fn evict(
        &self,
        group: ConnectionGroup,
        is_candidate: impl Fn(&ConnectionMonitor) -> bool,
    ) -> bool {
        let open = self.open.lock();
        let candidates = || open.iter().filter(|monitor| is_candidate(monitor));
        if candidates().any(|monitor| monitor.is_evicted_from(group)) {
            return true;
        }
        let mut connections = HashMap::<IpAddr, usize>::new();
        for monitor in open.iter() {
            *connections.entry(monitor.address()).or_default() += 1;
        }
        let now = Instant::now();
        let mut evictable: Vec<_> = candidates()
            .filter_map(|monitor| {
                let connected = connections.get(&monitor.address()).copied();
                Some((Reverse(connected), monitor.evictable_since(group, now)?, monitor))
            })
            .collect();
        evictable.sort_by_key(|(connected, since, _)| (*connected, *since));
        let count = self.limits.group_sizes()[group as usize].div_ceil(EVICTION_DIVISOR);
        for (number, (_, since, monitor)) in evictable.iter().take(count).enumerate() {
            if number == 0 || *since <= now {
                monitor.evict();
            }
        }
        !evictable.is_empty()
    }
}

/// Returns the address that stands for a client. A client of IPv6 usually has all addresses of a /64 network.
fn group_address(remote: IpAddr) -> IpAddr {
    match remote.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.open.lock().retain(|monitor| !monitor.is_same(&self.monitor));
    }
}

impl Drop for GroupSlot {
    fn drop(&mut self) {
        self.monitor.set_member(self.group, false);
    }
}

#[derive(Clone)]
pub(crate) struct ClientConnection {
    /// The address of this machine to which the client connected.
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub monitor: ConnectionMonitor,
    pub slots: Arc<ConnectionSlots>,
}

impl ClientConnection {
    /// Waits for a slot of a group. Fails with 503 if none becomes free in time.
    pub(crate) async fn join(&self, group: ConnectionGroup) -> Result<GroupSlot, Problem> {
        let permit = timeout(self.slots.limits.queue_timeout, self.slots.take(group)).await;
        let permit = permit.ok().flatten().ok_or_else(|| Problem::unavailable(BUSY))?;
        self.monitor.set_member(group, true);
        Ok(GroupSlot { monitor: self.monitor.clone(), group, _permit: permit })
    }
}

/// Middleware that waits for a slot of the request, which stays occupied until the response was handed over.
pub(crate) async fn limit_requests(
    Extension(connection): Extension<ClientConnection>,
    request: Request,
    next: Next,
) -> Response {
    let slot = match connection.join(ConnectionGroup::Serving).await {
        Ok(slot) => slot,
        Err(problem) => return problem.into_response(),
    };
    let mut response = next.run(request).await;
    response.extensions_mut().insert(Arc::new(slot));
    response
}
