// As pg-boss's README: https://github.com/timgit/pg-boss
const PgBoss = require('pg-boss');
const { Pool } = require('pg');

async function main() {
  const boss = new PgBoss(process.env.DATABASE);
  boss.on('error', console.error);
  await boss.start();
  await boss.createQueue('order');
  const pool = new Pool({ connectionString: process.env.DATABASE, max: 1 });
  await boss.work('order', async ([job]) => {
    await pool.query('INSERT INTO placed_order (id) VALUES ($1)', [job.data.id]);
  });
}

main().catch(error => {
  console.error(error);
  process.exit(1);
});
