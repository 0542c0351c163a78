/* Interrupts a program at its n-th change to a folder's files. Loaded with LD_PRELOAD; tests alone use it.

   CRASH_UNDER   folder whose changes count
   CRASH_AT      number of the change at which it happens; 0: never, only count
   CRASH_DO      kill | term | int   the signal (kill: a write is torn in the middle first)
                 full | readonly     from then on the disk is full, or cannot be written
   CRASH_COUNT   file that gets the number of changes, when the program ends
   CRASH_SHADOW  folder that keeps what a power cut would leave: of a file what was last synced, of a folder the entries
                 it had when it was last synced
   CRASH_CLOCK   seconds by which the clock of the day is wrong

   Worker processes are left alone: only the first process counts. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum action { NOTHING, KILL, TERM, INT, FULL, READONLY };
enum change { GROWS, SHRINKS };

static const char *under, *count_file, *shadow;
static size_t under_length;
static long at, counted;
static enum action action;
static time_t clock_shift;
static int armed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void start(void) {
    const char *text = getenv("CRASH_CLOCK");
    clock_shift = text ? atol(text) : 0;
    under = getenv("CRASH_UNDER");
    if (!under || getenv("CRASH_OWNER")) return;
    setenv("CRASH_OWNER", "1", 1);
    under_length = strlen(under);
    count_file = getenv("CRASH_COUNT");
    shadow = getenv("CRASH_SHADOW");
    at = (text = getenv("CRASH_AT")) ? atol(text) : 0;
    text = (text = getenv("CRASH_DO")) ? text : "";
    action = !strcmp(text, "kill") ? KILL : !strcmp(text, "term") ? TERM : !strcmp(text, "int") ? INT
        : !strcmp(text, "full") ? FULL : !strcmp(text, "readonly") ? READONLY : NOTHING;
    armed = 1;
}

__attribute__((destructor)) static void end(void) {
    if (!armed || !count_file) return;
    inside = 1;
    FILE *file = fopen(count_file, "w");
    if (file) { fprintf(file, "%ld\n", counted); fclose(file); }
}

static int counts(const char *path) {
    return armed && !inside && !strncmp(path, under, under_length) && (path[under_length] == '/' || !path[under_length]);
}

static int counts_fd(int fd) {
    if (!armed || inside) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return counts(path);
}

static int counts_at(int folder, const char *name) {
    if (!armed || inside) return 0;
    if (name[0] == '/') return counts(name);
    if (folder != AT_FDCWD) return counts_fd(folder);
    char path[4096];
    if (!getcwd(path, sizeof path - 1)) return 0;
    strncat(path, "/", sizeof path - strlen(path) - 1);
    return counts(path);
}

/* One more change. 0: it goes on. -1: it fails, errno says why. 1: it is torn, then the process dies. */
static int change(enum change kind) {
    pthread_mutex_lock(&lock);
    long number = ++counted;
    pthread_mutex_unlock(&lock);
    if (!at || number < at) return 0;
    if (action == FULL && kind == GROWS) { errno = ENOSPC; return number == at ? 1 : -1; }
    if (action == READONLY) { errno = EROFS; return -1; }
    if (number != at) return 0;
    if (action == KILL) return 1;
    if (action == TERM) kill(getpid(), SIGTERM);
    if (action == INT) kill(getpid(), SIGINT);
    return 0;
}

/* After a change is torn. */
static void torn(void) {
    if (action == KILL) { kill(getpid(), SIGKILL); pause(); }
    errno = ENOSPC;
}

#define SIMPLE(kind, call) { int step = change(kind); if (step) { torn(); errno = action == READONLY ? EROFS : ENOSPC; return -1; } return call; }

/* Writing */

ssize_t write(int fd, const void *data, size_t size) {
    if (!counts_fd(fd)) return REAL(write)(fd, data, size);
    int step = change(GROWS);
    if (step < 0) return -1;
    if (!step) return REAL(write)(fd, data, size);
    ssize_t done = size > 1 ? REAL(write)(fd, data, size / 2) : 0;
    torn();
    return done > 0 ? done : -1;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    if (!counts_fd(fd)) return REAL(pwrite64)(fd, data, size, place);
    int step = change(GROWS);
    if (step < 0) return -1;
    if (!step) return REAL(pwrite64)(fd, data, size, place);
    ssize_t done = size > 1 ? REAL(pwrite64)(fd, data, size / 2, place) : 0;
    torn();
    return done > 0 ? done : -1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t place) { return pwrite64(fd, data, size, place); }

ssize_t writev(int fd, const struct iovec *parts, int number) {
    if (!counts_fd(fd)) return REAL(writev)(fd, parts, number);
    SIMPLE(GROWS, REAL(writev)(fd, parts, number))
}

int ftruncate64(int fd, off64_t size) {
    if (!counts_fd(fd)) return REAL(ftruncate64)(fd, size);
    SIMPLE(SHRINKS, REAL(ftruncate64)(fd, size))
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    if (!counts_fd(out)) return REAL(copy_file_range)(in, from, out, to, size, flags);
    SIMPLE(GROWS, REAL(copy_file_range)(in, from, out, to, size, flags))
}

ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
    ssize_t (*call)(int, int, off64_t *, size_t) = real("sendfile64");
    if (!counts_fd(out)) return call(out, in, from, size);
    SIMPLE(GROWS, call(out, in, from, size))
}

ssize_t sendfile(int out, int in, off_t *from, size_t size) { return sendfile64(out, in, from, size); }

/* Opening */

static int opening(int folder, const char *name, int flags) {
    if ((flags & (O_CREAT | O_TRUNC)) == 0 && (flags & O_ACCMODE) == O_RDONLY) return 0;
    if (!counts_at(folder, name)) return 0;
    if (action == READONLY && (!at || counted + 1 < at)) { change(GROWS); return 0; }
    struct stat about;
    inside = 1;
    int there = !fstatat(folder, name, &about, 0);
    inside = 0;
    if (there && !(flags & O_TRUNC) && action != READONLY) return 0;
    int step = change(there ? SHRINKS : GROWS);
    if (step) { int code = errno; torn(); errno = action == READONLY ? EROFS : code; return -1; }
    return 0;
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int open64(const char *name, int flags, ...) {
    MODE
    return opening(AT_FDCWD, name, flags) ? -1 : ((int (*)(const char *, int, ...))real("open64"))(name, flags, mode);
}

int open(const char *name, int flags, ...) {
    MODE
    return opening(AT_FDCWD, name, flags) ? -1 : ((int (*)(const char *, int, ...))real("open64"))(name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...) {
    MODE
    return opening(folder, name, flags) ? -1
        : ((int (*)(int, const char *, int, ...))real("openat64"))(folder, name, flags, mode);
}

int openat(int folder, const char *name, int flags, ...) {
    MODE
    return opening(folder, name, flags) ? -1
        : ((int (*)(int, const char *, int, ...))real("openat64"))(folder, name, flags, mode);
}

/* Names */

int rename(const char *from, const char *to) {
    if (!counts_at(AT_FDCWD, to)) return REAL(rename)(from, to);
    SIMPLE(SHRINKS, REAL(rename)(from, to))
}

int renameat(int a, const char *from, int b, const char *to) {
    if (!counts_at(b, to)) return REAL(renameat)(a, from, b, to);
    SIMPLE(SHRINKS, REAL(renameat)(a, from, b, to))
}

int unlink(const char *name) {
    if (!counts_at(AT_FDCWD, name)) return REAL(unlink)(name);
    SIMPLE(SHRINKS, REAL(unlink)(name))
}

int unlinkat(int folder, const char *name, int flags) {
    if (!counts_at(folder, name)) return REAL(unlinkat)(folder, name, flags);
    SIMPLE(SHRINKS, REAL(unlinkat)(folder, name, flags))
}

int mkdir(const char *name, mode_t mode) {
    if (!counts_at(AT_FDCWD, name)) return REAL(mkdir)(name, mode);
    SIMPLE(GROWS, REAL(mkdir)(name, mode))
}

int rmdir(const char *name) {
    if (!counts_at(AT_FDCWD, name)) return REAL(rmdir)(name);
    SIMPLE(SHRINKS, REAL(rmdir)(name))
}

/* What a power cut leaves. A synced file is linked too, so that its number is not given to another. */

static void keep_file(int fd, ino_t number) {
    char name[4200], part[4200], block[65536];
    snprintf(name, sizeof name, "%s/keep-%lu", shadow, (unsigned long)number);
    char link_[64];
    snprintf(link_, sizeof link_, "/proc/self/fd/%d", fd);
    linkat(AT_FDCWD, link_, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    snprintf(name, sizeof name, "%s/file-%lu", shadow, (unsigned long)number);
    snprintf(part, sizeof part, "%s/part-%lu", shadow, (unsigned long)number);
    int in = REAL(open64)(link_, O_RDONLY), out = REAL(open64)(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t got;
    while (in >= 0 && out >= 0 && (got = read(in, block, sizeof block)) > 0)
        if (REAL(write)(out, block, got) != got) abort();
    close(in);
    close(out);
    REAL(rename)(part, name);
}

static void keep_folder(int fd, ino_t number) {
    char name[4200], part[4200], link_[64];
    snprintf(name, sizeof name, "%s/folder-%lu", shadow, (unsigned long)number);
    snprintf(part, sizeof part, "%s/part-%lu", shadow, (unsigned long)number);
    snprintf(link_, sizeof link_, "/proc/self/fd/%d", fd);
    DIR *folder = opendir(link_);
    FILE *out = fopen(part, "w");
    struct dirent *entry;
    while (folder && out && (entry = readdir(folder))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        struct stat about;
        if (fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW)) continue;
        fprintf(out, "%lu %c %s\n", (unsigned long)about.st_ino, S_ISDIR(about.st_mode) ? 'd' : 'f', entry->d_name);
        if (S_ISREG(about.st_mode)) {
            char keep[4200];
            snprintf(keep, sizeof keep, "%s/keep-%lu", shadow, (unsigned long)about.st_ino);
            linkat(dirfd(folder), entry->d_name, AT_FDCWD, keep, 0);
        }
    }
    if (folder) closedir(folder);
    if (out) fclose(out);
    REAL(rename)(part, name);
}

static int synced(int fd, int result) {
    struct stat about;
    if (result || !shadow || !counts_fd(fd) || fstat(fd, &about)) return result;
    pthread_mutex_lock(&lock);
    inside = 1;
    if (S_ISDIR(about.st_mode)) keep_folder(fd, about.st_ino);
    else keep_file(fd, about.st_ino);
    inside = 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

int fsync(int fd) {
    if (counts_fd(fd) && change(SHRINKS) > 0) torn();
    return synced(fd, REAL(fsync)(fd));
}

int fdatasync(int fd) {
    if (counts_fd(fd) && change(SHRINKS) > 0) torn();
    return synced(fd, REAL(fdatasync)(fd));
}

/* The clock */

int clock_gettime(clockid_t which, struct timespec *now) {
    int result = REAL(clock_gettime)(which, now);
    if (!result && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += clock_shift;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = REAL(gettimeofday)(now, zone);
    if (!result) now->tv_sec += clock_shift;
    return result;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}
