//! Decides which connections use a proxy, and checks the variables of the environment that name proxies. The HTTP
//! library alone ignores a value that it cannot read, and would then connect without the proxy.

use std::{env, ffi::OsString, fmt, net::IpAddr};

use reqwest::{ClientBuilder, Proxy, Url};

/// The lowercase spelling takes precedence, as in curl.
const HTTP: [&str; 2] = ["http_proxy", "HTTP_PROXY"];
const HTTPS: [&str; 2] = ["https_proxy", "HTTPS_PROXY"];
const ALL: [&str; 2] = ["all_proxy", "ALL_PROXY"];
/// The hosts that are reached without a proxy.
const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];
/// `socks` is what desktops write for SOCKS 5.
const SCHEMES: [&str; 7] = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"];

/// Whether an address is on this machine, so that no proxy is used.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// The proxy of a connection. Its text has the address and the variable, but not the login.
#[derive(Debug)]
pub struct UsedProxy {
    address: Url,
    variable: &'static str,
}

impl UsedProxy {
    pub fn has_login(&self) -> bool {
        !self.address.username().is_empty()
    }

    /// Whether connections to the proxy itself are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.address.scheme() == "https"
    }
}

impl fmt::Display for UsedProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.address.scheme(), self.address.host_str().unwrap_or_default())?;
        self.address.port().map_or(Ok(()), |port| write!(f, ":{port}"))?;
        write!(f, " ({})", self.variable)
    }
}

/// Returns the proxy that connections to this address use.
pub fn used_proxy(url: &Url) -> Option<UsedProxy> {
    find_proxy(url, env::var_os).filter(|_| !is_cgi_program())
}

fn find_proxy(url: &Url, value_of: impl Fn(&'static str) -> Option<OsString>) -> Option<UsedProxy> {
    let names = if url.scheme() == "https" { HTTPS } else { HTTP };
    let (variable, _) = set_for_scheme(names, &value_of)?;
    let address = ProxyVariables::read(value_of).proxy_of(url).filter(|_| !is_loopback(url))?;
    Some(UsedProxy { address, variable })
}

/// A CGI program gets `HTTP_PROXY` from the header of a request, so the HTTP library uses no proxy there.
fn is_cgi_program() -> bool {
    env::var_os("REQUEST_METHOD").is_some()
}

/// Makes a client use the proxies that the variables name. The HTTP library alone would take an empty variable for a
/// set one, and would ignore schemes in capitals and entries of `NO_PROXY` with a wildcard or a port.
///
/// # Errors
/// A variable names no proxy. The error is a sentence with the remedy. It does not contain the value, which may contain
/// a password.
pub fn use_proxies(builder: ClientBuilder) -> Result<ClientBuilder, String> {
    check(env::var_os)?;
    let variables = ProxyVariables::read(env::var_os);
    // Without variables, the library asks the system.
    if variables.is_empty() || is_cgi_program() {
        return Ok(builder);
    }
    Ok(builder.proxy(Proxy::custom(move |url| variables.proxy_of(url))))
}

/// Returns the first of these variables that is set. An empty variable counts as unset.
fn first_set(
    names: [&'static str; 2],
    value_of: impl Fn(&'static str) -> Option<OsString>,
) -> Option<(&'static str, OsString)> {
    let values = names.into_iter().filter_map(|name| Some((name, value_of(name)?)));
    values.into_iter().find(|(_, value)| !value.is_empty())
}

/// Returns the variable of a scheme, or `ALL_PROXY` if the scheme's own variable is not set.
fn set_for_scheme(
    names: [&'static str; 2],
    value_of: impl Fn(&'static str) -> Option<OsString>,
) -> Option<(&'static str, OsString)> {
    first_set(names, &value_of).or_else(|| first_set(ALL, &value_of))
}

/// Checks the variables that connections may use. Links and redirects may lead to either scheme.
fn check(value_of: impl Fn(&'static str) -> Option<OsString>) -> Result<(), String> {
    if first_set(EXCEPTIONS, &value_of).is_some_and(|(_, hosts)| hosts == "*") {
        return Ok(());
    }
    for names in [HTTP, HTTPS] {
        let Some((name, value)) = set_for_scheme(names, &value_of) else { continue };
        if !value.to_str().is_some_and(names_proxy) {
            return Err(format!(
                "{name} is not the address of a proxy; set it to http://HOST:PORT or socks5h://HOST:PORT, or unset it"
            ));
        }
    }
    Ok(())
}

/// The proxies of the environment.
struct ProxyVariables {
    http: Option<Url>,
    https: Option<Url>,
    /// The hosts that are reached without a proxy.
    exceptions: String,
}

impl ProxyVariables {
    fn read(value_of: impl Fn(&'static str) -> Option<OsString>) -> Self {
        let text = |(_, value): (_, OsString)| value.into_string().ok();
        let proxy = |names| proxy_address(&text(set_for_scheme(names, &value_of)?)?);
        let exceptions = first_set(EXCEPTIONS, &value_of).and_then(text).unwrap_or_default();
        Self { http: proxy(HTTP), https: proxy(HTTPS), exceptions }
    }

    fn is_empty(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }

    fn proxy_of(&self, url: &Url) -> Option<Url> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        let is_exception = self.exceptions.split(',').any(|entry| is_covered(url, entry.trim()));
        proxy.clone().filter(|_| !is_exception)
    }
}

/// Returns the address of a proxy. Parsing writes the scheme in lowercase, in which the library compares it.
fn proxy_address(value: &str) -> Option<Url> {
    let (scheme, address) = value.split_once("://").unwrap_or(("http", value));
    // The library does not know the short name. The proxy resolves the names of hosts, as desktops expect.
    let scheme = if scheme.eq_ignore_ascii_case("socks") { "socks5h" } else { scheme };
    Url::parse(&format!("{scheme}://{address}")).ok()
}

/// Whether an entry of `NO_PROXY` covers an address. An entry is `*`, an IP address, a network such as `10.0.0.0/8`, or
/// a domain, which includes its subdomains. A port limits the entry to this port.
fn is_covered(url: &Url, entry: &str) -> bool {
    let (name, port) = split_port(entry);
    if port.is_some_and(|port| url.port_or_known_default() != Some(port)) {
        return false;
    }
    // The final dot of a name only says that the name is complete.
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.');
    let name = name.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    if name == "*" {
        return true;
    }
    if let Ok(address) = host.parse() {
        return has_address(&name, address);
    }
    let domain = name.trim_start_matches('*').trim_start_matches('.');
    let before = host.strip_suffix(domain).filter(|_| !domain.is_empty());
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// Splits the port off an entry. The colons of an IPv6 address belong to the address, unless it is in brackets.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    let split =
        entry.rsplit_once(':').filter(|(name, _)| !name.contains(':') || name.ends_with(']'));
    match split.and_then(|(name, port)| Some((name, port.parse().ok()?))) {
        Some((name, port)) => (name, Some(port)),
        None => (entry, None),
    }
}

/// Whether a network contains an address. A network without a prefix length is a single address.
fn has_address(network: &str, address: IpAddr) -> bool {
    let (base, prefix) = network.split_once('/').unwrap_or((network, "128"));
    let difference = match (base.parse(), address) {
        (Ok(IpAddr::V4(base)), IpAddr::V4(address)) => {
            u128::from(base.to_bits() ^ address.to_bits()) << 96
        }
        (Ok(IpAddr::V6(base)), IpAddr::V6(address)) => base.to_bits() ^ address.to_bits(),
        _ => return false,
    };
    prefix.parse().is_ok_and(|prefix: u32| difference.leading_zeros() >= prefix)
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
            "socks://127.0.0.1:1080/",
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
    fn only_variables_that_a_connection_may_use_are_checked() {
        let checked = |set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, it)| it.into());
            check(value).is_ok()
        };
        let (http, https) = (("http_proxy", "proxy:1"), ("https_proxy", "proxy:1"));
        let all = ("ALL_PROXY", "not a proxy");
        assert!(checked(&[http, https, all]) && checked(&[all, ("NO_PROXY", "*")]));
        assert!(!checked(&[http, all]) && !checked(&[all, ("NO_PROXY", "lab.example")]));
    }

    #[test]
    fn the_lowercase_spelling_takes_precedence() {
        let value = |name: &str| match name {
            "https_proxy" => Some("http://proxy:3128".into()),
            "HTTPS_PROXY" => Some("not a proxy".into()),
            _ => None,
        };
        assert_eq!(check(value), Ok(()));
    }

    fn proxy_of(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let value = |name: &str| {
            let variable = variables.iter().find(|(variable, _)| *variable == name);
            variable.map(|(_, value)| OsString::from(value))
        };
        let proxy = ProxyVariables::read(value).proxy_of(&Url::parse(url).unwrap());
        proxy.map(|proxy| proxy.to_string())
    }

    #[test]
    fn an_empty_variable_does_not_hide_another_spelling() {
        let url = "http://media.lab.example/";
        for names in [HTTP, ALL] {
            let found = proxy_of(&[(names[0], ""), (names[1], "proxy:3128")], url);
            assert_eq!(found.as_deref(), Some("http://proxy:3128/"), "{names:?}");
        }
    }

    #[test]
    fn a_used_proxy_is_named_without_its_login() {
        for (value, url, text, is_encrypted) in [
            ("HTTPS://u:s3cret@proxy:3128", "http://lab", "https://proxy:3128 (ALL_PROXY)", true),
            ("proxy:3128", "https://lab", "http://proxy:3128 (ALL_PROXY)", false),
            ("socks5h://u:p@[::1]:1", "http://lab", "socks5h://[::1]:1 (ALL_PROXY)", false),
            ("http://proxy", "https://lab", "http://proxy (ALL_PROXY)", false),
        ] {
            let set = |name: &str| (name == "ALL_PROXY").then(|| value.into());
            let found = find_proxy(&Url::parse(url).unwrap(), set).unwrap();
            assert_eq!((found.to_string().as_str(), found.is_encrypted()), (text, is_encrypted));
        }
        for direct in ["http://localhost", "http://media.lab"] {
            let set = |name: &str| match name {
                "http_proxy" => Some("proxy:3128".into()),
                "NO_PROXY" => Some(".lab".into()),
                _ => None,
            };
            assert!(find_proxy(&Url::parse(direct).unwrap(), set).is_none(), "{direct}");
        }
    }

    #[test]
    fn the_scheme_of_a_proxy_is_read_in_capitals() {
        let found = proxy_of(&[("ALL_PROXY", "SOCKS5H://u:p@proxy:1080")], "https://example.com");
        assert_eq!(found.as_deref(), Some("socks5h://u:p@proxy:1080"));
    }

    #[test]
    fn socks_without_a_version_is_socks_5() {
        let found = proxy_of(&[("ALL_PROXY", "socks://proxy:1080/")], "https://example.com");
        assert_eq!(found.as_deref(), Some("socks5h://proxy:1080/"));
    }

    #[test]
    fn exceptions_name_hosts_networks_and_ports() {
        for (entries, url, is_direct) in [
            ("lab.example", "http://lab.example/", true),
            ("other, .LAB.example", "http://media.lab.example/", true),
            ("*.lab.example", "http://media.lab.example/", true),
            ("lab.example", "http://notlab.example/", false),
            ("lab.example", "http://media.lab.example./", true),
            ("lab.example.", "http://media.lab.example/", true),
            ("media.lab.example:80", "http://media.lab.example/", true),
            ("media.lab.example:80", "http://media.lab.example:8080/", false),
            ("*", "https://example.com", true),
            ("", "https://example.com", false),
            ("10.1.0.0/16", "http://10.1.255.1/", true),
            ("10.1.0.0/16", "http://10.2.0.1/", false),
            ("10.1.0.1", "http://10.1.0.2/", false),
            ("10.1.0.1:81", "http://10.1.0.1:81/", true),
            ("fd00::/8", "http://[fd12::1]/", true),
            ("[fd12::1]:80", "http://[fd12::1]/", true),
            ("::/0", "http://10.1.0.1/", false),
        ] {
            let found = proxy_of(&[("all_proxy", "proxy:3128"), ("no_proxy", entries)], url);
            assert_eq!(found.is_none(), is_direct, "{entries} {url}");
        }
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
