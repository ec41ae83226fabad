#!/usr/bin/env pwsh
# The kit's command line: ./run.ps1 COMMAND, ./run.ps1 --help. With -Install first, it installs missing servers.
$ErrorActionPreference = 'Stop'
$rest = @($args)
$runner = "$PSScriptRoot/Runner/bin/Release/net10.0/Kit.Runner.dll"
if (-not (Test-Path $runner)) { [Console]::Error.WriteLine('Building the runner. The first time it takes about a minute.') }
# MSBuild prints a summary even when it is told to be quiet. Only that of a failed build is shown.
$built = dotnet build "$PSScriptRoot/Runner" --configuration Release --nologo --verbosity quiet
if ($LASTEXITCODE -ne 0) {
    $built | ForEach-Object { [Console]::Error.WriteLine($_) }
    exit $LASTEXITCODE
}
if ($rest.Count -gt 0 -and $rest[0] -eq '-Install') {
    $rest = @($rest | Select-Object -Skip 1)
    dotnet $runner install
    if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }
}
dotnet $runner @rest
exit $LASTEXITCODE
