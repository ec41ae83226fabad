namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>How the broker keeps a durable queue. It cannot be changed once the queue is there.</summary>
public enum QueueType
{
    /// <summary>One node's own file.</summary>
    Classic,

    /// <summary>A log that a majority of the cluster's nodes has written (Raft).</summary>
    Quorum,
}
