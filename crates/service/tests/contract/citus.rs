//! The script that distributes a store: its SQL fits the tables of a plain server. What Citus does with it is
//! not tested.

use tessera_media::object_storage::ObjectUri;
use tessera_service::DeploymentSettings;

use crate::{
    components::object_storage::fake_s3::FakeS3,
    support::{Place, pictures},
};

const SCRIPT: &str = include_str!("../../../../docs/citus.sql");
/// In place of the function of Citus.
const STAND_IN: &str = "
    CREATE FUNCTION create_distributed_table(relation regclass, col text, colocate_with text DEFAULT '')
    RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      ASSERT EXISTS (SELECT FROM pg_attribute WHERE attrelid = relation AND attname = col);
    END $$";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn distributed_rows_of_removed_media_are_removed() {
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    storage.set_modified("2999-01-01T00:00:00.000Z");
    let bucket = Some(ObjectUri::parse("s3://team/tessera").unwrap());
    let in_bucket =
        DeploymentSettings { storage: storage.settings(), bucket, ..DeploymentSettings::default() };
    for (settings, thumbnails) in
        [(DeploymentSettings::default(), "thumbnail"), (in_bucket, "packed_thumbnail")]
    {
        let place = Place::new(&pictures(4));
        if place.store.address().is_none() {
            return;
        }
        place.change(STAND_IN);
        place.change(SCRIPT);
        let counts = || ["picture_features", thumbnails].map(|table| place.count(table));
        let deployment = place.open_with(settings);
        place.add(&deployment);
        deployment.wait_until_idle().await;
        assert_eq!(counts(), [4, 4]);
        std::fs::remove_file(place.picture("p000.png")).unwrap();
        place.add(&deployment);
        deployment.wait_until_idle().await;
        assert_eq!(place.count("media"), 3);
        assert_eq!(counts(), [3, 3]);
        place.change("DELETE FROM dataset");
        assert_eq!(counts(), [0, 0]);
    }
}
