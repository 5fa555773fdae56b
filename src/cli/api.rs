//! `tessera api`: sends one request below `/api/v1` with the login of the profile.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use clap::{Args, ValueEnum};

use crate::cli::{CliError, Context, Exit};
use tessera_client::{ApiOperation, RawBody, RawPart, RawRequest, RawResponse};
use tessera_model::SafeText;

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

/// Sends the request and prints the response. The exit code reflects the HTTP status.
pub async fn run(context: &Context, api: ApiOptions) -> Result<Exit, CliError> {
    let include = api.include;
    let request = build_request(context, api)?;
    let connection = context.connect(&[ApiOperation::Raw]).await?;
    let outcome = match connection.client.send_raw(request).await {
        Ok(answer) => {
            print_response(context, &answer, include).and_then(|()| match answer.failure {
                Some(failure) => Err(failure.into()),
                None => Ok(Exit::Done),
            })
        }
        Err(failure) => Err(failure.into()),
    };
    connection.close(context, outcome).await
}

fn build_request(context: &Context, api: ApiOptions) -> Result<RawRequest, CliError> {
    let usage = |message: &str| CliError::usage(message);
    let body = match api.method {
        HttpMethod::Get if api.input.is_none() && api.form.is_empty() => RawBody::Get,
        HttpMethod::Get => return Err(usage("a GET request has no body; did you mean POST?")),
        HttpMethod::Post => {
            context.require_writable()?;
            post_body(api.form, api.input)?
        }
    };
    Ok(RawRequest { path: api.path, parameters: api.query, body })
}

fn post_body(form: Vec<(String, String)>, input: Option<PathBuf>) -> Result<RawBody, CliError> {
    Ok(match input {
        Some(path) => RawBody::Json(read_bytes(&path)?),
        None if form.is_empty() => RawBody::Post,
        None => RawBody::Form(form.into_iter().map(form_part).collect::<Result<_, _>>()?),
    })
}

fn form_part((name, value): (String, String)) -> Result<RawPart, CliError> {
    let Some(path) = value.strip_prefix('@').map(PathBuf::from) else {
        return Ok(RawPart { name, file: None, content: value.into() });
    };
    let file = path.file_name().map(|file| file.to_string_lossy().into_owned());
    Ok(RawPart { name, file, content: read_bytes(&path)? })
}

fn read_bytes(path: &Path) -> Result<Bytes, CliError> {
    let read = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    read.map(Bytes::from).map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
}

/// Prints raw bytes to a pipe, and only text that is safe to display to a terminal.
fn print_response(context: &Context, answer: &RawResponse, include: bool) -> Result<(), CliError> {
    if include {
        let mut head = format!("HTTP {}\n", answer.status);
        for (name, value) in &answer.headers {
            // Writing to a string cannot fail.
            let _ = writeln!(head, "{name}: {}", SafeText::detail(value));
        }
        context.out.print_text(&(head + "\n"))?;
    }
    if !context.out.is_terminal() {
        let mut out = io::stdout().lock();
        out.write_all(&answer.body)?;
        return Ok(out.flush()?);
    }
    if let Ok(value) = serde_json::from_slice(&answer.body) {
        return context.out.print_json(&value);
    }
    let text = std::str::from_utf8(&answer.body).map_err(|_| {
        let message = format!(
            "the response is {} bytes of binary data; redirect it to a file with >",
            answer.body.len()
        );
        CliError::failed(message)
    })?;
    for line in text.lines() {
        context.out.print_text(&format!("{}\n", SafeText::new(line, usize::MAX)))?;
    }
    Ok(())
}
