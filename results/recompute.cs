// Computes rates, times, intervals, ratios and costs of a stored run again, from moments.bin and rounds.jsonl (and from run.json which cell is the default),
// and compares them with rounds.csv and tables.md:
//
//     dotnet run results/recompute.cs -- results/<folder>
//
// It uses nothing of the kit. results/README.md explains the figures. The words faster, slower and no clear difference are not computed again, the ratios
// and intervals that they stand for are. Neither are the 2nd phase, batches, service times, round trips, grids and efficiency. Which cell of a group is the
// strictest is read from the summary. That a round is valid is read, and that its line agrees: each message once, handled, and with a moment.
// Exit code 0: all equal; 1: something differs; 2: the folder cannot be read, or holds no run.
//
// moments.bin is a sequence of blocks, one for each line of rounds.jsonl, in the same order. Numbers are little-endian. A block:
//
//     offset  bytes  content
//     0       4      KMOM
//     4       1      version of the block: 1
//     5       4      b, length of the body
//     9       b      the body
//     9 + b   8      the first 8 bytes of the SHA-256 of everything before them in the block
//
// The body:
//
//     0       2      n, length of the cell's name
//     2       n      the cell's name in UTF-8, its values with / between them: bare/postgresql/full-dtc/ado
//     2 + n   4      number of the round, from 1
//     6 + n   4      number of the attempt, from 1
//     10 + n  4      c, how many moments there are
//     14 + n  1      p, bytes of a difference: 0 to 8
//     15 + n         c * p bytes up to the end of the body, compressed with Brotli (RFC 7932)
//
// A moment is a number of microseconds after firstHandlerEntryUtc of the round. Moments are ascending. The first is stored as it is, each of the others as
// its difference from the one before. The lowest bytes of all c differences come first, then all second bytes, and so on.
#:property PublishAot=false
#:property ManagePackageVersionsCentrally=false

using System.Buffers.Binary;
using System.Globalization;
using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
if (args is not [var folder])
{
    Console.Error.WriteLine("Expected the folder of one run: dotnet run results/recompute.cs -- results/<folder>");
    return 2;
}

if (!File.Exists(Path.Combine(folder, "rounds.jsonl")) && File.Exists(Path.Combine(folder, "faults.jsonl")))
{
    Console.Error.WriteLine($"{folder} holds faults, and no run; there is nothing to recompute.");
    return 2;
}

try
{
    var run = new StoredRun(folder);
    var differences = new List<string>();
    foreach (var (table, count, found) in Compared.Csv(run, folder).Concat(Compared.Tables(run, folder)))
    {
        Console.WriteLine($"{table}: {count} figures, {(found.Count == 0 ? "equal" : $"{found.Count} differ")}");
        differences.AddRange(found.Select(difference => $"{table}, {difference}"));
    }

    foreach (var difference in differences)
        Console.WriteLine($"DIFFERS: {difference}");
    Console.WriteLine(differences.Count == 0 ? "all equal" : $"{differences.Count} figures differ");
    return differences.Count == 0 ? 0 : 1;
}
catch (Exception failure) when (failure is IOException or InvalidDataException or JsonException or KeyNotFoundException or ArgumentException
    or IndexOutOfRangeException)
{
    Console.Error.WriteLine($"Cannot read {folder}: {failure.Message}");
    return 2;
}

/// <summary>One attempt at a round: what its line says, and the moments of its commits in microseconds.</summary>
sealed class Round(JsonElement line, long[] moments)
{
    const long Second = 1_000_000;
    const double QuietCpu = 0.08;
    const double QuietDisk = 1.5;

    public IReadOnlyList<(string Axis, string Value)> Cell { get; } =
        [.. line.GetProperty("cell").EnumerateObject().Select(axis => (axis.Name, axis.Value.GetString()!))];
    public int Number => line.GetProperty("round").GetInt32();
    public int Attempt => line.GetProperty("attempt").GetInt32();
    public bool IsValid => line.GetProperty("outcome").GetProperty("verdict").GetString() == "valid";
    public bool IsWhole => line.GetProperty("messages").GetInt32() is var messages && messages == moments.Length
        && line.GetProperty("accounts").EnumerateObject().All(kind => kind.Value.GetInt32() == (kind.Name == "once" ? messages : 0))
        && (!line.TryGetProperty("handled", out var handled) || handled.GetInt32() == messages);
    public string Clock => line.GetProperty("clock").GetString()!;
    public double? Cost(string name) => line.GetProperty("costs").TryGetProperty(name, out var cost)
        && cost.GetProperty("value") is { ValueKind: JsonValueKind.Number } value ? value.GetDouble() : null;
    public string CellName => string.Join('/', Cell.Select(axis => axis.Value));
    public string Label => Attempt > 1 ? $"{Number} again" : $"{Number}";

    /// <summary>The load of others as a multiple of what is quiet, of the processors or of the disk, whichever is more.</summary>
    public double Noise => Math.Max(
        OtherCpu / QuietCpu, line.GetProperty("noise").TryGetProperty("flushRatio", out var ratio) ? ratio.GetDouble() / QuietDisk : 0);

    double OtherCpu => line.GetProperty("noise").GetProperty("otherCpuShare").GetProperty("value") is { ValueKind: JsonValueKind.Number } share
        ? share.GetDouble()
        : double.PositiveInfinity;

    public int Committed => moments.Length;
    public double? Elapsed => moments.Length == 0 ? null : (double)moments[^1] / Second;
    public double? Average => Elapsed is > 0 ? Committed / Elapsed : null;
    public double? FirstTenth => Between(0, 0.1);
    public double? MiddleHalf => Between(0.25, 0.75);
    public double? LastTenth => Between(0.9, 1);

    // The busiest [t, t + 1 s): for each commit, those from it on that are less than a second later.
    public double? Maximum => Elapsed is >= 1
        ? moments.Select((moment, index) => Before(moment + Second) - index).Max()
        : null;

    int Before(long moment)
    {
        var (low, high) = (0, moments.Length);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (moments[middle] < moment)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    // From the commit at one share of the messages to that at another; a batch commits many at one moment.
    double? Between(double from, double to)
    {
        if (moments.Length == 0)
            return null;

        var (begin, end) = (moments[Math.Max((int)(from * moments.Length), 1) - 1], moments[Math.Max((int)(to * moments.Length), 1) - 1]);
        var count = Before(end + 1) - Before(begin + 1);
        return count >= 50 ? (double)count * Second / (end - begin) : null;
    }
}

/// <summary>The rounds of a run.</summary>
sealed class StoredRun
{
    public StoredRun(string folder)
    {
        var lines = File.ReadAllText(Path.Combine(folder, "rounds.jsonl")).Split('\n')[..^1];
        var blocks = BlocksOf(File.ReadAllBytes(Path.Combine(folder, "moments.bin"))).ToList();
        if (lines.Length != blocks.Count)
            throw new InvalidDataException($"rounds.jsonl has {lines.Length} lines, moments.bin {blocks.Count} blocks.");
        Rounds = [.. lines.Zip(blocks, RoundOf)];
        var run = JsonDocument.Parse(File.ReadAllText(Path.Combine(folder, "run.json"))).RootElement;
        Implied = run.TryGetProperty("implied", out var implied) ? [.. implied.EnumerateObject().Select(axis => axis.Name)] : [];
    }

    /// <summary>The axes that the name of a cell leaves out where it has their default.</summary>
    public IReadOnlyList<string> Implied { get; }

    public IReadOnlyList<Round> Rounds { get; }

    public IReadOnlyList<Round> Of(string cell) => [.. Rounds.Where(round => round.CellName == cell)];

    /// <summary>Of each round the valid attempt that was quietest.</summary>
    public IReadOnlyList<Round> Counting(string cell) =>
    [
        .. Of(cell).Where(round => round.IsValid).GroupBy(round => round.Number).OrderBy(attempts => attempts.Key)
            .Select(attempts => attempts.OrderBy(round => round.Noise).ThenBy(round => round.Attempt).First()),
    ];

    static Round RoundOf(string line, (string Cell, int Round, int Attempt, long[] Moments) block)
    {
        var round = new Round(JsonDocument.Parse(line).RootElement, block.Moments);
        if (round.IsValid && !round.IsWhole)
        {
            throw new InvalidDataException(
                $"{round.CellName}, round {round.Label} is called valid, and not each of its messages was handled once and has a moment.");
        }

        return (round.CellName, round.Number, round.Attempt) == (block.Cell, block.Round, block.Attempt)
            ? round
            : throw new InvalidDataException(
                $"moments.bin has {block.Cell}, round {block.Round} where rounds.jsonl has {round.CellName}, round {round.Label}.");
    }

    static IEnumerable<(string Cell, int Round, int Attempt, long[] Moments)> BlocksOf(byte[] file)
    {
        for (var at = 0; at < file.Length;)
        {
            if (!file.AsSpan(at, 4).SequenceEqual("KMOM"u8) || file[at + 4] != 1)
                throw new InvalidDataException($"moments.bin, byte {at}: no block of version 1 begins there.");
            var body = at + 9;
            var end = body + (int)BinaryPrimitives.ReadUInt32LittleEndian(file.AsSpan(at + 5));
            if (!SHA256.HashData(file.AsSpan(at..end)).AsSpan(..8).SequenceEqual(file.AsSpan(end, 8)))
                throw new InvalidDataException($"moments.bin, byte {at}: the checksum is wrong.");

            var name = BinaryPrimitives.ReadUInt16LittleEndian(file.AsSpan(body));
            var (cell, next) = (Encoding.UTF8.GetString(file, body + 2, name), body + 2 + name);
            var numbers = Enumerable.Range(0, 3).Select(index => BinaryPrimitives.ReadInt32LittleEndian(file.AsSpan(next + (4 * index)))).ToArray();
            yield return (cell, numbers[0], numbers[1], MomentsOf(file.AsSpan((next + 13)..end), numbers[2], file[next + 12]));
            at = end + 8;
        }
    }

    static long[] MomentsOf(ReadOnlySpan<byte> compressed, int count, int planes)
    {
        var bytes = new byte[count * planes];
        if (!BrotliDecoder.TryDecompress(compressed, bytes, out var length) || length != bytes.Length)
            throw new InvalidDataException("moments.bin: a block does not hold as many moments as it says.");
        var moments = new long[count];
        for (var index = 0; index < count; index++)
        {
            moments[index] = index == 0 ? 0 : moments[index - 1];
            for (var plane = 0; plane < planes; plane++)
                moments[index] += (long)bytes[(plane * count) + index] << (8 * plane);
        }

        return moments;
    }
}

/// <summary>What stands in the reports, next to what is computed.</summary>
static class Compared
{
    static readonly (string Column, Func<Round, double?> Figure)[] CsvFigures =
    [
        ("committed", round => round.Committed),
        ("elapsed_seconds", round => round.Elapsed),
        ("average_per_second", round => round.Average),
        ("first_tenth_per_second", round => round.FirstTenth),
        ("middle_half_per_second", round => round.MiddleHalf),
        ("last_tenth_per_second", round => round.LastTenth),
        ("maximum_in_one_second", round => round.Maximum),
    ];

    static readonly (string Column, string Name)[] Costs =
    [
        ("Commits", "commits"), ("Flushes", "walFlushes"), ("WAL bytes", "walBytes"), ("Buffers", "buffers"), ("Two-phase commits", "twoPhaseCommits"),
        ("Handler CPU ms", "handlerCpuMilliseconds"), ("Server CPU ms", "serverCpuMilliseconds"),
    ];

    static readonly Func<Round, double?>[] TableFigures = [round => round.Elapsed, round => round.Average, round => round.Maximum];

    public static IEnumerable<(string Table, int Figures, List<string> Differences)> Csv(StoredRun run, string folder)
    {
        var rows = CsvRows(File.ReadAllText(Path.Combine(folder, "rounds.csv")));
        var header = rows[0];
        var axes = header.TakeWhile(column => column != "round").ToList();
        var (figures, differences, seen) = (0, new List<string>(), new HashSet<Round>());
        foreach (var row in rows.Skip(1))
        {
            string On(string column) => header.Contains(column)
                ? row[header.IndexOf(column)]
                : throw new InvalidDataException($"rounds.csv has no column {column}.");
            var round = run.Rounds
                .Where(round => $"{round.Number}" == On("round") && $"{round.Attempt}" == On("attempt") && round.Cell.All(axis => On(axis.Axis) == axis.Value))
                .MaxBy(round => round.Cell.Count) ?? throw new InvalidDataException($"rounds.csv has a round that is not stored: {string.Join(',', row)}");
            seen.Add(round);
            foreach (var (column, figure) in CsvFigures)
            {
                figures++;
                if (On(column) != (figure(round)?.ToString() ?? ""))
                    differences.Add($"{round.CellName}, round {round.Label}, {column}: {On(column)} stands there, {figure(round)} is computed");
            }

            figures++;
            if (On("counts") == "yes" != run.Counting(round.CellName).Contains(round))
                differences.Add($"{round.CellName}, round {round.Label}, counts: {On("counts")} stands there, and it is the other");
        }

        differences.AddRange(run.Rounds.Where(round => !seen.Contains(round)).Select(round => $"{round.CellName}, round {round.Label} is missing"));
        yield return ("rounds.csv", figures, differences);
    }

    public static IEnumerable<(string Table, int Figures, List<string> Differences)> Tables(StoredRun run, string folder)
    {
        var cells = run.Rounds.DistinctBy(round => round.CellName).ToList();
        var (group, mode, seen, inSummary, hasSummary) = ("", "", new HashSet<string>(), false, false);
        var lines = File.ReadAllLines(Path.Combine(folder, "tables.md"));
        for (var index = 0; index < lines.Length; index++)
        {
            var line = lines[index];
            if (line.StartsWith("## ", StringComparison.Ordinal))
                inSummary = line == "## Summary";
            else if (line.StartsWith("### ", StringComparison.Ordinal))
                group = line[4..];
            else if (line.StartsWith("#### ", StringComparison.Ordinal))
                mode = line[5..];
            else if (line.StartsWith("| Run | Elapsed", StringComparison.Ordinal)
                && cells.Find(cell => GroupOf(cell) == group && ModeOf(cell) == mode)?.CellName is { } name && seen.Add(name))
                yield return RoundsTable(run, name, RowsAt(lines, index));
            else if (inSummary && line.StartsWith("| Mode | Valid rounds |", StringComparison.Ordinal))
            {
                hasSummary = true;
                yield return Summary(run, cells, Row(line), RowsAt(lines, index));
            }
        }

        if (!hasSummary)
            yield return ("Summary", 0, ["there is none"]);

        yield return ("tables.md", seen.Count, [.. cells.Where(cell => !seen.Contains(cell.CellName)).Select(cell => $"{cell.CellName} has no table")]);
    }

    static (string, int, List<string>) RoundsTable(StoredRun run, string cell, List<string[]> rows)
    {
        var (figures, differences) = (0, new List<string>());
        var counting = run.Counting(cell);
        var expected = run.Of(cell).OrderBy(round => round.Number).ThenBy(round => round.Attempt).Select(round => (
            Name: round.Label,
            Figures: TableFigures.Select(figure => Shown(figure(round), counting.Contains(round))).ToArray()))
            .Append(($"Average of {counting.Count}", [.. TableFigures.Select(figure => Text(MeanOf(counting, figure)))])).ToList();
        static string Shown(double? figure, bool counts) => figure is null || counts ? Text(figure) : $"({Text(figure)})";
        if (rows.Count != expected.Count)
            return (cell, 0, [$"{rows.Count} rows stand there, {expected.Count} are computed"]);
        foreach (var (row, (name, computed)) in rows.Zip(expected))
        {
            figures += computed.Length;
            if (row[0] != name && !row[0].StartsWith(name + " ", StringComparison.Ordinal))
                differences.Add($"'{row[0]}' stands where '{name}' is computed");
            differences.AddRange(computed.Where((text, column) => row[column + 1] != text)
                .Select(text => $"{name}: {string.Join(" | ", row[1..4])} stands there, {string.Join(" | ", computed)} is computed").Distinct());
        }

        return (cell, figures, differences);
    }

    static (string, int, List<string>) Summary(StoredRun run, List<Round> cells, List<string> header, List<string[]> rows)
    {
        var (figures, differences) = (0, new List<string>());
        var bare = cells.FindAll(cell => FrameworkOf(cell) == "bare");
        // An axis that no bare cell names is a setting of frameworks alone.
        var shared = bare.SelectMany(cell => cell.Cell).Select(axis => axis.Axis).Where(axis => axis != "framework").ToHashSet();
        string SharedBy(Round cell) => string.Join('/', cell.Cell.Where(axis => shared.Contains(axis.Axis)));
        var named = rows.Select(row => (Row: row, Cell: cells.Find(cell => cell.CellName == row[0] || ModeOf(cell) == row[0])))
            .Where(each => each.Cell is not null).ToList();
        foreach (var (row, cell) in named)
        {
            var counting = run.Counting(cell!.CellName);
            void Check(string column, string computed, bool isBeginning = false)
            {
                figures++;
                if (!header.Contains(column))
                {
                    differences.Add($"there is no column '{column}'");
                    return;
                }

                var stands = row[header.IndexOf(column)];
                if (isBeginning ? !stands.StartsWith(computed, StringComparison.Ordinal) : stands != computed)
                    differences.Add($"{row[0]}, {column}: {stands} stands there, {computed} is computed");
            }

            var rates = counting.Select(round => round.Average).OfType<double>().ToArray();
            Check("Valid rounds", $"{counting.Count} of ", isBeginning: true);
            Check("Mean msg/s", Text(rates.Length == 0 ? null : rates.Average()));
            Check("95 % interval", rates.Length < 2
                ? "–"
                : IntervalOf(Math.Log(rates.Average()), Deviation(rates) / Math.Sqrt(rates.Length) / rates.Average(), rates.Length));
            Check("CV", rates.Length < 2 ? "–" : Share(Deviation(rates) / rates.Average()));
            foreach (var (column, name) in Costs)
                Check(column, Text(MeanOf(counting, round => round.Cost(name))));
            Check("Middle half msg/s", Text(MeanOf(counting, round => round.MiddleHalf)));
            Check("Max msg/s", Text(counting.Max(round => round.Maximum)));

            var strictest = named.Find(other => GroupOf(other.Cell!) == GroupOf(cell) && other.Row[header.IndexOf("Ratio to strictest")] == "1").Cell;
            if (strictest is null)
                differences.Add($"{row[0]}: no row of its group is the strictest");
            else
                Check("Ratio to strictest", RatioOf(run, cell, strictest), isBeginning: true);
            if (cells.Select(FrameworkOf).Distinct().Skip(1).Any())
            {
                var floor = bare.Find(other => SharedBy(other) == SharedBy(cell));
                Check("Ratio to bare", floor is null ? "–" : RatioOf(run, cell, floor), isBeginning: true);
            }
            if (header.Contains("Ratio to default"))
            {
                var usual = cell.Cell.Where(axis => !run.Implied.Contains(axis.Axis)).ToList();
                var reference = cells.Find(other => other.Cell.SequenceEqual(usual) && other.Clock == cell.Clock);
                Check("Ratio to default", reference is null ? "–" : RatioOf(run, cell, reference), isBeginning: true);
            }
        }

        differences.AddRange(cells.Where(cell => named.All(each => each.Cell != cell)).Select(cell => $"{cell.CellName} is missing"));
        return ("Summary", figures, differences);
    }

    static string RatioOf(StoredRun run, Round cell, Round reference)
    {
        if (cell == reference)
            return "1";
        var logs = (from mine in run.Counting(cell.CellName)
                    join other in run.Counting(reference.CellName) on mine.Number equals other.Number
                    where mine.Average > 0 && other.Average > 0
                    select Math.Log(mine.Average!.Value / other.Average!.Value)).ToArray();
        return logs.Length switch
        {
            0 => "–",
            < 5 => $"{Text(Math.Exp(logs.Average()))} (n < 5)",
            var pairs => $"{Text(Math.Exp(logs.Average()))} ({IntervalOf(logs.Average(), Deviation(logs) / Math.Sqrt(pairs), pairs)}, ",
        };
    }

    static string IntervalOf(double log, double error, int count)
    {
        var half = Student975(count - 1) * error;
        return $"{Text(Math.Exp(log - half))} to {Text(Math.Exp(log + half))}";
    }

    static double Deviation(double[] values) => Math.Sqrt(values.Sum(value => Math.Pow(value - values.Average(), 2)) / (values.Length - 1));

    // The 0.975 quantile of Student's t with n degrees of freedom: with t = √n · tan θ the probability from 0 to t is
    // Γ((n + 1) / 2) / (√π · Γ(n / 2)) times the integral of cos^(n − 1) from 0 to θ.
    static double Student975(int freedom)
    {
        var gammas = freedom % 2 == 1 ? 1 / Math.Sqrt(Math.PI) : Math.Sqrt(Math.PI) / 2;
        for (var n = freedom % 2 == 1 ? 1 : 2; n < freedom; n += 2)
            gammas *= (n + 1.0) / n;
        var (low, high) = (0.0, Math.PI / 2);
        for (var step = 0; step < 60; step++)
        {
            var middle = (low + high) / 2;
            if (gammas / Math.Sqrt(Math.PI) * Simpson(angle => Math.Pow(Math.Cos(angle), freedom - 1), middle) < 0.475)
                low = middle;
            else
                high = middle;
        }

        return Math.Sqrt(freedom) * Math.Tan(low);
    }

    static double Simpson(Func<double, double> of, double to)
    {
        const int steps = 1_000;
        return to / steps / 3 * Enumerable.Range(0, steps + 1).Sum(step => (step is 0 or steps ? 1 : step % 2 == 1 ? 4 : 2) * of(to * step / steps));
    }

    static double? MeanOf(IReadOnlyList<Round> rounds, Func<Round, double?> figure) =>
        rounds.Count == 0 || rounds.Any(round => figure(round) is null) ? null : rounds.Average(figure);

    // Three significant digits, four from 1,000 on.
    static string Text(double? figure)
    {
        if (figure is not { } value)
            return "–";
        if (value == 0)
            return "0";
        static int Magnitude(double of) => (int)Math.Floor(Math.Log10(Math.Abs(of)));
        var unit = Math.Pow(10, Magnitude(value) + 1 - (Math.Abs(value) >= 1_000 ? 4 : 3));
        var rounded = Math.Round(value / unit) * unit;
        return rounded.ToString($"N{Math.Clamp(2 - Magnitude(rounded), 0, 6)}");
    }

    static string Share(double share) => Math.Round(share * 100, 1) switch
    {
        0 when share > 0 => "< 0.1 %",
        100 when share < 1 => "> 99.9 %",
        var percent => percent.ToString("0.#") + " %",
    };

    static string ModeOf(Round cell) => cell.Cell.First(axis => axis.Axis == "mode").Value;

    static string FrameworkOf(Round cell) => cell.Cell.First(axis => axis.Axis == "framework").Value;

    static string GroupOf(Round cell) => string.Join('/', cell.Cell.Where(axis => axis.Axis != "mode").Select(axis => axis.Value));

    static List<string[]> RowsAt(string[] lines, int header) =>
        [.. lines.Skip(header + 2).TakeWhile(line => line.StartsWith('|')).Select(line => Row(line).ToArray())];

    static List<string> Row(string line) => [.. line.Split(" | ").Select(cell => cell.Trim('|', ' ').Replace("\\<", "<"))];

    // RFC 4180.
    static List<List<string>> CsvRows(string text)
    {
        var (rows, row, field, quoted) = (new List<List<string>>(), new List<string>(), new StringBuilder(), false);
        for (var index = 0; index < text.Length; index++)
        {
            var mark = text[index];
            if (quoted && mark == '"' && index + 1 < text.Length && text[index + 1] == '"')
                field.Append(text[++index]);
            else if (mark == '"')
                quoted = !quoted;
            else if (!quoted && (mark is ',' or '\n'))
            {
                row.Add(field.ToString());
                field.Clear();
                if (mark == '\n')
                {
                    rows.Add(row);
                    row = [];
                }
            }
            else
                field.Append(mark);
        }

        return rows;
    }
}
