#!/usr/bin/env sh
# The kit's command line: ./run.sh COMMAND, ./run.sh --help. With --install first, it installs missing servers.
set -eu
kit=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
runner="$kit/Runner/bin/Release/net10.0/Kit.Runner"
[ -x "$runner" ] || echo "Building the runner. The first time it takes about a minute." >&2
# MSBuild prints a summary even when it is told to be quiet. Only that of a failed build is shown.
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
