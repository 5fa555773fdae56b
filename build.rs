//! Passes facts to the program that only cargo knows, for `tessera version --verbose`. The commit is not one of these
//! facts, because every commit would rebuild the program.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| env::var(name).unwrap_or_default();
    let compiler = Command::new(variable("RUSTC")).arg("--version").output();
    let compiler = compiler.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=TESSERA_BUILD_COMPILER={}", compiler.unwrap_or_default());
    println!("cargo::rustc-env=TESSERA_BUILD_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=TESSERA_BUILD_PROFILE={}", variable("PROFILE"));
}
