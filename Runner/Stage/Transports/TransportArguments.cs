using Kit.Runner.Servers;

namespace Kit.Runner.Stage.Transports;

/// <summary>The transports' arguments, from the command line and the environment.</summary>
internal sealed class TransportArguments
{
    private readonly IReadOnlyList<(TransportSetting Setting, string? Text)> texts;

    private TransportArguments(IEnumerable<(TransportSetting Setting, string? Text)> texts) => this.texts = [.. texts];

    /// <summary>True if the kit's own servers may keep their files in memory.</summary>
    public bool AllowsMemory { get; init; }

    /// <summary>Connections that the kit's own PostgreSQL server accepts.</summary>
    public int Connections { get; init; } = ClusterSettings.Connections;

    /// <summary>No arguments: every server is the kit's own.</summary>
    public static TransportArguments None { get; } = new([]);

    /// <summary>The arguments from the environment alone.</summary>
    public static TransportArguments FromEnvironment() => Of(
        from transport in Transport.All
        from setting in transport.Settings
        select (setting, setting.FromEnvironment()));

    /// <summary>The texts that name servers, in the order of the settings. They can contain secrets.</summary>
    public IEnumerable<string> Servers => texts.Where(one => one.Setting.Names.Count == 0).Select(one => one.Text).OfType<string>();

    /// <summary>The text of a setting; <see langword="null"/> if there is none.</summary>
    public string? this[TransportSetting setting] => texts.LastOrDefault(one => one.Setting == setting).Text;

    public static TransportArguments Of(IEnumerable<(TransportSetting Setting, string? Text)> texts) => new(texts);

    /// <summary>A copy with one more argument.</summary>
    public TransportArguments With(TransportSetting setting, string? text) => new([.. texts, (setting, text)])
    {
        AllowsMemory = AllowsMemory,
        Connections = Connections,
    };

    /// <summary>A copy that allows the kit's own servers to keep their files in memory, or forbids it.</summary>
    public TransportArguments WithMemory(bool isAllowed) => new(texts) { AllowsMemory = isAllowed, Connections = Connections };

    /// <summary>A copy with another number of connections that the kit's own PostgreSQL server accepts.</summary>
    public TransportArguments WithConnections(int connections) => new(texts) { AllowsMemory = AllowsMemory, Connections = connections };
}
