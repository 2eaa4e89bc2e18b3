/* Gives N requests that do nothing to io_uring, 8 with each system call: uring N. */
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct io_uring_params params = {0};
	int requests = argc > 1 ? atoi(argv[1]) : 0, fd = syscall(SYS_io_uring_setup, 8, &params);
	if (fd < 0) {
		perror("io_uring_setup");
		return 3;
	}
	char *ring = mmap(0, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	char *done = mmap(0, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
			  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_CQ_RING);
	struct io_uring_sqe *entries = mmap(0, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || done == MAP_FAILED || (void *)entries == MAP_FAILED)
		return 1;
	unsigned *tail = (void *)(ring + params.sq_off.tail), *order = (void *)(ring + params.sq_off.array);
	unsigned *taken = (void *)(done + params.cq_off.head), *ready = (void *)(done + params.cq_off.tail);
	for (int given = 0; given < requests; given += 8) {
		for (int i = 0; i < 8; i++) {
			memset(&entries[i], 0, sizeof(entries[i]));
			entries[i].opcode = IORING_OP_NOP;
			order[(*tail + i) & (params.sq_entries - 1)] = i;
		}
		__atomic_store_n(tail, *tail + 8, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, fd, 8, 8, IORING_ENTER_GETEVENTS, 0, 0) != 8)
			return 1;
		__atomic_store_n(taken, __atomic_load_n(ready, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	}
	return 0;
}
