namespace Kit.Runner.Results.Published;

/// <summary>What it costs to set up a connection for each message, and to transform with a slow engine.</summary>
internal static class BizTalkDynamicPorts2010
{
    private const string Cell = "bare/postgresql/dtc-off/ado";
    private const string Slow = "transform-xsl-and-query";
    private const string Compiled = "transform-once-and-query";

    private static readonly IReadOnlyList<string> Bare = ["--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off", "--concurrency", "20"];

    private static readonly PublishedRow Each = Row("set up for each message, slow engine", 4.68, $"{Slow}/dynamic", 4_250, 77.9);
    private static readonly PublishedRow Plain = Row("set up for each message", 9.51, "query/dynamic");
    private static readonly PublishedRow OneWay = new("slower", 21.9, $"{Cell}/dynamic");

    public static PublishedExperiment Plan { get; } = new(
        "biztalk-dynamic-ports-2010",
        "What does it cost to set a connection up for each message, and to transform messages with a slow engine?",
        "Measurements of BizTalk Server with static and dynamic send ports, published in 2010: 5,000 messages and 20 users, the connection set up for each " +
        "message or once, transformed by a slow engine or a compiled one (XslTransform or XslCompiledTransform)",
        [
            new(
                "Request and reply, 20 users",
                [
                    Each,
                    Row("set up once, slow engine", 4.76, Slow, 4_160, 68.7),
                    Row("set up for each message, compiled", 9.22, $"{Compiled}/dynamic", 2_130, 52.6),
                    Row("set up once, compiled", 12.2, Compiled, 1_600, 40.5),
                ],
                Each, "requests"),
            new("The same without a transform", [Plain, Row("set up once", 12.4, "query")], Plain, "requests"),
            new("One-way", [OneWay, new("faster", 48.4, Cell)], OneWay, "one-way"),
        ],
        [
            new(
                "requests", ["load", .. Bare, "--scenario", $"{Slow},{Compiled},query", "--reuse", "static,dynamic", "--users", "20"],
                Quick: ["--for", "2s", "--seed-rows", "1000", "--warmup", "50"],
                Scaled: ["--for", "20s", "--ramp", "2s"],
                Full: ["--for", "5min", "--ramp", "5s"]),
            new(
                "one-way", ["run", .. Bare, "--scenario", "insert", "--reuse", "static,dynamic"],
                Quick: ["--rounds", "1", "--messages", "500", "--seed-rows", "1000", "--warmup", "50", "--no-repeat"],
                Scaled: ["--rounds", "5", "--messages", "5000", "--seed-rows", "100000", "--no-repeat"],
                Full: ["--rounds", "5", "--messages", "5000"]),
        ],
        [
            "There is no BizTalk Server here, and no service that it calls. A handler of the bare endpoint on PostgreSQL, in the mode dtc-off, looks a row " +
            "up over a connection, and replies.",
            "Set up for each message: the handler and its service provider are built for each message, and its connection is a new session of PostgreSQL.",
            "Which of the four figures belongs to which pair is our reading: those of the slow engine are alike, and the compiled ones are near those " +
            "without a transform. That the slower one-way figure is that of a connection for each message is our reading, too.",
            "The stylesheet is the kit's own, of an order of about 500 characters. A stylesheet is kept in every row, as the scenario says.",
            "Latency is the median. CPU is that of the whole machine, on which users, endpoint and PostgreSQL run.",
        ]);

    private static PublishedRow Row(string title, double rate, string rest, double? latency = null, double? cpu = null) =>
        new(title, rate, $"{Cell}/{rest}") { Users = 20, Milliseconds = latency, CpuPercent = cpu };
}
