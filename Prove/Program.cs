using Kit.Prove.Commands;
using Kit.Runner.Terminal;

return await Invocation.RunAsync(Verbs.Root(), Verbs.Complete(args), Verbs.TypedAfter);
