//! Creates the commands of all child processes. This file decides which environment variables a child inherits, limits
//! the memory of a child, and ends a child with the programs that it has started. No other file of the program starts a
//! program.

use std::{
    env,
    ffi::OsStr,
    io,
    os::unix::process::CommandExt as _,
    process::{Child, Command, ExitStatus},
};

use rustix::process::{Pid, Signal, kill_process_group};

/// The variables that a program needs to be found, to load its libraries, to write temporary files, and to print
/// messages in a known encoding. None of them contains a secret.
const NEEDED_VARIABLES: [&str; 8] = [
    "PATH",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "SYSTEMROOT",
];

/// Returns a command for a program that processes data from outside. The program inherits only the variables that it
/// needs, because a flaw in it must not reveal the keys of clouds and databases that are in our environment.
pub fn isolated_command(program: impl AsRef<OsStr>) -> Command {
    let inherited = NEEDED_VARIABLES.iter().filter_map(|name| Some((name, env::var_os(name)?)));
    let mut command = Command::new(program);
    command.env_clear().envs(inherited);
    command
}

/// Returns a command for a program that the user chose, such as an editor, a viewer, or a line for the shell. The
/// program inherits the user's environment, because the user may have configured it there, but not the variables with
/// our own secrets.
pub fn user_command(program: impl AsRef<OsStr>, our_secrets: &[&str]) -> Command {
    let mut command = Command::new(program);
    for variable in our_secrets {
        command.env_remove(variable);
    }
    command
}

/// Returns a command that runs this program again. It inherits the whole environment, because the user would run it in
/// the same one.
pub fn own_command() -> io::Result<Command> {
    env::current_exe().map(Command::new)
}

/// Starts a program whose address space is limited. Allocations of the program above the limit fail. The limit is set
/// just after the start, because only unsafe code can set it before.
pub fn spawn_with_limit(command: &mut Command, max_bytes: u64) -> io::Result<Child> {
    let mut child = command.spawn()?;
    limit_memory(&child, max_bytes).inspect_err(|_| {
        // The child must not run without its limit, nor stay behind.
        let _ = child.kill();
        let _ = child.wait();
    })?;
    Ok(child)
}

/// A running child and the programs that it has started, in a process group of their own. They end with this value.
pub struct ProcessGroup(Child);

impl ProcessGroup {
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }

    /// Returns the status of the child if it has ended.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let id = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        // The identifier of a child that has ended may be that of another process.
        if let (Ok(None), Some(group)) = (self.0.try_wait(), id) {
            // A group that has just ended cannot be killed, and its child is waited for all the same.
            let _ = kill_process_group(group, Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

/// Limits the address space of a running child. Only Linux can limit another process, so a child on another system is
/// not limited.
fn limit_memory(child: &Child, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, prlimit};

        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        match prlimit(pid, Resource::As, limit) {
            // The child has a lower limit already, which only the superuser may raise.
            Ok(_) | Err(rustix::io::Errno::PERM) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (child, bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn an_isolated_program_inherits_only_what_it_needs() {
        let output = isolated_command("env").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let names: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert!(names.contains(&"PATH"), "{text}");
        // Cargo sets this variable for every test.
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert!(names.iter().all(|name| NEEDED_VARIABLES.contains(name)), "{text}");
    }

    #[test]
    fn a_program_of_the_user_misses_only_our_secrets() {
        let mut command = user_command("env", &["CARGO_MANIFEST_DIR"]);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(
            text.contains("CARGO_PKG_NAME=") && !text.contains("CARGO_MANIFEST_DIR="),
            "{text}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_gets_no_memory_above_its_limit() {
        for (mebibytes, is_enough) in [(64, true), (512, false)] {
            // The shell waits for the end of its input, so that the limit is set before it allocates.
            let script =
                format!("read line; head -c {mebibytes}M /dev/zero | tail -n 1 > /dev/null");
            let mut command = isolated_command("sh");
            command.args(["-c", &script]).stdin(Stdio::piped()).stderr(Stdio::null());
            let mut child = spawn_with_limit(&mut command, 256 << 20).unwrap();
            drop(child.stdin.take());
            assert_eq!(child.wait().unwrap().success(), is_enough, "{mebibytes} MiB");
        }
    }
}
