//! Requests as `curl` commands: they contain no secret, and a shell and `curl` read back exactly what an upload sends.

use std::fs;

use tessera_client::{
    AuthMethod, BaseUrl, Client, Credentials, DryRun, Endpoint, QueryImageUpload, RawBody, RawPart,
    RawRequest, ServiceConfig,
};
use tessera_model::{MediaAddition, MediaSource, Search};
use tessera_testing::{
    clients::{dataset, on_premises, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer},
};

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

/// The command of a custom request, without the address.
async fn raw_command(body: RawBody) -> String {
    let run = DryRun::new(&[Endpoint::Raw]);
    let client = on_premises("https://a.example", without_pauses()).with_dry_run(run.clone());
    let request = RawRequest { path: "x".into(), parameters: vec![], body };
    client.send_raw(request).await.unwrap_err();
    let request = run.take_request().unwrap();
    let command = request.curl.as_str().strip_suffix(" https://a.example/api/v1/x").unwrap();
    format!("{} {command}", request.method)
}

fn part(name: &str, file: Option<&str>, content: &'static str) -> RawPart {
    RawPart { name: name.into(), file: file.map(Into::into), content: content.into() }
}

#[tokio::test]
async fn each_kind_of_body_has_its_option() {
    for (body, command) in [
        (RawBody::Get, "GET curl -sS"),
        (RawBody::Post, "POST curl -sS -X POST"),
        (
            RawBody::Json(r#"{"a": "it's"}"#.into()),
            r#"POST curl -sS -H 'Content-Type: application/json' -d '{"a": "it'\''s"}'"#,
        ),
        (RawBody::Form(vec![part("a", None, "b c")]), "POST curl -sS -F 'a=b c'"),
        // `curl -F` would read a file, or options after a semicolon.
        (RawBody::Form(vec![part("a", None, "@b")]), "POST curl -sS --form-string 'a=@b'"),
        (RawBody::Form(vec![part("a", None, "<b")]), "POST curl -sS --form-string 'a=<b'"),
        (RawBody::Form(vec![part("a", None, "\"b\"")]), "POST curl -sS --form-string 'a=\"b\"'"),
        (RawBody::Form(vec![part("a", None, " b")]), "POST curl -sS --form-string 'a= b'"),
        (RawBody::Form(vec![part("a", None, "b;c")]), "POST curl -sS --form-string 'a=b;c'"),
        (
            RawBody::Form(vec![part("f", Some("/d/a.jpg"), "x"), part("g", Some("a;b.jpg"), "x")]),
            r#"POST curl -sS -F 'f=@/d/a.jpg' -F 'g=@"a;b.jpg"'"#,
        ),
        (
            RawBody::Form(vec![part("f", Some(r#"d/a"b\c,d.jpg"#), "x")]),
            r#"POST curl -sS -F 'f=@"d/a\"b\\c,d.jpg";filename="a%22b_c,d.jpg"'"#,
        ),
        (
            RawBody::Form(vec![part("f", Some(" it's.jpg "), "x")]),
            r#"POST curl -sS -F 'f=@" it'\''s.jpg "'"#,
        ),
    ] {
        assert_eq!(raw_command(body).await, command);
    }
}

#[tokio::test]
async fn an_addition_is_a_form_of_its_options_and_files() {
    let record = format!(r#"{{"id":"{}","status_new":"READY"}}"#, dataset());
    let server = ScriptedServer::start(move |_: &ReceivedRequest| Reply::json(&record)).await;
    let run = DryRun::new(&[Endpoint::AddMedia]);
    let client = on_premises(&server.url(), without_pauses()).with_dry_run(run.clone());
    let command = async |addition: MediaAddition| {
        client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap_err();
        let curl = run.take_request().unwrap().curl.to_string();
        let url = format!(" {}/api/v1/dataset/{}/add_media", server.url(), dataset());
        curl.strip_prefix("curl -sS ").unwrap().strip_suffix(&url).unwrap().to_owned()
    };
    let storage = MediaAddition {
        auto_reindex: true,
        assume_role: Some("arn:aws:iam::123456789012:role/x".into()),
        batch_videos: Some(1),
        batch_images: Some(2),
        batch_objects: Some(3),
        ..MediaAddition::new(MediaSource::Storage("s3://b/a;b/".into()))
    };
    assert_eq!(
        command(storage).await,
        "-F 'auto_reindex=true' --form-string 's3_uri=s3://b/a;b/' -F 'batch_n_videos=1' -F \
         'batch_n_images=2' -F 'batch_n_objects=3' -F 'assume_role=arn:aws:iam::123456789012:role/x'"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mp4");
    fs::write(&file, "video").unwrap();
    let same_name = folder.path().join("b/a.mp4");
    fs::create_dir(same_name.parent().unwrap()).unwrap();
    fs::write(&same_name, "another video").unwrap();
    let files = MediaAddition::new(MediaSource::Files(vec![file.clone(), same_name.clone()]));
    let expected = format!(
        "-F 'auto_reindex=false' -F 'files=@{}' -F 'files=@{};filename=a-2.mp4'",
        file.display(),
        same_name.display()
    );
    assert_eq!(command(files).await, expected);
}

#[tokio::test]
async fn a_query_image_is_its_file_with_the_name_that_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my cat.jpg");
    fs::write(&file, b"\xff\xd8\xff\xe0 cut").unwrap();
    let run = DryRun::new(&[Endpoint::RegisterAnchor]);
    let client = on_premises("https://a.example", without_pauses()).with_dry_run(run.clone());
    let image = QueryImageUpload::read(&file).await.unwrap();
    let Search { entity, granularity, .. } = Search::browse(dataset());
    client.register_anchor(dataset(), image, entity, granularity, None).await.unwrap_err();
    let curl = run.take_request().unwrap().curl.to_string();
    let expected = format!("curl -sS -F 'file=@{};filename=query.jpg' ", file.display());
    assert!(curl.starts_with(&expected), "{curl}");
}

#[tokio::test]
async fn the_login_of_a_command_is_inserted_by_the_shell() {
    let client = |auth: AuthMethod| {
        let base = BaseUrl::parse("https://a.example").unwrap();
        Client::new(ServiceConfig::new(base, auth).unwrap()).unwrap()
    };
    let command = |auth| client(auth).curl_dataset(dataset()).to_string();
    let url = format!("https://a.example/api/v1/dataset/{}", dataset());
    assert_eq!(
        command(AuthMethod::Token("canary".into())),
        format!("curl -sS -H \"Authorization: Bearer $TESSERA_TOKEN\" {url}")
    );
    assert_eq!(command(AuthMethod::OnPremises), format!("curl -sS {url}"));
    let run = DryRun::new(&[Endpoint::Credentials]);
    let session = client(AuthMethod::Session("canary".into())).with_dry_run(run.clone());
    session.create_credentials().await.unwrap_err();
    assert_eq!(
        run.take_request().unwrap().curl.as_str(),
        "curl -sS -b \"SESSION=$SESSION\" https://a.example/api/v1/api_credentials"
    );
}
