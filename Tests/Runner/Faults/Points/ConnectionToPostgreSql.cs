using Kit.Runner.Wire;
using static Kit.Tests.Faults.Points.PostgreSqlFrames;

namespace Kit.Tests.Faults.Points;

/// <summary>What is read of a connection to PostgreSQL, from the bytes of both sides.</summary>
public sealed class ConnectionToPostgreSql
{
    private PostgreSqlWire wire = null!;
    private List<WireRequest> asked = [];

    [SetUp]
    public void Connect()
    {
        wire = new PostgreSqlWire();
        asked = [];
        Client(Startup());
        Server(Welcome());
        asked.Clear();
    }

    [Test]
    public void Starts_with_one_request_and_is_refused_encryption_by_the_proxy()
    {
        wire = new PostgreSqlWire();

        var units = wire.FromClient([.. SslRequest(), .. GssEncRequest(), .. Startup()]);

        Assert.That(units.Select(unit => unit.AnsweredWith is [(byte)'N']), Is.EqualTo(new[] { true, true, false }));
        Assert.That(units.Select(unit => unit.Bytes.Length > 0), Is.EqualTo(new[] { false, false, true }));
        Assert.That(units[2].Request!.Text, Is.EqualTo("connect"));
        units[2].Sent!();
        Assert.That(Server(Welcome()), Is.EqualTo(new[] { "connect → ready" }));
    }

    [Test]
    public void To_cancel_a_command_has_no_answer_and_no_proof()
    {
        wire = new PostgreSqlWire();
        Client(CancelRequest());

        Assert.That(asked.Single(), Has.Property("Text").EqualTo("cancel request").And.Property("HasAnswer").False.And.Property("CanBeProved").False);
    }

    [Test]
    public void Encrypted_without_a_question_passes_unread()
    {
        wire = new PostgreSqlWire();
        byte[] hello = [0x16, 3, 1, 0, 200, 1];

        Assert.That(wire.FromClient(hello).Single(), Has.Property("Request").Null.And.Property("Bytes").EqualTo(hello));
        Assert.That(wire.FromServer(hello).Single().Bytes, Is.EqualTo(hello));
    }

    [Test]
    public void In_single_bytes_has_the_same_requests_as_at_once()
    {
        byte[] both = [.. Query("BEGIN"), .. Statement("SELECT 1"), .. Sync()];
        byte[] answers = [.. Complete("BEGIN"), .. Ready('T'), .. Complete("SELECT 1"), .. Ready('T')];
        Client(both);
        var atOnce = (Texts(), Server(answers));
        Connect();
        foreach (var one in both)
            Client([one]);

        Assert.That(Texts(), Is.EqualTo(atOnce.Item1).And.EqualTo(new[] { "BEGIN", "SELECT 1" }));
        Assert.That(answers.SelectMany(one => Server([one])).ToArray(), Is.EqualTo(atOnce.Item2).And.EqualTo(new[] { "BEGIN → BEGIN", "SELECT 1 → SELECT 1" }));
    }

    [Test]
    public void Forwards_every_byte_once()
    {
        byte[] sent =
        [
            .. Query("BEGIN"), .. Statement("SELECT 1"), .. Flush(), .. Statement("SELECT 2"), .. Sync(), .. Query("COPY t FROM STDIN"), .. Data("1"),
            .. Data("2"), .. CopyDone(), .. Terminate(),
        ];

        Assert.That(wire.FromClient(sent).SelectMany(unit => unit.Bytes), Is.EqualTo(sent));
    }

    [Test]
    public void Names_a_statement_that_was_prepared_before_by_its_text()
    {
        Client([.. Parse("UPDATE t SET a = $1", "_p1"), .. Describe(), .. Sync()]);
        Server(Ready());
        Client([.. Bind("_p1"), .. Execute(), .. Sync()]);

        Assert.That(Texts(), Is.EqualTo(new[] { "prepare UPDATE t SET a = $1", "UPDATE t SET a = $1" }));
    }

    [Test]
    public void Has_a_request_for_each_statement_of_a_batch()
    {
        Client([.. Statement("COMMIT"), .. Statement("BEGIN"), .. Statement("DELETE"), .. Sync()]);

        Assert.That(Texts(), Is.EqualTo(new[] { "COMMIT", "BEGIN", "DELETE" }));
        Assert.That(Server(Complete("COMMIT")), Is.EqualTo(new[] { "COMMIT → COMMIT" }));
        Assert.That(Server(Complete("BEGIN")), Is.EqualTo(new[] { "BEGIN → BEGIN" }));
        Assert.That(Server(Complete("DELETE 1")), Is.Empty, "the last answer is whole with ReadyForQuery");
        Assert.That(Server(Ready('T')), Is.EqualTo(new[] { "DELETE → DELETE 1" }));
        Assert.That(asked.Select(request => request.Transaction), Is.EqualTo(new[] { 1, 2, 2 }));
        Assert.That(wire.OpenTransaction, Is.EqualTo(asked[2].Transaction));
    }

    [Test]
    public void Skips_the_rest_of_a_batch_after_an_error()
    {
        Client([.. Statement("INSERT"), .. Statement("COMMIT"), .. Sync()]);

        Assert.That(Server(Error("23505")), Is.Empty);
        Assert.That(Server(Ready()), Is.EqualTo(new[] { "INSERT → error 23505", "COMMIT → skipped" }));
        Assert.That(wire.IsSettled);
    }

    [Test]
    public void Can_make_the_server_answer_half_a_batch()
    {
        Client(Statement("COMMIT"));

        Assert.That(wire.Probe(), Is.EqualTo(Flush()));
        Server(Complete("COMMIT"));
        Assert.That(wire.Probe(), Is.Empty);
        Assert.That(wire.IsSettled);
    }

    [Test]
    public void Takes_a_sync_that_comes_late_for_the_end_of_its_statement()
    {
        Client(Statement("SELECT 1"));
        Client(Sync());

        Assert.That(Server(Complete("SELECT 1")), Is.Empty);
        Assert.That(Server(Ready()), Is.EqualTo(new[] { "SELECT 1 → SELECT 1" }));
    }

    [Test]
    public void Completes_nothing_with_a_notice()
    {
        Client(Query("SELECT 1"));

        Assert.That(Server([.. Notice(), .. Complete("SELECT 1"), .. Notice()]), Is.Empty);
        Assert.That(Server(Ready()), Is.EqualTo(new[] { "SELECT 1 → SELECT 1" }));
    }

    [Test]
    public void Copies_in_two_requests()
    {
        Client(Query("COPY t FROM STDIN"));
        Assert.That(Server(CopyIn()), Is.EqualTo(new[] { "COPY t FROM STDIN → copy in" }));

        Client([.. Data("1"), .. Data("2"), .. CopyDone()]);

        Assert.That(Texts()[1..], Is.EqualTo(new[] { "data of COPY t FROM STDIN" }));
        Assert.That(Server([.. Complete("COPY 2"), .. Ready()]), Is.EqualTo(new[] { "data of COPY t FROM STDIN → COPY 2" }));
    }

    /// <summary>One client sends the rest of its data after the error, which the server drops, and another sends nothing more of them.</summary>
    [TestCase(false)]
    [TestCase(true)]
    public void Goes_on_after_a_refused_copy(bool endsItsData)
    {
        Client(Query("COPY t FROM STDIN"));
        Server(CopyIn());
        Client(Data("1"));
        Assert.That(Server([.. Error("22P04"), .. Ready()]), Is.EqualTo(new[] { "data of COPY t FROM STDIN → error 22P04" }));
        Client([.. Data("2"), .. endsItsData ? CopyDone() : []]);
        Client(Query("SELECT 1"));
        Assert.That(Server([.. Complete("SELECT 1"), .. Ready()]), Is.EqualTo(new[] { "SELECT 1 → SELECT 1" }));

        Client(Query("COPY u FROM STDIN"));
        Server(CopyIn());
        Client([.. Data("1"), .. CopyDone()]);
        Assert.That(Server([.. Complete("COPY 1"), .. Ready()]), Is.EqualTo(new[] { "data of COPY u FROM STDIN → COPY 1" }));
        Assert.That(wire.IsSettled);
        Assert.That(
            Texts(), Is.EqualTo(new[] { "COPY t FROM STDIN", "data of COPY t FROM STDIN", "SELECT 1", "COPY u FROM STDIN", "data of COPY u FROM STDIN" }));
    }

    [Test]
    public void Takes_the_data_of_a_copy_that_was_refused_before_for_no_request()
    {
        Client(Query("COPY t FROM STDIN"));
        Server([.. CopyIn(), .. Error("57014"), .. Ready()]);
        Client([.. Data("1"), .. CopyDone(), .. Query("SELECT 1")]);

        Assert.That(Server([.. Complete("SELECT 1"), .. Ready()]), Is.EqualTo(new[] { "SELECT 1 → SELECT 1" }));
        Assert.That(wire.IsSettled);
    }

    [Test]
    public void Streams_changes_after_one_request()
    {
        Client(Query("START_REPLICATION SLOT s LOGICAL 0/0"));
        Assert.That(Server(CopyBoth()), Is.EqualTo(new[] { "START_REPLICATION SLOT s LOGICAL 0/0 → copy both" }));
        Server(Data("a change"));
        Client(Data("how far it has come"));

        Assert.That(asked, Has.Count.EqualTo(1));
        Assert.That(wire.IsSettled);
    }

    [Test]
    public void Does_not_take_the_close_of_a_statement_for_its_preparation()
    {
        Client([.. Parse("SELECT 1", "_p1"), .. Sync()]);
        Server(Ready());
        Client([.. Close("_p1"), .. Sync()]);

        Assert.That(Texts(), Is.EqualTo(new[] { "prepare SELECT 1", "describe or close" }));
    }

    [Test]
    public void Keeps_a_transaction_open_after_a_roll_back_to_a_savepoint()
    {
        Client(Query("BEGIN"));
        Server([.. Complete("BEGIN"), .. Ready('T')]);
        Client(Query("ROLLBACK TO SAVEPOINT s"));
        Server([.. Complete("ROLLBACK"), .. Ready('T')]);
        Client(Query("ROLLBACK"));
        Server([.. Complete("ROLLBACK"), .. Ready()]);

        Assert.That(asked.Select(request => request.Transaction).Distinct().Count(), Is.EqualTo(1));
        Assert.That(wire.OpenTransaction, Is.Null);
    }

    [Test]
    public void Sees_a_transaction_end_in_a_text_that_begins_the_next_one()
    {
        Client(Query("BEGIN"));
        Server([.. Complete("BEGIN"), .. Ready('T')]);
        Client(Query("DELETE FROM job; COMMIT; BEGIN"));
        Server([.. Complete("DELETE 1"), .. Complete("COMMIT"), .. Complete("BEGIN"), .. Ready('T')]);
        Client(Query("ROLLBACK; SET search_path TO app; BEGIN"));
        Server([.. Complete("ROLLBACK"), .. Complete("SET"), .. Complete("BEGIN"), .. Ready('T')]);
        Client(Query("SELECT 1"));

        Assert.That(asked.Select(request => request.HasEndedTransaction), Is.EqualTo(new[] { false, true, true, false }));
        Assert.That(asked[1].Transaction, Is.EqualTo(asked[0].Transaction));
        Assert.That(asked[2].Transaction, Is.Not.EqualTo(asked[1].Transaction));
        Assert.That(asked[3].Transaction, Is.EqualTo(wire.OpenTransaction).And.Not.EqualTo(asked[2].Transaction));
    }

    [Test]
    public void Keeps_a_failed_transaction_open()
    {
        Client(Query("BEGIN"));
        Server([.. Complete("BEGIN"), .. Ready('T')]);
        Client(Query("SELECT 1 / 0"));
        Server([.. Error("22012"), .. Ready('E')]);

        Assert.That(wire.OpenTransaction, Is.EqualTo(asked[0].Transaction));
    }

    [Test]
    public void Gives_each_autocommit_a_transaction_of_its_own()
    {
        Client([.. Statement("INSERT 1"), .. Sync()]);
        Server([.. Complete("INSERT 0 1"), .. Ready()]);
        Client([.. Statement("INSERT 2"), .. Sync()]);
        Server([.. Complete("INSERT 0 1"), .. Ready()]);

        Assert.That(asked[1].Transaction, Is.Not.EqualTo(asked[0].Transaction));
    }

    private string[] Texts() => [.. asked.Select(request => request.Text)];

    private void Client(byte[] bytes)
    {
        foreach (var unit in wire.FromClient(bytes))
        {
            unit.Sent?.Invoke();
            if (unit.Request is { } request)
                asked.Add(request);
        }
    }

    private string[] Server(byte[] bytes) =>
        [.. wire.FromServer(bytes).SelectMany(frame => frame.Completed).Select(request => $"{request.Text} → {request.Outcome}")];
}
