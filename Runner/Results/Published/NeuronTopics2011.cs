namespace Kit.Runner.Results.Published;

/// <summary>What it costs to go through a topic instead of straight to a service.</summary>
internal static class NeuronTopics2011
{
    private const string Cell = "bare/rabbitmq/dtc-off/ado";

    private static readonly IReadOnlyList<string> Bare = ["--framework", "bare", "--transport", "rabbitmq", "--mode", "dtc-off"];

    private static readonly IReadOnlyList<string> Ways = ["--scenario", "pass,pass-to-topic,route"];

    private static readonly PublishedRow Hours = new("300 publishers, 300 subscribers, for 8 hours", null, $"{Cell}/publish-20")
    {
        Users = 300,
        Said = "CPU 25 to 35 %, memory 400 to 800 MB, at most 275 threads",
    };

    public static PublishedExperiment Plan { get; } = new(
        "neuron-topics-2011",
        "What does it cost to reach a service through a topic, or by routing, instead of straight?",
        "Measurements of Neuron ESB, published in 2011: a service was called straight, through a topic, and by direct routing, by 25 users with pauses of " +
        "30 ms and by 10 users with pauses of 1 ms, an hour each with level graphs; and 300 publishers sent to 300 subscribers for 8 hours",
        [
            TableOf("25-users", "25 users with pauses of 30 ms", 25, (799, 711, 738)),
            TableOf("10-users", "10 users with pauses of 1 ms", 10, (4_128, 1_042, 1_633)),
            new("For hours", [Hours], Hours, "hours"),
        ],
        [
            CommandOf("25-users", "25", "30ms"),
            CommandOf("10-users", "10", "1ms"),
            new(
                "hours", ["load", .. Bare, "--scenario", "publish-20", "--users", "300", "--think", "5s", "--concurrency", "10", "--senders", "40"],
                Quick: ["--for", "6s", "--seed-rows", "1000", "--warmup", "50"],
                Scaled: ["--for", "2min", "--ramp", "5s"],
                Full: ["--for", "1h", "--ramp", "5s"]),
        ],
        [
            "There is no Neuron ESB here. The endpoint is the bare driver on RabbitMQ, in the mode dtc-off, with as many handlers as " +
            "users; for hours, with 10.",
            "Nothing is called without a bus. Straight means that the handler names the queue that it forwards to (pass); through a topic, that it publishes " +
            "to whoever has subscribed (pass-to-topic); by direct routing, that it looks into the document to find the queue (route).",
            "A user goes on when what was forwarded has arrived, for hours when the row is committed, and there is no reply. " +
            "Each message goes through a queue on disk in all three ways.",
            "Of 300 subscribers there are 20, which have queues and do not receive. The handler inserts a row, too, and each user pauses for 5 s. In full it " +
            "takes one hour, because what arrives in the 20 queues is kept for the account.",
        ]);

    private static PublishedTable TableOf(string command, string title, int users, (double Straight, double Topic, double Routing) published)
    {
        var topic = Row("through a topic", published.Topic, "pass-to-topic");
        return new PublishedTable(
            title, [Row("straight to the service", published.Straight, "pass"), topic, Row("by direct routing", published.Routing, "route")], topic, command);

        PublishedRow Row(string way, double rate, string scenario) =>
            new(way, rate, $"{Cell}/{scenario}") { Users = users };
    }

    private static PublishedCommand CommandOf(string name, string users, string pause) => new(
        name, ["load", .. Bare, .. Ways, "--users", users, "--think", pause, "--concurrency", users, "--senders", users],
        Quick: ["--for", "3s", "--seed-rows", "1000", "--warmup", "50"],
        Scaled: ["--for", "30s", "--ramp", "2s", "--seed-rows", "1000"],
        Full: ["--for", "1h", "--ramp", "5s", "--seed-rows", "1000"]);
}
