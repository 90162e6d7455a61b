//! Host names that the collector answers to.

use serde_json::Value;

use super::Operated;

#[test]
fn other_names_are_misdirected_but_health_answers_to_all() {
    let operated = Operated::new("hosts = ['stats.example.org']");
    let mut client = operated.client();
    let mut get = |host: &str, path: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        client.write(head.as_bytes()).unwrap();
        client.read().unwrap()
    };
    assert_eq!(get("Stats.example.org:80", "/tasks/settings").0, 200);
    let address = operated.address.to_string();
    for path in ["/tasks", "/tasks/settings/estimates", "/metrics", "/livez/"] {
        let (status, body) = get(&address, path);
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status, 421, "{path}");
        assert_eq!(problem["type"], "urn:hushbin:problem:misdirected");
    }
    assert_eq!(get(&address, "/livez").0, 200);
    assert_eq!(get(&address, "/readyz").0, 200);
}
