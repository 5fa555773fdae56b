//! How patient the service is, and how much it does at a time. The defaults are for use; tests bring
//! shorter ones.

use std::time::Duration;

/// The limits of a served deployment.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// Connections served at a time; more wait in the queue of the system.
    pub max_connections: usize,
    /// Time for the first byte of a connection, and from the first byte of a head to its end.
    pub head_timeout: Duration,
    /// Time between two requests of a connection.
    pub idle_timeout: Duration,
    /// Time between two pieces of a body that is no form.
    pub body_timeout: Duration,
    /// Time in which a client that is answered must take something of the answer.
    pub write_timeout: Duration,
    /// Expensive requests at a time: questions, query images and selections.
    pub max_expensive: usize,
    /// Time that an expensive request waits for its turn.
    pub queue_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_connections: 256,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_expensive: 4,
            queue_timeout: Duration::from_secs(30),
        }
    }
}
