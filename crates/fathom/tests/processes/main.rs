//! Processes, privileges and descriptors around the measured command.

mod fifos;
mod hooks;
mod limits;
mod parent;
mod rights;
mod world;
