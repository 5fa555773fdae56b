//! Observes each request from its arrival to the end of its response, for the access log
//! and the metrics.

use std::{net::IpAddr, time::Instant};

use axum::{
    extract::{MatchedPath, Request},
    http::HeaderValue,
    response::Response,
};

use super::{
    access_log::{AccessLog, AccessRecord, REQUEST_ID, forwarded_for, method_name, request_id},
    metrics::RequestMetrics,
};
use tessera_store::now_micros;
use tessera_wire::fields::format_iso8601;

/// Where observations go; clones share it.
#[derive(Clone)]
pub struct RequestObserver {
    pub access_log: Option<AccessLog>,
    pub metrics: RequestMetrics,
}

/// One request. It ends when it is dropped, with or without a response.
pub struct RequestObservation {
    observer: RequestObserver,
    began: Instant,
    record: AccessRecord,
}

impl RequestObserver {
    pub fn begin(&self, request: &Request, remote: IpAddr) -> RequestObservation {
        let (headers, route) = (request.headers(), request.extensions().get::<MatchedPath>());
        let record = AccessRecord {
            time: format_iso8601(now_micros()) + "Z",
            request_id: request_id(headers),
            remote: remote.to_canonical(),
            forwarded_for: forwarded_for(headers),
            method: method_name(request.method()),
            route: route.map(|route| route.as_str().to_owned()),
            status: None,
            bytes: 0,
            duration_us: 0,
        };
        self.metrics.begin();
        RequestObservation { observer: self.clone(), began: Instant::now(), record }
    }
}

impl RequestObservation {
    /// Records the head of the response, and gives it the identifier of the request.
    pub fn respond(&mut self, response: &mut Response) {
        self.record.status = Some(response.status().as_u16());
        if let Ok(id) = HeaderValue::from_str(&self.record.request_id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
    }

    /// Records that this many bytes of the body are sent.
    pub fn send(&mut self, bytes: usize) {
        self.record.bytes += bytes as u64;
    }
}

impl Drop for RequestObservation {
    fn drop(&mut self) {
        let micros = self.began.elapsed().as_micros();
        self.record.duration_us = u64::try_from(micros).unwrap_or(u64::MAX);
        self.observer.metrics.end(&self.record);
        if let Some(access_log) = &self.observer.access_log {
            access_log.write(self.record.clone());
        }
    }
}
