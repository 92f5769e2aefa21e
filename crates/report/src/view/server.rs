//! The server of the viewer: on 127.0.0.1 only, behind a random word in its address.

use std::fmt::Write as _;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tresse_results::State as RunState;
use tresse_results::store::folder::is_held;

use super::connections::{Connections, Slot, lock};
use super::http::{Answer, Connection, Refusal, Request, now};
use super::list::{RunList, Runs};
use crate::head::{PageHead, ReadRun, RunHead};
use crate::page::TEMPLATE;
use crate::run::{Run, progress};

/// How often the folder is checked while somebody watches.
const LOOK: Duration = Duration::from_secs(1);
/// The number of looks after which a watcher hears something, even if nothing has changed.
const SILENT: u32 = 15;
const JSON: &str = "application/json";
/// How many runs that were read are kept in memory.
const KEPT: usize = 6;

/// A viewer that listens but does not answer yet.
#[derive(Debug)]
pub struct Viewer {
    listener: TcpListener,
    /// Its address: `http://127.0.0.1:PORT/WORD/`.
    pub address: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dir: PathBuf,
    read: ReadRun,
    port: u16,
    /// The secret without which nothing is answered, neither to other users of the machine nor to other pages in
    /// the browser.
    token: String,
    runs: Mutex<Runs>,
    /// The list, as JSON, as watchers last saw it, and when.
    watched: Mutex<Option<(Instant, Arc<str>)>>,
    kept: Mutex<Vec<Kept>>,
    /// Held while a run is read: a second request for the same run waits, and finds it read.
    reading: Mutex<()>,
}

/// A run that was read.
#[derive(Debug)]
struct Kept {
    id: String,
    snapshot: String,
    run: Arc<Run>,
}

impl Viewer {
    /// Listens on `port`, or on any free port if it is 0, for the runs in `dir`.
    ///
    /// # Errors
    /// If `dir` is not a folder, or the port is taken.
    pub fn new(dir: &Path, port: u16, read: ReadRun) -> io::Result<Self> {
        let dir = dir.canonicalize()?;
        if !dir.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let port = listener.local_addr()?.port();
        let mut random = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let mut token = String::new();
        for byte in random {
            let _ = write!(token, "{byte:02x}");
        }
        let address = format!("http://127.0.0.1:{port}/{token}/");
        let runs = Mutex::new(Runs::new(dir.clone()));
        let (watched, kept, reading) = (Mutex::default(), Mutex::default(), Mutex::default());
        let shared = Shared { dir, read, port, token, runs, watched, kept, reading };
        Ok(Self { listener, address, shared: Arc::new(shared) })
    }
}

/// Answers until the process ends.
pub fn serve(viewer: Viewer) -> ! {
    let Viewer { listener, shared, .. } = viewer;
    let connections = Arc::new(Connections::default());
    loop {
        let Ok((stream, _)) = listener.accept() else {
            pause();
            continue;
        };
        let stream = Arc::new(stream);
        let place = connections.place(&stream);
        let shared = Arc::clone(&shared);
        // Without a thread for it, it is closed.
        let _ = thread::Builder::new().spawn(move || talk(&shared, stream, &place));
    }
}

/// The system has no room for another connection: one must end first.
#[expect(clippy::disallowed_methods, reason = "it waits for the system")]
fn pause() {
    thread::sleep(Duration::from_millis(100));
}

/// Answers the requests of a connection, until the client has gone or takes too long.
fn talk(shared: &Shared, stream: Arc<TcpStream>, place: &Slot) {
    let Ok(mut connection) = Connection::new(stream) else { return };
    let mut goes_on = true;
    while goes_on && let Some(request) = connection.request() {
        place.set_busy(true);
        let answered = match request {
            Ok(request) => match shared.answer(&request) {
                Ok(Some(answer)) => connection.answer(&request, &answer),
                Ok(None) => shared.events(&request, &connection).map(|()| false),
                Err(refusal) => connection.answer(&request, &refusal.into()),
            },
            Err(refusal) => connection.refuse(refusal).map(|()| false),
        };
        goes_on = answered.unwrap_or(false); // an error is a client that has gone
        place.set_busy(false);
    }
}

/// Compares in constant time, which does not reveal how much of the secret was right.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

impl Shared {
    /// What is requested; `None` if it is the list whenever it changes. Only requests of this viewer's own page are let
    /// through: a page of another origin may reach this port too, even under its own name that resolves to 127.0.0.1.
    fn answer(&self, request: &Request) -> Result<Option<Answer>, Refusal> {
        let is_own_host = |value: &str| {
            ["127.0.0.1", "localhost"].iter().any(|host| match value.strip_prefix(host) {
                Some("") => self.port == 80, // browsers leave this port out
                Some(rest) => rest.strip_prefix(':').is_some_and(|port| port == self.port.to_string()),
                None => false,
            })
        };
        let is_own_origin = |value: &str| value.strip_prefix("http://").is_some_and(is_own_host);
        let is_own = request.host.as_deref().is_some_and(is_own_host)
            && request.origin.as_deref().is_none_or(is_own_origin);
        if !is_own {
            return Err(Refusal(403, "this address only answers requests from its own page".to_owned()));
        }
        let not_found = || Refusal(404, "not found".to_owned());
        let path = request.path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let (_, path) = path.filter(|(token, _)| is_same(token, &self.token)).ok_or_else(not_found)?;
        if !["GET", "HEAD"].contains(&&*request.method) {
            return Err(Refusal(405, "this can only be read".to_owned()));
        }
        Ok(Some(match path {
            "" => Answer::new("text/html; charset=utf-8", TEMPLATE.as_bytes()),
            "api/runs" => Answer::new(JSON, text(&self.list()).into_bytes()),
            "api/events" => return Ok(None),
            "api/page" => Answer::new(JSON, self.heads(request)?.into_bytes()),
            "api/table" => {
                Answer::new("application/octet-stream", self.table(request)?).with("content-encoding", "gzip")
            }
            _ => return Err(not_found()),
        }))
    }

    /// The list whenever it changes, until the client has gone.
    ///
    /// # Errors
    /// If the client has gone, or takes nothing.
    fn events(&self, request: &Request, connection: &Connection) -> io::Result<()> {
        let mut goes_on = connection.begin(request, &Answer::new("text/event-stream", &[][..]))?;
        let (mut told, mut silent) = (None, 0);
        while goes_on {
            let list = self.watched();
            if told.as_ref() != Some(&list) {
                connection.write(format!("event: runs\ndata: {list}\n\n").as_bytes())?;
                (told, silent) = (Some(list), 0);
            } else if silent == SILENT {
                connection.write(b":\n\n")?;
                silent = 0;
            }
            silent += 1;
            goes_on = !connection.has_gone(LOOK);
        }
        Ok(())
    }

    /// The list, which is as old as a look at most: watchers share their looks.
    fn watched(&self) -> Arc<str> {
        let mut watched = lock(&self.watched);
        match &*watched {
            Some((when, list)) if when.elapsed() < LOOK => Arc::clone(list),
            _ => {
                let list: Arc<str> = text(&self.list()).into();
                *watched = Some((now(), Arc::clone(&list)));
                list
            }
        }
    }

    fn heads(&self, request: &Request) -> Result<String, Refusal> {
        let ids = request.values("run");
        if ids.is_empty() {
            return Err(Refusal(400, "no run is named".to_owned()));
        }
        let heads = ids.iter().map(|id| self.head(id)).collect::<Result<_, _>>()?;
        Ok(serde_json::to_string(&PageHead::new(heads)).expect("plain data"))
    }

    fn table(&self, request: &Request) -> Result<Vec<u8>, Refusal> {
        let asked = ["run", "table", "snapshot"].map(|key| request.values(key).into_iter().next());
        let [Some(id), Some(name), snapshot] = asked else {
            return Err(Refusal(400, "no run or no table is named".to_owned()));
        };
        let packed = self.snapshot(&id, snapshot.as_deref())?.packed(&name);
        let packed = packed.map_err(|e| Refusal(500, e.to_string()))?;
        packed.ok_or_else(|| Refusal(404, format!("the run has no table {name}")))
    }

    fn list(&self) -> RunList {
        lock(&self.runs).list()
    }

    /// The run with this name, read again if it has changed, and the key by which its tables are requested.
    fn run(&self, id: &str) -> Result<(Arc<Run>, String), Refusal> {
        let folder = self.folder(id).ok_or_else(|| {
            Refusal(404, format!("there is no run {id}: it was moved or deleted, or never existed here"))
        })?;
        let _one_at_a_time = lock(&self.reading);
        let snapshot = snapshot(&folder);
        if let Some(run) = self.kept(id, &snapshot) {
            return Ok((run, snapshot));
        }
        let run = Run::read(&folder, id, self.read).map_err(|e| Refusal(422, e.to_string()))?;
        let run = Arc::new(run);
        let mut kept = lock(&self.kept);
        kept.insert(0, Kept { id: id.to_owned(), snapshot: snapshot.clone(), run: Arc::clone(&run) });
        kept.truncate(KEPT);
        Ok((run, snapshot))
    }

    /// What a page says about a run. Its progress, and whether its process still exists, are not in any file
    /// of results.
    fn head(&self, id: &str) -> Result<RunHead, Refusal> {
        let (run, snapshot) = self.run(id)?;
        let mut head = RunHead { snapshot: Some(snapshot), ..run.head.clone() };
        if let Some(folder) = self.folder(id) {
            head.state = RunState::of(&head.report, is_held(&folder));
            head.progress = (head.state == RunState::UnderWay).then(|| progress(&folder)).flatten();
        }
        Ok(head)
    }

    /// The run as it was when a page was made of it, because the tables of one page must belong together.
    fn snapshot(&self, id: &str, snapshot: Option<&str>) -> Result<Arc<Run>, Refusal> {
        let Some(wanted) = snapshot else { return Ok(self.run(id)?.0) };
        if self.folder(id).is_some()
            && let Some(run) = self.kept(id, wanted)
        {
            return Ok(run);
        }
        match self.run(id)? {
            (run, now) if now == wanted => Ok(run),
            _ => Err(Refusal(410, format!("the run {id} has new results: reload the page"))),
        }
    }

    fn kept(&self, id: &str, snapshot: &str) -> Option<Arc<Run>> {
        let kept = lock(&self.kept);
        kept.iter().find(|own| own.id == id && own.snapshot == snapshot).map(|own| Arc::clone(&own.run))
    }

    /// The folder of a run, below the viewed one. Links are not followed, neither to it nor in it.
    fn folder(&self, id: &str) -> Option<PathBuf> {
        let relative = Path::new(id);
        let is_below = relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        let folder = is_below.then(|| self.dir.join(relative).canonicalize().ok()).flatten()?;
        let is_own = folder.starts_with(&self.dir) && is_file(&folder.join("run.json"));
        (is_own && has_no_links(&folder, 1)).then_some(folder)
    }
}

/// Whether it is a file, and not a link to one.
pub(super) fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Whether a folder contains no links, down to the parts of its tables.
fn has_no_links(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = folder.read_dir() else { return false };
    entries.flatten().all(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => depth == 0 || has_no_links(&entry.path(), depth - 1),
        Ok(kind) => !kind.is_symlink(),
        Err(_) => true, // it has gone meanwhile
    })
}

/// What distinguishes one state of a run's folder from another: when `run.json` was written, and
/// the parts of its tables.
fn snapshot(folder: &Path) -> String {
    let mut hash = DefaultHasher::new();
    let written =
        folder.join("run.json").metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    written.hash(&mut hash);
    let mut names: Vec<PathBuf> =
        folder.read_dir().into_iter().flatten().flatten().map(|e| e.path()).collect();
    names.sort();
    for path in names.iter().filter(|path| path.extension().is_some_and(|e| e == "partial")) {
        let parts = path.read_dir().into_iter().flatten().flatten();
        (path, parts.filter(|part| part.path().extension().is_some_and(|e| e == "parquet")).count())
            .hash(&mut hash);
    }
    format!("{:016x}", hash.finish())
}

fn text(list: &RunList) -> String {
    serde_json::to_string(list).expect("plain data")
}
