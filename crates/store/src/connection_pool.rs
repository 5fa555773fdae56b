//! Keeps idle connections to the database, so that they can be reused, and remembers whether its server responds.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::engine::{Connection, QueryError};

/// The maximum number of idle connections. The limit is low because a connection takes memory on a server.
const MAX_IDLE_CONNECTIONS: usize = 16;
/// The time to wait for a connection in use if no further one can be opened.
const MAX_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct ConnectionPool {
    connections: Mutex<Connections>,
    /// Notified when a connection is no longer in use.
    released: Condvar,
}

#[derive(Debug, Default)]
struct Connections {
    idle: Vec<Connection>,
    in_use: usize,
}

impl Connections {
    /// Takes an idle connection, which counts as in use from now on.
    fn take_idle(&mut self) -> Option<Connection> {
        let idle = self.idle.pop().filter(|connection| !connection.is_closed())?;
        self.in_use += 1;
        Some(idle)
    }
}

/// Ends the use of a connection when it is dropped, even if the user of the connection panics.
struct ConnectionUse<'a>(&'a ConnectionPool);

impl Drop for ConnectionUse<'_> {
    fn drop(&mut self) {
        self.0.connections.lock().in_use -= 1;
        self.0.released.notify_all();
    }
}

impl ConnectionPool {
    /// Runs `work` on a connection that nothing else uses: an idle connection, or a new one from `connect`. If
    /// `connect` fails, for example because there is no free file descriptor, waits for a connection in use. The
    /// connection is kept unless `work` fails.
    pub(super) fn with_connection<T, E>(
        &self,
        connect: impl FnOnce() -> Result<Connection, E>,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let connection = self.take(connect)?;
        let _use = ConnectionUse(self);
        let value = work(&connection)?;
        let mut connections = self.connections.lock();
        if connections.idle.len() < MAX_IDLE_CONNECTIONS {
            connections.idle.push(connection);
        }
        Ok(value)
    }

    /// Closes the idle connections.
    pub(super) fn clear(&self) {
        self.connections.lock().idle.clear();
    }

    fn take<E>(&self, connect: impl FnOnce() -> Result<Connection, E>) -> Result<Connection, E> {
        if let Some(idle) = self.connections.lock().take_idle() {
            return Ok(idle);
        }
        match connect() {
            Ok(connection) => {
                self.connections.lock().in_use += 1;
                Ok(connection)
            }
            Err(cause) => self.wait_for_idle().ok_or(cause),
        }
    }

    /// Waits for an idle connection as long as some are in use.
    fn wait_for_idle(&self) -> Option<Connection> {
        let nothing_to_take =
            |connections: &mut Connections| connections.idle.is_empty() && connections.in_use > 0;
        let mut connections = self.connections.lock();
        self.released.wait_while_for(&mut connections, nothing_to_take, MAX_WAIT);
        connections.take_idle()
    }
}

/// The time for which a server that did not respond is not asked again.
const OUTAGE_PAUSE: Duration = Duration::from_secs(2);

/// Whether the server does not respond. Calls then fail at once instead of waiting in ever more threads, and only one
/// of them asks the server again.
#[derive(Debug, Default)]
pub(super) struct Outage(Mutex<Option<Instant>>);

impl Outage {
    /// Fails if the server did not respond a moment ago.
    pub(super) fn check(&self) -> Result<(), QueryError> {
        let mut asked = self.0.lock();
        match *asked {
            Some(at) if at.elapsed() < OUTAGE_PAUSE => Err(QueryError::Unresponsive),
            // This call asks the server, and other calls fail until another pause has passed.
            Some(_) => {
                *asked = Some(Instant::now());
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(super) fn begin(&self) {
        *self.0.lock() = Some(Instant::now());
    }

    pub(super) fn end(&self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    fn connection() -> Connection {
        Connection::new(rusqlite::Connection::open_in_memory().unwrap())
    }

    #[test]
    fn connections_are_used_again_unless_their_work_failed() {
        let pool = ConnectionPool::default();
        let mark = |connection: &Connection| connection.execute_batch("CREATE TABLE mark (x)");
        pool.with_connection(|| Ok(connection()), mark).unwrap();
        let is_marked = |found: &Connection| Ok(found.execute_batch("SELECT * FROM mark").is_ok());
        assert!(pool.with_connection(|| Ok::<_, ()>(connection()), is_marked).unwrap());
        pool.with_connection(|| Ok(connection()), |_| Err::<(), _>(())).unwrap_err();
        assert!(!pool.with_connection(|| Ok::<_, ()>(connection()), is_marked).unwrap());
    }

    #[test]
    fn one_in_use_is_waited_for_when_none_can_be_opened() {
        let pool = &ConnectionPool::default();
        let (started, in_use) = mpsc::channel();
        let (refused, was_refused) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                let work = |_: &Connection| {
                    started.send(()).unwrap();
                    was_refused.recv().map_err(drop)
                };
                pool.with_connection(|| Ok(connection()), work).unwrap();
            });
            in_use.recv().unwrap();
            let connect = || {
                refused.send(()).unwrap();
                Err("no file descriptor")
            };
            pool.with_connection(connect, |_| Ok(())).unwrap();
        });
    }

    #[test]
    fn without_any_connection_the_failure_is_reported() {
        let pool = ConnectionPool::default();
        let outcome = pool.with_connection(|| Err("no file descriptor"), |_| Ok(()));
        assert_eq!(outcome, Err("no file descriptor"));
        pool.with_connection(|| Ok::<_, ()>(connection()), |_| Ok(())).unwrap();
    }
}
