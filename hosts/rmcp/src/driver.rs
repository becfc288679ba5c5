//! The driver's side of leakbench's driver protocol (docs/use/driver-protocol.md).

use std::collections::HashMap;
use std::future::Future;
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const OPS: [&str; 9] = ["open", "call", "cancel", "close", "forget", "reload", "tick", "list", "stop"];

/// The time limit of an operation, what tells that the bench has cancelled it, and the arguments of a tool.
pub type Limit = Option<Duration>;
pub type Cancelled = CancellationToken;
pub type Args = Map<String, Value>;

/// How to launch a server.
#[derive(Clone)]
pub struct Server {
    pub command: String,
    pub args: Vec<String>,
}

/// A host: what connects a client to a server, until it has, the limit is over or the bench cancels it.
pub trait Host: Send + Sync + 'static {
    type Client: Client;
    fn connect(
        &self,
        server: &Server,
        limit: Option<Duration>,
        cancelled: CancellationToken,
    ) -> impl Future<Output = Result<Self::Client, String>> + Send;
}

/// A connected client. Its calls go through a peer, which does not keep it alive.
pub trait Client: Send + Sync + Sized + 'static {
    type Peer: Send;
    fn peer(&self) -> Self::Peer;
    fn call(peer: Self::Peer, tool: String, args: Map<String, Value>) -> impl Future<Output = Result<String, String>> + Send;
    /// Whether it has a list of its own.
    const LISTS: bool = false;
    /// Asks the server for its tools, resources or prompts, and returns their names.
    fn list(_peer: Self::Peer, what: String) -> impl Future<Output = Result<Vec<String>, String>> + Send {
        async move { Err(format!("this client does not list {what}")) }
    }
    fn close(self) -> impl Future<Output = Result<(), String>> + Send;
}

/// Waits at most so long.
pub async fn within<T>(limit: Option<Duration>, f: impl Future<Output = T>) -> Result<T, String> {
    match limit {
        None => Ok(f.await),
        Some(d) => tokio::time::timeout(d, f).await.map_err(|_| format!("not done within the time limit of {d:?}")),
    }
}

struct Driver<H: Host> {
    host: H,
    sessions: Mutex<HashMap<String, H::Client>>,
    running: Mutex<HashMap<i64, CancellationToken>>,
    jobs: Mutex<HashMap<String, CancellationToken>>,
}

/// Runs a driver until it is told to stop. There is no handler for SIGTERM, as no README has one: the program dies of it.
pub async fn run<H: Host>(name: &str, version: &str, host: H) {
    let ops: Vec<_> = OPS.into_iter().filter(|op| H::Client::LISTS || *op != "list").collect();
    write(&json!({"hello": {"protocol": 1, "host": name, "version": version, "ops": ops, "kind": "library"}}));
    let driver = Arc::new(Driver { host, sessions: Default::default(), running: Default::default(), jobs: Default::default() });
    let (stop, mut stopped) = mpsc::channel(1);
    let mut lines = read();
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(request) => driver.clone().begin(request, stop.clone()),
                None => std::process::exit(1), // the bench is gone
            },
            _ = stopped.recv() => return,
        }
    }
}

/// Reads requests in a thread of its own: it does not keep the program from ending.
fn read() -> mpsc::Receiver<Value> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok).filter(|l| !l.trim().is_empty()) {
            match serde_json::from_str(&line) {
                Ok(request) => drop(sender.blocking_send(request)),
                Err(e) => write(&json!({"error": format!("no request: {e}")})),
            }
        }
    });
    receiver
}

fn write(line: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn text(v: &Value, field: &str) -> String {
    v[field].as_str().unwrap_or_default().to_owned()
}

fn server(v: &Value) -> Server {
    let args = v["server"]["args"].as_array().into_iter().flatten().filter_map(|a| a.as_str().map(str::to_owned));
    Server { command: text(&v["server"], "command"), args: args.collect() }
}

fn limit(v: &Value) -> Option<Duration> {
    v["timeout_ms"].as_u64().filter(|ms| *ms > 0).map(Duration::from_millis)
}

fn arguments(v: &Value) -> Map<String, Value> {
    v["args"].as_object().cloned().unwrap_or_default()
}

impl<H: Host> Driver<H> {
    fn begin(self: Arc<Self>, request: Value, stop: mpsc::Sender<()>) {
        let id = request["id"].as_i64().unwrap_or_default();
        let token = CancellationToken::new();
        self.running.lock().unwrap().insert(id, token.clone());
        tokio::spawn(async move {
            let mut answer = match self.clone().perform(&request, token).await {
                Ok(more) => json!({"ok": true}).as_object().cloned().into_iter().flatten().chain(more).collect(),
                Err(e) => Map::from_iter([("error".to_owned(), Value::from(e))]),
            };
            self.running.lock().unwrap().remove(&id);
            answer.insert("id".to_owned(), Value::from(id));
            write(&Value::Object(answer));
            if request["op"] == "stop" {
                let _ = stop.send(()).await;
            }
        });
    }

    async fn perform(self: Arc<Self>, r: &Value, token: CancellationToken) -> Result<Map<String, Value>, String> {
        let session = text(r, "session");
        let nothing = Map::new();
        match r["op"].as_str().unwrap_or_default() {
            "open" => self.open(session, server(r), limit(r), token).await.map(|()| nothing),
            "call" => {
                let peer = self.sessions.lock().unwrap().get(&session).map(Client::peer).ok_or(format!("no session {session:?}"))?;
                let result = call::<H>(peer, r, token).await?;
                Ok(Map::from_iter([("result".to_owned(), Value::from(result))]))
            }
            "list" => {
                let peer = self.sessions.lock().unwrap().get(&session).map(Client::peer).ok_or(format!("no session {session:?}"))?;
                let names = tokio::select! {
                    names = within(limit(r), H::Client::list(peer, text(r, "what"))) => names.flatten()?,
                    _ = token.cancelled() => return Err("cancelled".to_owned()),
                };
                Ok(Map::from_iter([("result".to_owned(), Value::from(names))]))
            }
            "cancel" => self.cancel(r).map(|()| nothing),
            "close" => self.take(&session)?.close().await.map(|()| nothing),
            "forget" => self.take(&session).map(drop).map(|()| nothing),
            "reload" => self.reload(r, token).await.map(|()| nothing),
            "tick" => Ok(Map::from_iter([("jobs".to_owned(), self.tick(r).await)])),
            "stop" => self.stop().await.map(|()| nothing),
            op => Err(format!("unknown op {op:?}")),
        }
    }

    fn take(&self, session: &str) -> Result<H::Client, String> {
        self.sessions.lock().unwrap().remove(session).ok_or(format!("no session {session:?}"))
    }

    async fn quietly(old: Option<H::Client>) {
        if let Some(client) = old
            && let Err(e) = client.close().await
        {
            eprintln!("closing a session: {e}");
        }
    }

    /// A reconnect closes the old connection first. Of two at the same time the later one wins.
    async fn open(&self, session: String, server: Server, limit: Option<Duration>, token: CancellationToken) -> Result<(), String> {
        Self::quietly(self.take(&session).ok()).await;
        let client = self.host.connect(&server, limit, token).await?;
        let other = self.sessions.lock().unwrap().insert(session, client);
        Self::quietly(other).await;
        Ok(())
    }

    fn cancel(&self, r: &Value) -> Result<(), String> {
        let found = match r["session"].as_str() {
            Some(session) => self.jobs.lock().unwrap().get(session).cloned(),
            None => self.running.lock().unwrap().get(&r["target"].as_i64().unwrap_or_default()).cloned(),
        };
        found.ok_or(format!("nothing to cancel: {r}")).map(|token| token.cancel())
    }

    /// One session after the other: the SDK has no reload of its own.
    async fn reload(&self, r: &Value, token: CancellationToken) -> Result<(), String> {
        let mut failed = Vec::new();
        for s in r["sessions"].as_array().into_iter().flatten() {
            let session = text(s, "session");
            if let Err(e) = self.open(session.clone(), server(s), limit(r), token.clone()).await {
                failed.push(format!("session {session}: {e}"));
            }
        }
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
    }

    async fn tick(self: Arc<Self>, r: &Value) -> Value {
        let mut tasks = Vec::new();
        for job in r["jobs"].as_array().cloned().unwrap_or_default() {
            let token = CancellationToken::new();
            self.jobs.lock().unwrap().insert(text(&job, "session"), token.clone());
            let (driver, job_) = (self.clone(), job.clone());
            tasks.push((text(&job, "session"), tokio::spawn(async move { driver.job(&job_, token).await })));
        }
        let mut results = Vec::new();
        for (session, task) in tasks {
            let result = task.await.map_err(|e| e.to_string()).flatten();
            self.jobs.lock().unwrap().remove(&session);
            results.push(match result {
                Ok(()) => json!({"session": session, "ok": true}),
                Err(e) => json!({"session": session, "error": e}),
            });
        }
        Value::Array(results)
    }

    async fn job(&self, job: &Value, token: CancellationToken) -> Result<(), String> {
        let client = self.host.connect(&server(job), None, token.clone()).await?;
        let called = call::<H>(client.peer(), job, token).await;
        client.close().await?;
        called.map(drop)
    }

    async fn stop(&self) -> Result<(), String> {
        let all: Vec<_> = self.sessions.lock().unwrap().drain().collect();
        let closing: Vec<_> = all.into_iter().map(|(_, client)| tokio::spawn(client.close())).collect();
        for task in closing {
            task.await.map_err(|e| e.to_string()).flatten()?;
        }
        Ok(())
    }
}

async fn call<H: Host>(peer: <H::Client as Client>::Peer, r: &Value, token: CancellationToken) -> Result<String, String> {
    tokio::select! {
        result = within(limit(r), H::Client::call(peer, text(r, "tool"), arguments(r))) => result.flatten(),
        _ = token.cancelled() => Err("cancelled".to_owned()),
    }
}
