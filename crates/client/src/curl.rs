//! A request as a `curl` command, to be copied. The token stays out of it: the shell puts it in.

use crate::{
    call::{Call, Payload},
    client::Client,
    operation::Operation,
};
use tessera_model::{DatasetId, ExportTaskId, Search, shell::quote};
use tessera_wire::paths::{self, Parameters, query};

impl Client {
    /// `curl` for one dataset record.
    #[must_use]
    pub fn curl_dataset(&self, id: DatasetId) -> String {
        self.curl(&paths::dataset(id), &Parameters::new())
    }

    /// `curl` for one page of clusters.
    #[must_use]
    pub fn curl_explore(&self, search: &Search) -> String {
        self.curl(&self.explore_path(search), &paths::explore_parameters(search))
    }

    /// `curl` for the state of an export.
    #[must_use]
    pub fn curl_export_status(&self, dataset: DatasetId, task: ExportTaskId) -> String {
        let parameters = vec![(query::EXPORT_TASK_ID, task.to_string())];
        self.curl(&paths::export_status(dataset), &parameters)
    }

    fn curl(&self, path: &str, parameters: &Parameters) -> String {
        let url = self.endpoint().base_url().at(path, parameters);
        let login = !self.endpoint().is_on_premises();
        // Every read that is copied is spelled in the same way, whichever it is.
        Call::get(Operation::Dataset, url).curl(login)
    }
}

impl Call {
    /// The request as a command, with the token of the shell where it needs a login.
    pub(super) fn curl(&self, login: bool) -> String {
        let login = match self.operation {
            _ if !login => "",
            Operation::Credentials => " -b \"SESSION=$SESSION\"",
            _ => " -H \"Authorization: Bearer $TESSERA_TOKEN\"",
        };
        let body = match &self.payload {
            Payload::Get => String::new(),
            Payload::Post => " -X POST".to_owned(),
            Payload::Json(body) => {
                let body = quote(&String::from_utf8_lossy(body));
                format!(" -H 'Content-Type: application/json' -d {body}")
            }
            // Sent is a copy that was turned upright and named by us.
            Payload::Image(image) => format!(" -F file=@{}", image.name),
            Payload::Form(parts) => {
                let parts = parts.iter().map(|part| quote(&part.words()));
                parts.flat_map(|part| [" -F ".to_owned(), part]).collect()
            }
            Payload::Media(media) => {
                let parts = media.words().map(|(field, value)| quote(&format!("{field}={value}")));
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
    use crate::{Access, BaseUrl, Credentials, Endpoint};

    fn client(access: Access) -> Client {
        let base = BaseUrl::parse("https://media.example").unwrap();
        Client::new(Endpoint::new(base, access).unwrap()).unwrap()
    }

    #[test]
    fn p28_the_secret_is_in_no_command() {
        let hosted = client(Access::Hosted(Credentials {
            api_key: "key-canary".into(),
            api_secret: "secret-canary".to_owned().into(),
        }));
        let search = Search::browse(DatasetId(Uuid::nil()));
        let command = hosted.curl_explore(&search);
        assert!(command.contains("Bearer $TESSERA_TOKEN") && !command.contains("canary"));
        assert!(command.contains("'https://media.example/api/v1/explore/0000"), "{command}");
        let open = client(Access::OnPremises).curl_dataset(search.dataset);
        assert_eq!(
            open,
            format!("curl -sS https://media.example/api/v1/dataset/{}", search.dataset)
        );
    }
}
