#!/usr/bin/env sh
# The kit's command line: ./run.sh COMMAND, ./run.sh --help. With --install first, it installs missing servers.
set -eu
# The clone is where the script is, also if it is called through symbolic links.
script=$0
while [ -h "$script" ]; do
  target=$(readlink "$script")
  case $target in
    /*) script=$target ;;
    *) script=$(dirname -- "$script")/$target ;;
  esac
done
kit=$(CDPATH= cd -- "$(dirname -- "$script")" && pwd)
runner="$kit/Runner/bin/Release/net10.0/Kit.Runner"
closed=
for folder in "$kit" "$kit/obj" "$kit/Runner" "$kit/Runner/obj" "$kit/Runner/bin"; do
  [ ! -e "$folder" ] || [ -w "$folder" ] || closed=$folder
done
if [ -n "$closed" ] && [ ! -x "$runner" ]; then
  echo "The runner is not built, and user $(id -un) may not write $closed, where a build writes." >&2
  echo "Copy the clone into a folder of yours (cp -R $kit ~/kit), or let its owner run $kit/run.sh --help once." >&2
  exit 1
fi
if [ -n "$closed" ]; then
  echo "User $(id -un) may not write $closed: the runner is not built again, and is as old as its last build." >&2
else
  [ -x "$runner" ] || echo "Building the runner. The first time it takes about a minute." >&2
  # MSBuild prints a summary even when it is told to be quiet. Only that of a failed build is shown, and what the build had to do without.
  built=$(dotnet build "$kit/Runner" --configuration Release --nologo --verbosity quiet 2>&1) || {
    code=$?
    printf '%s\n' "$built" >&2
    exit "$code"
  }
  [ ! -s "$kit/obj/optional/unknown" ] || cat "$kit/obj/optional/unknown" >&2
fi
if [ "${1-}" = "--install" ]; then
  shift
  "$runner" install
fi
exec "$runner" "$@"
