//! `fathom mcp`, as seen by a client that speaks JSON-RPC over its pipes.
#![cfg(target_os = "linux")]

mod answered;
mod client;
mod ended;
mod refused;
