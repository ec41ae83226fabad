namespace Kit.Runner.Transports;

/// <summary>What a command line and its environment say of the transports.</summary>
internal sealed class TransportArguments
{
    private readonly IReadOnlyList<(TransportSetting Setting, string? Text)> texts;

    private TransportArguments(IEnumerable<(TransportSetting Setting, string? Text)> texts) => this.texts = [.. texts];

    /// <summary>Whether servers of the kit's own may keep their files in memory.</summary>
    public bool AllowsMemory { get; init; }

    /// <summary>Nothing is said: every server is the kit's own.</summary>
    public static TransportArguments None { get; } = new([]);

    /// <summary>What the environment alone says.</summary>
    public static TransportArguments FromEnvironment() => Of(
        from transport in Transport.All
        from setting in transport.Settings
        select (setting, setting.FromEnvironment()));

    /// <summary>The texts that name servers, in the order of the settings. They can hold secrets.</summary>
    public IEnumerable<string> Servers => texts.Where(one => one.Setting.Names.Count == 0).Select(one => one.Text).OfType<string>();

    /// <summary>What is said; <see langword="null"/> where nothing is.</summary>
    public string? this[TransportSetting setting] => texts.LastOrDefault(one => one.Setting == setting).Text;

    public static TransportArguments Of(IEnumerable<(TransportSetting Setting, string? Text)> texts) => new(texts);

    /// <summary>The same, and this.</summary>
    public TransportArguments With(TransportSetting setting, string? text) => new([.. texts, (setting, text)]) { AllowsMemory = AllowsMemory };

    /// <summary>The same, and whether servers of the kit's own may keep their files in memory.</summary>
    public TransportArguments WithMemory(bool isAllowed) => new(texts) { AllowsMemory = isAllowed };
}
