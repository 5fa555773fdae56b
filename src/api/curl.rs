//! A read as a `curl` command, to be copied. The token stays out of it: the shell puts it in.

use crate::{
    api::{Access, client::Client},
    model::{DatasetId, ExportTaskId, Search, shell::quote},
    wire::paths::{self, Parameters, query},
};

impl Client {
    /// `curl` for one dataset record.
    #[must_use]
    pub fn curl_dataset(&self, id: DatasetId) -> String {
        self.curl(&paths::dataset(id), &Parameters::new())
    }

    /// `curl` for one page of clusters.
    #[must_use]
    pub fn curl_explore(&self, search: &Search) -> String {
        self.curl(&paths::explore(search.dataset), &paths::explore_parameters(search))
    }

    /// `curl` for the state of an export.
    #[must_use]
    pub fn curl_export_status(&self, dataset: DatasetId, task: ExportTaskId) -> String {
        let parameters = vec![(query::EXPORT_TASK_ID, task.to_string())];
        self.curl(&paths::export_status(dataset), &parameters)
    }

    fn curl(&self, path: &str, parameters: &Parameters) -> String {
        let url = self.endpoint().base_url().at(path, parameters);
        let login = match self.endpoint().access() {
            Access::Hosted(_) => " -H \"Authorization: Bearer $TESSERA_TOKEN\"",
            Access::OnPremises => "",
        };
        format!("curl -sS{login} {}", quote(url.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::api::{BaseUrl, Credentials, Endpoint};

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
