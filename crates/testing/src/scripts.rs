//! Programs that are shell scripts.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

/// Writes a program that is a shell script of these commands.
///
/// Another process writes the file. If this process wrote it, a program that another thread of the tests starts in the
/// same moment would inherit the open file, and Linux refuses to run a program while any process can write to it.
pub fn write_script(program: &Path, commands: &str) {
    let mut writer = Command::new("/bin/sh")
        .args(["-c", "cat > \"$0\" && chmod 700 \"$0\""])
        .arg(program)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    write!(writer.stdin.take().unwrap(), "#!/bin/sh\n{commands}\n").unwrap();
    assert!(writer.wait().unwrap().success(), "{} is not written", program.display());
}
