//! A page that can be recognised, and the search for it.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

use data_encoding::BASE64URL_NOPAD;
use hushbin_tests::marks::ByteStrings;
use hushbin_tests::memory;

use super::*;
use crate::ohttp::forward::REVEALING_FIELDS;

/// Address of pages, used by nothing else. It is that of [`REVEALING_FIELDS`].
pub(super) const PAGE: Ipv4Addr = Ipv4Addr::new(127, 88, 33, 201);

/// Everything by which one page can be recognised: the address of its connection, and random words
/// in its header fields.
pub(super) struct PageMarks {
    /// Header fields of the page's requests.
    pub(super) fields: String,
    /// Name of each mark.
    names: Vec<&'static str>,
    marks: ByteStrings,
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
        let (names, marks) = marks.into_iter().unzip();
        Self {
            fields,
            names,
            marks: ByteStrings::new(marks),
        }
    }

    /// Returns the names of the marks in these bytes.
    pub(super) fn found_in(&self, bytes: &[u8]) -> BTreeSet<&'static str> {
        let found = self.marks.found_in(bytes).into_iter();
        found.map(|index| self.names[index]).collect()
    }

    /// Returns the names of the marks in the memory of a process.
    pub(super) fn found_in_memory(&self, process: &Collector) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        memory::for_each_run(process.pid(), &mut |run| {
            found.append(&mut self.found_in(run));
        });
        found
    }
}

/// Sends the head of a request and a part of its body, from the page's address. Waits until the
/// server has read the head. Returns the names of the marks in the server's memory at that time.
pub(super) fn found_during_a_request(
    marks: &PageMarks,
    (server, address): (&Collector, SocketAddr),
    path: &str,
) -> BTreeSet<&'static str> {
    let mut page = Client::connect_from(PAGE.into(), address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\n{}content-type: message/ohttp-req\r\n\
         content-length: 2\r\nexpect: 100-continue\r\n\r\nx",
        marks.fields
    );
    page.write(head.as_bytes()).unwrap();
    assert_eq!(page.read().unwrap().0, 100);
    marks.found_in_memory(server)
}
