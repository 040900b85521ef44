//! Where in this kernel's structs are the few members that the programs read?

use super::btf::{Btf, BtfError, Kind, Member};

/// Offsets and type numbers of the running kernel, bytes unless said otherwise.
#[derive(Clone, Debug)]
pub struct Offsets {
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
    /// Time in the run queue by the scheduler's own count, ns; not every kernel keeps it.
    pub task_queued: Option<i16>,
    pub mm_arg_start: i16,
    pub mm_arg_end: i16,
    /// What the kernel hands to a program on its stack: pairs of a type and a value, 8 bytes each.
    pub mm_auxiliary: i16,
    pub binprm_filename: i16,
    /// The call's first four arguments in the saved registers.
    pub regs_arguments: [i16; 4],
    /// The saved code segment, which tells 32-bit callers; only on x86.
    pub regs_cs: Option<i16>,
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
    /// Only some processors have it.
    pub page_fault_user: Option<u32>,
}

/// Where the running kernel describes itself; readable by every user.
pub const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

impl Offsets {
    /// Looks everything up in the kernel's type information.
    ///
    /// # Errors
    /// [`BtfError`]: malformed, or a kernel that lacks what the programs need. Kernels before 5.18
    /// pass no task state to `sched_switch` and are refused.
    pub fn of(btf: &Btf<'_>) -> Result<Self, BtfError> {
        let task = btf.find(Kind::Struct, "task_struct")?;
        let mm = btf.find(Kind::Struct, "mm_struct")?;
        let entity = btf.find(Kind::Struct, "sched_entity")?;
        let runtime = btf.member(entity, "sum_exec_runtime")?.byte_offset();
        let binprm = btf.find(Kind::Struct, "linux_binprm")?;
        let of_task = |name| btf.member(task, name).map(Member::byte_offset);
        let tracepoint = |name: &str| btf.find(Kind::Typedef, &format!("btf_trace_{name}"));
        let sched_switch = tracepoint("sched_switch")?;
        if btf.tracepoint_arguments(sched_switch)? < 4 {
            let what = "sched_switch with the task's state (Linux 5.18 or later)";
            return Err(BtfError::NoType(what.to_owned()));
        }
        let (regs_arguments, regs_cs, regs_ip) = registers(btf)?;
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
            mm_arg_start: btf.member(mm, "arg_start")?.byte_offset(),
            mm_arg_end: btf.member(mm, "arg_end")?.byte_offset(),
            mm_auxiliary: btf.member(mm, "saved_auxv")?.byte_offset(),
            binprm_filename: btf.member(binprm, "filename")?.byte_offset(),
            regs_arguments,
            regs_cs,
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

/// Arguments, code segment, instruction pointer.
type Registers = ([i16; 4], Option<i16>, i16);

#[cfg(target_arch = "x86_64")]
fn registers(btf: &Btf<'_>) -> Result<Registers, BtfError> {
    let regs = btf.find(Kind::Struct, "pt_regs")?;
    let at = |name| btf.member(regs, name).map(Member::byte_offset);
    let arguments = [at("di")?, at("si")?, at("dx")?, at("r10")?];
    Ok((arguments, Some(at("cs")?), at("ip")?))
}

#[cfg(target_arch = "aarch64")]
fn registers(btf: &Btf<'_>) -> Result<Registers, BtfError> {
    let regs = btf.find(Kind::Struct, "pt_regs")?;
    let at = |name| btf.member(regs, name).map(Member::byte_offset);
    let first = at("regs")?;
    // The first argument's register holds the result when the call returns; the kernel keeps a copy.
    let arguments = [at("orig_x0")?, first + 8, first + 16, first + 24];
    Ok((arguments, None, at("pc")?))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn registers(_: &Btf<'_>) -> Result<Registers, BtfError> {
    Err(BtfError::NoType(
        "saved registers of this processor".to_owned(),
    ))
}
