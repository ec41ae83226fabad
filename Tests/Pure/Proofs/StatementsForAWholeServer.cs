using Kit.Prove.Files;

namespace Kit.Tests.Proofs;

public sealed class StatementsForAWholeServer
{
    [TestCase("CREATE ROLE app")]
    [TestCase("create user app PASSWORD 'x'")]
    [TestCase("CREATE TABLE t (); -- the service's\n DROP ROLE IF EXISTS app")]
    [TestCase("/* once */ ALTER SYSTEM SET max_connections = 10")]
    [TestCase("DROP DATABASE IF EXISTS reporting")]
    [TestCase("ALTER DATABASE orders SET timezone = 'UTC'")]
    [TestCase("GRANT pg_read_all_data TO app")]
    [TestCase("REVOKE app FROM kit")]
    [TestCase("DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'app') THEN CREATE ROLE app; END IF; END $$")]
    [TestCase("DO $do$CREATE ROLE app$do$")]
    [TestCase("DO $$ BEGIN EXECUTE format('CREATE ROLE %I', 'app'); END $$")]
    public void Are_known(string sql) => Assert.That(WholeServer.IsChangedBy(sql), Is.True);

    [TestCase("CREATE TABLE role (name text)")]
    [TestCase("CREATE TABLE job (id uuid); INSERT INTO job_kind VALUES ('create user'), ('drop database')")]
    [TestCase("CREATE USER MAPPING FOR kit SERVER other")]
    [TestCase("GRANT SELECT ON job TO PUBLIC; GRANT USAGE ON SCHEMA app TO kit")]
    [TestCase("-- CREATE ROLE app is done elsewhere\nCREATE TABLE job (id uuid)")]
    [TestCase("SET ROLE kit")]
    public void Of_a_database_are_no_such(string sql) => Assert.That(WholeServer.IsChangedBy(sql), Is.False);
}
