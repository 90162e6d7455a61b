//! Clients that send one body after another, each as soon as the previous one is acknowledged. All
//! clients share one thread, so that the measured server keeps the remaining cores.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hushbin::{Fingerprint, Task, Upload};
use hushbin_tests::process::head;
use hushbin_tests::uploads::Uploads;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Description of the load that the clients send to a server.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) connections: u64,
    /// Number of uploads in a body.
    pub(crate) uploads: usize,
    /// Number of reports in an upload.
    pub(crate) reports: usize,
    /// Seed of the upload ids, different for each load.
    pub(crate) seed: u64,
}

/// Acknowledged bodies of a load, with their total size and their latencies.
pub(crate) struct LoadResult {
    pub(crate) bodies: u64,
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
    latencies: Vec<Duration>,
}

impl LoadResult {
    pub(crate) fn bodies_per_second(&self) -> f64 {
        self.bodies as f64 / self.seconds
    }

    /// Returns a quantile of the latencies of bodies, in milliseconds. `share` is between 0 and 1.
    pub(crate) fn latency_quantile(&self, share: f64) -> f64 {
        let index = (self.latencies.len() as f64 * share) as usize;
        let index = index.min(self.latencies.len() - 1);
        self.latencies[index].as_secs_f64() * 1e3
    }
}

impl Load {
    /// Sends bodies to `address` until `time` is over, or until about `bodies` bodies are
    /// acknowledged. The bodies are for the tasks in turn, which differ only in their ids.
    pub(crate) fn send(
        self,
        address: SocketAddr,
        tasks: &[Task],
        time: Duration,
        bodies: u64,
    ) -> LoadResult {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let each = bodies.div_ceil(self.connections);
        runtime.block_on(async {
            let begin = Instant::now();
            let mut clients = JoinSet::new();
            for number in 0..self.connections {
                let client = Client::new(self, number, tasks);
                clients.spawn(client.run(address, begin + time, each));
            }
            let all = clients.join_all().await;
            let seconds = begin.elapsed().as_secs_f64();
            let bytes = all.iter().map(|(bytes, _)| bytes).sum();
            let mut latencies: Vec<_> = all.into_iter().flat_map(|(_, own)| own).collect();
            latencies.sort_unstable();
            LoadResult {
                bodies: latencies.len() as u64,
                bytes,
                seconds,
                latencies,
            }
        })
    }
}

struct Client {
    uploads: Vec<Upload>,
    /// Id and fingerprint of each task.
    tasks: Vec<(String, Fingerprint)>,
    /// Number from which the id of the latest upload was made.
    next: u64,
}

impl Client {
    fn new(load: Load, number: u64, tasks: &[Task]) -> Self {
        // Randomising is the browsers' work: reports are made once, ids are fresh.
        let mut made = Uploads::new(&tasks[0], number);
        Self {
            uploads: (0..load.uploads).map(|_| made.make(load.reports)).collect(),
            tasks: tasks
                .iter()
                .map(|task| (task.id().to_owned(), task.fingerprint()))
                .collect(),
            next: (load.seed << 52) | (number << 40),
        }
    }

    /// Returns the id of the next task, and the next body for it.
    fn next_body(&mut self) -> (&str, Vec<u8>) {
        let mut bytes = Vec::new();
        let (id, fingerprint) = &self.tasks[mix_bits(self.next) as usize % self.tasks.len()];
        for upload in &mut self.uploads {
            self.next += 1;
            upload.id.0[..8].copy_from_slice(&mix_bits(self.next).to_le_bytes());
            bytes.extend(upload.encode(fingerprint));
        }
        (id, bytes)
    }

    /// Sends bodies until `end`, or until `most` bodies are acknowledged. Returns the total size of
    /// these bodies in bytes, and the latency of each body.
    async fn run(mut self, address: SocketAddr, end: Instant, most: u64) -> (u64, Vec<Duration>) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut answer = Vec::new();
        let (mut bytes, mut latencies) = (0, Vec::new());
        while Instant::now() < end && (latencies.len() as u64) < most {
            let (id, body) = self.next_body();
            let mut request = head(id, body.len());
            request.extend_from_slice(&body);
            let begin = Instant::now();
            stream.write_all(&request).await.unwrap();
            read_created_response(&mut stream, &mut answer).await;
            latencies.push(begin.elapsed());
            bytes += body.len() as u64;
        }
        (bytes, latencies)
    }
}

/// Reads one response, whose status must be 201.
async fn read_created_response(stream: &mut TcpStream, answer: &mut Vec<u8>) {
    answer.clear();
    loop {
        let read = stream.read_buf(answer).await.unwrap();
        let text = std::str::from_utf8(answer).unwrap();
        assert!(read > 0, "{text}");
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        assert!(head.starts_with("HTTP/1.1 201 "), "{text}");
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then_some(value)
        });
        if body.len() == length.unwrap().parse::<usize>().unwrap() {
            return;
        }
    }
}

/// Hashes a number with the finaliser of splitmix64, so that consecutive numbers give ids that look
/// random.
fn mix_bits(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
