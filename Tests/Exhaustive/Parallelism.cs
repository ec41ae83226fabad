// As in the other tests: fixtures that wait share the machine.
[assembly: LevelOfParallelism(4)]
