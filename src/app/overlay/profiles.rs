//! The deployments that can be switched to while the program runs.

use crate::{
    app::{
        App, Effect, Overlay,
        overlay::{PickItem, PickList},
    },
    config::Destination,
};

impl App {
    /// Opens the list, at the profile that is open.
    pub(in crate::app) fn open_profile_list(&mut self) {
        let profiles = self.setup.profiles.iter().map(|profile| {
            let note = format!("{:<7} {}", profile.deployment.kind(), profile.deployment.address());
            PickItem::new(Destination::Profile(profile.name.clone()), &profile.name).note(note)
        });
        let others = [
            PickItem::new(Destination::Sample, "sample").note("painted for you, no account"),
            PickItem::new(Destination::Welcome, "new …")
                .note("a folder, a hosted or an on-premises service"),
        ];
        let open = self.setup.profile.clone().map(Destination::Profile);
        let pick = PickList::new(profiles.chain(others).collect());
        let pick = pick.with_cursor_at(|destination| Some(destination) == open.as_ref());
        self.overlay = Some(Overlay::Profiles(pick));
    }

    /// Leaves this deployment and opens the selected one.
    pub(super) fn switch_deployment(&mut self, pick: &PickList<Destination>) {
        self.effects.extend(pick.selected().cloned().map(Effect::OpenDeployment));
    }
}
