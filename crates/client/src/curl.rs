//! Requests as `curl` commands to copy. The token is not included: the shell inserts it.

use crate::{
    client::Client,
    request::{ApiRequest, RequestBody},
    retry_table::ApiOperation,
};
use tessera_model::{DatasetId, ExportTaskId, Search, shell::quote};
use tessera_wire::paths::{self, Parameters, query};

impl Client {
    #[must_use]
    pub fn curl_dataset(&self, id: DatasetId) -> String {
        self.curl(&paths::dataset(id), &Parameters::new())
    }

    #[must_use]
    pub fn curl_explore(&self, search: &Search) -> String {
        self.curl(&self.explore_path(search), &paths::explore_parameters(search))
    }

    #[must_use]
    pub fn curl_export_status(&self, dataset: DatasetId, task: ExportTaskId) -> String {
        let parameters = vec![(query::EXPORT_TASK_ID, task.to_string())];
        self.curl(&paths::export_status(dataset), &parameters)
    }

    fn curl(&self, path: &str, parameters: &Parameters) -> String {
        let url = self.endpoint().base_url().url_for(path, parameters);
        let login = !self.endpoint().is_on_premises();
        ApiRequest::get(ApiOperation::Dataset, url).curl(login)
    }
}

impl ApiRequest {
    /// Returns the command, with a token from the shell's environment when the request needs a
    /// login.
    pub(super) fn curl(&self, login: bool) -> String {
        let login = match self.operation {
            _ if !login => "",
            ApiOperation::Credentials => " -b \"SESSION=$SESSION\"",
            _ => " -H \"Authorization: Bearer $TESSERA_TOKEN\"",
        };
        let body = match &self.body {
            RequestBody::Get => String::new(),
            RequestBody::Post => " -X POST".to_owned(),
            RequestBody::Json(body) => {
                let body = quote(&String::from_utf8_lossy(body));
                format!(" -H 'Content-Type: application/json' -d {body}")
            }
            // The bytes sent are an upright copy under a generated name.
            RequestBody::Image(image) => format!(" -F file=@{}", image.name),
            RequestBody::Form(parts) => {
                let parts = parts.iter().map(|part| quote(&part.curl_field()));
                parts.flat_map(|part| [" -F ".to_owned(), part]).collect()
            }
            RequestBody::Media(media) => {
                let parts =
                    media.curl_fields().map(|(field, value)| quote(&format!("{field}={value}")));
                parts.flat_map(|part| [" -F ".to_owned(), part]).collect()
            }
        };
        format!("curl -sS{login}{body} {}", quote(self.url.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{AuthMethod, BaseUrl, Credentials, Endpoint};

    fn client(access: AuthMethod) -> Client {
        let base = BaseUrl::parse("https://media.example").unwrap();
        Client::new(Endpoint::new(base, access).unwrap()).unwrap()
    }

    #[test]
    fn the_secret_is_in_no_command() {
        let hosted = client(AuthMethod::Hosted(Credentials {
            api_key: "key-canary".into(),
            api_secret: "secret-canary".to_owned().into(),
        }));
        let search = Search::browse(DatasetId(Uuid::nil()));
        let command = hosted.curl_explore(&search);
        assert!(command.contains("Bearer $TESSERA_TOKEN") && !command.contains("canary"));
        assert!(command.contains("'https://media.example/api/v1/explore/0000"), "{command}");
        let open = client(AuthMethod::OnPremises).curl_dataset(search.dataset);
        assert_eq!(
            open,
            format!("curl -sS https://media.example/api/v1/dataset/{}", search.dataset)
        );
    }
}
