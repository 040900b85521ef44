#!/usr/bin/env bash
# Installs fathom for the next steps. Uses an existing one, from FATHOM or PATH; otherwise builds it from the sources
# next to this script, or from FATHOM_GIT at the commit FATHOM_REV. It is never installed by name from a registry:
# there, `fathom` is an unrelated program.
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
        echo "fathom is not installed: set FATHOM to its path, or FATHOM_GIT to the address of its sources and" \
            "FATHOM_REV to a commit, 40 hexadecimal digits (a branch or a tag can be moved)" >&2
        exit 2
    fi
    folder=${CARGO_HOME:-$HOME/.cargo}/bin
fi
if [ -n "${GITHUB_PATH:-}" ]; then
    echo "$folder" >>"$GITHUB_PATH"
fi
