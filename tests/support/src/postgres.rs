//! Private PostgreSQL servers, from the programs of the machine. Each has its own directory and a
//! free local port, and ends with the process that started it.

use std::env;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

/// Error message if the programs are missing.
const MISSING: &str = "PostgreSQL is missing: its programs are neither below \
    /usr/lib/postgresql nor in PATH; on Debian, apt-get install postgresql, which npm run setup does as root";

/// User of the server if this process is root's, as PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// Default options of servers. Data need not survive a power failure, so it is not forced to disk.
const OPTIONS: [&str; 6] = [
    // Shared memory in the server's directory is cleaned up even after kill -9.
    "dynamic_shared_memory_type=mmap",
    "fsync=off",
    "listen_addresses=127.0.0.1",
    "max_connections=200",
    "shared_buffers=64MB",
    "wal_level=replica",
];

/// A server, stopped and removed on drop.
pub struct Server {
    directory: PathBuf,
    port: u16,
    options: Vec<String>,
    running: Mutex<Option<Child>>,
}

/// Required programs.
const PROGRAMS: [&str; 5] = ["initdb", "pg_basebackup", "pg_isready", "postgres", "psql"];

/// Directory of the programs. On Debian it is not in PATH.
fn programs() -> PathBuf {
    let has_all = |directory: &PathBuf| {
        PROGRAMS
            .iter()
            .all(|program| directory.join(program).exists())
    };
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let below = versions.flatten().map(|version| version.path().join("bin"));
    let newest = below.filter(has_all).max();
    let in_path = || {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).find(has_all)
    };
    newest.or_else(in_path).expect(MISSING)
}

/// User and group of servers if this process is root's; otherwise `None`.
fn user() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let of = |flag| {
        let said = Command::new("id").args([flag, USER]).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        said.trim()
            .parse()
            .expect("Debian's package makes the user postgres")
    };
    Some((of("-u"), of("-g")))
}

/// Returns a command for a program of PostgreSQL, as [`run_as_user`] does.
fn program(name: &str) -> Command {
    run_as_user(&programs().join(name))
}

/// Returns a command for a program, run as the server's user. It ends with this thread.
fn run_as_user(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if let Some((user, group)) = user() {
        command.args(["--reuid", &user.to_string(), "--regid", &group.to_string()]);
        command.arg("--clear-groups");
    }
    command.args(["--pdeathsig", "KILL"]);
    command.arg(program).stdin(Stdio::null());
    // The default language of messages is that of the machine.
    command.env("LC_ALL", "C").current_dir("/");
    command
}

fn succeed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Creates a directory that the server's user may use.
fn create_directory() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // The name is short, because paths of sockets may have at most 107 bytes.
    let name = format!("hushbin-postgres-{}-{number}", std::process::id());
    let directory = env::temp_dir().join(name);
    fs::create_dir(&directory).unwrap();
    if let Some((user, group)) = user() {
        chown(&directory, Some(user), Some(group)).unwrap();
    }
    directory
}

/// Returns a free port that the system does not hand out otherwise.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed) + std::process::id() % 89 * 20;
        let port = 18_000 + (step % 1_999) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Server {
    /// Starts a new server with these settings, each as `name=value`.
    pub fn start(options: &[&str]) -> Self {
        let mut server = Self::in_directory(options);
        server.set_up();
        server.go_somewhere();
        server
    }

    /// Starts a server with TLS by this certificate and key, both as PEM.
    pub fn with_tls(certificate: &str, key: &str) -> Self {
        let mut server = Self::in_directory(&["ssl=on"]);
        for (name, option, text) in [
            ("certificate.pem", "ssl_cert_file", certificate),
            ("key.pem", "ssl_key_file", key),
        ] {
            let path = server.directory.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = user() {
                chown(&path, Some(user), Some(group)).unwrap();
            }
            server.options.push(format!("{option}={}", path.display()));
        }
        server.set_up();
        server.go_somewhere();
        server
    }

    fn set_up(&self) {
        let mut initdb = program("initdb");
        initdb.args(["--auth=trust", "--username=hushbin", "--no-sync"]);
        initdb.args(["--no-locale", "--encoding=UTF8", "--pgdata"]);
        initdb.arg(self.data());
        succeed(initdb);
    }

    /// Starts a standby of this server under this name.
    pub fn standby(&self, name: &str, options: &[&str]) -> Self {
        let mut standby = Self::in_directory(options);
        let mut backup = program("pg_basebackup");
        backup.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        backup.arg("--pgdata").arg(standby.data()).arg("--dbname");
        backup.arg(format!(
            "host=127.0.0.1 port={} user=hushbin application_name={name}",
            self.port
        ));
        succeed(backup);
        standby.go_somewhere();
        standby
    }

    fn in_directory(options: &[&str]) -> Self {
        let options = OPTIONS.iter().chain(options);
        Self {
            directory: create_directory(),
            port: free_port(),
            options: options.map(|own| (*own).to_owned()).collect(),
            running: Mutex::default(),
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Starts the server on a free port, with several attempts.
    fn go_somewhere(&mut self) {
        for _ in 0..5 {
            match self.try_to_go() {
                Err(log) if log.contains("Address already in use") => self.port = free_port(),
                done => return done.unwrap_or_else(|log| panic!("{log}")),
            }
        }
        panic!("no port is free");
    }

    /// Starts a killed server again, and waits until it accepts connections.
    pub fn go(&self) {
        self.try_to_go().unwrap_or_else(|log| panic!("{log}"));
    }

    fn try_to_go(&self) -> Result<(), String> {
        let mut postgres = program("postgres");
        postgres.arg("-D").arg(self.data());
        postgres.args(["-p", &self.port.to_string()]);
        postgres.arg("-k").arg(&self.directory);
        for option in &self.options {
            postgres.args(["-c", option]);
        }
        let log = self.directory.join("log");
        let log = fs::OpenOptions::new().create(true).append(true).open(log);
        postgres.stdout(Stdio::null()).stderr(log.unwrap());
        // The server ends with the thread that starts it, so this thread lives as long as the
        // process.
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            sender.send(postgres.spawn().unwrap()).unwrap();
            loop {
                thread::park();
            }
        });
        let mut child = receiver.recv().unwrap();
        loop {
            if child.try_wait().unwrap().is_some() {
                return Err(fs::read_to_string(self.directory.join("log")).unwrap());
            }
            if self.is_ready() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        *self.running.lock().unwrap() = Some(child);
        Ok(())
    }

    fn is_ready(&self) -> bool {
        // Uses the server's socket, as another server may answer on the port.
        let mut ready = program("pg_isready");
        ready.args(["-q", "-U", "hushbin", "-d", "postgres"]);
        ready.args(["-p", &self.port.to_string(), "-h"]);
        ready.arg(&self.directory);
        match ready.status().unwrap().code() {
            Some(0) => true,
            // The server refuses connections, or does not answer.
            Some(1 | 2) => false,
            other => panic!("pg_isready ended with {other:?}"),
        }
    }

    /// Runs a statement and returns the answer, one line per row.
    pub fn ask(&self, database: &str, statement: &str) -> String {
        let mut psql = program("psql");
        psql.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"]);
        psql.args([
            "--set",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-U",
            "hushbin",
        ]);
        psql.args([
            "-p",
            &self.port.to_string(),
            "-d",
            database,
            "-c",
            statement,
        ]);
        succeed(psql).trim_end().to_owned()
    }

    /// Creates a database, and returns its address.
    pub fn database(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("own{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.ask("postgres", &format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    /// Returns the address of a database of this name.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://hushbin@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the local port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the data directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the process ids of the server and its children, one per connection.
    pub fn processes(&self) -> Vec<u32> {
        let own = self.running.lock().unwrap().as_ref().unwrap().id();
        let all = fs::read_dir("/proc").unwrap().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let children = ids.filter(|id: &u32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
            fields.split_whitespace().nth(1) == Some(&own.to_string())
        });
        [own].into_iter().chain(children).collect()
    }

    /// Returns the CPU time of the server's processes, ended ones included.
    pub fn cpu(&self) -> Duration {
        let of = |id: u32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
            // Fields 14 to 17, counted from the name: CPU time of the process and of ended
            // children, in ticks of 10 ms.
            let ticks = fields.split_whitespace().skip(11).take(4);
            let ticks: u64 = ticks.map(|own| own.parse::<u64>().unwrap()).sum();
            Duration::from_millis(ticks * 10)
        };
        self.processes().into_iter().map(of).sum()
    }

    /// Sends kill -9 to all processes of the server.
    pub fn kill(&self) {
        // The last number is the key of its shared memory, which the kernel would keep forever.
        let memory = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let memory = memory
            .lines()
            .nth(6)
            .and_then(|line| line.split_whitespace().nth(1));
        let processes = self.processes();
        let mut kill = Command::new("kill");
        kill.arg("-9").args(processes.iter().map(u32::to_string));
        // Some may have ended already.
        let _ = kill.stderr(Stdio::null()).status().unwrap();
        let mut server = self.running.lock().unwrap().take().unwrap();
        server.wait().unwrap();
        for id in processes {
            while fs::read_to_string(format!("/proc/{id}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z "))
            {
                thread::sleep(Duration::from_millis(1));
            }
        }
        if let Some(id) = memory {
            let mut remove = Command::new("ipcrm");
            let _ = remove.args(["-m", id]).stderr(Stdio::null()).status();
        }
    }

    /// Stops all processes of the server, which keep their connections but do nothing.
    pub fn freeze(&self) {
        self.signal_all("-STOP");
    }

    /// Continues the processes that [`Server::freeze`] has stopped.
    pub fn thaw(&self) {
        self.signal_all("-CONT");
    }

    fn signal_all(&self, signal: &str) {
        let processes = self.processes();
        let mut kill = Command::new("kill");
        kill.arg(signal).args(processes.iter().map(u32::to_string));
        // Some may have ended already.
        let _ = kill.stderr(Stdio::null()).status().unwrap();
    }

    /// Promotes a standby to a primary.
    pub fn promote(&self) {
        assert_eq!(self.ask("postgres", "SELECT pg_promote()"), "t");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.running.lock().unwrap().is_some() {
            self.kill();
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A server, and a standby that confirms every commit.
pub struct Pair {
    pub primary: Server,
    pub standby: Server,
}

impl Pair {
    /// Starts both with these settings.
    pub fn start(options: &[&str]) -> Self {
        let primary = Server::start(options);
        // The server must not wait for a standby that does not exist yet.
        let standby = primary.standby("second", options);
        let names = "ALTER SYSTEM SET synchronous_standby_names = 'second'";
        primary.ask("postgres", names);
        primary.ask("postgres", "SELECT pg_reload_conf()");
        let state = "SELECT sync_state FROM pg_stat_replication";
        while primary.ask("postgres", state) != "sync" {
            thread::sleep(Duration::from_millis(20));
        }
        Self { primary, standby }
    }

    /// Creates a database, and returns an address with both servers.
    pub fn database(&self) -> String {
        let address = self.primary.database();
        let [first, second] = [&self.primary, &self.standby].map(|own| own.port);
        let first = format!("127.0.0.1:{first}");
        address.replace(&first, &format!("{first},127.0.0.1:{second}"))
    }
}

/// Time for which a client of a [`Pooler`] has a connection of the server to itself.
#[derive(Clone, Copy)]
pub enum PoolMode {
    Session,
    Transaction,
}

/// PgBouncer in front of a server; stopped and removed on drop.
pub struct Pooler {
    directory: PathBuf,
    port: u16,
    child: Child,
}

impl Pooler {
    /// Starts a pooler that has this number of connections to a server.
    pub fn start(server: &Server, mode: PoolMode, connections: usize) -> Self {
        let (directory, port) = (create_directory(), free_port());
        let mode = match mode {
            PoolMode::Session => "session",
            PoolMode::Transaction => "transaction",
        };
        let file = |name: &str| directory.join(name);
        let lines = [
            "[databases]".to_owned(),
            format!("* = host=127.0.0.1 port={}", server.port),
            "[pgbouncer]".to_owned(),
            "listen_addr = 127.0.0.1".to_owned(),
            format!("listen_port = {port}"),
            "unix_socket_dir =".to_owned(),
            "auth_type = trust".to_owned(),
            format!("auth_file = {}", file("users").display()),
            format!("logfile = {}", file("log").display()),
            format!("pool_mode = {mode}"),
            format!("default_pool_size = {connections}"),
        ];
        fs::write(file("users"), "\"hushbin\" \"\"\n").unwrap();
        fs::write(file("settings.ini"), lines.join("\n") + "\n").unwrap();
        let path = env::var_os("PATH").unwrap_or_default();
        let mut places: Vec<PathBuf> = env::split_paths(&path).collect();
        places.push("/usr/sbin".into());
        let mut found = places.iter().map(|place| place.join("pgbouncer"));
        let program = found.find(|path| path.exists()).expect(
            "PgBouncer is missing: pgbouncer is neither in PATH nor in /usr/sbin; on Debian, \
             apt-get install pgbouncer, which npm run setup does as root",
        );
        let mut command = run_as_user(&program);
        command.args(["-q".into(), file("settings.ini")]);
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut pooler = Self {
            directory,
            port,
            child,
        };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || fs::read_to_string(pooler.directory.join("log"));
            let ended = pooler.child.try_wait().unwrap();
            assert!(ended.is_none(), "{:?}", log());
            thread::sleep(Duration::from_millis(20));
        }
        pooler
    }

    /// Returns the local port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Returns the server that concurrent tests share.
pub fn shared() -> Arc<Server> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    shared.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Server::start(&[]));
        *shared = Arc::downgrade(&server);
        server
    })
}
