//! What the processes of a store on a server have to have in common. The tests run where `TESSERA_TEST_STORE`
//! names a server.

use tessera_media::object_storage::ObjectUri;
use tessera_service::{Deployment, DeploymentSettings, LocalError};
use tessera_store::postgres;

use tessera_testing::tiny_model::ModelFolder;

use crate::{
    components::object_storage::fake_s3::FakeS3,
    support::{Place, pictures},
    user_model::with_model,
};

/// Opens the store of a place as another process does.
fn open(place: &Place, settings: DeploymentSettings) -> Result<Deployment, LocalError> {
    let settings = DeploymentSettings { store: place.store.address(), ..settings };
    Deployment::open(place.data.path(), settings)
}

#[tokio::test]
async fn a_process_with_another_bucket_or_model_is_refused() {
    let place = Place::new(&pictures(1));
    let Some(address) = place.store.address() else { return };
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    let with_bucket = |uri: &str| DeploymentSettings {
        storage: storage.settings(),
        bucket: Some(ObjectUri::parse(uri).unwrap()),
        ..DeploymentSettings::default()
    };
    let unusable = open(&place, with_bucket("s3://missing/tessera")).unwrap();
    unusable.check_settings().await.unwrap_err();
    let first = open(&place, with_bucket("s3://team/tessera/")).unwrap();
    let second = open(&place, DeploymentSettings::default()).unwrap();
    first.check_settings().await.unwrap();
    let used = format!("the store {address} is used with");
    let (bucket, same) =
        ("the bucket s3://team/tessera", "give all processes the same --bucket, or stop them");
    let refusal = second.check_settings().await.unwrap_err();
    let expected = format!("{used} {bucket}, and this process was given no bucket; {same}");
    assert!(refusal.to_string().starts_with(&expected), "{refusal}");
    assert!(refusal.is_usage_error());
    drop(open(&place, with_bucket("s3://team/tessera")).unwrap());
    let other = with_model(&ModelFolder::clip());
    let other = DeploymentSettings { model: other.model, ..with_bucket("s3://team/tessera") };
    for (settings, given) in [
        (
            with_bucket("s3://team/other"),
            format!("{bucket}, and this process was given the bucket s3://team/other; "),
        ),
        (
            DeploymentSettings::default(),
            format!("{bucket}, and this process was given no bucket; "),
        ),
        (other, "no model, and this process was given the model ".to_owned()),
    ] {
        let refusal = open(&place, settings).map(drop).unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("{used} {given}")), "{refusal}");
        assert!(refusal.ends_with("`tessera store init --reset-settings`"), "{refusal}");
    }
    postgres::reset_settings(&address).unwrap();
    let other = open(&place, with_bucket("s3://team/other")).unwrap();
    other.check_settings().await.unwrap();
}
