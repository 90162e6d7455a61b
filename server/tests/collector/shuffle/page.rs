//! A page that can be recognised, and the search for it.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

use data_encoding::BASE64URL_NOPAD;

use super::*;
use crate::ohttp::forward::REVEALING_FIELDS;

/// Address of pages, used by nothing else. It is that of [`REVEALING_FIELDS`].
pub(super) const PAGE: Ipv4Addr = Ipv4Addr::new(127, 88, 33, 201);

/// Everything by which one page can be recognised: the address of its connection, and random words
/// in its header fields.
pub(super) struct PageMarks {
    /// Header fields of the page's requests.
    pub(super) fields: String,
    /// Name and bytes of each mark.
    marks: Vec<(&'static str, Vec<u8>)>,
    /// Index by the first two bytes: true if a mark begins so.
    begins: Vec<bool>,
}

impl PageMarks {
    /// Creates the marks of a page with this connection.
    pub(super) fn new(page: &Client) -> Self {
        let mut words = [[0; 16]; 3];
        words
            .iter_mut()
            .for_each(|own| getrandom::fill(own).unwrap());
        let [agent, referer, cookie] = words.map(|own| BASE64URL_NOPAD.encode(&own));
        let fields = REVEALING_FIELDS
            .replace("A page's agent", &format!("A page's agent {agent}"))
            .replace("page.test/\r\n", &format!("page.test/{referer}\r\n"))
            .replace("a-page-of-somebody", &format!("a-page-of-somebody{cookie}"));
        let SocketAddr::V4(own) = page.socket().local_addr().unwrap() else {
            panic!("an address of another kind")
        };
        let (address, port) = (own.ip().octets(), own.port());
        // Sockets and programs store an address and its port side by side, in several orders.
        let [big, little] = [port.to_be_bytes(), port.to_le_bytes()];
        let marks = vec![
            ("user agent", agent.into_bytes()),
            ("referer", referer.into_bytes()),
            ("cookie", cookie.into_bytes()),
            ("address as text", own.ip().to_string().into_bytes()),
            // `IpAddr` of the standard library.
            ("address", [&[0][..], &address].concat()),
            ("address before port", [&address[..], &big].concat()),
            ("address before port", [&address[..], &little].concat()),
            ("port before address", [&big[..], &address].concat()),
            ("port before address", [&little[..], &address].concat()),
        ];
        let mut begins = vec![false; 1 << 16];
        for (_, mark) in &marks {
            begins[usize::from(u16::from_be_bytes([mark[0], mark[1]]))] = true;
        }
        Self {
            fields,
            marks,
            begins,
        }
    }

    /// Returns the names of the marks in these bytes.
    pub(super) fn found_in(&self, bytes: &[u8]) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        for place in 1..bytes.len() {
            let begin = u16::from_be_bytes([bytes[place - 1], bytes[place]]);
            if self.begins[usize::from(begin)] {
                let marks = self.marks.iter();
                let here = marks.filter(|(_, mark)| bytes[place - 1..].starts_with(mark));
                found.extend(here.map(|(name, _)| *name));
            }
        }
        found
    }

    /// Returns the names of the marks in the memory of a process.
    pub(super) fn found_in_memory(&self, process: &Collector) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        super::memory::for_each_run(process.pid(), |run| found.append(&mut self.found_in(run)));
        found
    }
}

/// Sends the head of a request and a part of its body, and waits until the server has read the head.
/// Returns the names of the marks in the server's memory, once the request is over.
pub(super) fn found_during_a_request(
    marks: &PageMarks,
    page: &mut Client,
    path: &str,
    server: &Collector,
) -> BTreeSet<&'static str> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\n{}content-type: message/ohttp-req\r\n\
         content-length: 2\r\nexpect: 100-continue\r\n\r\nx",
        marks.fields
    );
    page.write(head.as_bytes()).unwrap();
    assert_eq!(page.read().unwrap().0, 100);
    let found = marks.found_in_memory(server);
    page.write(b"x").unwrap();
    assert_eq!(page.read().unwrap().0, 400);
    found
}
