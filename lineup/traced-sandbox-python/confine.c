// Runs a program that may not touch descriptors of its parent: a call with one
// of them as first argument fails.
//
//   usage: confine DESCRIPTORS COMMAND [ARGUMENT…]
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { FIRST_DESCRIPTOR = 1000, MOST_DESCRIPTORS = 2000 };

int main(int argc, char **argv) {
	static struct sock_filter rules[2 * MOST_DESCRIPTORS + 2];
	int descriptors = argc > 2 ? atoi(argv[1]) : 0;
	unsigned short used = 0;

	if (descriptors < 1 || descriptors > MOST_DESCRIPTORS) {
		fprintf(stderr, "usage: confine DESCRIPTORS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	rules[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, args[0]));
	for (int i = 0; i < descriptors; i++) {
		rules[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FIRST_DESCRIPTOR + i, 0, 1);
		rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EBADF);
	}
	rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {.len = used, .filter = rules};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("confine");
		return 1;
	}
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
