#!/bin/sh
# An engine for `fathom ... --on hosts`: starts jobs over ssh, one at a time on each host of a list. It needs
# flock and setsid (util-linux), ssh without a password, and a home that all hosts share. See docs/fleet.md.
#
#   hosts.sh submit [--constraint=WORD] [--exclude=HOST,...] SCRIPT LOG    prints the job's id
#   hosts.sh state                                                         prints a line for each job that has not ended
#   hosts.sh cancel ID...
#
# FATHOM_HOSTS (~/.config/fathom/hosts) has a line for each host: its name, then words that --constraint can
# select. `localhost` is this machine, without ssh. FATHOM_HOSTS_SPOOL is the folder of the jobs' state.
set -eu
list=${FATHOM_HOSTS:-$HOME/.config/fathom/hosts}
spool=${FATHOM_HOSTS_SPOOL:-${XDG_STATE_HOME:-$HOME/.local/state}/fathom/hosts}

# Prints the hosts with this word, except those in the comma-separated list.
fitting() {
    awk -v word="$1" -v not=",$2," '
        /^[^#]/ && !index(not, "," $1 ",") {
            fits = word == ""
            for (i = 2; i <= NF; i++) if ($i == word) fits = 1
            if (fits) print $1
        }' "$list"
}

# Succeeds once no process of the job is left: they hold the lock.
ended() { flock -n "$spool/$1.alive" true; }

verb=${1:-}
[ $# -gt 0 ] && shift
case $verb in
submit)
    constraint= exclude=
    while :; do
        case ${1:-} in
        --constraint=*) constraint=${1#*=} ;;
        --exclude=*) exclude=${1#*=} ;;
        *) break ;;
        esac
        shift
    done
    [ -n "$(fitting "$constraint" "$exclude")" ] || { echo "no host of $list is left for ${constraint:-it}" >&2; exit 1; }
    mkdir -p "$spool"
    id=$(date +%s)-$$
    exec 8>"$spool/$id.alive"
    flock 8
    echo pending >"$spool/$id.state"
    setsid sh "$0" run "$id" "$constraint" "$exclude" "$1" >>"$2" 2>&1 </dev/null &
    echo $! >"$spool/$id.group"
    echo "$id"
    ;;
run)
    id=$1 script=$4
    trap 'rm -f "$spool/$id".*' EXIT
    trap 'exit 143' TERM HUP INT
    while :; do
        for host in $(fitting "$2" "$3"); do
            exec 9>"$spool/$host.lock"
            flock -n 9 || continue
            echo running >"$spool/$id.state"
            if [ "$host" = localhost ]; then
                FATHOM_JOB_ID=$id FATHOM_NODE=$host "$script"
            else
                # With a terminal, so that the job ends with ssh. The remote shell reads the single quotes.
                quoted=$(printf %s "$script" | sed "s/'/'\\\\''/g")
                ${FATHOM_SSH:-ssh} -tt -o BatchMode=yes "$host" "FATHOM_JOB_ID=$id FATHOM_NODE=$host '$quoted'"
            fi
            exit
        done
        sleep 1
    done
    ;;
state)
    for file in "$spool"/*.state; do
        [ -e "$file" ] || continue
        id=$(basename "$file" .state)
        if ended "$id"; then rm -f "$spool/$id".*; else echo "$id $(cat "$file")"; fi
    done
    ;;
cancel)
    for id in "$@"; do
        [ -e "$spool/$id.group" ] || continue
        group=$(cat "$spool/$id.group")
        for signal in TERM KILL; do
            ended "$id" && break
            # dash and others accept a negative group id only with -s.
            kill -s $signal -- "-$group" 2>/dev/null || true
            flock -w 5 "$spool/$id.alive" true || true
        done
        ended "$id" || { echo "job $id has processes outside its group that are still running" >&2; exit 1; }
        rm -f "$spool/$id".*
    done
    ;;
*)
    sed -n '5,7s/^#   //p' "$0" >&2
    exit 2
    ;;
esac
