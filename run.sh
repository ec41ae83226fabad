#!/usr/bin/env sh
# The kit's command line: ./run.sh COMMAND, ./run.sh --help. With --install first, it installs missing servers.
# 'prove' is a program of its own, Prove. Every other command is one of the runner's.
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
install=
if [ "${1-}" = "--install" ]; then
  install=yes
  shift
fi
project=Runner
name="the runner"
if [ "${1-}" = prove ]; then
  project=Prove
  # What its messages tell the user to type.
  export KIT_TYPED="$0 prove"
  name="'prove'"
  shift
fi
program="$kit/$project/bin/Release/net10.0/Kit.$project.dll"
closed=
for folder in "$kit" "$kit/obj" "$kit/$project" "$kit/$project/obj" "$kit/$project/bin"; do
  [ ! -e "$folder" ] || [ -w "$folder" ] || closed=$folder
done
if [ -n "$closed" ] && [ ! -e "$program" ]; then
  echo "Not built: $name. User $(id -un) may not write $closed, where a build writes." >&2
  echo "Copy the clone into a folder of yours (cp -R $kit ~/kit), or let its owner run $kit/run.sh --help once." >&2
  exit 1
fi
if [ -n "$closed" ]; then
  echo "User $(id -un) may not write $closed: $name is not built again, and is as old as its last build." >&2
else
  [ -e "$program" ] || echo "Building $name. The first time it takes about a minute." >&2
  # MSBuild prints a summary even when it is told to be quiet. Only that of a failed build is shown, and what the build had to do without.
  # The clone's global.json counts, not that of the folder in which the user is.
  built=$(cd -- "$kit" && dotnet build "$project" --configuration Release --nologo --verbosity quiet 2>&1) || {
    code=$?
    printf '%s\n' "$built" >&2
    exit "$code"
  }
  [ ! -s "$kit/obj/optional/unknown" ] || cat "$kit/obj/optional/unknown" >&2
fi
# Started as "dotnet Kit.Runner.dll", it runs on the .NET that built it. The program itself would look for one in the folders of installers only.
if [ -n "$install" ]; then
  dotnet "$program" install
fi
case $project:${1-} in
  Runner:--help | Runner:-h | Runner:-\?)
    dotnet "$program" "$@"
    echo
    echo "A program of its own, ./run.sh prove --help:"
    echo "  prove <file>       Proves what your own service promises, in any language: crashes it around each request of one handling."
    exit 0
    ;;
esac
exec dotnet "$program" "$@"
