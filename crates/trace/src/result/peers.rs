//! Which process of the tree is at the other end of a socket?

use std::net::SocketAddr;

use super::Trace;
use crate::descriptor::{DescriptorKind, SocketEnd};

impl Trace {
    /// The process that was first bound to this address, as [`SocketEnd::To`] has it: what a socket
    /// that leads there is answered by. `None` if it is none of the tree.
    pub fn answers_at(&self, address: &str) -> Option<u32> {
        let answers = |kind: &DescriptorKind| match kind {
            DescriptorKind::Socket(socket) => match &socket.end {
                SocketEnd::At(at) => is_reached(at, address),
                _ => false,
            },
            _ => false,
        };
        let bound = |row: &&super::DescriptorRow| row.names.iter().any(answers);
        // A child has what its parent has bound.
        let rows = self.descriptors.iter().filter(bound);
        let began = |pid: u32| self.processes.iter().position(|one| one.pid == pid);
        rows.map(|row| row.pid).min_by_key(|pid| began(*pid))
    }
}

/// Whether who is bound to `at` is reached by `address`: by its own, and where that is any, by those of
/// which it is certain that they are this machine's.
fn is_reached(at: &str, address: &str) -> bool {
    let parse = |text: &str| text.parse::<SocketAddr>();
    match (parse(at), parse(address)) {
        (Ok(at), Ok(address)) if at.ip().is_unspecified() => {
            at.port() == address.port() && address.ip().is_loopback()
        }
        _ => at == address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{DescriptorRow, Process};

    #[test]
    fn a_server_of_the_tree_is_found_by_what_is_connected_to() {
        let process = |pid| Process {
            pid,
            ..Process::default()
        };
        let row = |pid, name: &str| DescriptorRow {
            pid,
            fd: 3,
            names: vec!["/etc/hosts".into(), name.into()],
            more_names: 0,
        };
        let trace = Trace {
            processes: [9, 7, 5].map(process).into(),
            descriptors: vec![
                row(5, "socket to 10.0.0.1:80"),
                row(5, "socket at [::]:80"),
                row(7, "socket at [::]:80"),
                row(9, "socket at /run/db.sock"),
                row(9, "socket at 127.0.0.1:81"),
            ],
            ..Trace::default()
        };
        let at = |address| trace.answers_at(address);
        assert_eq!((at("127.0.0.1:80"), at("[::1]:80")), (Some(7), Some(7)));
        assert_eq!(at("10.0.0.1:80"), None, "another machine's, maybe");
        assert_eq!((at("127.0.0.1:81"), at("10.0.0.1:81")), (Some(9), None));
        assert_eq!((at("/run/db.sock"), at("/run/other")), (Some(9), None));
    }
}
