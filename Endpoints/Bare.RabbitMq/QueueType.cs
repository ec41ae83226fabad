namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>How the broker stores a durable queue. The type of an existing queue cannot be changed.</summary>
public enum QueueType
{
    /// <summary>Stored by one node.</summary>
    Classic,

    /// <summary>A replicated log, written by a majority of the cluster's nodes (Raft).</summary>
    Quorum,
}
