//! The proxy files of `server/deploy` let through what pages, shufflers and relays need.

use serde_json::Value;

use crate::support::proxy::{CADDY, NGINX};

const OPENAPI: &str = include_str!("../../../src/http/openapi.json");

/// Every route, who needs it, and whether proxies let anybody request it.
pub(crate) const ROUTES: [(&str, &str, bool); 24] = [
    ("/tasks/{id}", "pages", true),
    ("/tasks/{id}/keys", "pages", true),
    ("/tasks/{id}/reports", "pages", true),
    ("/tasks/{id}/privacy", "readers", true),
    ("/tasks/{id}/blocks", "shufflers", true),
    ("/task-log", "anybody", true),
    ("/.well-known/ohttp-gateway", "relays", false),
    ("/gateways/{host}", "pages, of a relay", false),
    ("/", "analysts", false),
    ("/dashboard", "analysts", false),
    ("/dashboard/", "analysts", false),
    ("/dashboard/dashboard.css", "analysts", false),
    ("/dashboard/dashboard.js", "analysts", false),
    ("/dashboard/icon.svg", "analysts", false),
    ("/openapi.json", "analysts", false),
    ("/tasks", "analysts", false),
    ("/tasks/{id}/batches", "analysts", false),
    ("/tasks/{id}/estimates", "analysts", false),
    ("/tasks/{id}/heavy-hitters", "analysts", false),
    ("/tasks/{id}/influence", "analysts", false),
    ("/tasks/{id}/settings", "analysts", false),
    ("/livez", "operators", false),
    ("/metrics", "operators", false),
    ("/readyz", "operators", false),
];

/// Returns the routes that a regular expression of the form `^/tasks/[^/]+(/a|/b)?$` matches.
fn matched_routes(expression: &str) -> Vec<String> {
    let inner = expression.strip_prefix('^').unwrap();
    let inner = inner.strip_suffix('$').unwrap().replace("[^/]+", "{id}");
    let routes = match inner.split_once('(') {
        Some((start, rest)) => {
            let ends = rest.strip_suffix(")?").unwrap().split('|');
            let ends = std::iter::once("").chain(ends);
            ends.map(|end| format!("{start}{end}")).collect()
        }
        None => vec![inner],
    };
    for route in &routes {
        assert!(!route.contains(['(', ')', '[', '*', '+', '?', '\\']));
    }
    routes
}

/// Location of an nginx file: its matcher, and the lines of its block.
struct Location<'a> {
    matcher: &'a str,
    lines: Vec<&'a str>,
}

impl Location<'_> {
    fn matches(&self, route: &str) -> bool {
        match self.matcher.split_once(' ') {
            Some(("~", expression)) => matched_routes(expression).iter().any(|own| own == route),
            Some(("=", path)) => path == route,
            None => route.starts_with(self.matcher),
            _ => panic!("{}", self.matcher),
        }
    }

    /// Position in nginx's search: exact paths, then regular expressions, then prefixes.
    fn rank(&self) -> usize {
        match self.matcher.split_once(' ') {
            Some(("=", _)) => 0,
            Some(_) => 1,
            None => 2,
        }
    }
}

fn nginx_locations(file: &str) -> Vec<Location<'_>> {
    let mut lines = file.lines().map(str::trim);
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("location ") {
            let matcher = rest.strip_suffix(" {").unwrap();
            let lines = lines.by_ref().take_while(|line| *line != "}").collect();
            found.push(Location { matcher, lines });
        }
    }
    found.sort_by_key(Location::rank);
    found
}

/// Returns the lines of the nginx location that answers requests for a route.
fn nginx_answer(file: &str, route: &str) -> Vec<String> {
    let locations = nginx_locations(file);
    let first = locations.iter().find(|own| own.matches(route)).unwrap();
    first.lines.iter().map(|line| (*line).to_owned()).collect()
}

pub(super) fn nginx_allows(file: &str, route: &str) -> bool {
    let lines = nginx_answer(file, route);
    assert!(
        lines
            .iter()
            .any(|line| line == "proxy_pass http://hushbin;")
    );
    !lines.iter().any(|line| line == "deny all;")
}

/// Returns true if the Caddyfile lets anybody request a route: one of the `not` lines of `@inside`
/// excludes the route from what is refused.
pub(super) fn caddy_allows(file: &str, route: &str) -> bool {
    assert!(file.contains("\n\trespond @inside 403\n"));
    let block = file.split_once("@inside {").unwrap().1;
    let lines = block.lines().map(str::trim).take_while(|line| *line != "}");
    let excludes = |line: &str| match line.split_once(' ').unwrap() {
        ("path_regexp", expression) => matched_routes(expression).iter().any(|own| own == route),
        ("path", path) => path == route,
        ("remote_ip", network) => {
            assert_eq!(network, "10.0.0.0/8");
            false
        }
        _ => panic!("{line}"),
    };
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .any(|line| excludes(line.strip_prefix("not ").unwrap()))
}

#[test]
fn proxies_let_through_what_is_needed_from_outside() {
    let openapi: Value = serde_json::from_str(OPENAPI).unwrap();
    let mut all: Vec<_> = openapi["paths"].as_object().unwrap().keys().collect();
    let mut listed = ROUTES.map(|(route, ..)| route);
    all.sort_unstable();
    listed.sort_unstable();
    assert_eq!(all, listed);
    for (route, who, is_public) in ROUTES {
        assert_eq!(
            nginx_allows(NGINX, route),
            is_public,
            "nginx: {route}, {who}"
        );
        assert_eq!(
            caddy_allows(CADDY, route),
            is_public,
            "Caddy: {route}, {who}"
        );
    }
}

/// One household or machine has all addresses of an IPv6 network of 64 bits.
#[test]
fn nginx_counts_ipv6_by_network() {
    let lines = NGINX.lines().map(str::trim);
    let zones: Vec<_> = lines
        .clone()
        .filter(|line| line.starts_with("limit_") && line.contains("_zone "))
        .collect();
    assert_eq!(zones.len(), 2);
    for zone in zones {
        assert!(zone.contains("_zone $client_network "), "{zone}");
    }
    let map = lines.skip_while(|line| *line != "map $binary_remote_addr $client_network {");
    let map: Vec<_> = map.skip(1).take_while(|line| *line != "}").collect();
    // An address has 16 bytes if it is of IPv6, and 4 otherwise.
    let network = r#""~(?s)\A(?<first_64_bits>.{8}).{8}\z" $first_64_bits;"#;
    assert_eq!(map, ["default $binary_remote_addr;", network]);
}
