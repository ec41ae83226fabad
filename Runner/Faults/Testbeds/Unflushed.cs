namespace Kit.Runner.Faults.Testbeds;

/// <summary>Connections with <c>synchronous_commit = off</c>, as a role, a database or a connection string can set it.</summary>
[Flags]
internal enum Unflushed
{
    /// <summary>None.</summary>
    None = 0,

    /// <summary>Connections to the queues, in PostgreSQL.</summary>
    Queue = 1,

    /// <summary>Connections to the handlers' data.</summary>
    Data = 2,
}
