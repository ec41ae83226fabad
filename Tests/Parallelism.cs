// Fixtures that mostly wait, for a pause of the endpoint or a server's answer, are marked Parallelizable and share the machine.
// The others have it to themselves: they measure it, or count what is on a server.
[assembly: LevelOfParallelism(4)]
