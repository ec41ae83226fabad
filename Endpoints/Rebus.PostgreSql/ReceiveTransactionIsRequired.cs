using Npgsql;
using Rebus.Messages;
using Rebus.Pipeline;
using Rebus.Pipeline.Receive;
using Rebus.Sagas;
using Rebus.Transport;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>
/// Fails a message if one of its handlers returned without taking the receive's transaction. On its own connection a handler would really be in
/// <c>scope-off</c>, and its writes stay, once for each attempt. Even handlers that write nothing must take it. Also fails a message whose
/// handler ended the transaction, or swallowed an error and left the transaction failed, and one whose work a deferred constraint refuses.
/// </summary>
[StepDocumentation("Fails a message whose handlers did not work in the transaction that received it, or left it so that it cannot commit.")]
internal sealed class ReceiveTransactionIsRequired : IIncomingStep
{
    public async Task Process(IncomingStepContext context, Func<Task> next)
    {
        var receive = (ReceiveTransaction)context.Load<ITransactionContext>().Items[ReceiveTransaction.Key];
        var handlers = context.Load<HandlerInvokers>();
        context.Save(new HandlerInvokers(handlers.Message, handlers.Select(handler => new TakingInvoker(handler, receive))));
        await next();

        // PostgreSQL answers the commit of a failed transaction with a roll-back instead of an error, and the driver does not check (npgsql issue
        // 6641): the message would be redelivered for ever. A savepoint fails there. It is a separate command, because the driver would send
        // SaveAsync's savepoint only with the next command, the commit. Rebus counts no failure of the commit either, and handles the message again for
        // ever. So deferred constraints are checked here, while a failure still counts as an attempt. After the savepoint: without one, PostgreSQL would
        // free the message at the error, and another worker could have it before the attempt is counted.
        try
        {
            await using var savepoint = receive.Transaction!.Connection!.CreateCommand();
            savepoint.Transaction = receive.Transaction;
            savepoint.CommandText = "SAVEPOINT handled; SET CONSTRAINTS ALL IMMEDIATE";
            await savepoint.ExecuteNonQueryAsync();
        }
        catch (PostgresException failure) when (failure.SqlState is PostgresErrorCodes.InFailedSqlTransaction)
        {
            throw new InvalidOperationException(
                $"A handler of {context.Load<Message>().Body.GetType().Name} left its transaction failed: a statement failed, and the handler continued. " +
                "In shared that transaction is the receive's, which can no longer commit. " +
                "Let the handler throw the error, or let it roll back to its own savepoint.",
                failure);
        }
    }

    /// <summary>Invokes a handler, and requires that this one takes the transaction.</summary>
    private sealed class TakingInvoker(HandlerInvoker handler, ReceiveTransaction receive) : HandlerInvoker
    {
        public override bool HasSaga => handler.HasSaga;

        public override Saga Saga => handler.Saga;

        public override object Handler => handler.Handler;

        public override bool WillBeInvoked => handler.WillBeInvoked;

        public override async Task Invoke()
        {
            if (!WillBeInvoked)
                return;

            receive.IsTaken = false;
            await handler.Invoke();
            if (!receive.IsTaken)
            {
                throw new InvalidOperationException(
                    $"{Handler.GetType().Name} did not take the receive's transaction (GetReceiveTransaction), although in shared its work belongs there.");
            }
        }

        public override void SetSagaData(ISagaData sagaData) => handler.SetSagaData(sagaData);

        public override ISagaData GetSagaData() => handler.GetSagaData();

        public override void SkipInvocation() => handler.SkipInvocation();
    }
}
