// Clients from npm: the script on standard input by the client that the first argument names.
const fs = require("fs");
const [client, host, port, user, database] = process.argv.slice(2);
const where = { host, port: +port, user, database, ssl: false };
const url = `postgres://${user}@${host}:${port}/${database}`;
const value = (w) => (w[0] === "t" ? w.slice(2) : +w.slice(2));
const shown = (v) =>
  v === null || v === undefined ? "\\N"
    : v instanceof Date ? v.toISOString()
    : typeof v === "object" ? JSON.stringify(v) : String(v).replace(/\n/g, "\\n");
const script = fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => {
  const [name, sql, ...given] = line.split("\t");
  return { name, sql, given: given.map(value) };
});
const state = (e) => {
  for (let at = e; at; at = at.cause || at.parent || at.original || at.driverError)
    if (typeof at.code === "string" && /^[0-9A-Z]{5}$/.test(at.code)) return at.code;
  return "refused " + e.message;
};
async function tried(name, ask) {
  console.log(`== ${name}`);
  try { for (const row of await ask()) console.log(row); } catch (e) { console.log(`!! ${state(e)}`); }
}
const byName = (rows) => (rows || []).map((r) => Object.entries(r).map(([k, v]) => `${k}=${shown(v)}`).join("|"));
const asked = (sql) => sql.replace(/\$\d/g, "?");
async function run(query) {
  for (const { name, sql, given } of script) await tried(name, () => query(sql, given));
}

const clients = {
  async pg() {
    const { Client } = require("pg");
    const c = new Client(where);
    await c.connect();
    await run(async (text, values) => {
      const r = await c.query({ text, values: values.length ? values : undefined, rowMode: "array" });
      const one = Array.isArray(r) ? r[r.length - 1] : r;
      const head = one.fields.length ? ["-- " + one.fields.map((f) => `${f.name} ${f.dataTypeID}`).join("|")] : [];
      return head.concat(one.rows.map((row) => row.map(shown).join("|")));
    });
    await tried("own: an array", async () =>
      byName((await c.query("SELECT id FROM t WHERE i = ANY($1) ORDER BY 1", [[7, 10]])).rows));
    await c.end();
  },
  async postgres() {
    const sql = require("postgres")({ ...where, max: 1, onnotice: () => {} });
    await run(async (text, values) => {
      const rows = await sql.unsafe(text, values).values();
      const head = rows.columns?.length ? ["-- " + rows.columns.map((c) => `${c.name} ${c.type}`).join("|")] : [];
      return head.concat(rows.map((row) => row.map(shown).join("|")));
    });
    await tried("own: in", async () => byName(await sql`SELECT id FROM t WHERE i IN ${sql([7, 10])} ORDER BY 1`));
    await tried("own: an array", async () => byName(await sql`SELECT id FROM t WHERE i = ANY(${[7, 10]}) ORDER BY 1`));
    await tried("own: a cursor", async () => {
      const out = [];
      await sql`SELECT region_id FROM regions ORDER BY 1`.cursor(2, (rows) => out.push(...rows));
      return byName(out);
    });
    await sql.end();
  },
  async "pg-promise"() {
    const pgp = require("pg-promise")({ noWarnings: true });
    const db = pgp(where);
    await run(async (text, values) => byName(await db.any(text, values)));
    await tried("own: formatted", async () => byName(await db.any("SELECT id FROM ${table:name} WHERE i IN (${ids:csv}) ORDER BY 1", { table: "t", ids: [7, 10] })));
    pgp.end();
  },
  async knex() {
    const knex = require("knex")({ client: "pg", connection: where });
    await run(async (text, values) => {
      const r = await knex.raw(values.length ? asked(text) : text.replace(/\?/g, "\\?"), values);
      return byName(Array.isArray(r) ? r[r.length - 1].rows : r.rows);
    });
    for (const table of ["regions", "orders", "t"])
      await tried(`own: columns of ${table}`, async () => Object.entries(await knex(table).columnInfo()).map(([k, v]) => `${k} ${JSON.stringify(v)}`));
    await tried("own: exists", async () => [await knex.schema["has" + "Table"]("orders"), await knex.schema["has" + "Table"]("nope"), await knex.schema.hasColumn("t", "day")]);
    await tried("own: built", async () => byName(await knex("t").select("t").count("* as n").whereIn("i", [7, 10]).groupBy("t").orderBy("t")));
    await tried("own: first", async () => byName([await knex("t").where("i", ">", 5).orderBy("id", "desc").first()]));
    await knex.destroy();
  },
  async sequelize() {
    const { Sequelize, DataTypes, QueryTypes, Op } = require("sequelize");
    const s = new Sequelize(database, user, "", { host, port: +port, dialect: "postgres", logging: false });
    await run(async (text, bind) => byName(await s.query(text, { type: QueryTypes.SELECT, ...(bind.length && { bind }) })));
    const q = s.getQueryInterface();
    await tried("own: tables", async () => (await q.showAllTables()).map((t) => t.tableName || t).sort());
    for (const table of ["regions", "orders", "t"]) {
      await tried(`own: ${table}`, async () => Object.entries(await q.describeTable(table)).map(([k, v]) => `${k} ${JSON.stringify(v)}`));
      await tried(`own: indexes of ${table}`, async () => (await q.showIndex(table)).map((i) => [i.name, i.primary, i.unique, i.fields.map((f) => f.attribute)].join("|")));
      await tried(`own: foreign keys of ${table}`, async () => (await q.getForeignKeyReferencesForTable(table)).map((k) => [k.constraintName, k.columnName, k.referencedTableName, k.referencedColumnName].join("|")));
    }
    const T = s.define("t", { id: { type: DataTypes.BIGINT, primaryKey: true }, i: DataTypes.INTEGER, t: DataTypes.TEXT }, { tableName: "t", timestamps: false });
    await tried("own: a model", async () => byName((await T.findAll({ where: { i: { [Op.gt]: 1 } }, order: [["id", "ASC"]] })).map((r) => r.get())));
    await tried("own: counted", async () => [await T.count({ where: { i: [7, 10] } })]);
    await s.close();
  },
  async kysely() {
    const { Kysely, PostgresDialect, CompiledQuery } = require("kysely");
    const { Pool } = require("pg");
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool(where) }) });
    await run(async (text, values) => byName((await db.executeQuery(CompiledQuery.raw(text, values))).rows));
    await tried("own: schemas", async () => (await db.introspection.getSchemas()).map((s) => s.name).sort());
    await tried("own: tables", async () => (await db.introspection.getTables()).map((t) => `${t.schema}.${t.name} ${t.isView} ${t.columns.map((c) => [c.name, c.dataType, c.isNullable, c.hasDefaultValue, c.isAutoIncrementing])}`));
    await tried("own: built", async () => byName(await db.selectFrom("t").innerJoin("regions", "region_id", "id").select(["t.i", "name"]).where("t.i", "in", [7, -7]).orderBy("id").execute()));
    await db.destroy();
  },
  async drizzle() {
    const { drizzle } = require("drizzle-orm/node-postgres");
    const { sql, gt, asc } = require("drizzle-orm");
    const { pgTable, bigint, integer, text } = require("drizzle-orm/pg-core");
    const { Pool } = require("pg");
    const pool = new Pool(where);
    const db = drizzle(pool);
    await run(async (written, values) => {
      const parts = written.split(/\$\d/);
      const chunks = parts.flatMap((p, n) => [sql.raw(p), ...(n < parts.length - 1 ? [sql`${values[n]}`] : [])]);
      return byName((await db.execute(values.length ? sql.join(chunks) : sql.raw(written))).rows);
    });
    const t = pgTable("t", { id: bigint("id", { mode: "number" }), i: integer("i"), t: text("t") });
    await tried("own: built", async () => byName(await db.select().from(t).where(gt(t.i, 1)).orderBy(asc(t.id))));
    await tried("own: counted", async () => [await db.$count(t, gt(t.i, 1))]);
    await pool.end();
  },
  async typeorm() {
    require("reflect-metadata");
    const { DataSource, EntitySchema, In } = require("typeorm");
    const T = new EntitySchema({ name: "t", columns: { id: { type: "bigint", primary: true }, i: { type: "int" }, t: { type: "text" } } });
    const source = new DataSource({ type: "postgres", ...where, username: user, entities: [T], logging: false });
    await source.initialize();
    await run(async (text, values) => byName(await source.query(text, values)));
    await tried("own: find", async () => byName(await source.getRepository(T).find({ where: { i: In([7, 10]) }, order: { id: "ASC" } })));
    await tried("own: counted", async () => [await source.getRepository(T).countBy({ i: In([7, 10]) })]);
    const runner = source.createQueryRunner();
    for (const table of ["regions", "orders", "t"])
      await tried(`own: ${table}`, async () => {
        const found = await runner.getTable(table);
        return [
          ...found.columns.map((c) => [c.name, c.type, c.isNullable, c.isPrimary, c.precision, c.scale].join("|")),
          ...found.foreignKeys.map((k) => [k.name, k.columnNames, k.referencedTableName, k.referencedColumnNames].join("|")),
          ...found.indices.map((i) => i.name),
        ];
      });
    await runner.release();
    await source.destroy();
  },
  async objection() {
    const { Model, raw } = require("objection");
    const knex = require("knex")({ client: "pg", connection: where });
    Model.knex(knex);
    class T extends Model { static get tableName() { return "t"; } }
    await run(async (text, values) => {
      const r = await knex.raw(values.length ? asked(text) : text.replace(/\?/g, "\\?"), values);
      return byName(Array.isArray(r) ? r[r.length - 1].rows : r.rows);
    });
    await tried("own: fetched", async () => (await T.fetchTableMetadata()).columns);
    await tried("own: a model", async () => byName(await T.query().select("id", raw("i / 2 AS half")).whereIn("i", [7, 10]).orderBy("id")));
    await tried("own: size", async () => [await T.query().where("i", ">", 1).resultSize()]);
    await knex.destroy();
  },
};
clients[client]().catch((e) => { console.error(e); process.exit(1); });
