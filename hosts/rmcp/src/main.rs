//! Puts the official Rust SDK (crates.io: rmcp) on the bench, used as its README says: `().serve(TokioChildProcess)`,
//! `call_tool`, `cancel`. A connect is given up through its cancellation token, a call by dropping its future. What the
//! README leaves open is said where it is decided.

mod driver;

use std::time::Duration;

use driver::{Client, Host, Server};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::{ConfigureCommandExt, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

struct Rmcp;

struct Connection(RunningService<RoleClient, ()>);

impl Host for Rmcp {
    type Client = Connection;

    async fn connect(&self, server: &Server, limit: Option<Duration>, cancelled: CancellationToken) -> Result<Connection, String> {
        let command = Command::new(&server.command).configure(|c| {
            c.args(&server.args);
        });
        let transport = TokioChildProcess::new(command).map_err(|e| format!("{}: {e}", server.command))?;
        // The token is the connection's from now on: a cancel of the bench reaches it only while it is being opened.
        let token = CancellationToken::new();
        let connecting = ().serve_with_ct(transport, token.clone());
        tokio::pin!(connecting);
        let opened = tokio::select! {
            opened = driver::within(limit, &mut connecting) => opened?,
            _ = cancelled.cancelled() => {
                token.cancel();
                connecting.await
            }
        };
        opened.map(Connection).map_err(|e| format!("failed to initialize: {e}"))
    }
}

impl Client for Connection {
    type Peer = rmcp::Peer<RoleClient>;

    fn peer(&self) -> Self::Peer {
        self.0.peer().clone()
    }

    async fn call(peer: Self::Peer, tool: String, args: Map<String, Value>) -> Result<String, String> {
        let result = peer.call_tool(CallToolRequestParams::new(tool).with_arguments(args)).await.map_err(|e| e.to_string())?;
        let text: Vec<&str> = result.content.iter().filter_map(|c| c.as_text()).map(|t| t.text.as_str()).collect();
        let text = text.join("\n");
        if result.is_error == Some(true) {
            return Err(format!("the tool failed: {text:.1000}"));
        }
        Ok(text)
    }

    const LISTS: bool = true;

    async fn list(peer: Self::Peer, what: String) -> Result<Vec<String>, String> {
        Ok(match what.as_str() {
            "tools" => peer.list_all_tools().await.map_err(|e| e.to_string())?.into_iter().map(|t| t.name.to_string()).collect(),
            "resources" => peer.list_all_resources().await.map_err(|e| e.to_string())?.into_iter().map(|r| r.name.clone()).collect(),
            _ => peer.list_all_prompts().await.map_err(|e| e.to_string())?.into_iter().map(|p| p.name.clone()).collect(),
        })
    }

    async fn close(self) -> Result<(), String> {
        self.0.cancel().await.map(|_| ()).map_err(|e| e.to_string())
    }
}

#[tokio::main]
async fn main() {
    driver::run("rmcp", env!("RMCP_VERSION"), Rmcp).await;
}
