namespace Kit.Runner.Results.Published;

/// <summary>The benchmark that the kit's default run follows.</summary>
internal static class NServiceBus2014
{
    private static readonly PublishedRow FullDtc = new("full DTC", 31.2, "bare/postgresql/full-dtc/ado");

    public static PublishedExperiment Plan { get; } = new(
        "nservicebus-2014",
        "What do distributed transactions cost a handler that inserts one row, and what does a handler gain that gives them up?",
        "A benchmark of NServiceBus 5, published in 2014: NPoco and SQL Server on a virtual machine of a laptop with 2 cores. A million rows were seeded, " +
        "10,000 messages drained at a concurrency of 2 with two retries, five times in each mode",
        [
            new(
                Title: null,
                [
                    FullDtc,
                    new("DTC off", 51, "bare/postgresql/dtc-off/ado"),
                    new("scope off", 50, "bare/postgresql/scope-off/ado"),
                    new("transactions off", 97.4, "bare/postgresql/transactions-off/ado"),
                ],
                FullDtc, "drain"),
        ],
        [
            new(
                "drain", ["run", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,dtc-off,scope-off,transactions-off"],
                Quick: ["--quick"], Scaled: [], Full: []),
        ],
        [
            "The endpoint is the bare driver on PostgreSQL, and not NServiceBus on SQL Server: no framework's work is in the time of a message.",
            "full-dtc is two-phase commit between two databases of one server, without a coordinator such as MSDTC.",
            "In every mode the receive is a transaction in PostgreSQL, in transactions-off too. Its flush is part of each message, so there is less to gain.",
        ]);
}
