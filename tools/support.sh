# Shared by the scripts in this folder: messages, long steps with progress, and processes that are ended on every exit.
# shellcheck shell=bash

# shellcheck disable=SC2034 # The scripts that read this file use it.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [[ -t 1 ]]; then
    bold=$'\e[1m' faint=$'\e[2m' red=$'\e[31m' plain=$'\e[0m'
else
    bold='' faint='' red='' plain=''
fi

say() { printf '%s\n' "$*"; }
heading() { printf '%s==> %s%s\n' "$bold" "$*" "$plain"; }
complain() { printf '%s%s%s\n' "$red" "$*" "$plain" >&2; }
die() {
    complain "$*"
    exit 1
}

# The processes that this script has started and must still end.
owned=()

# A process's descendants, from the kernel's own lists.
descendants() {
    local pid
    # The kernel separates them by spaces, not by lines.
    # shellcheck disable=SC2013
    for pid in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
        printf '%s\n' "$pid"
        descendants "$pid"
    done
}

# Ends one process and waits for it: first with a request, after ten seconds by force. Its descendants are ended too,
# because `swift test` leaves its test process behind.
end_process() {
    local pid=$1 try below
    below=$(descendants "$pid")
    kill -TERM "$pid" 2>/dev/null || return 0
    # shellcheck disable=SC2086
    [[ -z $below ]] || kill -TERM $below 2>/dev/null
    for ((try = 0; try < 100; try++)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    return 0
}

end_owned() {
    local pid
    for pid in "${owned[@]}"; do end_process "$pid"; done
    owned=()
}

# Ends the processes that the script started, however the script ends. A command may be given as extra work.
on_exit() {
    # The command is fixed now, not when the script ends.
    # shellcheck disable=SC2064
    trap "end_owned; $*" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

seconds_as_text() {
    local seconds=$1
    if ((seconds < 60)); then printf '%d s' "$seconds"; else printf '%d min %02d s' $((seconds / 60)) $((seconds % 60)); fi
}

# The duration of each step, one line per step, for `say_step_times`.
step_times=()

# Prints how long each step took.
say_step_times() {
    local line
    ((${#step_times[@]} > 0)) || return 0
    heading "Seconds by part"
    for line in "${step_times[@]}"; do say "    $line"; done
}

# step TITLE LOG COMMAND…: runs a long command with its output in a file, and shows every few seconds that it runs.
# On failure the end of the file is printed. Returns the command's exit code.
step() {
    local title=$1 log=$2 began=$SECONDS shown=$SECONDS last='' pid code
    shift 2
    mkdir -p "$(dirname "$log")"
    heading "$title"
    "$@" </dev/null >"$log" 2>&1 &
    pid=$!
    owned+=("$pid")
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.5
        ((SECONDS - shown >= 10)) || continue
        shown=$SECONDS
        last=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | grep -av '^[[:space:]]*$' | tail -n 1 | cut -c 1-90)
        printf '%s    %s: %s%s\n' "$faint" "$(seconds_as_text $((SECONDS - began)))" "${last:-…}" "$plain"
    done
    wait "$pid"
    code=$?
    step_times+=("$(printf '%5d  %s' $((SECONDS - began)) "$title")")
    local kept=() other
    for other in "${owned[@]}"; do [[ $other == "$pid" ]] || kept+=("$other"); done
    owned=("${kept[@]}")
    if ((code == 0)); then
        say "    done in $(seconds_as_text $((SECONDS - began)))"
    else
        tail -n "${STEP_TAIL:-40}" "$log" | sed 's/^/    /' >&2
        complain "    failed with exit code $code after $(seconds_as_text $((SECONDS - began))); all of it: $log"
    fi
    return "$code"
}

# The commit that is built, for GATEHOUSE_COMMIT: twelve digits, with an addition where files differ from it. Empty outside
# of a git repository.
build_commit() {
    local commit
    commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null) || return 0
    git -C "$root" diff --quiet HEAD 2>/dev/null || commit+=.modified
    printf '%s\n' "$commit"
}

# How the program is built for users. Swift's libraries are linked statically, so it needs no toolchain to run.
# shellcheck disable=SC2034 # tools/install, tools/demo and tools/package use it.
release_options=(-c release --static-swift-stdlib)

# The packages with the versions of libavcodec that the program can load (Sources/System/CAVCodec/Layouts.h): those of
# Debian 12, Ubuntu 24.04 and Debian 13 first. Each system has one of them.
# shellcheck disable=SC2034 # tools/package uses it.
avcodec_packages='libavcodec59 | libavcodec60 | libavcodec61 | libavcodec62 | libavcodec63'

# The Debian packages of the libraries that the program is linked with.
# shellcheck disable=SC2034 # tools/install-dependencies and tools/packaging/arm64/toolchain use it.
library_packages=(
    libssl-dev libsrtp2-dev libopus-dev libvpx-dev libopenh264-dev libpng-dev zlib1g-dev libjpeg62-turbo-dev libexpat1-dev
    libsqlite3-dev libavcodec-dev libavutil-dev libmosquitto-dev libusrsctp-dev
)

# A port that is free for TCP and UDP now, from a range that the kernel does not assign by itself.
free_port() {
    local port hexadecimal try
    for ((try = 0; try < 200; try++)); do
        port=$((20000 + RANDOM % 12000))
        printf -v hexadecimal '%04X' "$port"
        # The tables differ from host to host: without IPv6 there are two.
        if ! cat /proc/net/tcp /proc/net/udp /proc/net/tcp6 /proc/net/udp6 2>/dev/null |
            awk -v port="$hexadecimal" '{ split($2, address, ":"); if (address[2] == port) found = 1 } END { exit !found }'
        then
            printf '%d\n' "$port"
            return 0
        fi
    done
    return 1
}
