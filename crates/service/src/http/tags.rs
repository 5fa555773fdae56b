//! Lists and changes tags and ratings, below `/local`. The API document has `user_tags`, which these requests change,
//! but no request that changes them.

use serde::Deserialize;

use super::prelude::*;
use super::{explore::parse_optional_search, export::read_json, openapi::JsonErrors};
use crate::usecase::TagTarget;
use tessera_model::{TagChangeId, TagColor, TagDefinitionChange, TagEdit, tag::tag_name};
use tessera_wire::tags::{TagChangeBody, TagDefinitionBody, TagEditBody, TagListBody, UndoBody};

const BODY: &str = "body";

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    let routes = routes.add(routes!(tags)).add(routes!(change_tags));
    routes.add(routes!(define_tag)).add(routes!(undo_tags))
}

/// Returns the tags of a dataset, each with the number of its media items.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/tags",
    params(DatasetPath),
    responses((status = 200, description = "The tags", body = TagListBody), DatasetErrors),
)]
pub(crate) async fn tags(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Json<TagListBody>, Problem> {
    Ok(Json(state.run_expensive(move |deployment| deployment.tag_list(id)).await?))
}

/// Adds tags to media items, removes tags from them, or rates them. The body selects the media items like an export,
/// or lists files. A body with neither changes everything that the parameters of `explore` find, of which one at least
/// must be given.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/tags/change",
    params(DatasetPath, ExploreParams),
    request_body(content = ref("#/components/schemas/TagEdit"), content_type = "application/json"),
    responses(
        (status = 200, description = "What was changed", body = TagChangeBody),
        JsonErrors,
        StatusErrors,
        BusyError,
    ),
)]
pub(crate) async fn change_tags(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
    request: Request,
) -> Result<Json<TagChangeBody>, Problem> {
    let search = parse_optional_search(&state, &params)?;
    let body = read_json(connection, request, BODY).await?;
    let TagEditBody { add, remove, rating, only_existing, media_selection, files } =
        read_body(&body)?;
    let edit = TagEdit::new(add, remove, rating)
        .map(|edit| TagEdit { only_existing, ..edit })
        .map_err(|reason| Problem::invalid_body(BODY, &capitalized(&reason)))?;
    let target = match (media_selection, files) {
        (None, None) if !params.is_empty() => TagTarget::Search(search),
        (Some(_), None) if params.is_empty() => TagTarget::Selection(body),
        (None, Some(files)) if params.is_empty() => TagTarget::Files(files),
        _ => {
            let reason = "Give one of a selection, files, and the parameters of a search";
            return Err(Problem::invalid_body("media_selection", reason));
        }
    };
    let change = state.run_expensive(move |deployment| deployment.change_tags(id, &target, &edit));
    Ok(Json(change.await?))
}

/// Creates a tag, changes its color, renames it, or deletes it from all media items.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/tags/define",
    params(DatasetPath),
    request_body(content = ref("#/components/schemas/TagDefinition"), content_type = "application/json"),
    responses((status = 200, description = "What was changed", body = TagChangeBody), JsonErrors, StatusErrors),
)]
pub(crate) async fn define_tag(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<Json<TagChangeBody>, Problem> {
    let body = read_json(connection, request, BODY).await?;
    let TagDefinitionBody { name, color, new_name, delete } = read_body(&body)?;
    let name_of = |text: &str| {
        let reason = "Input should be a name of 1 to 100 printable characters";
        tag_name(text).ok_or_else(|| Problem::invalid_body("name", reason))
    };
    let invalid = |reason: String| Problem::invalid_body("color", &capitalized(&reason));
    let color = color.map(|color| color.parse::<TagColor>()).transpose().map_err(invalid)?;
    let edit = match (new_name, delete) {
        (None, false) => TagDefinitionChange::Create(color),
        (Some(new_name), false) if color.is_none() => {
            TagDefinitionChange::Rename(name_of(&new_name)?)
        }
        (None, true) if color.is_none() => TagDefinitionChange::Delete,
        _ => {
            let reason = "Give only one of color, new_name and delete";
            return Err(Problem::invalid_body(BODY, reason));
        }
    };
    let name = name_of(&name)?;
    let change = move |deployment: &Deployment| deployment.define_tag(id, &name, &edit);
    Ok(Json(state.spawn_blocking(change).await?))
}

/// Undoes a change of tags: the one in the body, or else the last one.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/tags/undo",
    params(DatasetPath),
    request_body(content = ref("#/components/schemas/TagUndo"), content_type = "application/json"),
    responses((status = 200, description = "What was undone", body = TagChangeBody), JsonErrors, StatusErrors),
)]
pub(crate) async fn undo_tags(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<Json<TagChangeBody>, Problem> {
    let body = read_json(connection, request, BODY).await?;
    let UndoBody { change_id } = read_body(&body)?;
    let change = change_id.map(TagChangeId);
    Ok(Json(state.spawn_blocking(move |deployment| deployment.undo_tags(id, change)).await?))
}

fn read_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    // A derived reader would accept an array, too.
    let object = body.trim_ascii_start().starts_with(b"{").then(|| serde_json::from_slice(body));
    match object {
        Some(Ok(read)) => Ok(read),
        Some(Err(cause)) => Err(Problem::invalid_body(BODY, &format!("Input is wrong: {cause}"))),
        None => Err(Problem::invalid_body(BODY, "Input should be an object")),
    }
}

fn capitalized(reason: &str) -> String {
    let mut letters = reason.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
