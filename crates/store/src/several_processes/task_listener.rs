//! Listens to notifications of a server, which announce that a task may be waiting, or that clusters have changed, so
//! that index files must be written. The channel of a schema is named by a hash, because the names of channels must be
//! shorter than those of schemas.

use crate::engine::{Connection, Result};

/// The triggers that notify workers.
pub(crate) const ANNOUNCEMENTS: &str = "
CREATE FUNCTION announce_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tessera_' || md5(TG_TABLE_SCHEMA), '');
  RETURN NULL;
END $$;
CREATE TRIGGER announced AFTER INSERT ON indexing_task
  FOR EACH STATEMENT EXECUTE FUNCTION announce_task();
CREATE TRIGGER announced AFTER INSERT ON export
  FOR EACH STATEMENT EXECUTE FUNCTION announce_task();
CREATE TRIGGER announced AFTER INSERT ON extraction_range
  FOR EACH STATEMENT EXECUTE FUNCTION announce_task();
CREATE TRIGGER announced AFTER INSERT ON similarity_range
  FOR EACH STATEMENT EXECUTE FUNCTION announce_task();
CREATE TRIGGER announced AFTER UPDATE OF generation ON dataset
  FOR EACH STATEMENT EXECUTE FUNCTION announce_task();
CREATE TRIGGER released AFTER UPDATE OF expires_at ON lease
  FOR EACH ROW WHEN (new.expires_at = 0) EXECUTE FUNCTION announce_task();
";

const LISTEN: &str = "DO $$ BEGIN
  EXECUTE format('LISTEN %I', 'tessera_' || md5(current_schema()));
END $$";

/// A connection on which the server announces tasks. Notifications are lost while it is closed, so workers also look
/// for tasks from time to time.
pub struct TaskListener(Connection);

impl TaskListener {
    /// Starts listening on a connection, which must call a function after each notification.
    pub(crate) fn start(connection: Connection) -> Result<Self> {
        connection.execute_batch(LISTEN)?;
        Ok(Self(connection))
    }

    /// Whether the connection is closed, so that the listener must be started again.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}
