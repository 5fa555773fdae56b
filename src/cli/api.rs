//! `tessera api`: sends a single request below `/api/v1` with the login of the profile.

use std::fmt::Write as _;

use clap::ValueEnum;

use crate::cli::prelude::*;
use crate::cli::{
    output::{unless_closed, write_stdout},
    values::read_bytes_or_stdin,
};
use tessera_client::{RawBody, RawPart, RawRequest, RawResponse};
use tessera_model::FailureKind;

#[derive(Debug, Args)]
pub struct ApiOptions {
    /// GET or POST, the methods of the API.
    #[arg(ignore_case = true)]
    method: HttpMethod,
    /// The path, with or without /api/v1: `datasets`,
    /// `dataset/ID/export_status?export_task_id=...`.
    path: String,
    /// A query parameter; encoded automatically. Repeatable.
    #[arg(long, short = 'Q', value_name = "NAME=VALUE", value_parser = parse_pair)]
    query: Vec<(String, String)>,
    /// A form field: text, or the content of a file. Repeatable.
    #[arg(long, short = 'F', value_name = "NAME=VALUE|NAME=@FILE", value_parser = parse_pair,
          conflicts_with = "input")]
    form: Vec<(String, String)>,
    /// A JSON file to send as the body; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Print the status and headers before the body.
    #[arg(long)]
    include: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HttpMethod {
    Get,
    Post,
}

fn parse_pair(raw: &str) -> Result<(String, String), String> {
    let (name, value) = raw.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Sends the request and prints the response. The exit code reflects the HTTP status, or the error that
/// the body reports.
pub async fn run(context: &Context, api: ApiOptions) -> CliResult {
    let include = api.include;
    if !context.is_dry_run() {
        context.out.require_no_columns()?;
    }
    let request = build_request(context, api)?;
    let work = async |connection: &Connection<'_>| {
        let response = connection.client.send_raw(request).await?;
        unless_closed(print_response(context, &response, include))?;
        response.failure.map_or(Ok(Exit::Done), |failure| Err(failure.into()))
    };
    context.with_connection(&[Endpoint::Raw], work).await
}

fn build_request(context: &Context, api: ApiOptions) -> CliResult<RawRequest> {
    let ApiOptions { method, path, query: parameters, form, input, .. } = api;
    let body = match (method, input) {
        (HttpMethod::Get, None) if form.is_empty() => RawBody::Get,
        (HttpMethod::Get, _) => {
            return Err(CliError::usage("a GET request has no body; did you mean POST?"));
        }
        (HttpMethod::Post, Some(path)) => RawBody::Json(read_bytes_or_stdin(&path)?.into()),
        (HttpMethod::Post, None) if form.is_empty() => RawBody::Post,
        (HttpMethod::Post, None) => {
            RawBody::Form(form.into_iter().map(form_part).collect::<Result<_, _>>()?)
        }
    };
    let request = RawRequest { path, parameters, body };
    if request.may_change() {
        context.require_writable()?;
    }
    Ok(request)
}

fn form_part((name, value): (String, String)) -> CliResult<RawPart> {
    let Some(path) = value.strip_prefix('@').map(PathBuf::from) else {
        return Ok(RawPart { name, file: None, content: value.into() });
    };
    let content = read_bytes_or_stdin(&path)?.into();
    Ok(RawPart { name, file: Some(path), content })
}

/// Prints the response. A pipe gets the raw bytes, and a terminal only text that is safe to
/// display. The body of an error stays as it is, so that no filter hides the error.
fn print_response(context: &Context, response: &RawResponse, include: bool) -> CliResult<()> {
    if include {
        let mut head = format!("HTTP {}\n", response.status);
        for (name, value) in &response.headers {
            // Writing to a string cannot fail.
            let _ = writeln!(head, "{name}: {}", SafeText::detail(value));
        }
        context.out.print_text(&(head + "\n"))?;
    }
    let is_filtered = context.out.is_machine() && response.failure.is_none();
    if !is_filtered && context.out.write_raw(&response.body)? {
        return Ok(());
    }
    match &response.value {
        Ok((value, repairs)) => {
            let repairs = repairs.to_string();
            if !repairs.is_empty() {
                context.messages.warn(format!("the response contains {repairs}"));
            }
            return if is_filtered {
                context.out.print_json(value)
            } else {
                write_stdout(&PrintableText::pretty_json(value))
            };
        }
        Err(_) if is_filtered && response.body.is_empty() => return Ok(()),
        Err(problem) if is_filtered => {
            let failure = Failure::new(FailureKind::Unexpected, format!("the response {problem}"));
            return Err(failure.with_remedy("Remove --json, --jsonl and --jq").into());
        }
        Err(_) => {}
    }
    let text = std::str::from_utf8(&response.body).map_err(|_| {
        CliError::failed(format!(
            "the response is {} bytes of binary data; redirect it to a file with >",
            response.body.len()
        ))
    })?;
    let end = if text.ends_with('\n') { "" } else { "\n" };
    context.out.print_text(&format!("{text}{end}"))
}
