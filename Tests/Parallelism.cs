// Fixtures that wait, for a pause of the endpoint, a server's answer or a process to start, are marked Parallelizable and share the machine.
// One that counts what is on a server has a server of its own. The others have the machine to themselves: they measure it, or take no time.
[assembly: LevelOfParallelism(4)]
