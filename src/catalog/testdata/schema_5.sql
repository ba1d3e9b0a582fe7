CREATE TABLE catalog_identity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    catalog TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE change_feed (
    revision INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    changed TEXT NOT NULL,
    entity TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    op TEXT NOT NULL CHECK (op = 'CREATE' OR op = 'UPDATE' OR op = 'DROP'),
    new_row TEXT,
    old_row TEXT,
    PRIMARY KEY (revision, ordinal)
) STRICT;
CREATE TABLE cluster_authority (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    cluster TEXT NOT NULL,
    certificate TEXT NOT NULL,
    private_key TEXT NOT NULL,
    address TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE coordinator_secret (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    secret TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE dropped_table (
    location TEXT PRIMARY KEY,
    dropped TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE fence (
    lock_key TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE fragment (
    id INTEGER PRIMARY KEY,
    query INTEGER NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    worker TEXT NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    run INTEGER NOT NULL CHECK (run >= 1),
    slots INTEGER NOT NULL CHECK (slots >= 0),
    stage INTEGER NOT NULL CHECK (stage >= 0),
    plan TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'PENDING' OR state = 'REGISTERED' OR state = 'STARTED' OR state = 'RUNNING' OR state = 'STOPPED' OR state = 'TERMINATED' OR state = 'FAILED'),
    reason TEXT NOT NULL,
    since TEXT NOT NULL,
    revision INTEGER NOT NULL,
    rows_in INTEGER,
    bytes_in INTEGER,
    rows_out INTEGER,
    bytes_out INTEGER,
    late INTEGER,
    skipped INTEGER,
    stalls INTEGER,
    busy_us INTEGER,
    memory INTEGER, fingerprint TEXT NOT NULL DEFAULT '', reason_code TEXT NOT NULL DEFAULT '', reason_who TEXT NOT NULL DEFAULT '', reason_error INTEGER,
    UNIQUE (query, worker)
) STRICT;
CREATE INDEX fragment_worker ON fragment (worker, state, slots);
CREATE TABLE join_token (
    digest TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
    lock_key TEXT PRIMARY KEY CHECK (lock_key <> ''),
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status = 'ACTIVE' OR status = 'INACTIVE' OR status = 'DELETABLE')
, taken_at INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE lock_fence (
    lock_key TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE lock_lease (
    lock_key TEXT PRIMARY KEY CHECK (lock_key <> ''),
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status = 'ACTIVE' OR status = 'INACTIVE' OR status = 'DELETABLE'),
    taken_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE logical_source (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    columns TEXT NOT NULL,
    revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema_version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    next_id INTEGER NOT NULL,
    next_statement INTEGER NOT NULL,
    cluster_revision INTEGER NOT NULL,
    feed_floor INTEGER NOT NULL
) STRICT;
CREATE TABLE network_link (
    upstream TEXT NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    downstream TEXT NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    revision INTEGER NOT NULL,
    PRIMARY KEY (upstream, downstream),
    CHECK (upstream <> downstream)
) STRICT, WITHOUT ROWID;
CREATE INDEX network_link_downstream ON network_link (downstream);
CREATE TABLE physical_source (
    id INTEGER PRIMARY KEY,
    logical TEXT NOT NULL REFERENCES logical_source (name) ON DELETE RESTRICT,
    worker TEXT NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    type TEXT NOT NULL,
    options TEXT NOT NULL,
    options_shown TEXT NOT NULL,
    format TEXT NOT NULL,
    format_shown TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    revision INTEGER NOT NULL,
    UNIQUE (logical, worker, type, fingerprint)
) STRICT;
CREATE INDEX physical_source_worker ON physical_source (worker);
CREATE TABLE query (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    statement TEXT NOT NULL,
    settings TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'PENDING' OR state = 'DEPLOYING' OR state = 'RUNNING' OR state = 'STOPPING' OR state = 'STOPPED' OR state = 'TERMINATED' OR state = 'FAILED'),
    desired TEXT NOT NULL CHECK (desired = 'RUNNING' OR desired = 'STOPPED' OR desired = 'DROPPED' OR desired = 'FAILED'),
    stop_mode TEXT NOT NULL CHECK (stop_mode = 'GRACEFUL' OR stop_mode = 'FORCEFUL'),
    run INTEGER NOT NULL CHECK (run >= 1),
    reason TEXT NOT NULL,
    lagging TEXT NOT NULL,
    created TEXT NOT NULL,
    since TEXT NOT NULL,
    revision INTEGER NOT NULL
, restarts INTEGER NOT NULL DEFAULT 0, restarted TEXT, reason_code TEXT NOT NULL DEFAULT '', reason_who TEXT NOT NULL DEFAULT '', reason_error INTEGER) STRICT;
CREATE TABLE query_sink (
    query INTEGER NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    sink TEXT NOT NULL REFERENCES sink (name) ON DELETE RESTRICT,
    PRIMARY KEY (query, sink)
) STRICT, WITHOUT ROWID;
CREATE INDEX query_sink_sink ON query_sink (sink);
CREATE TABLE query_source (
    query INTEGER NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    source INTEGER NOT NULL REFERENCES physical_source (id) ON DELETE RESTRICT,
    PRIMARY KEY (query, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX query_source_source ON query_source (source);
CREATE INDEX query_state ON query (state);
CREATE TABLE query_table (
    query INTEGER NOT NULL REFERENCES query (id) ON DELETE RESTRICT,
    target TEXT NOT NULL REFERENCES sql_table (name) ON DELETE RESTRICT,
    PRIMARY KEY (query, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX query_table_target ON query_table (target);
CREATE TABLE sink (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    columns TEXT NOT NULL,
    worker TEXT NOT NULL REFERENCES worker (name) ON DELETE RESTRICT,
    type TEXT NOT NULL,
    options TEXT NOT NULL,
    options_shown TEXT NOT NULL,
    format TEXT NOT NULL,
    format_shown TEXT NOT NULL,
    revision INTEGER NOT NULL
) STRICT;
CREATE INDEX sink_worker ON sink (worker);
CREATE TABLE sql_table (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    type TEXT NOT NULL,
    location TEXT NOT NULL,
    managed INTEGER NOT NULL,
    columns TEXT NOT NULL,
    options TEXT NOT NULL,
    version INTEGER NOT NULL,
    row_count INTEGER,
    object_count INTEGER,
    byte_count INTEGER,
    created TEXT NOT NULL,
    revision INTEGER NOT NULL
) STRICT;
CREATE TABLE statement_log (
    id INTEGER PRIMARY KEY,
    received TEXT NOT NULL,
    principal TEXT NOT NULL,
    statement TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome = 'OK' OR outcome = 'ERROR'),
    error INTEGER,
    message TEXT,
    duration_us INTEGER NOT NULL,
    revision INTEGER
) STRICT;
CREATE INDEX statement_log_outcome ON statement_log (outcome);
CREATE TABLE task_list (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    partitions INTEGER NOT NULL CHECK (partitions >= 1),
    revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE task_partition (
    list TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    state TEXT NOT NULL CHECK (state = 'UNOWNED' OR state = 'OWNED' OR state = 'RELEASING'),
    owner TEXT REFERENCES worker (name) ON DELETE RESTRICT,
    epoch INTEGER,
    heir TEXT,
    since TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (list, number),
    CHECK ((state = 'UNOWNED') = (owner IS NULL)),
    CHECK ((owner IS NULL) = (epoch IS NULL)),
    CHECK (heir IS NULL OR state = 'RELEASING')
) STRICT, WITHOUT ROWID;
CREATE INDEX task_partition_owner ON task_partition (owner);
CREATE TABLE worker (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    kind TEXT NOT NULL CHECK (kind = 'REMOTE' OR kind = 'EMBEDDED'),
    address TEXT UNIQUE,
    data_address TEXT,
    capacity INTEGER CHECK (capacity >= 0),
    state TEXT NOT NULL CHECK (state = 'ACTIVE' OR state = 'UNREACHABLE'),
    draining INTEGER NOT NULL CHECK (draining IN (0, 1)),
    leaving INTEGER NOT NULL CHECK (leaving IN (0, 1)),
    incarnation INTEGER,
    reason TEXT NOT NULL,
    since TEXT NOT NULL,
    revision INTEGER NOT NULL, reason_code TEXT NOT NULL DEFAULT '', reason_who TEXT NOT NULL DEFAULT '', reason_error INTEGER,
    CHECK ((kind = 'EMBEDDED') = (address IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE worker_certificate (
    worker TEXT PRIMARY KEY,
    serial TEXT NOT NULL,
    predecessor TEXT NOT NULL,
    given_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX worker_state ON worker (state);
