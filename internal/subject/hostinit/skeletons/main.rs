//! Puts a client on the bench of leakbench. What is in connect, call and close is yours; here it is the official Rust SDK (rmcp).
mod driver;

use driver::{Args, Cancelled, Limit, Server};
use rmcp::{RoleClient, ServiceExt, model::CallToolRequestParams, service::RunningService, transport::*};

struct Mine;
struct Client(RunningService<RoleClient, ()>);

impl driver::Host for Mine {
    type Client = Client;
    /// Launches the server, shakes hands, and asks for the tools, as hosts do. If that fails, end what was begun before you return.
    /// Two of one session may run at once: the library keeps the client that is connected last, and closes the other.
    async fn connect(&self, server: &Server, limit: Limit, _: Cancelled) -> Result<Client, String> {
        let command = tokio::process::Command::new(&server.command).configure(|c| drop(c.args(&server.args)));
        let process = TokioChildProcess::new(command).map_err(|e| e.to_string())?;
        let client = driver::within(limit, ().serve(process)).await?.map_err(|e| e.to_string())?;
        if let Err(e) = driver::within(limit, client.list_all_tools()).await.and_then(|listed| listed.map_err(|e| e.to_string())) {
            let _ = client.cancel().await;
            return Err(e);
        }
        Ok(Client(client))
    }
}

impl driver::Client for Client {
    type Peer = rmcp::Peer<RoleClient>;
    fn peer(&self) -> Self::Peer { self.0.peer().clone() }
    async fn call(peer: Self::Peer, tool: String, args: Args) -> Result<String, String> {
        let result = peer.call_tool(CallToolRequestParams::new(tool).with_arguments(args)).await.map_err(|e| e.to_string())?;
        Ok(result.content.iter().filter_map(|c| Some(c.as_text()?.text.clone())).collect())
    }
    async fn close(self) -> Result<(), String> { self.0.cancel().await.map(drop).map_err(|e| e.to_string()) }
}

#[tokio::main]
async fn main() { driver::run("my-client", "0.0.0", Mine).await }
