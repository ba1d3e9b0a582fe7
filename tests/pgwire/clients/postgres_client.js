// What a program with the npm package postgres does; each line it prints is looked at by
// drivers_test.cc. Arguments: port, and a certificate if TLS is to be spoken.
'use strict';
const fs = require('fs');
const postgres = require('postgres');

const options = {
    host: '127.0.0.1', port: +process.argv[2], user: 'ann', password: 'secret', database: 'baton',
    max: 2,
};
if (process.argv[3]) {
    options.ssl = { ca: fs.readFileSync(process.argv[3]), servername: 'localhost' };
}
const say = (value) => console.log(JSON.stringify(value));

async function main() {
    const sql = postgres(options);
    say(await sql`SELECT name, draining FROM baton.workers WHERE name = ${'HUB'}`);
    say((await sql`SELECT upstream FROM baton.links WHERE revision > ${0}`).length);
    say((await sql`SHOW WORKERS`).count);
    say(await sql`SELECT 1 AS x`);
    await sql`SELECT nme FROM baton.workers`.catch((error) => say([error.code, error.position]));
    await sql.begin((transaction) => transaction`CREATE LOGICAL SOURCE kept (a INT8)`);
    await sql.begin(async (transaction) => {
        await transaction`CREATE LOGICAL SOURCE undone (a INT8)`;
        throw new Error('changed my mind');
    }).catch((error) => say(error.message));
    say((await sql`SELECT name FROM baton.logical_sources`).map((row) => row.NAME));
    let rows = 0;
    for await (const [row] of sql`SELECT name FROM baton.workers`.cursor()) rows += row ? 1 : 100;
    say(rows);
    const watch = sql`WATCH SHOW LINKS`;
    setTimeout(() => watch.cancel(), 300);
    await watch.catch((error) => say(error.code));
    await sql.end();
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
