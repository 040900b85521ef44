#!/usr/bin/env bash
# Puts fathom where the next steps find it. FATHOM names one that is there already; else VERSION is
# installed with cargo.
set -euo pipefail

if [ -n "${FATHOM:-}" ]; then
    "$FATHOM" --version
    folder=$(cd "$(dirname "$FATHOM")" && pwd)
elif command -v fathom >/dev/null; then
    fathom --version
    exit 0
else
    cargo install --locked "fathom@${VERSION:?names the version to install}"
    folder=${CARGO_HOME:-$HOME/.cargo}/bin
fi
if [ -n "${GITHUB_PATH:-}" ]; then
    echo "$folder" >>"$GITHUB_PATH"
fi
