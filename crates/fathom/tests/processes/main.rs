//! What becomes of processes, rights and descriptors around the measured command.

mod parent;
mod world;
