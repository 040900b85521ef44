#!/usr/bin/env bash
# Puts fathom where the next steps find it. FATHOM names one that is there already, or it is in PATH; else it is built
# from the sources beside this script, or from those of FATHOM_GIT at the commit FATHOM_REV. Never by its name from a
# registry: there `fathom` is another program, by others.
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/crates/fathom

if [ -n "${FATHOM:-}" ]; then
    "$FATHOM" --version
    folder=$(cd "$(dirname "$FATHOM")" && pwd)
elif command -v fathom >/dev/null; then
    fathom --version
    exit 0
else
    if [ -f "$sources/Cargo.toml" ]; then
        cargo install --locked --path "$sources"
    elif [[ -n "${FATHOM_GIT:-}" && "${FATHOM_REV:-}" =~ ^[0-9a-f]{40}$ ]]; then
        cargo install --locked --git "$FATHOM_GIT" --rev "$FATHOM_REV" fathom
    else
        echo "there is no fathom: FATHOM names an installed one, or FATHOM_GIT the address of its sources and FATHOM_REV" \
            "the commit, 40 hexadecimal digits: a branch or a tag can be moved" >&2
        exit 2
    fi
    folder=${CARGO_HOME:-$HOME/.cargo}/bin
fi
if [ -n "${GITHUB_PATH:-}" ]; then
    echo "$folder" >>"$GITHUB_PATH"
fi
