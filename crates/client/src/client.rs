//! The client, with one async function per endpoint. A function takes model values and returns model values or a
//! [`Failure`].

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue};
use secrecy::SecretString;
use serde_json::Value;

use crate::{
    auth::{AuthHeader, TokenSource},
    dry_run::DryRun,
    errors::AttemptError,
    manage_dataset::{LocalAddition, selection_parameters},
    multipart::{Form, FormPart},
    picture_key::PictureKey,
    query_image::QueryImageUpload,
    recorder::{Attempt, RequestRecorder},
    request::{ApiRequest, RawBody, RawRequest, RequestBody},
    response::{ApiResponse, FieldWarnings, RawResponse},
    retry::{ClientPolicy, RetryEngine},
    service_config::{AuthMethod, Credentials, ServiceConfig, TextSearchPath},
    transport::Transport,
};
use tessera_model::{
    Anchor, ClusterId, Dataset, DatasetId, DatasetList, Enrichment, EntityType, ExportFormat,
    ExportSelection, ExportSpec, ExportTask, ExportTaskId, Failure, FailureKind, Granularity, Link,
    MediaMap, Operation, Overview, Page, Preview, RecordField, Region, SafeText, Search,
    ShellCommand, Timestamp,
};
use tessera_wire::{
    add_media::Accepted,
    compat::read_overview,
    credentials::{IssuedCredentials, read_issued_credentials},
    dataset::{read_dataset, read_datasets, read_fields},
    endpoints::{self, Endpoint, Parameters, query},
    enrichment::read_enrichment,
    explore::{read_members, read_page},
    export::{read_started, read_status},
    fields::Fields,
    map::read_map,
    preview::write_region,
    query_image::read_anchor,
    selection,
};

pub(super) const NO_PARAMETERS: Parameters = Parameters::new();

/// A client of one service. Clones are cheap, and share connections, the token and the retry budget.
#[derive(Clone)]
pub struct Client {
    pub(super) transport: Arc<Transport>,
}

/// A page of clusters as the service sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawPage {
    /// The body, including undocumented fields.
    pub body: Value,
    /// What could be read of it.
    pub page: Option<Page>,
}

impl Client {
    pub fn new(service: ServiceConfig) -> Result<Self, Failure> {
        Self::with_policy(service, ClientPolicy::default())
    }

    pub fn with_policy(service: ServiceConfig, policy: ClientPolicy) -> Result<Self, Failure> {
        Ok(Self { transport: Arc::new(Transport::new(service, policy)?) })
    }

    pub fn with_recorder(self, recorder: RequestRecorder) -> Self {
        self.changed(|transport| transport.recorder = recorder)
    }

    /// Reports each field of a response that is needed but cannot be read, once per field. `listener` must not block.
    pub fn with_field_warnings(self, listener: impl Fn(SafeText) + Send + Sync + 'static) -> Self {
        self.changed(|transport| transport.field_warnings = FieldWarnings::new(listener))
    }

    /// Reports each request that the service has not responded to after [`ClientPolicy::slow_response`], and each pause
    /// of at least this length before a request is repeated, in a sentence. `listener` must not block.
    pub fn with_slow_listener(self, listener: impl Fn(String) + Send + Sync + 'static) -> Self {
        self.changed(|transport| transport.slow_listener = Some(Arc::new(listener)))
    }

    pub fn with_retries(self, retries: u32) -> Self {
        self.changed(|transport| {
            let policy = transport.retry_engine.policy().clone();
            let policy = ClientPolicy { retries: Some(retries), ..policy };
            transport.retry_engine = Arc::new(RetryEngine::new(policy));
        })
    }

    pub fn with_text_search(self, path: TextSearchPath) -> Self {
        self.changed(|transport| {
            transport.service = transport.service.clone().with_text_search(path);
        })
    }

    pub fn with_dry_run(self, dry_run: DryRun) -> Self {
        self.changed(|transport| transport.dry_run = Some(dry_run))
    }

    /// Makes uploads of media carry the session of a browser instead of the token. All other requests keep their login.
    pub fn with_upload_session(self, session: &SecretString) -> Result<Self, Failure> {
        let header = AuthHeader::from_session(session)?;
        Ok(self.changed(|transport| transport.upload_session = Some(header)))
    }

    fn changed(self, change: impl FnOnce(&mut Transport)) -> Self {
        let mut transport = self.transport.as_ref().clone();
        change(&mut transport);
        Self { transport: Arc::new(transport) }
    }

    pub fn service(&self) -> &ServiceConfig {
        &self.transport.service
    }

    pub fn has_replaced_secret(&self) -> bool {
        self.transport.auth.tokens().is_some_and(TokenSource::is_secret_replaced)
    }

    /// Returns when the current token expires, by the local clock. Returns `None` before the first request, and if the
    /// expiry is unknown.
    pub fn token_expires_at(&self) -> Option<Timestamp> {
        self.transport.auth.expires_at()
    }

    /// Returns a client of the same service with another login.
    ///
    /// # Errors
    /// The deployment has no login.
    pub fn with_login(&self, auth: AuthMethod) -> Result<Self, Failure> {
        let service = self.service().clone().with_auth(auth)?;
        let policy = self.transport.retry_engine.policy().clone();
        Ok(Self::with_policy(service, policy)?.with_recorder(self.transport.recorder.clone()))
    }

    /// Logs in this client and all its clones with another key pair.
    ///
    /// # Errors
    /// The tokens of this client are not signed with a key pair.
    pub fn replace_key_pair(&self, credentials: Credentials) -> Result<(), Failure> {
        let tokens = self.transport.auth.tokens();
        let refused = || Failure::local("this deployment does not log in with a key pair");
        tokens.ok_or_else(refused)?.replace(credentials);
        Ok(())
    }

    /// Returns the seconds by which the clock of the service is ahead, or 0 if this is unknown or no tokens are signed.
    pub fn clock_skew(&self) -> i64 {
        self.transport.auth.tokens().map_or(0, TokenSource::clock_skew)
    }

    /// Creates or returns a key pair for a session login, by `GET api_credentials`. The request is sent once, because
    /// it may create a key pair.
    ///
    /// # Errors
    /// After [`FailureKind::NoResponse`], [`FailureKind::Server`] or [`FailureKind::Unexpected`], a new key pair may
    /// exist.
    pub async fn create_credentials(&self) -> Result<IssuedCredentials, Failure> {
        let path = endpoints::api_credentials();
        self.get(Endpoint::Credentials, &path, &NO_PARAMETERS, read_issued_credentials).await
    }

    /// Returns the visible datasets, by `GET datasets`.
    pub async fn list_datasets(&self) -> Result<DatasetList, Failure> {
        let path = endpoints::datasets();
        self.get(Endpoint::Datasets, &path, &NO_PARAMETERS, read_datasets).await
    }

    pub async fn dataset(&self, id: DatasetId) -> Result<Dataset, Failure> {
        let path = endpoints::dataset(id);
        self.get(Endpoint::Dataset, &path, &NO_PARAMETERS, read_dataset).await
    }

    /// Returns the fields of a dataset by `GET dataset`: documented fields first, then unknown fields by name.
    pub async fn dataset_fields(&self, id: DatasetId) -> Result<Vec<RecordField>, Failure> {
        let path = endpoints::dataset(id);
        self.get(Endpoint::Dataset, &path, &NO_PARAMETERS, read_fields).await
    }

    pub async fn enrichment(&self, id: DatasetId) -> Result<Enrichment, Failure> {
        let path = endpoints::enrichment_context(id);
        let read = |context: Fields<'_>| Some(read_enrichment(context.value()));
        self.get(Endpoint::Enrichment, &path, &NO_PARAMETERS, read).await
    }

    /// Returns one page of clusters, by `GET explore`.
    pub async fn explore(&self, search: &Search) -> Result<Page, Failure> {
        self.explore_as(search, |page| self.read_page(page)).await
    }

    /// Returns one page as the service sent it, by `GET explore`.
    pub async fn explore_raw(&self, search: &Search) -> Result<RawPage, Failure> {
        let read = |page: Fields<'_>| {
            Some(RawPage { body: page.value().clone(), page: self.read_page(page) })
        };
        self.explore_as(search, read).await
    }

    fn read_page(&self, page: Fields<'_>) -> Option<Page> {
        let fills_pages = self.transport.is_local_service.load(Ordering::Relaxed);
        Some(Page { fills_pages, ..read_page(page)? })
    }

    async fn explore_as<T>(
        &self,
        search: &Search,
        read: impl FnOnce(Fields<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        self.require_local(search.dataset, LocalAddition::in_search(search)).await?;
        let (path, parameters) = (self.explore_path(search), endpoints::explore_parameters(search));
        let page = self.get(Endpoint::Explore, &path, &parameters, read).await;
        page.map_err(|failure| {
            // The API document does not say which path serves text searches.
            let is_unknown = failure.kind == FailureKind::NotFound && failure.code.is_none();
            if is_text_search(search) && is_unknown {
                return failure.with_remedy(
                    "If the dataset is there, the path of text searches is another one: set \
                     text_search_path in the profile, or give --path",
                );
            }
            failure
        })
    }

    /// Returns one page of the members of a cluster that match a search, best first, by `GET similarity_cluster`. The
    /// page is empty past the last member.
    ///
    /// # Errors
    /// [`FailureKind::NotFound`] if the service has no such endpoint, or no such cluster.
    pub async fn cluster_members(
        &self,
        search: &Search,
        cluster: ClusterId,
    ) -> Result<Vec<Preview>, Failure> {
        self.require_local(search.dataset, LocalAddition::in_search(search)).await?;
        let paths = [
            endpoints::similarity_cluster(search.dataset, cluster),
            endpoints::local_similarity_cluster(search.dataset, cluster),
        ];
        let parameters = endpoints::explore_parameters(search);
        self.explore_further(Endpoint::Members, paths, &parameters, read_members).await
    }

    /// Returns how often labels, tags and words occur in a dataset, by `GET exploration_metadata`.
    ///
    /// # Errors
    /// [`FailureKind::NotFound`] if the service has no such endpoint, or no such dataset.
    pub async fn overview(
        &self,
        dataset: DatasetId,
        entity: EntityType,
    ) -> Result<Overview, Failure> {
        let paths = [
            endpoints::exploration_metadata(dataset),
            endpoints::local_exploration_metadata(dataset),
        ];
        let parameters = vec![(query::ENTITY_TYPE, entity.as_str().to_owned())];
        self.explore_further(Endpoint::Overview, paths, &parameters, read_overview).await
    }

    /// Reads an endpoint that the API document does not have. Services such as `serve --compat` have it at the first
    /// path, and other local services at the second one. From then on, only the path that is there is requested.
    async fn explore_further<T>(
        &self,
        endpoint: Endpoint,
        [path, local_path]: [String; 2],
        parameters: &Parameters,
        read: impl Fn(Fields<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        let explores_locally = &self.transport.explores_locally;
        if explores_locally.load(Ordering::Relaxed) {
            return self.get(endpoint, &local_path, parameters, read).await;
        }
        let missing = match self.get(endpoint, &path, parameters, &read).await {
            Err(failure) if failure.kind == FailureKind::NotFound => failure,
            answer => return answer,
        };
        let answer = self.get(endpoint, &local_path, parameters, read).await;
        explores_locally.store(answer.is_ok(), Ordering::Relaxed);
        // Another service may respond to a path that it does not have with a web page or a refusal.
        let is_refusal = |failure: &Failure| {
            use FailureKind::{Forbidden, NotFound, Unauthorized, Unexpected};
            matches!(failure.kind, Forbidden | NotFound | Unauthorized | Unexpected)
        };
        answer.map_err(|failure| if is_refusal(&failure) { missing } else { failure })
    }

    /// Returns where the media items that a search finds are on the map of the dataset.
    ///
    /// # Errors
    /// [`FailureKind::NotFound`] if the service is not a local service, too.
    pub async fn map(&self, search: &Search) -> Result<MediaMap, Failure> {
        let path = endpoints::map(search.dataset);
        let parameters = endpoints::search_parameters(search);
        self.get(Endpoint::Map, &path, &parameters, read_map).await
    }

    fn explore_path(&self, search: &Search) -> String {
        if is_text_search(search) {
            self.service().text_search_path(search.dataset)
        } else {
            endpoints::explore(search.dataset)
        }
    }

    /// Registers a picture, or a region of it, as a query image, by `POST search-image-similarity`.
    ///
    /// # Errors
    /// [`FailureKind::Local`] before any request if a region is given but the picture cannot be decoded locally.
    /// [`FailureKind::Conflict`] if the dataset is not READY.
    pub async fn register_anchor(
        &self,
        dataset: DatasetId,
        image: QueryImageUpload,
        entity: EntityType,
        granularity: Granularity,
        region: Option<Region>,
    ) -> Result<Anchor, Failure> {
        if region.is_some() && !image.is_decodable {
            let sentence = "cannot search by a region: this program cannot decode the picture";
            return Err(Failure::local(sentence).with_remedy("Search by the whole picture"));
        }
        let mut parameters = vec![
            (query::ENTITY_TYPE, entity.as_str().to_owned()),
            (query::THRESHOLD, granularity.level().to_string()),
        ];
        parameters.extend(region.map(|region| (query::BOUNDING_BOX, write_region(region))));
        let path = endpoints::search_image_similarity(dataset);
        let body = RequestBody::Form(image.into_form());
        let request = self.request(Endpoint::RegisterAnchor, &path, &parameters, body);
        let reply = self.transport.fetch(&request).await?;
        if reply.is_pending_anchor() {
            let sentence = "the query image was accepted, but no anchor was returned";
            return Err(
                Failure::new(FailureKind::Unexpected, sentence).with_remedy("Send it again")
            );
        }
        self.read(&reply, read_anchor)
    }

    /// Starts an export of a whole dataset, by `GET export_context_async`. The request is sent once.
    ///
    /// # Errors
    /// [`FailureKind::Conflict`] if the dataset is not READY. After [`FailureKind::NoResponse`], the export may have
    /// started.
    pub async fn start_export(
        &self,
        dataset: DatasetId,
        spec: &ExportSpec,
    ) -> Result<ExportTask, Failure> {
        let path = endpoints::export_context_async(dataset);
        let parameters = endpoints::export_parameters(spec);
        let mut request = self.request(Endpoint::StartExport, &path, &parameters, RequestBody::Get);
        // A cached response would name the export of another user.
        request.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self.fetch_as(&request, read_started).await
    }

    /// Starts an export of a selection, by `POST export_entities_async`. The errors are those of
    /// [`Client::start_export`].
    pub async fn start_selective_export(
        &self,
        dataset: DatasetId,
        format: ExportFormat,
        include_images: bool,
        selection: &ExportSelection,
    ) -> Result<ExportTask, Failure> {
        self.require_local(dataset, LocalAddition::in_export(selection)).await?;
        self.require_few_items(&selection.items)?;
        let path = endpoints::export_entities_async(dataset);
        let parameters = selection_parameters(format, include_images, Some(selection));
        let body = RequestBody::json(&selection::write(&selection.items));
        self.post(Endpoint::StartSelection, &path, &parameters, body, read_started).await
    }

    /// Reclusters a dataset, by `POST reindex`. The request is sent once.
    ///
    /// # Errors
    /// [`FailureKind::Conflict`] if the dataset is not in PARTIAL INDEX. After [`FailureKind::NoResponse`],
    /// [`FailureKind::Server`] or [`FailureKind::Unconfirmed`], the reindex may have started.
    pub async fn reindex(&self, dataset: DatasetId) -> Result<Accepted, Failure> {
        let path = endpoints::reindex(dataset);
        let request = self.request(Endpoint::Reindex, &path, &NO_PARAMETERS, RequestBody::Post);
        self.transport.fetch(&request).await?.read_accepted()
    }

    pub async fn export_status(
        &self,
        dataset: DatasetId,
        task: ExportTaskId,
    ) -> Result<ExportTask, Failure> {
        let parameters = vec![(query::EXPORT_TASK_ID, task.to_string())];
        let read = |status: Fields<'_>| read_status(status, task);
        self.get(Endpoint::ExportStatus, &endpoints::export_status(dataset), &parameters, read)
            .await
    }

    /// Cancels an export of a local service, and returns its state, which is that of a failed export.
    ///
    /// # Errors
    /// [`Conflict`](tessera_model::FailureKind::Conflict) if the export has ended, and
    /// [`NotFound`](tessera_model::FailureKind::NotFound) if the service is not a local service.
    pub async fn cancel_export(
        &self,
        dataset: DatasetId,
        task: ExportTaskId,
    ) -> Result<ExportTask, Failure> {
        let path = endpoints::cancel_export(dataset);
        let parameters = vec![(query::EXPORT_TASK_ID, task.to_string())];
        let read = |status: Fields<'_>| read_status(status, task);
        self.post(Endpoint::CancelExport, &path, &parameters, RequestBody::Post, read).await
    }

    /// Fetches a picture of at most `limit` bytes, without login.
    pub async fn fetch_picture(&self, link: &Link, limit: usize) -> Result<Bytes, Failure> {
        let mut request = ApiRequest::get(Endpoint::Picture, self.transport.resolve(link)?);
        request.max_bytes = limit;
        Ok(self.transport.fetch(&request).await?.into_picture())
    }

    /// Returns the key of a picture in caches.
    ///
    /// # Errors
    /// The link must not be fetched.
    pub fn picture_key(&self, link: &Link) -> Result<PictureKey, Failure> {
        let url = self.transport.resolve(link)?;
        let api_key = self.transport.auth.tokens().map(TokenSource::api_key);
        let service = self.service();
        Ok(PictureKey::new(service.base_url(), service.auth(), api_key.as_deref(), &url))
    }

    /// Sends a request whose path and body the user wrote, once.
    pub async fn send_raw(&self, request: RawRequest) -> Result<RawResponse, Failure> {
        let mut url = self.service().base_url().resolve_path(&request.path)?;
        if !request.parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.parameters);
        }
        let body = match request.body {
            RawBody::Get => RequestBody::Get,
            RawBody::Post => RequestBody::Post,
            RawBody::Json(body) => RequestBody::Json(body),
            RawBody::Form(parts) => {
                RequestBody::Form(Form::new(parts.into_iter().map(FormPart::from)))
            }
        };
        let request = ApiRequest::new(Endpoint::Raw, url, body);
        let attempt = Attempt::new(&request, 1);
        let error = match self.transport.fetch_once(&request).await {
            Ok(reply) => {
                let record = || attempt.succeeded(reply.status(), reply.bytes());
                self.transport.recorder.notify(record);
                return Ok(reply.into_raw());
            }
            Err(error) => error,
        };
        self.transport.recorder.notify(|| attempt.failed(&error, None));
        let AttemptError::Rejected(rejection) = error else {
            return Err(self.transport.explain(&request, error));
        };
        let (status, headers, body) =
            (rejection.status, rejection.headers.clone(), rejection.body.clone());
        let failure = self.transport.explain(&request, AttemptError::Rejected(rejection));
        Ok(RawResponse::new(status, &headers, body, Some(failure)))
    }

    pub fn curl_dataset(&self, id: DatasetId) -> ShellCommand {
        self.curl(&endpoints::dataset(id), &NO_PARAMETERS)
    }

    pub fn curl_explore(&self, search: &Search) -> ShellCommand {
        self.curl(&self.explore_path(search), &endpoints::explore_parameters(search))
    }

    pub fn curl_export_status(&self, dataset: DatasetId, task: ExportTaskId) -> ShellCommand {
        let parameters = vec![(query::EXPORT_TASK_ID, task.to_string())];
        self.curl(&endpoints::export_status(dataset), &parameters)
    }

    fn curl(&self, path: &str, parameters: &Parameters) -> ShellCommand {
        let url = self.service().base_url().url_for(path, parameters);
        let login = (!self.service().is_on_premises()).then_some(&AUTHORIZATION);
        ApiRequest::get(Endpoint::Dataset, url).curl(login)
    }

    pub(super) async fn get<T>(
        &self,
        endpoint: Endpoint,
        path: &str,
        parameters: &Parameters,
        read: impl FnOnce(Fields<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        self.fetch_as(&self.request(endpoint, path, parameters, RequestBody::Get), read).await
    }

    pub(super) async fn post<T>(
        &self,
        endpoint: Endpoint,
        path: &str,
        parameters: &Parameters,
        body: RequestBody,
        read: impl FnOnce(Fields<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        self.fetch_as(&self.request(endpoint, path, parameters, body), read).await
    }

    async fn fetch_as<T>(
        &self,
        request: &ApiRequest,
        read: impl FnOnce(Fields<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        self.read(&self.transport.fetch(request).await?, read)
    }

    pub(super) fn read<T>(
        &self,
        response: &ApiResponse,
        read: impl FnOnce(Fields<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        response.read(&self.transport.field_warnings, read)
    }

    pub(super) fn request(
        &self,
        endpoint: Endpoint,
        path: &str,
        parameters: &Parameters,
        body: RequestBody,
    ) -> ApiRequest {
        ApiRequest::new(endpoint, self.service().base_url().url_for(path, parameters), body)
    }
}

fn is_text_search(search: &Search) -> bool {
    search.required_operation() == Operation::TextSearch
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(self.service()).finish()
    }
}
