//! The deployments that can be switched to while the program runs.

use crate::{
    app::{
        App, Effect, Overlay,
        overlay::{Choice, Pick},
    },
    config::Destination,
};

impl App {
    /// Opens the list, at the profile that is open.
    pub(in crate::app) fn ask_for_profile(&mut self) {
        let profiles = self.setup.profiles.iter().map(|profile| {
            let note = format!("{:<7} {}", profile.place.kind(), profile.place.address());
            Choice::new(Destination::Profile(profile.name.clone()), &profile.name).note(note)
        });
        let others = [
            Choice::new(Destination::Sample, "sample").note("painted for you, no account"),
            Choice::new(Destination::Welcome, "new …")
                .note("a folder, a hosted or an on-premises service"),
        ];
        let open = self.setup.profile.clone().map(Destination::Profile);
        let pick = Pick::new(profiles.chain(others).collect());
        let pick = pick.at(|destination| Some(destination) == open.as_ref());
        self.overlay = Some(Overlay::Profiles(pick));
    }
}

/// Leaves this deployment for the chosen one.
pub(super) fn switch(pick: &Pick<Destination>, effects: &mut Vec<Effect>) {
    effects.extend(pick.chosen().cloned().map(Effect::Switch));
}
