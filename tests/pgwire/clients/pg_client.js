// What a program with the npm package pg does; each line it prints is looked at by
// drivers_test.cc. Arguments: port, and a certificate if TLS is to be spoken.
'use strict';
const fs = require('fs');
const { Client, Query } = require('pg');

const options = {
    host: '127.0.0.1', port: +process.argv[2], user: 'ann', password: 'secret', database: 'baton',
};
if (process.argv[3]) {
    options.ssl = { ca: fs.readFileSync(process.argv[3]), servername: 'localhost' };
}
const say = (value) => console.log(JSON.stringify(value));

async function failed(client, ...query) {
    try {
        await client.query(...query);
        return 'no error';
    } catch (error) {
        return [error.code, error.position, error.routine];
    }
}

// Rows of a watch come as they happen; it is ended by a cancel request.
async function watch(client, other) {
    const seen = [];
    const query = new Query('WATCH SELECT name FROM baton.logical_sources');
    const ended = new Promise((resolve) => query.on('error', resolve));
    query.on('row', async (row) => {
        seen.push(`${row.OP} ${row.NAME}`);
        if (seen.length === 1) await other.query('CREATE LOGICAL SOURCE fresh (a INT8)');
        if (row.OP === 'create') await other.query('DROP LOGICAL SOURCE fresh');
        if (row.OP === 'drop') new Client(options).cancel(client, query);
    });
    client.query(query);
    say([(await ended).code, seen]);
}

async function main() {
    const client = new Client(options);
    await client.connect();
    say((await client.query('SELECT 1 AS one')).rows);
    say((await client.query('SELECT name, draining FROM baton.workers WHERE name = $1', ['HUB']))
        .rows);
    say((await client.query('SELECT upstream FROM baton.links WHERE revision > $1', [0])).rows);
    for (const name of ['EDGE', 'nobody']) {
        const prepared = { name: 'p', text: 'SHOW WORKERS WHERE name = $1', values: [name] };
        say((await client.query(prepared)).rowCount);
    }
    const several = await client.query('SHOW LINKS; SELECT name FROM baton.workers; SET a.b = 1');
    say(several.map((result) => [result.command, result.rowCount]));
    await client.query('BEGIN');
    say(await failed(client, 'SELECT nme FROM baton.workers WHERE name = $1', ['a']));
    say(await failed(client, 'SHOW LINKS'));
    await client.query('ROLLBACK');
    const other = new Client(options);
    await other.connect();
    await watch(client, other);
    say((await client.query('SELECT current_database() AS d')).rows);
    await other.end();
    await client.end();
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
