//! Renders the manual pages.

use std::io;

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};

use super::ENVIRONMENT_VARIABLES;
use crate::cli::Exit;

const FILE_DESCRIPTIONS: [(&str, &str); 4] = [
    ("~/.config/tessera/config.toml", "settings and profiles of the user; no secrets"),
    ("~/.config/tessera/keys.toml, themes/", "custom keys and themes"),
    ("~/.local/state/tessera/", "jobs, selections, saved views and history, by deployment"),
    ("~/.local/share/tessera/", "index and login of local deployments"),
];

pub(super) fn render_page(command: &Command) -> io::Result<String> {
    // Exit codes have a section of their own.
    let man = Man::new(command.clone().after_help("")).manual("User Commands");
    let mut bytes = Vec::new();
    man.render(&mut bytes)?;
    let mut page = String::from_utf8_lossy(&bytes).into_owned();
    if command.get_name() == "tessera" {
        page += &table("EXIT STATUS", Exit::ALL.map(|exit| (exit as i32, exit.meaning())));
        page += &table("ENVIRONMENT", ENVIRONMENT_VARIABLES);
        page += &table("FILES", FILE_DESCRIPTIONS);
    }
    Ok(page)
}

pub(super) fn render_all(mut root: Command) -> io::Result<Vec<(String, String)>> {
    root.build();
    let mut pages = Vec::new();
    collect_pages(&root, &mut pages)?;
    Ok(pages)
}

fn collect_pages(command: &Command, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    pages.push((Man::new(command.clone()).get_filename(), render_page(command)?));
    command
        .get_subcommands()
        .filter(|each| each.get_name() != "help")
        .try_for_each(|each| collect_pages(each, pages))
}

fn table(title: &str, rows: impl IntoIterator<Item = (impl ToString, &'static str)>) -> String {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (name, meaning) in rows {
        roff.control("TP", []);
        roff.text([bold(name.to_string())]);
        roff.text([roman(meaning)]);
    }
    roff.render()
}
