//! Receives the notifications of a system call filter (`SECCOMP_RET_USER_NOTIF`): the kernel holds the caller
//! until it gets a response.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Returns the listener of a filter, if a process has sent one through this socket.
pub(crate) fn listener_from(socket: &OwnedFd) -> Option<OwnedFd> {
    let mut byte = 0u8;
    let mut part = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let mut room = [0u64; 8];
    // SAFETY: an all-zero header is valid, the buffers outlive the call, and only the part of the message
    // that the kernel filled in is read.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = room.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&room);
        let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
        if libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) < 1 {
            return None;
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return None;
        }
        let fd = libc::CMSG_DATA(header)
            .cast::<libc::c_int>()
            .read_unaligned();
        Some(OwnedFd::from_raw_fd(fd))
    }
}

/// Returns the next notification, and waits if there is none. `None` if it can't be received.
pub(crate) fn next_question(listener: &OwnedFd) -> Option<libc::seccomp_notif> {
    // A newer kernel may write a larger structure.
    let mut room = [0u64; 64];
    // SAFETY: the buffer is larger than the structure, aligned for it, and zeroed as the kernel requires.
    unsafe {
        let ask = libc::SECCOMP_IOCTL_NOTIF_RECV;
        let asked = libc::ioctl(listener.as_raw_fd(), ask, room.as_mut_ptr());
        (asked != -1).then(|| room.as_ptr().cast::<libc::seccomp_notif>().read())
    }
}

/// Lets the caller continue with its call, if it still exists.
pub(crate) fn let_go_on(listener: &OwnedFd, question: u64) {
    let mut answer = [0u64; 16];
    // SAFETY: the buffer is larger than the structure and aligned for it.
    unsafe {
        let reply = &mut *answer.as_mut_ptr().cast::<libc::seccomp_notif_resp>();
        reply.id = question;
        reply.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        let send = libc::SECCOMP_IOCTL_NOTIF_SEND;
        libc::ioctl(listener.as_raw_fd(), send, answer.as_mut_ptr());
    }
}
