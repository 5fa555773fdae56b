//! The list of deployments to switch to.

use super::{Command, ListKind, PickItem};
use crate::{app::App, config::Destination};

impl App {
    pub(in crate::app) fn open_profile_list(&mut self) {
        let item =
            |destination, name: &str| PickItem::new(Command::OpenDeployment(destination), name);
        let profiles = self.setup.profiles.iter().map(|profile| {
            let note = format!("{:<7} {}", profile.deployment.kind(), profile.deployment.address());
            item(Destination::Profile(profile.name.clone()), &profile.name)
                .note(note)
                .current(Some(&profile.name) == self.setup.profile.as_ref())
        });
        let others = [
            item(Destination::Sample, "sample").note("generated dataset, no account needed"),
            item(Destination::Welcome, "new …")
                .note("a folder, a hosted or an on-premises service"),
        ];
        let items = profiles.chain(others).collect();
        self.open_list(ListKind::Profiles, "Open another deployment", items);
    }
}
