//! The real binary, and a small blocking HTTP client for it.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::ops::Sub;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use socket2::{Domain, Socket, Type};

/// Command `hushbin`, for tests and benches of the package that builds it. Its batches may be closed
/// at any age.
pub fn command() -> Command {
    let binary = env::var_os("CARGO_BIN_EXE_hushbin").expect("cargo says where it is");
    let mut command = Command::new(binary);
    command.env("HUSHBIN_BATCH_MIN_MINUTES", "0");
    command
}

/// Creates a journal in a directory, as an operator does before the first start. Does nothing if
/// there is one.
pub fn create_journal(data: &Path) {
    if data.join("tasks.json").exists() {
        return;
    }
    let create = ["journal", "create", "--data", data.to_str().unwrap()];
    let output = hushbin(&create);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Name for a token that no other token of this process has.
pub fn token_name() -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // Journals that an earlier run wrote have tokens too.
    format!("test {number} of {}", std::process::id())
}

/// Runs the command with these arguments.
pub fn hushbin(arguments: &[&str]) -> Output {
    command().args(arguments).output().unwrap()
}

/// Runs the command, which must succeed, and parses its JSON.
pub fn answer(arguments: &[&str]) -> Value {
    let output = hushbin(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A running `hushbin serve`; killed on drop.
pub struct Collector {
    child: Child,
}

impl Collector {
    /// Starts a collector on a free port. It logs only errors, to this process's standard error.
    pub fn spawn(data: &Path, tasks: &[&Path], more: &[&str]) -> Self {
        let mut command = command();
        command.arg("serve").arg("--data").arg(data);
        for task in tasks {
            command.arg("--task").arg(task);
        }
        command
            .args(["--development", "--listen", "127.0.0.1:0", "--log", "error"])
            .args(more);
        Self::start(command)
    }

    /// Starts a collector with a given command.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Self {
            child: command.spawn().unwrap(),
        }
    }

    /// Waits for the ready line and returns its address.
    pub fn address(&mut self) -> SocketAddr {
        self.address_after("hushbin listening")
    }

    /// Waits for a ready line that begins with `begin`, and returns its address.
    pub fn address_after(&mut self, begin: &str) -> SocketAddr {
        let stdout = self.child.stdout.take().unwrap();
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let address = line
            .trim_end()
            .strip_prefix(begin)
            .and_then(|rest| rest.strip_prefix(" on http"))
            .and_then(|rest| rest.trim_start_matches('s').strip_prefix("://"))
            .unwrap_or_else(|| panic!("not the ready line: {line:?}"));
        address.parse().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Resident memory in bytes, from Linux's /proc.
    pub fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// Peak of the resident memory in bytes.
    pub fn peak_memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() << 10
    }

    /// Resource usage, from Linux's /proc.
    pub fn usage(&self) -> Usage {
        let of = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", self.pid())).unwrap();
        let stat = of("stat");
        // Fields 14 and 15, counted from the name, which may contain spaces; in ticks of 10 ms.
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.map(|own| own.parse::<u64>().unwrap()).sum();
        let io = of("io");
        let written = io
            .lines()
            .find_map(|line| line.strip_prefix("write_bytes: "));
        Usage {
            cpu: Duration::from_millis(ticks * 10),
            written: written.unwrap().parse().unwrap(),
        }
    }

    /// Number of open sockets, from Linux's /proc.
    pub fn sockets(&self) -> usize {
        let files = fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap();
        // A file that is closed meanwhile is skipped.
        let targets = files.filter_map(|file| fs::read_link(file.unwrap().path()).ok());
        targets
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count()
    }

    /// Sends kill -9.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn terminate(&self) {
        self.signal("-TERM");
    }

    /// Terminates the process and waits until it has ended without an error. Its directory is free
    /// then.
    pub fn stop(&mut self, at_most: Duration) {
        self.terminate();
        let status = self.wait(at_most);
        assert!(status.success(), "{status}");
    }

    /// Sends a signal, given by its name after a dash.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([name, &self.pid().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    /// Returns whether the process has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the process to end.
    pub fn wait(&mut self, at_most: Duration) -> ExitStatus {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begin.elapsed() < at_most, "still running");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Waits until the condition is true.
///
/// # Panics
/// If it stays false for ten minutes.
#[track_caller]
pub fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(600), "it never comes");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Resource usage of a process.
#[derive(Clone, Copy)]
pub struct Usage {
    pub cpu: Duration,
    /// Bytes written to disk, in whole pages.
    pub written: u64,
}

impl Sub for Usage {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu - earlier.cpu,
            written: self.written - earlier.written,
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection, kept alive.
pub struct Client<S = TcpStream> {
    stream: BufReader<S>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        Self::over(TcpStream::connect(address)?)
    }

    /// Connects from a local address.
    pub fn connect_from(source: IpAddr, address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.bind(&SocketAddr::new(source, 0).into())?;
        socket.connect(&address.into())?;
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        // A timeout makes the test fail instead of hanging.
        stream.set_read_timeout(Some(Duration::from_secs(300)))?;
        Ok(Self::new(stream))
    }

    /// Sets the timeout of responses.
    pub fn patience(&self, patience: Duration) {
        self.socket().set_read_timeout(Some(patience)).unwrap();
    }

    pub fn socket(&self) -> &TcpStream {
        self.stream.get_ref()
    }

    /// Returns the socket.
    pub fn into_socket(self) -> TcpStream {
        self.stream.into_inner()
    }
}

impl<S: Read + Write> Client<S> {
    /// Creates a client over a given stream.
    pub fn new(stream: S) -> Self {
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub fn stream(&self) -> &S {
        self.stream.get_ref()
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Reads the status and body of the next response.
    pub fn read(&mut self) -> io::Result<(u16, Vec<u8>)> {
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(broken)?;
        let mut length = 0;
        let mut chunked = false;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':') {
                None => break,
                Some(("content-length", value)) => {
                    length = value.trim().parse().map_err(|_| broken())?;
                }
                Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
                Some(_) => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        while chunked {
            let size = self.line()?;
            let size = usize::from_str_radix(&size, 16).map_err(|_| broken())?;
            let begin = body.len();
            body.resize(begin + size, 0);
            self.stream.read_exact(&mut body[begin..])?;
            self.line()?;
            chunked = size > 0;
        }
        Ok((status, body))
    }

    /// Reads the next line of a response's head, without its end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let line = line.strip_suffix("\r\n").ok_or_else(broken)?;
        Ok(line.to_owned())
    }

    pub fn post(&mut self, task: &str, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        let mut request = head(task, body.len());
        request.extend_from_slice(body);
        self.write(&request)?;
        self.read()
    }

    pub fn get(&mut self, path: &str) -> io::Result<(u16, Vec<u8>)> {
        self.write(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").as_bytes())?;
        self.read()
    }
}

/// Error for an incomplete or invalid response.
fn broken() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// Head of an upload's request.
pub fn head(task: &str, length: usize) -> Vec<u8> {
    format!("POST /tasks/{task}/reports HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n\r\n")
        .into_bytes()
}
