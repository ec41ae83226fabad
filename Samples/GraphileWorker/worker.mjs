// Places an order for each job of graphile-worker. The job and the row are two transactions.
import { run } from "graphile-worker";

const runner = await run({
  connectionString: process.env.DATABASE,
  concurrency: 1,
  pollInterval: 500,
  taskList: {
    order: async ({ id }, helpers) => {
      await helpers.withPgClient(client => client.query("INSERT INTO placed_order (id) VALUES ($1)", [id]));
    },
  },
});
await runner.promise;
