/* Two processes count for so many seconds, in memory that both have mapped: in neighbouring words of one cache line
 * (near), in one word (same) or far from each other (apart). The memory is a memfd that lies elsewhere in each, a file,
 * a segment of System V, without a name, or not shared at all: at one address, with a page of its own for each. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES (16 * 4096)
#define START 4096 /* of what is counted in */

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void count_up(atomic_long *word)
{
	for (int i = 0; i < 50000; i++) {
		atomic_fetch_add(word, 1);
		atomic_fetch_add(word, 1);
		atomic_fetch_add(word, 1);
		atomic_fetch_add(word, 1);
	}
}

static char *map(int flags, int fd, int elsewhere)
{
	if (elsewhere && mmap(0, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		exit(1);
	char *memory = mmap(0, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

static int of_file(const char *kind)
{
	char path[] = "/var/tmp/culprit-test-XXXXXX";
	int fd = strcmp(kind, "memfd") ? mkstemp(path) : memfd_create("board", 0);
	if (strcmp(kind, "memfd"))
		unlink(path);
	if (fd < 0 || ftruncate(fd, BYTES))
		exit(1);
	return fd;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	const char *kind = argv[3];
	int file = -1, is_file = !strcmp(kind, "memfd") || !strcmp(kind, "file");
	char *memory = 0;
	if (is_file) {
		file = of_file(kind);
	} else if (!strcmp(kind, "segment")) {
		int id = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600);
		memory = shmat(id, 0, 0);
		shmctl(id, IPC_RMID, 0);
		if (memory == (void *)-1)
			return 1;
	} else {
		memory = map((strcmp(kind, "private") ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	}
	int second = fork() == 0;
	if (second)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_file)
		memory = map(MAP_SHARED, file, second);
	int far = !strcmp(argv[2], "apart") ? 32 : !strcmp(argv[2], "near") ? 2 : 0;
	atomic_long *word = (atomic_long *)(memory + START) + (second ? far : 0);
	for (double end = now() + atof(argv[1]); now() < end;)
		count_up(word);
	if (!second)
		wait(0);
	return 0;
}
