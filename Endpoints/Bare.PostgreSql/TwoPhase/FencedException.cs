namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Recovery found a branch of this worker before the worker had decided it, and ruled the decision out. The receive was rolled back, the failure is not the
/// message's, and the worker goes on as another one.
/// </summary>
internal sealed class FencedException(Exception cause) : InvalidOperationException(
    "Recovery, most likely another process's, fenced this worker while it was slow to decide. Its message goes back to the queue without an attempt.", cause);
