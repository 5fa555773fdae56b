//! Commands for a shell: what is read back is what was given.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    process::Command,
};

use tessera_model::{SafeText, ShellCommand};

const WORDS: &[&[u8]] = &[
    b"plain.jpg",
    b"",
    b"my photos/it's.jpg",
    b"$(reboot) `reboot` $HOME \\ \" ; & | > * ~ !x",
    b"a\nb\tc\rd",
    b"\x1b]0;title\x07 and it's \\n",
    b"\x1b1 a hexadecimal digit follows",
    "\u{9b}2J \u{202e}gpj.exe \u{200b} e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}".as_bytes(),
    "caf\u{e9} \u{732b} 😀".as_bytes(),
    b"\xff\xfe not UTF-8 \x80",
];

#[test]
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
fn a_shell_reads_every_word_exactly() {
    for word in WORDS {
        let command = ShellCommand::new("printf %s").word(OsStr::from_bytes(word));
        let Ok(output) = Command::new("bash").args(["-c", command.as_str()]).output() else {
            println!("skipped: bash is missing");
            return;
        };
        assert_eq!(OsString::from_vec(output.stdout), OsStr::from_bytes(word), "{command}");
    }
}

#[test]
fn a_command_is_printable_whatever_its_words_are() {
    for word in WORDS {
        let command =
            ShellCommand::new("tessera media add").option("--dir", OsStr::from_bytes(word));
        assert_eq!(SafeText::new(command.as_str(), usize::MAX).as_str(), command.as_str());
    }
    let command = ShellCommand::new("a").text("--b").option("--c", "d e").followed_by(&"f".into());
    assert_eq!(command.to_string(), "a --b --c 'd e' f");
}

#[test]
fn parts_are_separated_by_one_space_and_words_quoted_only_where_needed() {
    for (command, expected) in [
        (ShellCommand::new("tessera"), "tessera"),
        (ShellCommand::new("tessera").text(""), "tessera"),
        (ShellCommand::default().text("tessera"), "tessera"),
        (ShellCommand::new("ls").word("a b").word("c"), "ls 'a b' c"),
        (ShellCommand::new("ls").word(""), "ls ''"),
        (ShellCommand::new("ls").word("{a,b}"), "ls '{a,b}'"),
        (ShellCommand::new("ls").word("wow!"), "ls 'wow!'"),
        (ShellCommand::new("ls").word("^old^new"), "ls '^old^new'"),
        (ShellCommand::new("ls").word("a\nb's"), r"ls $'a\012b\'s'"),
        (ShellCommand::new("ls").word("a\u{1b}\\"), r"ls $'a\033\\'"),
        (
            ShellCommand::new("tessera media add").saved_options(&SafeText::name("--dir 'a b'")),
            "tessera media add --dir 'a b'",
        ),
    ] {
        assert_eq!(command.as_str(), expected);
    }
    assert_eq!(format!("{:>8}|", ShellCommand::new("ls")), "      ls|");
}
