//! A file server for the built page, on a free loopback port.

use anyhow::{Context, Result, ensure};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Component, Path, PathBuf};
use std::thread;

pub struct Site {
    address: String,
}

impl Site {
    /// Serves `root` from a thread of its own until the process ends.
    pub fn serve(root: &Path) -> Result<Self> {
        ensure!(
            root.join("index.html").is_file(),
            "there is no page in {}: build one with `trunk build`",
            root.display()
        );
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("binding a port")?;
        listener.set_nonblocking(true)?;
        let address = format!("http://{}/", listener.local_addr()?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let root = root.to_path_buf();
        // A thread, because the harness's own runtime only turns while a flow waits for something.
        thread::spawn(move || runtime.block_on(accept(listener, root)));
        Ok(Self { address })
    }

    pub fn address(&self) -> &str {
        &self.address
    }
}

async fn accept(listener: TcpListener, root: PathBuf) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let root = root.clone();
        let service = service_fn(move |request: Request<_>| {
            let answer = answer(&root, request.uri().path());
            async move { Ok::<_, Infallible>(answer) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn answer(root: &Path, path: &str) -> Response<Full<Bytes>> {
    let relative = Path::new(path.trim_start_matches('/'));
    // Nothing outside of the root: only plain names may follow.
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let mut file = root.join(relative);
    if file.is_dir() {
        file.push("index.html");
    }
    let content = if plain { std::fs::read(&file).ok() } else { None };
    let status = if content.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let mut response = Response::new(Full::new(Bytes::from(content.unwrap_or_default())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type(&file).parse().expect("a constant"));
    headers.insert(CACHE_CONTROL, "no-store".parse().expect("a constant"));
    response
}

fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|end| end.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn only_files_below_the_root_are_served() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("dist");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("index.html"), "page").unwrap();
        std::fs::write(folder.path().join("secret"), "no").unwrap();
        assert_eq!(answer(&root, "/").status(), 200);
        assert_eq!(answer(&root, "/index.html").status(), 200);
        assert_eq!(answer(&root, "/absent.js").status(), 404);
        assert_eq!(answer(&root, "/../secret").status(), 404);
    }
}
