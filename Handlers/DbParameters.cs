using System.Data;
using System.Data.Common;

namespace Kit.Handlers;

/// <summary>Parameters of a statement on any driver.</summary>
public static class DbParameters
{
    /// <summary>Adds a parameter with a value.</summary>
    public static void AddParameter(this DbCommand command, string name, DbType type, object value)
    {
        ArgumentNullException.ThrowIfNull(command);
        var parameter = command.CreateParameter();
        parameter.ParameterName = name;
        parameter.DbType = type;
        parameter.Value = value;
        command.Parameters.Add(parameter);
    }
}
