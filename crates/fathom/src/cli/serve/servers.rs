//! Turns arguments into servers and requests.

use fathom_conduct::redaction;
use fathom_conduct::serve::Served;
use fathom_load::{Extensions, RequestPlan, Tls, Trust, Url};

use super::Arguments;
use crate::cli::failure::{Failure, usage};
use crate::cli::target::target;

/// Returns all servers, with programs found and addresses resolved.
///
/// # Errors
/// Usage errors, and errors for programs and inputs that don't exist.
pub(super) fn prepare(arguments: &Arguments) -> Result<Vec<Served>, Failure> {
    if !arguments.url.is_empty() {
        let given = &arguments.given;
        if !given.commands.is_empty() || !given.words.is_empty() {
            return usage("--url measures a running server: remove the command, or --url");
        }
        return arguments
            .url
            .iter()
            .map(|text| running(text, arguments))
            .collect();
    }
    let options = &arguments.run_options;
    if !options.prepare.is_empty() {
        return usage(
            "serve has no --prepare: before you run it, start everything that the server needs",
        );
    }
    let sources = arguments
        .given
        .sources("fathom serve -- node server.js {port}")?;
    let count = sources.len();
    let sources = sources.iter().enumerate();
    sources
        .map(|(index, source)| {
            let target = target(options, None, source, index, count, &Vec::new())
                .map_err(|failure| arguments.given.explain("serve", failure))?;
            Ok(Served::Started(Box::new(target)))
        })
        .collect()
}

fn running(text: &str, arguments: &Arguments) -> Result<Served, Failure> {
    let url = Url::parse(text, arguments.allow_remote).map_err(Failure::Usage)?;
    if url.tls && arguments.websocket {
        let text = redaction::text(text);
        return usage(format!(
            "{text}: Fathom supports WebSocket only without TLS; measure it over http"
        ));
    }
    Ok(Served::running(url))
}

/// Returns the TLS settings, if TLS is used.
///
/// # Errors
/// Usage errors, and certificate files that can't be read.
pub(super) fn tls(arguments: &Arguments, servers: &[Served]) -> Result<Option<Tls>, Failure> {
    let says_so = |served: &Served| matches!(served, Served::Running(url) if url.tls);
    if !arguments.tls && !servers.iter().any(says_so) {
        return match arguments.insecure || arguments.cacert.is_some() {
            true => {
                usage("--insecure and --cacert are for TLS: give --tls, or an https:// address")
            }
            false => Ok(None),
        };
    }
    let trust = match &arguments.cacert {
        _ if arguments.insecure => Trust::Anyone,
        Some(file) => Trust::File(file.clone()),
        None => Trust::Machine,
    };
    let tls = Tls::new(&trust, arguments.http2).map_err(Failure::Usage)?;
    Ok(Some(tls))
}

/// Returns the requests to send.
///
/// # Errors
/// Usage errors, and files that can't be read.
pub(super) fn requests(arguments: &Arguments) -> Result<RequestPlan, Failure> {
    let read = |path: &std::path::Path| {
        let unreadable = |error| Failure::Usage(format!("can't read {}: {error}", path.display()));
        std::fs::read(path).map_err(unreadable)
    };
    let mut paths = arguments.paths.clone();
    if let Some(file) = &arguments.paths_file {
        let text = String::from_utf8_lossy(&read(file)?).into_owned();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        paths = lines.map(str::to_string).collect();
        if paths.is_empty() {
            return usage(format!("{} contains no paths", file.display()));
        }
    }
    if paths.is_empty() {
        paths.push("/".to_string());
    }
    let mut headers = Vec::new();
    for (number, line) in (1..).zip(&arguments.headers) {
        let Some((name, value)) = line.split_once(':') else {
            // Don't show the text: all of it may be a secret.
            return usage(format!(
                "-H number {number} is not a header; write 'Name: value'"
            ));
        };
        headers.push((name.trim().to_string(), value.trim().to_string()));
    }
    let body = match arguments.body.as_deref() {
        None => Vec::new(),
        Some(text) => match text.strip_prefix('@') {
            Some(file) => read(std::path::Path::new(file))?,
            None => text.as_bytes().to_vec(),
        },
    };
    let plan = RequestPlan {
        method: arguments.method.clone(),
        paths,
        headers,
        body,
        keep_alive: !arguments.no_keep_alive,
        websocket: arguments.websocket.then_some(match arguments.deflate {
            true => Extensions::Deflate,
            false => Extensions::None,
        }),
        http2: arguments.http2,
    };
    plan.check().map_err(Failure::Usage)?;
    Ok(plan)
}
