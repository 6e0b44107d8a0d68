//! The lab on loopback: the page, and a workbench per connection behind a WebSocket.
//!
//! Nothing outside this machine can reach it: it listens on 127.0.0.1, and it answers only requests that
//! name it as 127.0.0.1 or localhost and do not come from another page (`Host` and `Origin`), so that no web
//! site can use a visitor's browser to talk to it.

use crate::assets;
use crate::message::Message;
use crate::workbench::{Limits, Workbench};
use axum::Router;
use axum::extract::ws::{self, WebSocket, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// Largest message from a page: a scene with its mesh. [bytes]
const LARGEST_MESSAGE: usize = 16 << 20;
/// Messages per second beyond which a page is cut off.
const MOST_MESSAGES: u32 = 2000;
/// Messages that may wait for a slow page before the workbench waits too.
const WAITING: usize = 64;

/// A lab that is ready to serve.
pub struct Lab {
    listener: TcpListener,
    address: SocketAddr,
}

impl Lab {
    /// Listens on 127.0.0.1 at `port`, or at a free one if it is 0.
    pub async fn bind(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until `stop` is done.
    pub async fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let port = self.address.port();
        let router = Router::new()
            .route("/socket", get(socket))
            .fallback(get(file))
            .layer(middleware::from_fn_with_state(port, only_from_here));
        axum::serve(self.listener, router).with_graceful_shutdown(stop).await
    }
}

/// Serves the lab and opens the page: what `muslin lab` does. Blocks until interrupted.
pub fn run(
    port: u16,
    hash: &str,
    open_page: bool,
    stop: mpsc::Receiver<()>,
) -> std::io::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let lab = Lab::bind(port).await?;
        let url = format!("{}{hash}", lab.url());
        println!("the lab is at {url}\nCtrl-C ends it");
        if open_page && let Err(problem) = open::that_detached(&url) {
            println!("no browser could be opened ({problem}); open the address above yourself");
        }
        let stopped = tokio::task::spawn_blocking(move || {
            let _ = stop.recv();
        });
        tokio::select! {
            served = lab.serve(std::future::pending()) => served,
            _ = stopped => Ok(()),
        }
    })?;
    // Workbenches of open pages need not be waited for.
    runtime.shutdown_timeout(Duration::from_millis(200));
    Ok(())
}

/// Refuses requests that name another host or come from another page.
async fn only_from_here(State(port): State<u16>, request: Request, next: Next) -> Response {
    if !is_from_here(request.headers(), port) {
        return (StatusCode::FORBIDDEN, "only from this machine's own page").into_response();
    }
    next.run(request).await
}

fn is_from_here(headers: &HeaderMap, port: u16) -> bool {
    let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let value = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = value(header::HOST).is_some_and(|host| names.iter().any(|name| host == name));
    let origin = match headers.get(header::ORIGIN) {
        None => true,
        Some(_) => value(header::ORIGIN)
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_some_and(|origin| names.iter().any(|name| origin == name)),
    };
    host && origin
}

async fn file(uri: Uri) -> Response {
    match assets::find(uri.path()) {
        Some((bytes, kind)) => {
            let headers = [
                (header::CONTENT_TYPE, kind),
                (header::CACHE_CONTROL, "no-cache"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (headers, bytes).into_response()
        }
        None => (StatusCode::NOT_FOUND, "no such file").into_response(),
    }
}

async fn socket(upgrade: WebSocketUpgrade) -> Response {
    upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE).on_upgrade(converse)
}

/// Carries messages between a page and a workbench on a thread of its own.
async fn converse(mut socket: WebSocket) {
    let (to_bench, from_page) = mpsc::channel::<String>();
    let (to_page, mut from_bench) = tokio::sync::mpsc::channel::<Message>(WAITING);
    std::thread::spawn(move || work(&from_page, &to_page));
    let mut second = (Instant::now(), 0);
    loop {
        tokio::select! {
            message = from_bench.recv() => {
                let message = match message {
                    Some(Message::Text(text)) => ws::Message::text(text),
                    Some(Message::Binary(bytes)) => ws::Message::binary(bytes),
                    None => break,
                };
                if socket.send(message).await.is_err() {
                    break;
                }
            }
            message = socket.recv() => {
                let Some(Ok(message)) = message else { break };
                if second.0.elapsed() > Duration::from_secs(1) {
                    second = (Instant::now(), 0);
                }
                second.1 += 1;
                if second.1 > MOST_MESSAGES {
                    break;
                }
                if let ws::Message::Text(text) = message
                    && to_bench.send(text.to_string()).is_err()
                {
                    break;
                }
            }
        }
    }
}

/// Time since the first call.
fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// The workbench's own loop: commands as they come, frames as they are due. Ends with the connection.
fn work(from_page: &mpsc::Receiver<String>, to_page: &tokio::sync::mpsc::Sender<Message>) {
    let mut bench = Workbench::new(Limits::default(), clock);
    let send = |messages: Vec<Message>| {
        messages.into_iter().all(|message| to_page.blocking_send(message).is_ok())
    };
    if !send(vec![Workbench::catalogue()]) {
        return;
    }
    loop {
        let command = match bench.idle() {
            None => from_page.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            Some(idle) => from_page.recv_timeout(idle),
        };
        let goes_on = match command {
            Ok(command) => send(bench.receive(&command)),
            Err(mpsc::RecvTimeoutError::Timeout) => true,
            Err(mpsc::RecvTimeoutError::Disconnected) => false,
        };
        // Whatever else has come meanwhile first: a drag is many commands.
        let goes_on = goes_on && from_page.try_iter().all(|command| send(bench.receive(&command)));
        if !goes_on || !send(bench.advance()) {
            return;
        }
    }
}
