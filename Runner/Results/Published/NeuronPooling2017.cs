namespace Kit.Runner.Results.Published;

/// <summary>What a bus gains that keeps what it has built for a message, and uses it again.</summary>
internal static class NeuronPooling2017
{
    private const string Cell = "bare/rabbitmq/dtc-off/ado";

    private static readonly IReadOnlyList<string> Bare = ["--framework", "bare", "--transport", "rabbitmq", "--mode", "dtc-off"];

    private static readonly PublishedRow Requests =
        new("original: request and reply", 51, $"{Cell}/query/dynamic") { Users = 100, Milliseconds = 1_915 };

    private static readonly PublishedRow Inserts = new("original: one-way", 103, $"{Cell}/250-connections/dynamic");

    private static readonly PublishedRow Hours =
        new("100 users for 6 hours, here a pool of 100", null, $"{Cell}/query") { Users = 100, Milliseconds = 30, Said = "memory flat at 200 MB" };

    public static PublishedExperiment Plan { get; } = new(
        "neuron-pooling-2017",
        "What does a message bus gain if it keeps what it has built for one message, and handles many messages at the same time?",
        "Measurements of Neuron ESB, published in 2017, with and without pooling: request and reply with a database query by 100 users with pauses of 20 ms, " +
        "one-way inserts that were sent 300 at a time every 10 ms, and 6 hours with 100 users",
        [
            new(
                "Request and reply, 100 users with pauses of 20 ms",
                [
                    Requests,
                    new("pool of 1", 198, $"{Cell}/query") { Users = 100, Milliseconds = 489 },
                    new("pool of 100", 1_037, $"{Cell}/query/100-handlers") { Users = 100, Milliseconds = 81 },
                ],
                Requests, "requests", "original"),
            new(
                "One-way inserts",
                [
                    Inserts,
                    new("single consumer", null, $"{Cell}/250-connections"),
                    new("30 processing threads", null, $"{Cell}/30-handlers/250-connections"),
                    new("pool of 250", 4_008, $"{Cell}/250-handlers/250-connections"),
                ],
                Inserts, "inserts"),
            new("For hours", [Hours], Hours, "hours"),
        ],
        [
            new(
                "requests", ["load", .. Bare, "--scenario", "query", "--users", "100", "--think", "20ms", "--concurrency", "1,100", "--senders", "100"],
                Quick: ["--for", "3s", "--seed-rows", "1000", "--warmup", "50"],
                Scaled: ["--for", "20s", "--ramp", "2s"],
                Full: ["--for", "5min", "--ramp", "5s"]),
            new(
                "original",
                [
                    "load", .. Bare, "--scenario", "query", "--users", "100", "--think", "20ms", "--concurrency", "1", "--reuse", "dynamic", "--senders", "100",
                ],
                Quick: ["--for", "3s", "--seed-rows", "1000", "--warmup", "50"],
                Scaled: ["--for", "20s", "--ramp", "2s"],
                Full: ["--for", "5min", "--ramp", "5s"]),
            new(
                "inserts", ["run", .. Bare, "--scenario", "insert", "--reuse", "static,dynamic", "--concurrency", "1,30,250", "--pool", "250"],
                Quick: ["--rounds", "1", "--messages", "300", "--seed-rows", "1000", "--warmup", "20", "--no-repeat"],
                Scaled: ["--rounds", "5", "--messages", "2000", "--seed-rows", "100000", "--warmup", "1000", "--no-repeat"],
                Full: ["--rounds", "5", "--messages", "100000"]),
            new(
                "hours", ["load", .. Bare, "--scenario", "query", "--users", "100", "--think", "20ms", "--concurrency", "100", "--senders", "100"],
                Quick: ["--for", "2s", "--seed-rows", "1000", "--warmup", "50"],
                Scaled: ["--for", "2min", "--ramp", "2s"],
                Full: ["--for", "6h", "--ramp", "5s"]),
        ],
        [
            "There is no Neuron ESB here. The endpoint is the bare driver on RabbitMQ, with PostgreSQL for the rows, in the mode dtc-off.",
            "What the product pools is its own. Here original is one handler that is built for each message, with a new connection for each; a pool of n " +
            "is n handlers that are kept, each with a connection of its own.",
            "The one-way inserts are a drain: 300 messages every 10 ms are more than this endpoint handles, so its queue is never empty. Its messages are " +
            "fewer than the 5,000,000 that were published.",
            "For hours there are 100 handlers, as in the pool of 100. The cell does not name them, because all cells of that command have as many.",
            "Latency is the median. The published one is not said to be one.",
            "Of the single consumer and the 30 processing threads no figure is known here.",
        ]);
}
