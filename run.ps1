#!/usr/bin/env pwsh
#requires -Version 7
# The kit's command line: ./run.ps1 COMMAND, ./run.ps1 --help. With -Install first, it installs missing servers.
# 'prove' is a program of its own, Prove. Every other command is one of the runner's.
$ErrorActionPreference = 'Stop'
# Typed at a prompt, a,b is an array: the program is to have the text. -join alone would write a decimal with the culture's comma.
$rest = @($args | ForEach-Object { if ($_ -is [array]) { @($_ | ForEach-Object { "$_" }) -join ',' } else { $_ } })
$installs = $rest.Count -gt 0 -and $rest[0] -eq '-Install'
if ($installs) { $rest = @($rest | Select-Object -Skip 1) }
$project, $name = 'Runner', 'the runner'
if ($rest.Count -gt 0 -and $rest[0] -eq 'prove') {
    $project, $name = 'Prove', "'prove'"
    # What its messages tell the user to type.
    $env:KIT_TYPED = './run.ps1 prove'
    $rest = @($rest | Select-Object -Skip 1)
}
$program = "$PSScriptRoot/$project/bin/Release/net10.0/Kit.$project.dll"

# Alone, or started by pwsh, it has the terminal. Otherwise PowerShell passes its lines on, to a pipe, a file or a variable.
$isAlone = $MyInvocation.Line -eq '' -or ($MyInvocation.PipelineLength -eq 1 -and $MyInvocation.Line -notmatch '[|>=(]')

# Waits for the program to its end. Ctrl+C reaches it, too, and it cleans up; PowerShell itself would not wait for it, or would kill it, and end with 0.
function Invoke-ToItsEnd([string[]] $arguments) {
    $dotnet = (Get-Command dotnet -CommandType Application)[0].Source
    $start = [System.Diagnostics.ProcessStartInfo]::new($dotnet)
    @($program) + $arguments | ForEach-Object { $start.ArgumentList.Add($_) }
    $start.RedirectStandardOutput = -not $isAlone
    $process = [System.Diagnostics.Process]::Start($start)
    try {
        while (-not $isAlone -and $null -ne ($line = $process.StandardOutput.ReadLine())) { $line }
    }
    finally {
        if (-not $isAlone) { [Console]::Out.Write($process.StandardOutput.ReadToEnd()) }
        $process.WaitForExit()
        $script:code = $process.ExitCode
    }
}

$code = 130
try {
    if ($rest.Count -gt 0 -and $rest[0] -eq '--install') {
        [Console]::Error.WriteLine('For PowerShell it is -Install: ./run.ps1 -Install run. (--install is for run.sh.)')
        $code = 2
        return
    }
    if (-not (Test-Path -LiteralPath $program)) { [Console]::Error.WriteLine("Building $name. The first time it takes about a minute.") }
    # MSBuild prints a summary even when it is told to be quiet. Only that of a failed build is shown, and what the build had to do without.
    # The clone's global.json counts, not that of the folder in which the user is.
    Push-Location -LiteralPath $PSScriptRoot
    try { $built = dotnet build $project --configuration Release --nologo --verbosity quiet } finally { Pop-Location }
    if ($LASTEXITCODE -ne 0) {
        $code = $LASTEXITCODE
        $built | ForEach-Object { [Console]::Error.WriteLine($_) }
        return
    }
    if (Test-Path -LiteralPath "$PSScriptRoot/obj/optional/unknown") { Get-Content -LiteralPath "$PSScriptRoot/obj/optional/unknown" | ForEach-Object { [Console]::Error.WriteLine($_) } }
    if ($installs) {
        Invoke-ToItsEnd @('install')
        if ($code -ne 0) { return }
    }
    Invoke-ToItsEnd $rest
    if ($project -eq 'Runner' -and $rest.Count -gt 0 -and $rest[0] -in '--help', '-h', '-?') {
        ''
        'A program of its own, ./run.ps1 prove --help:'
        '  prove <file>       Proves what your own service promises, in any language: crashes it around each request of one handling.'
    }
}
catch {
    [Console]::Error.WriteLine($_)
    $code = 1
}
finally {
    # A script that is stopped has no exit code of its own. If this pwsh was started for it, it ends with the program's.
    if ([Environment]::GetCommandLineArgs().Where({ $_ -and [System.IO.Path]::GetFullPath($_) -eq $PSCommandPath })) { [Environment]::Exit($code) }
}
exit $code
