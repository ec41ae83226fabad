namespace Kit.Runner.Results.Published;

/// <summary>How much passes a bus, by what it does, by the size of messages and by the number of users.</summary>
internal static class Wso2Round3In2008
{
    private static readonly IReadOnlyList<string> Bare = ["--framework", "bare", "--transport", "rabbitmq", "--mode", "scope-off", "--concurrency", "20"];

    private static readonly int[] Users = [20, 40, 80, 160, 320, 640, 1_280, 2_560];

    private static readonly (string Scenario, string Title)[] Works =
        [("pass", "Passed on"), ("route", "Routed by content"), ("transform-once", "Transformed")];

    private static readonly (string Size, string Title)[] Sizes = [("512B", "0.5 KB"), ("1024B", "1 KB"), ("5120B", "5 KB")];

    public static PublishedExperiment Plan { get; } = new(
        "wso2-round-3-2008",
        "How many messages a second pass a bus, and how many fail, when more and more users call a service through it?",
        "The third round of a comparison of service buses by WSO2, published in 2008: messages of 0.5, 1 and 5 KB were passed on, routed by their content or " +
        "transformed, for 20 to 2,560 users, to a service that takes 10 ms. One product failed 1 % throughout, and two broke above 80 users",
        [.. from work in Works from size in Sizes select TableOf(work, size)],
        [
            new(
                "users", ["load", .. Bare, "--think", "10ms", "--timeout", "30s", "--senders", "200"],
                Quick: ["--scenario", "pass,route,transform-once", "--size", "512B", "--users", "20,80", "--for", "2s", "--warmup", "50"],
                Scaled:
                [
                    "--scenario", "pass,route,transform-once", "--size", "512B,1024B,5120B", "--users", "20,80,320,1280,2560", "--for", "5s", "--ramp", "1s",
                    "--seed-rows", "0",
                ],
                Full:
                [
                    "--scenario", "pass,route,transform-once", "--size", "512B,1024B,5120B", "--users", string.Join(',', Users), "--for", "60s", "--ramp", "5s",
                    "--seed-rows", "0",
                ]),
        ],
        [
            "There is no service behind the bus. A user pauses for 10 ms when the forwarded message has arrived: that is the time of the service. The reply " +
            "does not go back through the bus.",
            "The endpoint is the bare driver on RabbitMQ, in the mode scope-off, with 20 handlers. Messages are kept in a queue, and their senders wait for " +
            "the broker's confirmation. The buses of the comparison passed calls on.",
            "Users wait up to 30 s. A call over HTTP fails sooner when a bus is busy: here more users mean longer waits before they mean failures.",
            "The figures of the products are not repeated here: only which of them failed is known.",
        ]);

    private static PublishedTable TableOf((string Scenario, string Title) work, (string Size, string Title) size)
    {
        IReadOnlyList<PublishedRow> rows =
            [.. Users.Select(users => new PublishedRow(
                $"{Figures.Count(users)} users", null, $"bare/rabbitmq/scope-off/ado/{work.Scenario}/{size.Size}") { Users = users })];
        return new PublishedTable($"{work.Title}, {size.Title}", rows, rows[0], "users");
    }
}
