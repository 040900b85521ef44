#!/usr/bin/env bash
# A Slurm cluster on this machine, for trials and tests: `slurm-here.sh up [NODES] [FOLDER]` starts it and
# prints the line that a shell needs to use it; `slurm-here.sh down [FOLDER]` stops it and removes its folder.
#
# It needs root, and Debian's packages slurm-wlm and munge, but neither control groups nor systemd. All files
# are below FOLDER (default: /tmp/fathom-slurm). The controller, NODES nodes (default: 2), each with all CPUs
# of the machine, and a munge daemon with its own key listen on loopback. The controller's port is SLURM_PORT
# (default: 16817); the ports of the nodes follow it.
set -euo pipefail

usage() { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }

verb=${1:-}
case $verb in
up) nodes=${2:-2} folder=${3:-/tmp/fathom-slurm} ;;
down) nodes=0 folder=${2:-/tmp/fathom-slurm} ;;
*) usage ;;
esac
[[ $nodes =~ ^[0-9]+$ && $folder == /* ]] || usage
[ "$(id -u)" = 0 ] || { echo "slurm-here.sh: needs root: slurmd starts jobs as other users" >&2; exit 1; }
port=${SLURM_PORT:-16817}

# Ends the processes whose pid is in a file of the folder, but only if the folder is among their arguments:
# another process may have the pid now. Munge ends last, because the others use it until they end.
finish() {
    local file pid i
    for file in "$folder"/run/slurm*.pid "$folder/run/munged.pid"; do
        [ -e "$file" ] || continue
        pid=$(cat "$file")
        grep -qsF -- "$folder" "/proc/$pid/cmdline" || continue
        kill "$pid"
        # Not `kill -0`, which succeeds for a zombie.
        for i in $(seq 100); do grep -qsF -- "$folder" "/proc/$pid/cmdline" || continue 2; sleep 0.1; done
        kill -9 "$pid" 2>/dev/null || true
    done
    # Steps outlive their slurmd. Each has its job's socket open below the folder of its node.
    for pid in $(pgrep -x slurmstepd); do
        if ls -l "/proc/$pid/fd" 2>/dev/null | grep -qF -- "$folder/"; then kill -9 "$pid" 2>/dev/null || true; fi
    done
}

if [ "$verb" = down ]; then
    if [ ! -e "$folder/slurm.conf" ]; then
        [ ! -e "$folder" ] || { echo "slurm-here.sh: $folder is not a cluster that this script started" >&2; exit 1; }
        exit 0
    fi
    # Kill the jobs first: their processes would continue without a controller.
    SLURM_CONF=$folder/slurm.conf timeout 10 scancel --full --signal=KILL --user=root 2>/dev/null || true
    finish
    rm -rf -- "$folder"
    exit 0
fi

for program in slurmctld slurmd munged; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || {
        echo "slurm-here.sh: $program is missing: apt-get install --no-install-recommends slurm-wlm munge" >&2; exit 1; }
done
PATH=$PATH:/usr/sbin
# Create the folder here, so no other user can have a file in it.
mkdir -m 755 "$folder" 2>/dev/null || { echo "slurm-here.sh: $folder exists already: slurm-here.sh down $folder" >&2; exit 1; }
trap 'trap - EXIT; finish; rm -rf -- "$folder"' EXIT
mkdir -m 755 "$folder/run"; mkdir -m 700 "$folder/log" "$folder/state" "$folder/munge"
head -c 128 /dev/urandom > "$folder/munge/key"; chmod 400 "$folder/munge/key"
cpus=$(nproc)
cat > "$folder/slurm.conf" <<CONF
ClusterName=here
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/state/%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdTimeout=${SLURMD_TIMEOUT:-10}
KillWait=2
ReturnToService=2
MpiDefault=none
$(for i in $(seq "$nodes"); do
    echo "NodeName=n$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=$cpus"
done)
PartitionName=all Nodes=n[1-$nodes] Default=YES State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
munged --force --key-file="$folder/munge/key" --socket="$folder/run/munge.socket" \
    --pid-file="$folder/run/munged.pid" --log-file="$folder/log/munged" --seed-file="$folder/munge/seed"
slurmctld -f "$SLURM_CONF"
for i in $(seq "$nodes"); do slurmd -f "$SLURM_CONF" -N "n$i"; done
for i in $(seq 1200); do
    [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l)" = "$nodes" ] && { trap - EXIT; echo "export SLURM_CONF=$SLURM_CONF"; exit 0; }
    # A daemon that can't start, for example because its port is in use, logs that and ends.
    if grep -qsE 'fatal:|Unable to bind' "$folder"/log/slurm*; then break; fi
    sleep 0.1
done
echo "slurm-here.sh: the nodes didn't come up:" >&2
tail -n 3 "$folder"/log/* >&2
exit 1
