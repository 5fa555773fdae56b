//! The limit on open connections. When it is reached, the client that has kept us waiting longest
//! makes room for the next one.

use std::{
    future::pending,
    sync::{Arc, Mutex},
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{connection_monitor::ConnectionMonitor, options::ServerLimits};
use tessera_store::lock;

pub struct ConnectionSlots {
    limits: Arc<ServerLimits>,
    open: Mutex<Vec<ConnectionMonitor>>,
    /// A connection was closed, or may be closed for another one.
    changed: Arc<Notify>,
}

/// The slot of one connection, free again when dropped.
pub struct ConnectionSlot {
    pub monitor: ConnectionMonitor,
    slots: Arc<ConnectionSlots>,
}

impl ConnectionSlots {
    pub fn new(limits: Arc<ServerLimits>) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default(), changed: Arc::default() })
    }

    pub fn open_count(&self) -> usize {
        lock(&self.open).len()
    }

    /// Waits for a free slot, and evicts a waiting client if there is none.
    pub async fn acquire(self: &Arc<Self>) -> ConnectionSlot {
        loop {
            let next_eviction = match self.try_acquire() {
                Ok(slot) => return slot,
                Err(next_eviction) => next_eviction,
            };
            let eviction_due = async {
                match next_eviction {
                    Some(due) => sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = self.changed.notified() => {}
                () = eviction_due => {}
            }
        }
    }

    /// A free slot; otherwise starts the eviction of one client, or returns when one can be evicted.
    fn try_acquire(self: &Arc<Self>) -> Result<ConnectionSlot, Option<Instant>> {
        let mut open = lock(&self.open);
        if open.len() >= self.limits.max_connections {
            return Err(evict_longest_waiting(&open));
        }
        let monitor = ConnectionMonitor::new(self.limits.clone(), self.changed.clone());
        open.push(monitor.clone());
        Ok(ConnectionSlot { monitor, slots: self.clone() })
    }
}

fn evict_longest_waiting(open: &[ConnectionMonitor]) -> Option<Instant> {
    if open.iter().any(ConnectionMonitor::is_evicted) {
        // Its slot becomes free in a moment.
        return None;
    }
    let evictable = open.iter().filter_map(|monitor| Some((monitor.evictable_from()?, monitor)));
    let (from, longest) = evictable.min_by_key(|(from, _)| *from)?;
    if from > Instant::now() {
        return Some(from);
    }
    longest.evict();
    None
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        lock(&self.slots.open).retain(|monitor| !monitor.is_same(&self.monitor));
        self.slots.changed.notify_one();
    }
}
