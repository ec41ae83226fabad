using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// TCP keepalive of the server's: it probes a silent client after 30 s and gives up after another 30 s. A machine that vanished must hold nothing for two
/// hours, the usual default.
/// </summary>
internal static class Keepalive
{
    /// <summary>The server's settings, in seconds but for the count.</summary>
    public static IReadOnlyList<(string Name, string Wanted)> Settings { get; } =
        [("tcp_keepalives_idle", "30"), ("tcp_keepalives_interval", "10"), ("tcp_keepalives_count", "3")];

    private static readonly string Options = string.Join(' ', Settings.Select(setting => $"-c {setting.Name}={setting.Wanted}"));

    /// <summary>
    /// Sets it as an option of the connections, which the driver's reset of a session keeps. Options of the connection string win. Not every pooler takes it,
    /// and behind one it would watch the pooler.
    /// </summary>
    public static void AddTo(NpgsqlConnectionStringBuilder settings)
    {
        if (settings.Options?.StartsWith(Options, StringComparison.Ordinal) is not true)
            settings.Options = $"{Options} {OptionsOf(settings)}".TrimEnd();
    }

    /// <summary>The options that the driver would use: it reads the variable only if the connection string has none.</summary>
    public static string? OptionsOf(NpgsqlConnectionStringBuilder settings) => settings.Options ?? Environment.GetEnvironmentVariable("PGOPTIONS");
}
