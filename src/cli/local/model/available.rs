//! `tessera model list --available`: a short list of models that `tessera model get` can get.

use serde_json::{Value, json};

use crate::cli::{CliResult, Column, Context, Document};

const COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("SIZE", "size"),
    Column::new("LANGUAGES", "languages"),
    Column::new("LICENSE", "license"),
    Column::new("TRIED", "tried"),
    Column::new("FOR", "purpose"),
];

/// A model that can be had.
struct AvailableModel {
    name: &'static str,
    /// About how much is downloaded.
    size: &'static str,
    languages: &'static str,
    license: &'static str,
    /// What this project has done with the real weights.
    tried: &'static str,
    purpose: &'static str,
}

const NOT_TRIED: &str = "not tried here with real weights";

const MODELS: [AvailableModel; 6] = [
    AvailableModel {
        name: "starter",
        size: "43 MB",
        languages: "English",
        license: "Apache-2.0, MIT, WordNet 3.0",
        tried: "measured",
        purpose: "texts find 1,000 kinds of things; look-alikes, labels",
    },
    AvailableModel {
        name: "Xenova/clip-vit-base-patch32",
        size: "about 600 MB",
        languages: "English",
        license: "MIT",
        tried: NOT_TRIED,
        purpose: "texts find scenes, actions and colors; the fastest CLIP",
    },
    AvailableModel {
        name: "Xenova/clip-vit-base-patch16",
        size: "about 600 MB",
        languages: "English",
        license: "MIT",
        tried: NOT_TRIED,
        purpose: "the same with more detail, and four times slower",
    },
    AvailableModel {
        name: "Xenova/siglip-base-patch16-224",
        size: "about 800 MB",
        languages: "English",
        license: "Apache-2.0",
        tried: NOT_TRIED,
        purpose: "texts find scenes, actions and colors, usually better than CLIP",
    },
    AvailableModel {
        name: "onnx-community/siglip2-base-patch16-224-ONNX",
        size: "about 1.5 GB",
        languages: "more than 100",
        license: "Apache-2.0",
        tried: NOT_TRIED,
        purpose: "the same in many languages",
    },
    AvailableModel {
        name: "Xenova/dinov2-small",
        size: "about 90 MB",
        languages: "none",
        license: "Apache-2.0",
        tried: NOT_TRIED,
        purpose: "look-alikes only",
    },
];

pub(super) fn list(context: &Context) -> CliResult {
    let rows = MODELS.iter().map(|model| {
        json!({
            "name": model.name,
            "size": model.size,
            "languages": model.languages,
            "license": model.license,
            "tried": model.tried,
            "purpose": model.purpose,
        })
    });
    let fields = json!({ "models": rows.collect::<Vec<Value>>() });
    context.print(&Document::list("tessera.available_models/1", fields, "models", COLUMNS))
}
