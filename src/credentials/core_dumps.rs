//! A crash must leave no picture of the memory behind: it would hold secrets.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// From now on, no core dump is written of this process and of those it starts; on Linux its memory
/// cannot be read by other processes of the same user, either.
///
/// # Errors
/// The system refuses the limit.
pub fn forbid_core_dumps() -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}
