using Kit.Runner.Results;

namespace Kit.Tests.CommandLine;

public sealed class WrongArguments
{
    private const string Commands =
        "Commands: run, worker, list, choose, doctor, report, compare, faults, load, experiment, errors, branches, install, publish, pages.";

    [TestCase(
        "bogus",
        "unknown command 'bogus'. " + Commands)]
    [TestCase("", "no command. " + Commands)]
    [TestCase("--bogus", "unknown option '--bogus'. Options: --help, --version, --verbose.")]
    [TestCase("load --framework bare --ratee 300/s", "unknown option '--ratee'. Options: --framework, ")]
    [TestCase("list --transport postgresql --size 5120B", "unknown option '--size'. Options: --framework, ")]
    [TestCase("run --bogus", "unknown option '--bogus'. Options: --framework, ")]
    [TestCase("run --resume mine --messages 5", "--messages: the resumed run has its own; leave it out.")]
    [TestCase("run --resume mine --mode shared", "--mode: the resumed run has its own; leave it out.")]
    [TestCase("run --precision 3% --rounds 9", "--rounds: --precision decides how many rounds there are; leave out one of the two.")]
    [TestCase("run --max-rounds 9", "--max-rounds: applies only with --precision.")]
    [TestCase("run --precision some", "--precision: expected a percentage from 0 to below 100, such as 5 or 2.5, found 'some'.")]
    [TestCase("run --precision 3 --max-rounds 7", "--max-rounds: expected a whole number from 8 to 2147483647, found '7'.")]
    [TestCase("run --framework bare --transport postgresql --mode shared --precision 3", "--precision is about ratios between cells, and there is one cell.")]
    [TestCase("run --at-least 0", "--at-least: expected a time from 1s to 1h with its unit, such as 10s or 2min, found '0'.")]
    [TestCase("run --at-least 10", "--at-least: expected a time from 1s to 1h with its unit, such as 10s or 2min, found '10'.")]
    [TestCase("run --at-least 0s", "--at-least: expected a time from 1s to 1h with its unit, such as 10s or 2min, found '0s'.")]
    [TestCase("run --at-least=-1s", "--at-least: expected a time from 1s to 1h with its unit, such as 10s or 2min, found '-1s'.")]
    [TestCase("run --at-least -1s", "--at-least: expected a time from 1s to 1h with its unit, such as 10s or 2min, found '-1s'.")]
    [TestCase("run --at-least 61min", "--at-least: expected a time from 1s to 1h with its unit, such as 10s or 2min, found '61min'.")]
    [TestCase("run --at-least 10ms", "--at-least: expected a time from 1s to 1h with its unit, such as 10s or 2min, found '10ms'.")]
    [TestCase("run --at-least 10s --quick", "--quick: makes rounds short, and --at-least makes them long; leave out one of the two.")]
    [TestCase("run --resume mine --at-least 10s", "--at-least: the resumed run has its own; leave it out.")]
    [TestCase("run --retry-failed", "--retry-failed: applies only with --resume.")]
    [TestCase("report results/mine --check --html", "--check: writes nothing; leave out --html.")]
    [TestCase("report results/mine --html page", "--html: expected a file that ends with .html, found 'page'.")]
    [TestCase("report results/mine --replace", "--faults-from and --replace belong to --html.")]
    [TestCase("run extra", "unknown argument 'extra'.")]
    [TestCase("run --mode full", "--mode: unknown name 'full'. Names: full-dtc, dtc-off, scope-off, transactions-off, ")]
    [TestCase("run --mode dtc-off,full", "--mode: unknown name 'full'.")]
    [TestCase("choose", "Option '--rows' is required.")]
    [TestCase("choose --rows here --tolerates once", "--rows: unknown value 'here'. Values: same-database, same-server, another-server, elsewhere.")]
    [TestCase("choose --rows elsewhere --tolerates once --rate 500/s", "--rate: it is compared with the rates of a run; name one with --run.")]
    [TestCase(
        "choose --rows elsewhere --tolerates once --run results --rate fast",
        "--rate: expected messages a second from 1 to 100000, such as 500/s, found 'fast'.")]
    [TestCase("choose --rows elsewhere --tolerates all", "--tolerates: unknown value 'all'. Values: once, twice, twice-one-statement, loss.")]
    [TestCase("list --framework none", "--framework: unknown name 'none'. Names: bare, ")]
    [TestCase("list --transport none", "--transport: unknown name 'none'. Names: postgresql, ")]
    [TestCase("faults --batch 10", "--batch: batches apply only to a storm; add --storm.")]
    [TestCase("faults --receive ahead", "--receive: other ways to receive apply only to a storm; add --storm.")]
    [TestCase("load", "expected --rate, such as --rate 500/s, or --users, such as --users 25, or --find-rate.")]
    [TestCase("run --workers 0", "--workers: expected a whole number from 1 to 8, found '0'.")]
    [TestCase("run --wait 1min", "--wait: applies only with --workers.")]
    [TestCase("worker", "Option '--join' is required.")]
    [TestCase("worker --join Host=h --wait 1", "--wait: expected a time from 1s to 24h with its unit, such as 10s or 2min, found '1'.")]
    [TestCase("load --users 25 --rate 5", "--users: they wait, so they have no rate; leave out --rate.")]
    [TestCase("load --users 25 --find-rate", "--users: they wait, so they have no rate; leave out --find-rate.")]
    [TestCase("load --users 0", "--users: expected whole numbers from 1 to 10000, separated by commas, found '0'.")]
    [TestCase("load --users 25 --think 30", "--think: expected a time from 0s to 1h with its unit, such as 10s or 2min, found '30'.")]
    [TestCase("load --rate 5 --think 30ms", "--think: applies only with --users.")]
    [TestCase("load --rate 5 --timeout 5s", "--timeout: applies only with --users.")]
    [TestCase("load --users 5 --timeout 0s", "--timeout: expected a time from 1ms to 1h with its unit, such as 10s or 2min, found '0s'.")]
    [TestCase("load --rate 5 --size 500", "--size: unknown name '500B'. Names: id-alone, 512B, 1024B, 5120B, 51200B, all.")]
    [TestCase(
        "load --rate 5 --workers 2",
        "--workers: a load has its handlers on this machine, because it measures latency with the clock of one machine. " +
        "'worker --join' is for 'run'; see docs/reference/conditions.md.")]
    [TestCase(
        "load --rate 5 --postgresql Host=db1;Password=hush",
        "--postgresql: a load runs on the kit's own servers, because it measures latency with the clock of one machine. " +
        "Named servers are for 'run'; see docs/guides/load.md.")]
    [TestCase("load --rate 5 --rounds 3", "--rounds: a load has no rounds: --for says how long it sends. Rounds are for 'run'; see docs/guides/load.md.")]
    [TestCase(
        "load --rate 5 --resume mine",
        "--resume: a load that was stopped keeps what it measured and cannot go on. A 'run' can; see docs/guides/load.md.")]
    [TestCase("load --rate 5 --ramp 5s", "--ramp: applies only with --users.")]
    [TestCase("load --users 25 --ramp 30s", "--ramp: expected a time shorter than the load, which takes 30.0 s.")]
    [TestCase(
        "load --rate 5 --held-snapshot 60s..30s",
        "--held-snapshot: expected two times from 0s to 24h with their units, the earlier first, such as 30s..60s, found '60s..30s'.")]
    [TestCase("load --rate 5 --held-snapshot 10s..31s", "--held-snapshot: expected a part of the load, which takes 30.0 s.")]
    [TestCase("load --find-rate --held-snapshot 1s..2s", "--held-snapshot: applies to one rate or to users, and not with --find-rate.")]
    [TestCase("experiment", "expected the name of an experiment (nservicebus-2014, ")]
    [TestCase("experiment bogus", "unknown experiment 'bogus'. Experiments: nservicebus-2014, neuron-pooling-2017")]
    [TestCase("experiment --list nservicebus-2014", "--list: shows every experiment and runs none; leave out the rest.")]
    [TestCase("experiment nservicebus-2014 --from x --quick", "--from: runs nothing; leave out --quick, --full and --out.")]
    [TestCase("experiment wso2-round-3-2008 --quick --full", "--quick: makes it short, and --full makes it long; leave out one of the two.")]
    [TestCase("load --rate fast", "--rate: expected messages a second from 1 to 100000, such as 500/s, found 'fast'.")]
    [TestCase("load --rate 0/s", "--rate: expected messages a second from 1 to 100000, such as 500/s, found '0/s'.")]
    [TestCase("load --rate 500/min", "--rate: expected messages a second from 1 to 100000, such as 500/s, found '500/min'.")]
    [TestCase("load --rate 5 --for 10", "--for: expected a time from 1s to 24h with its unit, such as 10s or 2min, found '10'.")]
    [TestCase("load --rate 5 --for 500ms", "--for: expected a time from 1s to 24h with its unit, such as 10s or 2min, found '500ms'.")]
    [TestCase("load --rate 5 --for -5s", "--for: expected a time from 1s to 24h with its unit, such as 10s or 2min, found '-5s'.")]
    [TestCase("load --rate 5 --p99 1s", "--p99: applies only with --find-rate.")]
    [TestCase("load --rate 5 --at-percent 50", "--at-percent: applies only with --find-rate.")]
    [TestCase("load --find-rate --at-percent 50,100", "--at-percent: expected whole numbers from 1 to 99, separated by commas, found '100'.")]
    [TestCase("load --rate 5 --warmup 0", "--warmup: expected a whole number from 1 to 2147483647, found '0'.")]
    [TestCase("load --rate 5 --condition all", "unknown option '--condition'.")]
    [TestCase("list --access none", "--access: unknown name 'none'. Names: ado, dapper, ef, npoco, all.")]
    [TestCase("list --access ,", "--access: no name. Names: ado, dapper, ef, npoco, all.")]
    [TestCase("run --messages 0", "--messages: expected a whole number from 1 to 2147483647, found '0'.")]
    [TestCase("run --rounds -1", "--rounds: expected a whole number from 1 to 2147483647, found '-1'.")]
    [TestCase("run --concurrency two", "--concurrency: expected whole numbers from 1 to 400, separated by commas, found 'two'.")]
    [TestCase("run --concurrency 2,401", "--concurrency: expected whole numbers from 1 to 400, separated by commas, found '401'.")]
    [TestCase("run --concurrency 0", "--concurrency: expected whole numbers from 1 to 400, separated by commas, found '0'.")]
    [TestCase("run --concurrency ,", "--concurrency: no number. Expected whole numbers from 1 to 400, separated by commas.")]
    [TestCase("run --pool 0", "--pool: expected whole numbers from 1 to 1000, separated by commas, found '0'.")]
    [TestCase("run --pool 20,many", "--pool: expected whole numbers from 1 to 1000, separated by commas, found 'many'.")]
    [TestCase("run --pool 1.5", "--pool: expected whole numbers from 1 to 1000, separated by commas, found '1.5'.")]
    [TestCase("run --resume mine --pool 20", "--pool: the resumed run has its own; leave it out.")]
    [TestCase("load --rate 5 --concurrency 401", "--concurrency: expected whole numbers from 1 to 400, separated by commas, found '401'.")]
    [TestCase("run --warmup 1.5", "--warmup: expected a whole number from 0 to 2147483647, found '1.5'.")]
    [TestCase("run --seed-rows -5", "--seed-rows: expected a whole number from 0 to 2147483647, found '-5'.")]
    [TestCase("run --order-seed 99999999999", "--order-seed: expected a whole number from 0 to 2147483647, found '99999999999'.")]
    [TestCase("run --queue-type lazy", "--queue-type: unknown name 'lazy'. Names: classic, quorum.")]
    [TestCase("compare", "expected two builds (--build twice) or two folders of results, found 0 and 0.")]
    [TestCase("compare one", "expected two builds (--build twice) or two folders of results, found 0 and 1.")]
    [TestCase("compare --build here", "expected two builds (--build twice) or two folders of results, found 1 and 0.")]
    [TestCase("compare one two --build here", "expected two builds (--build twice) or two folders of results, found 1 and 2.")]
    [TestCase("compare one two three", "unknown argument 'three'.")]
    [TestCase(
        "compare --build none --build none",
        "--build: expected a folder with a built Kit.Runner, found none in 'none'. Build that checkout ")]
    [TestCase("compare none nowhere", "expected two runs or two folders of experiments, found neither in 'none' and neither in 'nowhere'.")]
    [TestCase("faults --fault bogus", "--fault: unknown name 'bogus'. Names: throw-before-insert, ")]
    [TestCase("faults --fault ,", "--fault: no name. Names: throw-before-insert, ")]
    [TestCase("faults --mode full", "--mode: unknown name 'full'.")]
    [TestCase("faults --kills 3", "--kills: applies only to a storm; add --storm.")]
    [TestCase("faults --storm --kills -1", "--kills: expected a whole number from 0 to 2147483647, found '-1'.")]
    [TestCase("faults --storm --seed x", "--seed: expected a whole number from 0 to 2147483647, found 'x'.")]
    [TestCase("faults --storm --fault poison", "--fault: a storm has its own faults; leave out --storm or --fault.")]
    [TestCase(
        "faults --scenario upsert",
        "--scenario: 'upsert' cannot be accounted for under faults: its row does not name the attempt that inserted it. Names: insert-and-send, pass, ")]
    [TestCase(
        "faults --scenario pass,insert",
        "--scenario: 'insert' cannot be accounted for under faults: it sends nothing, and an experiment recognizes the end of a handling by its message.")]
    [TestCase("faults --scenario bogus", "--scenario: unknown name 'bogus'. Names: insert-and-send, pass, ")]
    [TestCase("faults --scenario ,", "--scenario: no name. Names: insert-and-send, pass, ")]
    [TestCase("faults --scenario pass --storm", "--scenario: applies only to single faults; leave out --storm and --every-point.")]
    [TestCase("faults --scenario pass --every-point", "--scenario: applies only to single faults; leave out --storm and --every-point.")]
    [TestCase(
        "faults --scenario pass --subscribers 3",
        "--subscribers: applies to the experiments' own handler; leave out --scenario or --subscribers.")]
    [TestCase(
        "faults --scenario pass --fault kill-before-commit,poison",
        "--fault: 'poison' is not injected into the handlers of scenarios. With --scenario: kill-before-commit, kill-before-ack, ")]
    [TestCase("faults --every-point --storm", "--every-point: a storm has random moments; leave out --storm or --every-point.")]
    [TestCase("faults --every-point --fault poison", "--fault: the points of a handling are not among the faults; leave out --fault or --every-point.")]
    [TestCase("faults --every-point --kills 3", "--kills: applies only to a storm; add --storm.")]
    [TestCase("faults --only bare.postgresql.outbox@7:b", "--only: names points; add --every-point.")]
    [TestCase("faults --every-point --only ,", "--only: no token. Expected cell@point:way, as in bare.postgresql.outbox@7:b.")]
    [TestCase("faults --every-point --only", "Required argument missing for option: '--only'.")]
    [TestCase(
        "faults --every-point --only outbox@7",
        "--only: 'outbox@7' is not a token. Expected cell@point:way, as in bare.postgresql.outbox@7:b; the ways are a, b, c, d, e, f, g.")]
    [TestCase("faults --ways e", "--ways: names ways to meet points; add --every-point.")]
    [TestCase("faults --every-point --ways h", "--ways: unknown name 'h'. Names: a, b, c, d, e, f, g.")]
    [TestCase("faults --every-point --ways ,", "--ways: no name. Names: a, b, c, d, e, f, g.")]
    [TestCase(
        "faults --every-point --ways e --only bare.postgresql.outbox@7:b",
        "--ways: each token names its way; leave out --ways or --only.")]
    [TestCase("faults --every-point --only bare.postgresql.inbox@7:b", "--only: 'bare.postgresql.inbox@7:b': there is no cell 'bare.postgresql.inbox'.")]
    [TestCase(
        "faults --every-point --mode shared --only bare.postgresql.outbox@7:b",
        "--only: 'bare.postgresql.outbox@7:b' is of another cell than --mode names. Leave out --mode, or the token.")]
    [TestCase("errors", "no command. Commands: list, return.")]
    [TestCase("errors bogus", "unknown command 'bogus'. Commands: list, return.")]
    [TestCase("errors list --queue orders", "expected exactly one server, --postgresql or --rabbitmq.")]
    [TestCase(
        "errors list --queue orders --postgresql Host=h;Database=d --rabbitmq amqp://h",
        "expected exactly one server, --postgresql or --rabbitmq.")]
    [TestCase(
        "errors list --queue orders --postgresql Host=h",
        "--postgresql: expected the queue's database in the connection string (Database=…).")]
    [TestCase("errors list --rabbitmq amqp://h", "--queue: missing; give the endpoint's name.")]
    [TestCase("errors list --server h", "unknown option '--server'. Options: --postgresql, --rabbitmq, --queue, --json")]
    [TestCase("errors return --queue orders --rabbitmq amqp://h", "expected exactly one of --message and --all.")]
    [TestCase(
        "errors return --queue orders --rabbitmq amqp://h --all --message 0199f0c2-0000-7000-8000-000000000001",
        "expected exactly one of --message and --all.")]
    [TestCase(
        "errors return --queue orders --rabbitmq amqp://h --message 7",
        "--message: expected a message id as 'errors list' shows it, found '7'.")]
    [TestCase("branches", "--postgresql: missing; give the server's connection string.")]
    [TestCase("branches bogus", "unknown command 'bogus'. Commands: end.")]
    [TestCase("branches end --postgresql Host=h", "Required argument 'id' missing for command: 'end'.")]
    [TestCase("branches end x", "--postgresql: missing; give the server's connection string.")]
    [TestCase("branches end x --postgresql Host=h --commit --rollback", "--commit, --rollback: expected at most one of them.")]
    [TestCase("report", "Required argument 'folder' missing for command: 'report'.")]
    public async Task Are_named_with_what_would_be_right(string arguments, string error)
    {
        var result = await RunnerInProcess.RunAsync(arguments.Split(' ', StringSplitOptions.RemoveEmptyEntries));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
            Assert.That(result.Errors, Does.StartWith($"error: {error}").And.Contain("--help"));
            Assert.That(result.Output, Is.Empty);
        }
    }

    [TestCase("--mode", "--mode: no name.")]
    [TestCase("--out", "--out: expected a folder, found nothing.")]
    [TestCase("--postgresql", "--postgresql: expected a connection string, found nothing.")]
    [TestCase("--rabbitmq", "--rabbitmq: expected a uri, found nothing.")]
    public async Task Empty_texts_are_refused(string option, string error)
    {
        var result = await RunnerInProcess.RunAsync("run", option, "");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
            Assert.That(result.Errors, Does.StartWith($"error: {error}"));
        }
    }

    [TestCase("run --out none --workers 1 --transport postgresql", "--workers: the kit's own PostgreSQL server is reached from this machine only.")]
    [TestCase(
        "run --out none --workers 2 --transport postgresql --postgresql Host=h",
        "--workers: no cell has a process for each of 2 workers; the most is 1.")]
    [TestCase(
        "load --out none --framework bare --mode shared --rate 5/s --size 5120B --scenario publish-5",
        "There is no such cell: the given names cannot be combined. Scenarios and conditions need --access ado, and conditions need --scenario insert. " +
        "A size needs --scenario insert, insert-and-send, or one that inserts no row")]
    public async Task What_does_not_fit_together_is_refused(string arguments, string error)
    {
        var result = await RunnerInProcess.RunAsync(arguments.Split(' '));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.StartWith($"error: {error}"));
    }

    [Test]
    public async Task Every_one_of_them_is_named()
    {
        var result = await RunnerInProcess.RunAsync("run", "--bogus", "--messages", "0", "--mode", "full");

        Assert.That(result.Errors, Does.Contain("'--bogus'").And.Contain("found '0'").And.Contain("'full'"));
    }

    [Test]
    public async Task A_connection_string_without_its_option_does_not_show_its_password()
    {
        var result = await RunnerInProcess.RunAsync("run", "Host=db1;Password=hush");

        Assert.That(result.Errors, Does.Contain("unknown argument 'Host=db1;Password=***'").And.Not.Contain("hush"));
    }
}
