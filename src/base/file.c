#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"

#define FAIL_SYS(verb, path) HONE_FAIL(HONE_E_IO, "cannot %s %s: %s", verb, path, strerror(errno))

hone_status hone_file_map(hone_mapped *out, const char *path)
{
    static const unsigned char empty[1];
    hone_status st = HONE_OK;
    struct stat info;
    int         fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);      /* a FIFO without a writer would wait for ever */

    *out = (hone_mapped){ empty, 0, NULL };
    if (fd < 0)
        return FAIL_SYS("open", path);
    if (fstat(fd, &info) != 0) {
        st = FAIL_SYS("stat", path);
        goto out;
    }
    HONE_GO_CHECK(S_ISREG(info.st_mode), HONE_E_IO, "cannot read %s: it is not a regular file", path);
    if (info.st_size > 0) {
        void *p = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (p == MAP_FAILED) {
            st = FAIL_SYS("map", path);
            goto out;
        }
        *out = (hone_mapped){ p, (size_t)info.st_size, p };
    }
out:
    close(fd);
    return st;
}

void hone_file_unmap(hone_mapped *map)
{
    if (map->base)
        munmap(map->base, map->size);
    *map = (hone_mapped){ NULL, 0, NULL };
}

hone_status hone_file_read_all(char **data, size_t *size, const char *path)
{
    hone_str s = HONE_STR_INIT;
    ssize_t  n = 0;
    int      fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;

    *data = NULL;
    *size = 0;
    if (fd < 0)
        return FAIL_SYS("open", path);
    /* a pipe is fine (`hone train <(...)`), a device may have no end */
    if (fstat(fd, &info) != 0 || !(S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode)) || fcntl(fd, F_SETFL, 0) != 0) {
        close(fd);
        return HONE_FAIL(HONE_E_IO, "cannot read %s: it is neither a regular file nor a pipe", path);
    }
    do {
        if (!hone_str_reserve(&s, 65536))
            break;
        n = read(fd, s.data + s.len, 65536);
        if (n > 0)
            s.len += (size_t)n;
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0) {
        hone_status st = FAIL_SYS("read", path);

        close(fd);
        hone_str_deinit(&s);
        return st;
    }
    close(fd);
    if (s.data)
        s.data[s.len] = '\0';
    *size = s.len;
    *data = hone_str_take(&s);
    return *data ? HONE_OK : HONE_E_NOMEM;
}

struct hone_writer {
    char *path, *temp;
    int   fd;
};

hone_status hone_writer_create(hone_writer **out, const char *path)
{
    hone_writer *w = hone_calloc(1, sizeof *w);
    hone_status  st = HONE_OK;
    struct stat  info;

    *out = NULL;
    if (!w)
        return HONE_E_NOMEM;
    w->fd = -1;
    w->path = hone_strdup(path);
    w->temp = hone_asprintf("%s.tmp-%ld", path, (long)getpid());
    if (!w->path || !w->temp)
        st = HONE_E_NOMEM;
    else if (!*path)
        st = HONE_FAIL(HONE_E_IO, "cannot write: the name of the file is empty");
    else if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))     /* the rename would put a file in place of a device */
        st = HONE_FAIL(HONE_E_IO, "cannot write %s: it is there, and is no regular file", path);
    else if ((w->fd = open(w->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
        st = FAIL_SYS("create", w->temp);
    if (st != HONE_OK)
        hone_writer_abandon(&w);
    *out = w;
    return st;
}

hone_status hone_writer_write(hone_writer *w, const void *data, size_t size)
{
    const char *p = data;

    while (size > 0) {
        ssize_t n = write(w->fd, p, HONE_MIN(size, (size_t)1 << 30));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FAIL_SYS("write", w->path);
        p += n;
        size -= (size_t)n;
    }
    return HONE_OK;
}

static hone_status sync_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    char       *dir = slash ? hone_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : hone_strdup(".");
    hone_status st = dir ? hone_dir_sync(dir) : HONE_E_NOMEM;

    hone_free(dir);
    return st;
}

hone_status hone_writer_commit(hone_writer **writer)
{
    hone_writer *w = *writer;
    hone_status  st = HONE_OK;

    if (fsync(w->fd) != 0)
        st = FAIL_SYS("sync", w->path);
    if (close(w->fd) != 0 && st == HONE_OK)
        st = FAIL_SYS("close", w->path);
    w->fd = -1;
    if (st == HONE_OK && rename(w->temp, w->path) != 0)
        st = FAIL_SYS("rename", w->temp);
    if (st == HONE_OK) {
        st = sync_parent(w->path);
        hone_free(w->temp);     /* renamed: nothing to remove */
        w->temp = NULL;
    }
    hone_writer_abandon(writer);
    return st;
}

void hone_writer_abandon(hone_writer **writer)
{
    hone_writer *w = *writer;

    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd);
    if (w->temp)
        unlink(w->temp);
    hone_free(w->temp);
    hone_free(w->path);
    hone_free(w);
    *writer = NULL;
}

hone_status hone_file_write_all(const char *path, const void *data, size_t size)
{
    hone_writer *w;
    hone_status  st;

    HONE_TRY(hone_writer_create(&w, path));
    st = hone_writer_write(w, data, size);
    if (st != HONE_OK) {
        hone_writer_abandon(&w);
        return HONE_TRACE(st);
    }
    HONE_TRY(hone_writer_commit(&w));
    return HONE_OK;
}

hone_status hone_file_copy(const char *from, const char *to)
{
    hone_mapped map;
    hone_status st;

    HONE_TRY(hone_file_map(&map, from));
    st = hone_file_write_all(to, map.data, map.size);
    hone_file_unmap(&map);
    return st == HONE_OK ? st : HONE_TRACE(st);
}

bool hone_path_exists(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}

bool hone_path_is_dir(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool hone_dir_has(const char *dir, const char *name)
{
    char path[PATH_MAX];    /* no allocation that could fail; the system refuses longer paths too */
    int  n = snprintf(path, sizeof path, "%s/%s", dir, name);

    return n > 0 && (size_t)n < sizeof path && hone_path_exists(path);
}

bool hone_dir_has_file(const char *dir, const char *name)
{
    char        path[PATH_MAX];
    int         n = snprintf(path, sizeof path, "%s/%s", dir, name);
    struct stat info;

    return n > 0 && (size_t)n < sizeof path && lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

int64_t hone_file_size(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

hone_status hone_dir_make(const char *path)
{
    hone_status st = HONE_OK;
    char       *p = hone_strdup(path);

    if (!p)
        return HONE_E_NOMEM;
    for (char *s = p + 1; st == HONE_OK; s++) {
        char c = *s;
        int  why;

        if (c != '/' && c != '\0')
            continue;
        *s = '\0';
        why = mkdir(p, 0777) == 0 ? 0 : errno;
        if (why && !hone_path_is_dir(p))
            st = HONE_FAIL(HONE_E_IO, "cannot make the folder %s: %s", p,
                           why == EEXIST ? "something of that name is there, and it is no folder" : strerror(why));
        *s = c;
        if (c == '\0')
            break;
    }
    hone_free(p);
    return st;
}

hone_status hone_dir_remove(const char *path)
{
    hone_status st = HONE_OK;
    struct stat info;
    char      **names;
    size_t      n;

    if (lstat(path, &info) != 0)
        return errno == ENOENT ? HONE_OK : FAIL_SYS("stat", path);
    if (!S_ISDIR(info.st_mode))
        return unlink(path) == 0 ? HONE_OK : FAIL_SYS("remove", path);
    HONE_TRY(hone_dir_list(&names, &n, path));
    for (size_t i = 0; i < n && st == HONE_OK; i++) {
        char *child = hone_path_join(path, names[i]);

        st = child ? hone_dir_remove(child) : HONE_E_NOMEM;
        hone_free(child);
    }
    hone_dir_list_free(names, n);
    if (st == HONE_OK && rmdir(path) != 0)
        st = FAIL_SYS("remove", path);
    return st;
}

void hone_dir_discard(const char *path)
{
    hone_error error;

    hone_error_save(&error);
    (void)!hone_dir_remove(path);
    hone_error_restore(&error);
}

hone_status hone_dir_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int bad;

    if (fd < 0)
        return FAIL_SYS("open", path);
    bad = fsync(fd) != 0 && errno != EINVAL;    /* some file systems cannot sync folders */
    close(fd);
    return bad ? FAIL_SYS("sync", path) : HONE_OK;
}

struct hone_dir_lock { int fd; };

hone_status hone_dir_lock_take(hone_dir_lock **out, const char *path)
{
    hone_dir_lock *lock = hone_calloc(1, sizeof *lock);
    hone_status    st = HONE_OK;

    *out = NULL;
    if (!lock)
        return HONE_E_NOMEM;
    lock->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock->fd < 0)
        st = FAIL_SYS("open", path);
    else if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        st = HONE_FAIL(HONE_E_EXISTS, "another process is writing into %s; wait for it, or choose another folder", path);
    if (st != HONE_OK)
        hone_dir_unlock(&lock);
    *out = lock;
    return st;
}

void hone_dir_unlock(hone_dir_lock **lock)
{
    hone_dir_lock *l = *lock;

    if (!l)
        return;
    if (l->fd >= 0)
        close(l->fd);
    hone_free(l);
    *lock = NULL;
}

hone_status hone_path_rename(const char *from, const char *to)
{
    if (rename(from, to) != 0)
        return HONE_FAIL(HONE_E_IO, "cannot rename %s to %s: %s", from, to, strerror(errno));
    return sync_parent(to);
}

hone_status hone_dir_replace(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
        HONE_TRY(sync_parent(to));
        return hone_dir_remove(from);       /* what was there */
    }
    HONE_TRY(hone_dir_remove(to));
    return hone_path_rename(from, to);
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

hone_status hone_dir_list(char ***names, size_t *n, const char *path)
{
    HONE_VEC(char *) v = { NULL, 0, 0 };
    hone_status      st = HONE_OK;
    struct dirent   *e;
    DIR             *d = opendir(path);

    *names = NULL;
    *n = 0;
    if (!d)
        return FAIL_SYS("list", path);
    while (st == HONE_OK && (e = readdir(d))) {
        char *copy;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        copy = hone_strdup(e->d_name);
        st = copy ? HONE_VEC_PUSH(&v, copy) : HONE_E_NOMEM;
        if (st != HONE_OK)
            hone_free(copy);
    }
    closedir(d);
    if (st != HONE_OK) {
        hone_dir_list_free(v.data, v.len);
        return st;
    }
    if (v.len)
        qsort(v.data, v.len, sizeof *v.data, by_bytes);
    *names = v.data;
    *n = v.len;
    return HONE_OK;
}

void hone_dir_list_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hone_free(names[i]);
    hone_free(names);
}

char *hone_path_join(const char *dir, const char *name)
{
    return hone_asprintf("%s%s%s", dir, hone_ends_with(dir, "/") ? "" : "/", name);
}

const char *hone_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
