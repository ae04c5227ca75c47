/*
 * base/file.h -- files: mapped reading, atomic writing, folders.
 *
 * Every failure is E_IO with the path and the system's reason. Written files appear whole or not at all: the content goes
 * to a temporary file beside the target, is synced, then renamed over it, and the folder is synced.
 */
#ifndef HONE_BASE_FILE_H
#define HONE_BASE_FILE_H

#include "base/status.h"

/* A whole file mapped read-only. An empty file has size 0 and a valid, empty `data`. */
typedef struct hone_mapped {
    const unsigned char *data;
    size_t               size;
    void                *base;  /* private */
} hone_mapped;

hone_status hone_file_map(hone_mapped *out, const char *path) HONE_MUST_CHECK;
void        hone_file_unmap(hone_mapped *map);

/* The whole content, NUL-terminated. Owns: hone_free(*data). */
hone_status hone_file_read_all(char **data, size_t *size, const char *path) HONE_MUST_CHECK;

/* Write `size` bytes atomically. */
hone_status hone_file_write_all(const char *path, const void *data, size_t size) HONE_MUST_CHECK;

/* Streamed atomic write: create, write any number of times, then commit (or abandon, which removes the temporary file).
 * Both end the object and set it to NULL. */
typedef struct hone_writer hone_writer;
hone_status hone_writer_create(hone_writer **out, const char *path) HONE_MUST_CHECK;
hone_status hone_writer_write(hone_writer *w, const void *data, size_t size) HONE_MUST_CHECK;
hone_status hone_writer_commit(hone_writer **w) HONE_MUST_CHECK;
void        hone_writer_abandon(hone_writer **w);

/* Byte-for-byte atomic copy. */
hone_status hone_file_copy(const char *from, const char *to) HONE_MUST_CHECK;

/* A folder that one process at a time may write into; the system lets go of it when the process ends, however it ends. A file
 * system without locks counts as locked. Errors: E_EXISTS if another process has it; E_IO. Owns: hone_dir_unlock. */
typedef struct hone_dir_lock hone_dir_lock;
hone_status hone_dir_lock_take(hone_dir_lock **out, const char *path) HONE_MUST_CHECK;
void        hone_dir_unlock(hone_dir_lock **lock);

bool        hone_path_exists(const char *path);
bool        hone_path_is_dir(const char *path);
bool        hone_dir_has(const char *dir, const char *name);    /* dir/name exists */
bool        hone_dir_has_file(const char *dir, const char *name);   /* dir/name is a regular file, and no link to one */
int64_t     hone_file_size(const char *path);              /* -1 if absent */
hone_status hone_dir_make(const char *path) HONE_MUST_CHECK;      /* with parents; fine if there */
hone_status hone_dir_remove(const char *path) HONE_MUST_CHECK;    /* recursively; fine if absent; does not follow links */
/* The same while another error is on its way out: that one stays the newest. */
void        hone_dir_discard(const char *path);
hone_status hone_dir_sync(const char *path) HONE_MUST_CHECK;
hone_status hone_path_rename(const char *from, const char *to) HONE_MUST_CHECK;
/* Put the folder `from` in the place of the folder `to` (which need not be there), whose content goes. At once where the file
 * system can exchange names; else `to` is away for a moment. */
hone_status hone_dir_replace(const char *from, const char *to) HONE_MUST_CHECK;

/* Names in a folder (no "." and ".."), sorted by byte. Owns: hone_dir_list_free. */
hone_status hone_dir_list(char ***names, size_t *n, const char *path) HONE_MUST_CHECK;
void        hone_dir_list_free(char **names, size_t n);

/* dir + "/" + name; NULL with E_NOMEM raised. Owns: hone_free. */
char *hone_path_join(const char *dir, const char *name);
/* What follows the last '/'. Borrowed from `path`. */
const char *hone_path_base(const char *path);

#endif /* HONE_BASE_FILE_H */
