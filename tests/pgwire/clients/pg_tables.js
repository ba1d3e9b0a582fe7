// What a program with the npm package pg does with tables; each line it prints is looked at by
// tables_test.cc. Arguments: port.
'use strict';
const { Client } = require('pg');

const say = (value) => console.log(JSON.stringify(value));

async function main() {
    const client = new Client({
        host: '127.0.0.1', port: +process.argv[2], user: 'ann', password: 'secret',
        database: 'baton',
    });
    await client.connect();
    await client.query('CREATE TABLE things (id BIGINT, name VARCHAR, n NUMERIC(9,3), d DATE)');
    const insert = { name: 'i', text: 'INSERT INTO things VALUES ($1, $2, $3, $4)' };
    for (let i = 0; i < 5; ++i) {
        const values = [i, `n${i}`, `${i}.125`, '2026-01-0' + (i + 1)];
        say((await client.query({ ...insert, values })).rowCount);
    }
    // Nothing says the type of a parameter here but its place.
    const one = await client.query('SELECT name, n FROM things WHERE id = $1', [3]);
    say([one.rows, one.fields.map((field) => [field.dataTypeID, field.dataTypeModifier])]);
    say((await client.query('SELECT $1::int + 1 AS a, $2::text AS b', [41, 'x'])).rows);
    say((await client.query('SELECT id FROM things WHERE d > $1 AND n < $2 ORDER BY id',
        ['2026-01-02', '4'])).rows);
    say((await client.query('SELECT id FROM things WHERE n = $1', ['1.1251'])).rows);
    // In the binary form.
    const binary = await client.query({
        text: 'SELECT id::int AS i, id > 2 AS b, 1.5::float8 AS f FROM things WHERE id = 3',
        values: [], binary: true,
    });
    say(binary.rows);
    say((await client.query('SELECT version() AS v')).rows[0].v.startsWith('PostgreSQL 15'));
    say((await client.query('SELECT current_schema() AS s, current_database() AS d')).rows);
    await client.end();
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
