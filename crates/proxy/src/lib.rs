//! Decides which connections use a proxy, and checks the variables of the environment that name proxies. The HTTP
//! library ignores a value that it cannot read, and would then connect without the proxy.

use std::{env, ffi::OsString, net::IpAddr};

use reqwest::Url;

const HTTP: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
const HTTPS: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const ALL: [&str; 2] = ["ALL_PROXY", "all_proxy"];
const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// Whether an address is on this machine, so that no proxy is used.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Returns the variable of the proxy that connections to this address may use.
pub fn proxy_variable(url: &Url) -> Option<&'static str> {
    let of_scheme = if url.scheme() == "https" { HTTPS } else { HTTP };
    let is_set = |name: &&'static str| env::var_os(name).is_some_and(|value| !value.is_empty());
    of_scheme.into_iter().chain(ALL).filter(|_| !is_loopback(url)).find(is_set)
}

/// Checks the variables before a client is built. The error is a sentence with the remedy. It does not contain the
/// value, which may contain a password.
pub fn check_variables() -> Result<(), String> {
    check(|name| env::var_os(name))
}

fn check(value_of: impl Fn(&str) -> Option<OsString>) -> Result<(), String> {
    for names in [HTTP, HTTPS, ALL] {
        let first = names.into_iter().find_map(|name| Some((name, value_of(name)?)));
        let Some((name, value)) = first.filter(|(_, value)| !value.is_empty()) else { continue };
        if !value.to_str().is_some_and(names_proxy) {
            return Err(format!(
                "{name} is not the address of a proxy; set it to http://HOST:PORT or socks5h://HOST:PORT, or unset it"
            ));
        }
    }
    Ok(())
}

/// Whether the library accepts this value. A value without a scheme is the address of an HTTP proxy.
fn names_proxy(value: &str) -> bool {
    let (scheme, address) = value.split_once("://").unwrap_or(("http", value));
    let is_known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    // White space and other letters are refused here, because the parser of addresses would remove or encode them.
    let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    is_known && is_plain && Url::parse(&format!("http://{address}")).is_ok_and(|url| url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_name_no_proxy_are_refused_without_showing_them() {
        let checked =
            |name: &str, value: &str| check(|asked| (asked == name).then(|| value.into()));
        for value in [
            "",
            "proxy",
            "proxy:3128",
            "http://proxy:3128/",
            "HTTP://user:p%40ss@10.0.0.1:3128",
            "socks5h://[::1]:1080",
        ] {
            assert_eq!(checked("https_proxy", value), Ok(()), "{value}");
        }
        for value in
            ["htp://proxy:3128", "http://", "http://proxy:99999", "proxy 3128", "ftp://p:s3cret@h"]
        {
            let problem = checked("ALL_PROXY", value).unwrap_err();
            assert!(problem.starts_with("ALL_PROXY is not"), "{problem}");
            assert!(!problem.contains("s3cret") && !problem.contains("3128"), "{problem}");
        }
    }

    #[test]
    fn of_two_spellings_the_first_one_is_used() {
        let value = |name: &str| match name {
            "HTTPS_PROXY" => Some("http://proxy:3128".into()),
            "https_proxy" => Some("not a proxy".into()),
            _ => None,
        };
        assert_eq!(check(value), Ok(()));
    }

    #[test]
    fn loopback_is_reached_without_a_proxy() {
        for (url, expected) in [
            ("http://127.0.0.1:9000", true),
            ("http://localhost", true),
            ("http://api.localhost", true),
            ("http://[::1]:9000", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("https://s3.example.com", false),
            ("http://127.0.0.1.example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
