//! Finds the few struct members that the programs read in this kernel.

use super::btf::{Btf, BtfError, Kind, Member};

/// Offsets and type numbers of the running kernel, in bytes unless stated otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    pub task_pid: i16,
    pub task_tgid: i16,
    pub task_mm: i16,
    pub task_comm: i16,
    pub task_exit_code: i16,
    pub task_minor_faults: i16,
    pub task_major_faults: i16,
    pub task_voluntary: i16,
    pub task_involuntary: i16,
    pub task_in_iowait: Member,
    /// Time on a CPU by the scheduler's own count, ns.
    pub task_runtime: i16,
    /// Time in the run queue by the scheduler's own count, ns; not every kernel has it.
    pub task_queued: Option<i16>,
    pub task_cred: i16,
    /// Real and effective user and group.
    pub cred_uid: i16,
    pub cred_euid: i16,
    pub cred_gid: i16,
    pub cred_egid: i16,
    /// Its lowest two bits tell whether the process is dumpable, and can therefore be traced by its user.
    pub mm_flags: i16,
    pub mm_arg_start: i16,
    pub mm_arg_end: i16,
    /// Start of the first thread's stack.
    pub mm_start_stack: i16,
    /// The auxiliary vector that the kernel passes to a program on its stack: pairs of a type and a value, 8
    /// bytes each.
    pub mm_auxiliary: i16,
    pub binprm_filename: i16,
    /// The call's first four arguments in the saved registers.
    pub regs_arguments: [i16; 4],
    /// The 32-bit entry; only on x86.
    pub entry_32: Option<Entry32>,
    /// The instruction pointer in the saved registers.
    pub regs_ip: i16,
    pub sys_enter: u32,
    pub sys_exit: u32,
    pub sched_switch: u32,
    pub sched_waking: u32,
    pub sched_wakeup: u32,
    pub sched_process_fork: u32,
    pub sched_process_exec: u32,
    pub sched_process_exit: u32,
    /// The tracepoint of page faults in user code; only on some processors.
    pub page_fault_user: Option<u32>,
}

/// How to recognise a call through the 32-bit entry, and where its arguments are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry32 {
    /// The saved code segment.
    pub regs_cs: i16,
    /// The saved register in which the native entry instruction stores the return address.
    pub regs_cx: i16,
    /// The kernel's status flags of the thread, which are correct even for `int 0x80` in a 64-bit program.
    pub task_status: i16,
    /// The call's first four arguments in the saved registers; only the lower half counts.
    pub regs_arguments: [i16; 4],
}

/// The running kernel's type information; readable by every user.
pub(crate) const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

impl Offsets {
    /// Looks everything up in the kernel's type information.
    ///
    /// # Errors
    /// [`BtfError`]: malformed, or a kernel that lacks something the programs need. Kernels before 5.18
    /// pass no task state to `sched_switch` and are refused.
    pub(crate) fn of(btf: &Btf<'_>) -> Result<Self, BtfError> {
        let task = btf.find(Kind::Struct, "task_struct")?;
        let mm = btf.find(Kind::Struct, "mm_struct")?;
        let entity = btf.find(Kind::Struct, "sched_entity")?;
        let runtime = btf.member(entity, "sum_exec_runtime")?.byte_offset();
        let binprm = btf.find(Kind::Struct, "linux_binprm")?;
        let of_task = |name| btf.member(task, name).map(Member::byte_offset);
        let cred = btf.find(Kind::Struct, "cred")?;
        let of_cred = |name| btf.member(cred, name).map(Member::byte_offset);
        let tracepoint = |name: &str| btf.find(Kind::Typedef, &format!("btf_trace_{name}"));
        let sched_switch = tracepoint("sched_switch")?;
        if btf.tracepoint_arguments(sched_switch)? < 4 {
            let what = "sched_switch with the task's state (Linux 5.18 or later)";
            return Err(BtfError::NoType(what.to_owned()));
        }
        let (regs_arguments, entry_32, regs_ip) = registers(btf)?;
        Ok(Self {
            task_pid: of_task("pid")?,
            task_tgid: of_task("tgid")?,
            task_mm: of_task("mm")?,
            task_comm: of_task("comm")?,
            task_exit_code: of_task("exit_code")?,
            task_minor_faults: of_task("min_flt")?,
            task_major_faults: of_task("maj_flt")?,
            task_voluntary: of_task("nvcsw")?,
            task_involuntary: of_task("nivcsw")?,
            task_in_iowait: btf.member(task, "in_iowait")?,
            task_runtime: of_task("se")? + runtime,
            task_queued: queued(btf, task).ok(),
            task_cred: of_task("cred")?,
            cred_uid: of_cred("uid")?,
            cred_euid: of_cred("euid")?,
            cred_gid: of_cred("gid")?,
            cred_egid: of_cred("egid")?,
            mm_flags: btf.member(mm, "flags")?.byte_offset(),
            mm_arg_start: btf.member(mm, "arg_start")?.byte_offset(),
            mm_arg_end: btf.member(mm, "arg_end")?.byte_offset(),
            mm_start_stack: btf.member(mm, "start_stack")?.byte_offset(),
            mm_auxiliary: btf.member(mm, "saved_auxv")?.byte_offset(),
            binprm_filename: btf.member(binprm, "filename")?.byte_offset(),
            regs_arguments,
            entry_32,
            regs_ip,
            sys_enter: tracepoint("sys_enter")?,
            sys_exit: tracepoint("sys_exit")?,
            sched_switch,
            sched_waking: tracepoint("sched_waking")?,
            sched_wakeup: tracepoint("sched_wakeup")?,
            sched_process_fork: tracepoint("sched_process_fork")?,
            sched_process_exec: tracepoint("sched_process_exec")?,
            sched_process_exit: tracepoint("sched_process_exit")?,
            page_fault_user: tracepoint("page_fault_user").ok(),
        })
    }
}

fn queued(btf: &Btf<'_>, task: u32) -> Result<i16, BtfError> {
    let info = btf.find(Kind::Struct, "sched_info")?;
    let at = btf.member(task, "sched_info")?.byte_offset();
    Ok(at + btf.member(info, "run_delay")?.byte_offset())
}

/// The arguments, the 32-bit entry and the instruction pointer.
type Registers = ([i16; 4], Option<Entry32>, i16);

#[cfg(target_arch = "x86_64")]
fn registers(btf: &Btf<'_>) -> Result<Registers, BtfError> {
    let regs = btf.find(Kind::Struct, "pt_regs")?;
    let at = |name| btf.member(regs, name).map(Member::byte_offset);
    let arguments = [at("di")?, at("si")?, at("dx")?, at("r10")?];
    let task = btf.find(Kind::Struct, "task_struct")?;
    let info = btf.find(Kind::Struct, "thread_info")?;
    let of_info = btf.member(info, "status")?.byte_offset();
    let entry_32 = Entry32 {
        regs_cs: at("cs")?,
        regs_cx: at("cx")?,
        task_status: btf.member(task, "thread_info")?.byte_offset() + of_info,
        regs_arguments: [at("bx")?, at("cx")?, at("dx")?, at("si")?],
    };
    Ok((arguments, Some(entry_32), at("ip")?))
}

#[cfg(target_arch = "aarch64")]
fn registers(btf: &Btf<'_>) -> Result<Registers, BtfError> {
    let regs = btf.find(Kind::Struct, "pt_regs")?;
    let at = |name| btf.member(regs, name).map(Member::byte_offset);
    let first = at("regs")?;
    // The first argument's register holds the result when the call returns, so the kernel keeps a copy.
    let arguments = [at("orig_x0")?, first + 8, first + 16, first + 24];
    Ok((arguments, None, at("pc")?))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn registers(_: &Btf<'_>) -> Result<Registers, BtfError> {
    Err(BtfError::NoType(
        "saved registers of this processor".to_owned(),
    ))
}
