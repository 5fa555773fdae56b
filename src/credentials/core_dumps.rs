//! Disables core dumps, which would contain secrets.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

/// On Linux, other processes of the same user cannot read the memory either.
pub fn forbid_core_dumps() -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}
