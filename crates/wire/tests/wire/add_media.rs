use serde_json::json;

use tessera_model::Dataset;
use tessera_wire::{add_media::*, dataset::read_dataset, fields::Fields};

fn dataset(status: &str, images: u64) -> Dataset {
    let id = "ad48d250-0000-11f1-bfca-000000000001";
    read_dataset(Fields::from(&json!({"id": id, "status_new": status, "n_images": images})))
        .unwrap()
}

#[test]
fn only_202_accepts_a_change() {
    assert!(read_accepted(202).is_some());
    for status in [200, 201, 204, 206] {
        assert_eq!(read_accepted(status), None, "{status}");
    }
}

#[test]
fn only_success_accepts_a_folder() {
    for (body, accepted) in [
        (json!({"status": "success", "message": "started"}), true),
        (json!({"status": "SUCCESS"}), true),
        (json!({"status": "error", "message": "no such path"}), false),
        (json!({"status": null}), false),
        (json!({"message": "success"}), false),
        (json!(["success"]), false),
    ] {
        assert_eq!(read_processing(Fields::from(&body)).is_some(), accepted, "{body}");
    }
}

#[test]
fn the_dataset_shows_whether_a_lost_request_was_accepted() {
    let (partial, ready) = (dataset("PARTIAL INDEX", 3), dataset("READY", 3));
    for (before, now, accepted) in [
        (&partial, dataset("READ ONLY", 3), true),
        (&partial, dataset("INDEXING", 3), true),
        (&partial, dataset("READY", 3), true),
        (&partial, dataset("PARTIAL INDEX", 4), true),
        (&partial, dataset("PARTIAL INDEX", 3), false),
        (&partial, dataset("ERROR", 3), false),
        (&ready, dataset("READY", 3), false),
        (&ready, dataset("READ ONLY", 3), true),
        (&dataset("READ ONLY", 3), dataset("READ ONLY", 3), false),
        // The task that ran before has ended.
        (&dataset("INDEXING", 3), dataset("READY", 3), false),
        (&dataset("READ ONLY", 3), dataset("PARTIAL INDEX", 4), false),
    ] {
        let evidence = accepted_since(before, &now);
        assert_eq!(evidence.is_some(), accepted, "{:?} {:?}", before.status, now.status);
    }
}
