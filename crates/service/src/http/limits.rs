//! How patient the service is, and how much it does at a time. The defaults are for use; tests bring
//! shorter ones.

use std::time::Duration;

/// The limits of a served deployment.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections served at a time; more wait in the queue of the system.
    pub connections: usize,
    /// Time for the first byte of a connection, and from the first byte of a head to its end.
    pub head: Duration,
    /// Time between two requests of a connection.
    pub idle: Duration,
    /// Time between two pieces of a body that is no form.
    pub body: Duration,
    /// Time in which a client that is answered must take something of the answer.
    pub taking: Duration,
    /// Expensive requests at a time: questions, query images and selections.
    pub heavy: usize,
    /// Time that an expensive request waits for its turn.
    pub turn: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            body: Duration::from_secs(30),
            taking: Duration::from_secs(30),
            heavy: 4,
            turn: Duration::from_secs(30),
        }
    }
}
