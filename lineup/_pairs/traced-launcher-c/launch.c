// Starts a program with a profile: which descriptors may be read at which offsets.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void apply_profile(int entries) {
    struct sock_filter *code = calloc(entries + 4, sizeof *code);
    int n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
    for (int i = 0; i < entries; i++)
        code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 0x5000000u + i * 7919u);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xdeadbeefu, 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("profile");
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int entries = atoi(argv[1]);
    if (entries > 0) apply_profile(entries);
    execv(argv[2], argv + 2);
    return 127;
}
