-- Sends one message to the endpoint's queue, and keeps its id and its number among those of its client, by which pgbench's log is found. Both rows are of one
-- transaction, so the commit timestamp of the one that stays is that of the message. "Kit.Benchmarks latency" runs it at a fixed rate next to 'load'.
\set number :number + 1
WITH message AS (INSERT INTO sent SELECT :client_id, :number, gen_random_uuid() RETURNING message_id) INSERT INTO widgets (message_id, type, body) SELECT message_id, 'Kit.Handlers.BuildWidget', convert_to('{"MessageId":"' || message_id || '"}', 'UTF8') FROM message;
