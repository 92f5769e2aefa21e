//! HTTP/1.1 as far as the viewer needs it (RFC 9112): requests without content, answers of known length, and one
//! that goes on until its reader leaves.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use httparse::{EMPTY_HEADER, Error as Malformed, Header, Status};

/// The maximum length of the head of a request, bytes, and the maximum number of its fields.
const HEAD: usize = 64 * 1024;
const FIELDS: usize = 100;
/// How long a connection may take for its next request, from the end of the last answer to the end of the head.
const REQUEST: Duration = Duration::from_secs(30);
/// How long nothing may be taken of an answer.
const ANSWER: Duration = Duration::from_secs(10);
/// How long, and for how many bytes, the rest of a refused request is read: a connection that is closed before that
/// may lose the answer.
const REST: (Duration, u64) = (Duration::from_secs(1), 1 << 20);
/// What a page may do: show itself, and ask this server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src \
                      data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The fields of every answer.
const COMMON: [(&str, &str); 5] = [
    ("content-security-policy", POLICY),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    /// As it was sent: not decoded.
    pub path: String,
    query: String,
    /// The host that it is for; `None` if it names none.
    pub host: Option<String>,
    /// The origin of the page that sent it; `None` if it was no page, or one of the same origin.
    pub origin: Option<String>,
    /// The connection has another request after this one.
    goes_on: bool,
}

impl Request {
    /// The request whose head is in `parsed`.
    fn new(parsed: &httparse::Request) -> Result<Self, Refusal> {
        let malformed = || Refusal(400, "this is not a request of HTTP/1.1".to_owned());
        let target = parsed.path.ok_or_else(malformed)?;
        let (authority, target) = match target.strip_prefix("http://") {
            Some(rest) => {
                let (authority, _) = rest.split_once(['/', '?']).unwrap_or((rest, ""));
                (Some(authority), &rest[authority.len()..])
            }
            None => (None, target),
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let host = only(parsed.headers, "host").ok_or_else(malformed)?;
        let origin = only(parsed.headers, "origin").ok_or_else(malformed)?;
        let closes = || values(parsed.headers, "connection").any(|value| value.eq_ignore_ascii_case("close"));
        let has_content = || {
            values(parsed.headers, "transfer-encoding").next().is_some()
                || values(parsed.headers, "content-length").any(|length| length != "0")
        };
        Ok(Self {
            method: parsed.method.ok_or_else(malformed)?.to_owned(),
            path: if path.is_empty() { "/" } else { path }.to_owned(),
            query: query.to_owned(),
            // What the target names counts, not the field (RFC 9112 3.2.2).
            host: authority.map(str::to_owned).or(host),
            origin,
            goes_on: parsed.version == Some(1) && !closes() && !has_content(),
        })
    }

    /// The values of a key of its query.
    pub fn values(&self, key: &str) -> Vec<String> {
        let pairs = self.query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.filter(|(own, _)| decoded(own) == key).map(|(_, value)| decoded(value)).collect()
    }
}

/// The elements of a field's value: text between commas.
fn values<'a>(fields: &'a [Header], name: &str) -> impl Iterator<Item = &'a str> {
    let own = fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    own.flat_map(|field| str::from_utf8(field.value).unwrap_or_default().split(',').map(str::trim))
}

/// The value of a field that a request may have once: `None` if it has several.
fn only(fields: &[Header], name: &str) -> Option<Option<String>> {
    let mut own = fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
    let first = own.next().map(|field| String::from_utf8_lossy(field.value).into_owned());
    own.next().is_none().then_some(first)
}

/// Text of a query, as forms encode it: `+` is a space, and `%2F` a byte.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| str::from_utf8(two).ok());
        let digits = digits.filter(|two| two.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let (byte, after) = match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => (byte, &after[2..]),
            None => (if *first == b'+' { b' ' } else { *first }, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why a request has no other answer: a status code of HTTP, and a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal(pub u16, pub String);

#[derive(Debug)]
pub(super) struct Answer {
    code: u16,
    fields: Vec<(&'static str, &'static str)>,
    content: Cow<'static, [u8]>,
}

impl Answer {
    pub fn new(kind: &'static str, content: impl Into<Cow<'static, [u8]>>) -> Self {
        Self { code: 200, fields: vec![("content-type", kind)], content: content.into() }
    }

    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.fields.push((name, value));
        self
    }
}

impl From<Refusal> for Answer {
    fn from(Refusal(code, why): Refusal) -> Self {
        let plain = Self { code, ..Self::new("text/plain; charset=utf-8", why.into_bytes()) };
        if code == 405 { plain.with("allow", "GET, HEAD") } else { plain }
    }
}

/// A connection to a client.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Arc<TcpStream>,
    /// What was read and belongs to the next request.
    unread: Vec<u8>,
}

impl Connection {
    pub fn new(stream: Arc<TcpStream>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(ANSWER))?;
        Ok(Self { stream, unread: Vec::new() })
    }

    /// The next request; `None` if the client has gone, or takes too long.
    pub fn request(&mut self) -> Option<Result<Request, Refusal>> {
        let end = now() + REQUEST;
        loop {
            let mut fields = [EMPTY_HEADER; FIELDS];
            let mut parsed = httparse::Request::new(&mut fields);
            match parsed.parse(&self.unread) {
                Ok(Status::Complete(length)) => {
                    let request = Request::new(&parsed);
                    self.unread.drain(..length);
                    return Some(request);
                }
                Ok(Status::Partial) if self.unread.len() < HEAD => {}
                Ok(Status::Partial) | Err(Malformed::TooManyHeaders) => {
                    return Some(Err(Refusal(431, "the head of the request is too long".to_owned())));
                }
                Err(error) => return Some(Err(Refusal(400, error.to_string()))),
            }
            let mut read = [0; 4096];
            match self.read(&mut read, end.saturating_duration_since(now())) {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.unread.extend(&read[..length]),
            }
        }
    }

    /// Reads for this long at most.
    fn read(&self, into: &mut [u8], limit: Duration) -> io::Result<usize> {
        if limit.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(limit))?;
        (&*self.stream).read(into)
    }

    /// Answers a request. Returns whether another one may follow.
    ///
    /// # Errors
    /// If the client has gone, or takes nothing.
    pub fn answer(&self, request: &Request, answer: &Answer) -> io::Result<bool> {
        let length = answer.content.len().to_string();
        let ends = (!request.goes_on).then_some(("connection", "close"));
        self.head(answer, [("content-length", &*length)].into_iter().chain(ends))?;
        if request.method != "HEAD" {
            self.write(&answer.content)?;
        }
        if !request.goes_on {
            self.close();
        }
        Ok(request.goes_on)
    }

    /// Answers what is no request.
    ///
    /// # Errors
    /// If the client has gone, or takes nothing.
    pub fn refuse(&self, refusal: Refusal) -> io::Result<()> {
        let answer = Answer::from(refusal);
        let length = answer.content.len().to_string();
        self.head(&answer, [("content-length", &*length), ("connection", "close")].into_iter())?;
        self.write(&answer.content)?;
        self.close();
        Ok(())
    }

    /// Begins an answer that [`write`](Self::write) goes on with, until the connection is closed. Returns whether it
    /// does: somebody may want the head only.
    ///
    /// # Errors
    /// If the client has gone, or takes nothing.
    pub fn begin(&self, request: &Request, answer: &Answer) -> io::Result<bool> {
        self.head(answer, [("connection", "close")].into_iter())?;
        Ok(request.method != "HEAD")
    }

    fn head<'a>(
        &self,
        answer: &Answer,
        more: impl Iterator<Item = (&'static str, &'a str)>,
    ) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", answer.code, reason(answer.code));
        for (name, value) in answer.fields.iter().copied().chain(COMMON).chain(more) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head += "\r\n";
        self.write(head.as_bytes())
    }

    /// Sends a part of an answer.
    ///
    /// # Errors
    /// If the client has gone, or takes nothing.
    pub fn write(&self, part: &[u8]) -> io::Result<()> {
        (&*self.stream).write_all(part)
    }

    /// Waits for this long, or until the client has gone. Whoever still speaks has gone too: nothing is expected of
    /// a client while it is answered.
    pub fn has_gone(&self, wait: Duration) -> bool {
        match self.read(&mut [0], wait) {
            Ok(_) => true,
            Err(error) => {
                !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
            }
        }
    }

    /// Closes it when the client has read the answer.
    fn close(&self) {
        let (duration, bytes) = REST;
        let end = now() + duration;
        let _ = self.stream.shutdown(Shutdown::Write);
        let (mut read, mut left) = ([0; 4096], bytes);
        while left > 0
            && let Ok(length @ 1..) = self.read(&mut read, end.saturating_duration_since(now()))
        {
            left = left.saturating_sub(length as u64);
        }
    }
}

fn reason(code: u16) -> &'static str {
    match code {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}

#[expect(clippy::disallowed_methods, reason = "a client must not keep the server waiting")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str) -> Result<Request, Refusal> {
        let mut fields = [EMPTY_HEADER; FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        assert!(parsed.parse(head.as_bytes()).is_ok_and(|status| status.is_complete()), "{head}");
        Request::new(&parsed)
    }

    #[test]
    fn a_target_is_split_and_its_query_decoded() {
        let own = request(
            "GET /w/api/page?run=set%2Ftwo&run=a+b%20c&x&run=%zz%4&run=%e2%82%ac HTTP/1.1\r\nHost: h\r\n\r\n",
        );
        let own = own.expect("a request");
        assert_eq!((&*own.method, &*own.path, own.host.as_deref()), ("GET", "/w/api/page", Some("h")));
        assert_eq!(own.values("run"), ["set/two", "a b c", "%zz%4", "€"]);
        assert_eq!((own.values("x"), own.values("y")), (vec![String::new()], vec![]));
    }

    #[test]
    fn a_whole_address_as_target_names_the_host() {
        for (target, path) in [("http://a:1/w/?x=1", "/w/"), ("http://a:1", "/"), ("http://a:1?x=1", "/")] {
            let own = request(&format!("GET {target} HTTP/1.1\r\nHost: b\r\n\r\n")).expect("a request");
            assert_eq!((own.host.as_deref(), &*own.path), (Some("a:1"), path), "{target}");
        }
    }

    #[test]
    fn two_hosts_are_malformed() {
        assert_eq!(request("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n").map_err(|e| e.0), Err(400));
        assert_eq!(request("GET / HTTP/1.1\r\n\r\n").map(|own| own.host), Ok(None));
    }

    #[test]
    fn a_connection_goes_on_unless_its_client_or_content_says_otherwise() {
        for (version, fields, goes_on) in [
            ("1.1", "", true),
            ("1.0", "", false),
            ("1.1", "Connection: keep-alive\r\n", true),
            ("1.1", "Connection: upgrade, Close\r\n", false),
            ("1.1", "Content-Length: 0\r\n", true),
            ("1.1", "Content-Length: 5\r\n", false),
            ("1.1", "Transfer-Encoding: chunked\r\n", false),
        ] {
            let own = request(&format!("POST / HTTP/{version}\r\n{fields}\r\n")).expect("a request");
            assert_eq!(own.goes_on, goes_on, "{version} {fields}");
        }
    }
}
