#!/usr/bin/env sh
# The kit's command line: ./run.sh COMMAND, ./run.sh --help. With --install first, what is missing is installed before.
set -eu
kit=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
dotnet build "$kit/Runner" --configuration Release --nologo --verbosity quiet -consoleLoggerParameters:NoSummary
runner="$kit/Runner/bin/Release/net10.0/Kit.Runner"
if [ "${1-}" = "--install" ]; then
  shift
  "$runner" install
fi
exec "$runner" "$@"
