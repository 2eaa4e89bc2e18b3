/* A service that logs: five threads (or fewer) append lines of 150 bytes to one file under one
 * mutex, 1000 a second each, beside a process that writes data in bulk and one that appends and
 * syncs. Prints for each line when writing it was due and how long after that it was done, both in
 * microseconds: a line that waits behind a slow one is late too.
 *
 *	logwriter File|Async SECONDS BEGIN [THREADS]
 *
 * Async hands the lines to a thread of its own over a ring, as asynchronous loggers do. BEGIN is
 * the time of day in milliseconds at which the first line is due; the disk fills up until then. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 5, RATE = 1000, LINE = 150, RING = 1 << 18, CHUNK = 256 << 10, BULK = 128 << 20 };

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void until(int64_t when)
{
	struct timespec t = {when / 1000000000, when % 1000000000};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0))
		;
}

static void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(2);
	}
}

static int file, async_mode;
static int64_t begin, end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t head, tail; /* of the ring */
static volatile int done;

static struct record {
	int64_t due, took;
} *records[THREADS];
static long counts[THREADS];

static void append(const char *text, size_t length)
{
	must(write(file, text, length) == (ssize_t)length, "write");
}

static void *log_lines(void *number)
{
	long id = (long)number, most = (end - begin) / (1000000000 / RATE) + 2;
	char line[LINE];
	memset(line, 'a' + id, LINE);
	line[LINE - 1] = '\n';
	prctl(PR_SET_NAME, "worker");
	prctl(PR_SET_TIMERSLACK, 1000);
	records[id] = calloc(most, sizeof(struct record));
	must(records[id] != 0, "allocate");
	int64_t due = begin + id * (1000000000 / RATE / THREADS);
	for (; due < end && counts[id] < most; due += 1000000000 / RATE) {
		if (now() < due)
			until(due);
		pthread_mutex_lock(&lock);
		if (!async_mode)
			append(line, LINE);
		else if (head - tail < RING)
			__atomic_add_fetch(&head, 1, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&lock);
		records[id][counts[id]++] = (struct record){due, now() - due};
	}
	return 0;
}

static void *write_behind(void *unused)
{
	static char lines[64 * LINE];
	memset(lines, '.', sizeof(lines));
	prctl(PR_SET_NAME, "behind");
	while (!done || tail < head) {
		uint64_t waiting = head - tail;
		if (!waiting) {
			usleep(200);
			continue;
		}
		waiting = waiting > 64 ? 64 : waiting;
		append(lines, waiting * LINE);
		__atomic_add_fetch(&tail, waiting, __ATOMIC_RELEASE);
	}
	return unused;
}

/* 120 MB a second into files of 128 MB: more than the slow disk takes. */
static void bulk(void)
{
	static char chunk[CHUNK];
	char name[32];
	int64_t written = 0, start = now();
	memset(chunk, 'd', CHUNK);
	for (int round = 0;; round++) {
		snprintf(name, sizeof(name), "bulk.%d", round % 2);
		unlink(name);
		int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		must(fd >= 0, name);
		for (long part = 0; part < BULK; part += CHUNK, written += CHUNK) {
			if (write(fd, chunk, CHUNK) < 0)
				usleep(100000); /* full: the other file goes soon */
			until(start + written * 1000 / 126);
		}
		close(fd);
	}
}

/* An append of 200 bytes and fsync every 30 ms, as a database's log does. */
static void syncs(void)
{
	char text[200];
	int fd = open("synced", O_WRONLY | O_CREAT | O_APPEND, 0644);
	memset(text, 's', sizeof(text));
	must(fd >= 0, "synced");
	for (;;) {
		usleep(30000);
		must(write(fd, text, sizeof(text)) == sizeof(text), "synced");
		fsync(fd);
	}
}

static pid_t beside(void (*work)(void))
{
	pid_t child = fork();
	must(child >= 0, "fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(1); /* whoever reads the lines must not wait for these */
		work();
	}
	return child;
}

int main(int count, char **words)
{
	int each = count > 4 ? atoi(words[4]) : THREADS;
	if (count < 4 || each < 1 || each > THREADS) {
		fputs("logwriter File|Async SECONDS BEGIN [THREADS]\n", stderr);
		return 2;
	}
	async_mode = !strcmp(words[1], "Async");
	pid_t writer = beside(bulk), syncer = beside(syncs);
	file = open("c.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	must(file >= 0, "c.log");
	begin = now() + atoll(words[3]) * 1000000 - read_clock(CLOCK_REALTIME);
	end = begin + atof(words[2]) * 1e9;
	until(begin);
	pthread_t threads[THREADS], consumer;
	if (async_mode)
		pthread_create(&consumer, 0, write_behind, 0);
	for (long i = 0; i < each; i++)
		pthread_create(&threads[i], 0, log_lines, (void *)i);
	for (int i = 0; i < each; i++)
		pthread_join(threads[i], 0);
	done = 1;
	kill(writer, SIGKILL);
	kill(syncer, SIGKILL);
	if (async_mode)
		pthread_join(consumer, 0);
	/* Nobody waits for them: one may be asleep in fsync for long, and the lines are what this is
	 * about. */
	for (int i = 0; i < each; i++)
		for (long k = 0; k < counts[i]; k++)
			printf("%.1f %.1f\n", (records[i][k].due - begin) / 1e3, records[i][k].took / 1e3);
	return 0;
}
