//! The server of the viewer: on 127.0.0.1 only, behind a random word in its address.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path as UrlPath, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};
use tresse_lab::State as RunState;
use tresse_lab::store::folder::is_held;

use super::list::{RunList, Runs};
use crate::head::{PageHead, RunHead};
use crate::page::TEMPLATE;
use crate::run::{Run, progress};

/// How often the folder is checked while somebody watches.
const LOOK: Duration = Duration::from_secs(1);
/// How many runs that were read are kept in memory.
const KEPT: usize = 6;
/// What a page may do: show itself, and ask this server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src \
                      data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A viewer that listens but does not answer yet.
#[derive(Debug)]
pub struct Viewer {
    listener: std::net::TcpListener,
    /// Its address: `http://127.0.0.1:PORT/WORD/`.
    pub address: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dir: PathBuf,
    port: u16,
    /// The secret without which nothing is answered, neither to other users of the machine nor to other pages in
    /// the browser.
    token: String,
    runs: Mutex<Runs>,
    /// The list, as JSON, whenever it changes.
    changes: watch::Sender<String>,
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
    pub fn new(dir: &Path, port: u16) -> io::Result<Self> {
        let dir = dir.canonicalize()?;
        if !dir.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let listener = std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let mut token = String::new();
        for byte in random {
            let _ = write!(token, "{byte:02x}");
        }
        let address = format!("http://127.0.0.1:{port}/{token}/");
        let runs = Mutex::new(Runs::new(dir.clone()));
        let changes = watch::Sender::new(String::new());
        let (kept, reading) = (Mutex::default(), Mutex::default());
        let shared = Shared { dir, port, token, runs, changes, kept, reading };
        Ok(Self { listener, address, shared: Arc::new(shared) })
    }
}

/// Answers until the process ends.
///
/// # Errors
/// If the system refuses.
pub fn serve(viewer: Viewer) -> io::Result<()> {
    let Viewer { listener, shared, .. } = viewer;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        tokio::spawn(look(Arc::clone(&shared)));
        let app = Router::new()
            .route("/{token}/", get(page))
            .route("/{token}/api/runs", get(runs))
            .route("/{token}/api/events", get(events))
            .route("/{token}/api/page", get(head))
            .route("/{token}/api/table", get(table))
            .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
            .with_state(shared);
        axum::serve(TcpListener::from_std(listener)?, app).await
    })
}

/// Lets through only requests of this viewer's own page: a page of another origin may reach this port too, even
/// under its own name that resolves to 127.0.0.1.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut own = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", shared.port)).to_vec();
    if shared.port == 80 {
        own.extend(["127.0.0.1", "localhost"].map(str::to_owned)); // browsers leave this port out
    }
    let headers = request.headers();
    let is_own = |value: &HeaderValue, prefix: &str| {
        value.to_str().is_ok_and(|v| v.strip_prefix(prefix).is_some_and(|rest| own.iter().any(|o| o == rest)))
    };
    let host = headers.get(header::HOST).is_some_and(|value| is_own(value, ""));
    let origin = headers.get(header::ORIGIN).is_none_or(|value| is_own(value, "http://"));
    let token = request.uri().path().split('/').nth(1).unwrap_or_default();
    let mut response = if !host || !origin {
        refused(StatusCode::FORBIDDEN, "this address only answers requests from its own page")
    } else if !is_same(token, &shared.token) {
        refused(StatusCode::NOT_FOUND, "not found")
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Compares in constant time, which does not reveal how much of the secret was right.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

fn refused(code: StatusCode, why: &str) -> Response {
    (code, why.to_owned()).into_response()
}

async fn page(UrlPath(_): UrlPath<String>) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], TEMPLATE).into_response()
}

async fn runs(State(shared): State<Arc<Shared>>) -> Response {
    let list = blocking(move || text(&shared.list())).await;
    ([(header::CONTENT_TYPE, "application/json")], list).into_response()
}

/// The list whenever it changes.
async fn events(State(shared): State<Arc<Shared>>) -> Sse<impl Stream<Item = io::Result<Event>>> {
    // First of all the list as it is now: what changed while nobody listened was not told.
    let own = Arc::clone(&shared);
    let list = blocking(move || text(&own.list())).await;
    shared.changes.send_replace(list);
    let changes = WatchStream::new(shared.changes.subscribe());
    let event = |list| Ok(Event::default().event("runs").data(list));
    Sse::new(changes.map(event)).keep_alive(KeepAlive::default())
}

/// Checks the folder while somebody watches.
async fn look(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(LOOK).await;
        if shared.changes.receiver_count() == 0 {
            continue;
        }
        let own = Arc::clone(&shared);
        let list = blocking(move || text(&own.list())).await;
        shared.changes.send_if_modified(|last| {
            let is_new = *last != list;
            *last = list;
            is_new
        });
    }
}

async fn head(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response {
    let ids = values(query.as_deref().unwrap_or_default(), "run");
    if ids.is_empty() {
        return refused(StatusCode::BAD_REQUEST, "no run is named");
    }
    let read = blocking(move || -> Result<String, Refusal> {
        let heads: Vec<RunHead> = ids.iter().map(|id| shared.head(id)).collect::<Result<_, _>>()?;
        let head = PageHead::new(heads);
        Ok(serde_json::to_string(&head).expect("plain data"))
    });
    match read.await {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err((code, why)) => refused(code, &why),
    }
}

async fn table(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let asked = ["run", "table", "snapshot"].map(|key| values(&query, key).into_iter().next());
    let [Some(id), Some(name), snapshot] = asked else {
        return refused(StatusCode::BAD_REQUEST, "no run or no table is named");
    };
    let read = blocking(move || -> Result<Vec<u8>, Refusal> {
        let packed = shared.snapshot(&id, snapshot.as_deref())?.packed(&name);
        let packed = packed.map_err(|e| (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
        packed.ok_or_else(|| (StatusCode::NOT_FOUND, format!("the run has no table {name}")))
    });
    match read.await {
        Ok(packed) => {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            (headers, Body::from(packed)).into_response()
        }
        Err((code, why)) => refused(code, &why),
    }
}

/// Why there is nothing to show.
type Refusal = (StatusCode, String);

impl Shared {
    fn list(&self) -> RunList {
        lock(&self.runs).list()
    }

    /// The run with this name, read again if it has changed, and the key by which its tables are requested.
    fn run(&self, id: &str) -> Result<(Arc<Run>, String), Refusal> {
        let folder = self.folder(id).ok_or_else(|| {
            (
                StatusCode::NOT_FOUND,
                format!("there is no run {id}: it was moved or deleted, or never existed here"),
            )
        })?;
        let _one_at_a_time = lock(&self.reading);
        let snapshot = snapshot(&folder);
        if let Some(run) = self.kept(id, &snapshot) {
            return Ok((run, snapshot));
        }
        let run = Run::read(&folder, id).map_err(|e| (StatusCode::UNPROCESSABLE_ENTITY, e.to_string()))?;
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
            _ => Err((StatusCode::GONE, format!("the run {id} has new results: reload the page"))),
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

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn text(list: &RunList) -> String {
    serde_json::to_string(list).expect("plain data")
}

/// Reads files away from the loop that answers.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("reading does not panic")
}

/// The values of a key of a query.
fn values(query: &str, key: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(own, _)| own == key).map(|(_, value)| value.into_owned()).collect()
}
