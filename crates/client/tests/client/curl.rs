//! Requests as `curl` commands.

use tessera_client::{AuthMethod, BaseUrl, Client, Credentials, ServiceConfig};
use tessera_model::Search;
use tessera_testing::clients::dataset;

fn client(access: AuthMethod) -> Client {
    let base = BaseUrl::parse("https://media.example").unwrap();
    Client::new(ServiceConfig::new(base, access).unwrap()).unwrap()
}

#[test]
fn commands_contain_no_secret() {
    let hosted = client(AuthMethod::Hosted(Credentials {
        api_key: "key-canary".into(),
        api_secret: "secret-canary".to_owned().into(),
    }));
    let search = Search::browse(dataset());
    let command = hosted.curl_explore(&search).to_string();
    assert!(command.contains("Bearer $TESSERA_TOKEN") && !command.contains("canary"));
    assert!(command.contains("'https://media.example/api/v1/explore/"), "{command}");
    let open = client(AuthMethod::OnPremises).curl_dataset(search.dataset);
    assert_eq!(
        open.as_str(),
        format!("curl -sS https://media.example/api/v1/dataset/{}", search.dataset)
    );
}
