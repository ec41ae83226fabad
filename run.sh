#!/usr/bin/env sh
# The kit's command line: ./run.sh COMMAND, ./run.sh --help. With --install first, what is missing is installed before.
set -eu
kit=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
runner="$kit/Runner/bin/Release/net10.0/Kit.Runner"
[ -x "$runner" ] || echo "Building the runner. The first time it takes about a minute." >&2
# MSBuild sums up a build that succeeded whatever it is told; only one that failed is worth showing.
built=$(dotnet build "$kit/Runner" --configuration Release --nologo --verbosity quiet 2>&1) || {
  code=$?
  printf '%s\n' "$built" >&2
  exit "$code"
}
if [ "${1-}" = "--install" ]; then
  shift
  "$runner" install
fi
exec "$runner" "$@"
