#pragma once

// SQLite 3, and what Swift cannot import from its header: variadic functions and casts of numbers to functions.

#include <sqlite3.h>

// Binds bytes that SQLite copies before this returns.
static inline int courier_sqlite3_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

static inline int courier_sqlite3_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Leaves the files as they are when the connection is closed: nothing moves from the log into the database.
static inline int courier_sqlite3_keep_log_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// The schema of a file that somebody else wrote may not call functions that have effects.
static inline int courier_sqlite3_distrust_schema(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}
