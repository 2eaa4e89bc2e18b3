/* Services on one host that hand work to each other: RINGS rings, each on a CPU of its own as far
 * as there are, with STAGES threads that pass a request on and compute a while for each. Stage s
 * belongs to service s modulo the number of services; each service is a process in the cgroup whose
 * directory is given. So the work, the threads and the switches are the same however many services
 * there are: what differs is how many switches go from one cgroup to another. A ring rests before
 * each request: where threads hand a CPU to each other without a pause, Linux 6.18 leaves its own
 * threads there (rcu_preempt among them) without a turn for minutes, and no BPF program can be
 * attached.
 *
 *	services REQUESTS WORK RINGS STAGES CGROUP... */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64 /* of rings and of stages */
#define REST_US 100

static long requests, work;
static int rings, stages, pipes[MOST][MOST][2];
static volatile unsigned long sink;

struct stage {
	int ring, number;
};

static void join(const char *cgroup)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	FILE *file = fopen(path, "w");
	if (!file || fprintf(file, "0") < 0 || fclose(file)) {
		perror(path);
		exit(2);
	}
}

static void stay(int ring)
{
	cpu_set_t all, one;
	int cpu = -1;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		exit(2);
	for (int left = ring % CPU_COUNT(&all); left >= 0; left--)
		do
			cpu++;
		while (!CPU_ISSET(cpu, &all));
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(2);
}

static void *serve(void *argument)
{
	struct stage *stage = argument;
	int in = pipes[stage->ring][stage->number][0], out = pipes[stage->ring][(stage->number + 1) % stages][1];
	char ball = 0;
	stay(stage->ring);
	if (!stage->number && write(out, &ball, 1) != 1)
		exit(2);
	for (long left = requests; left > 0; left--) {
		if (read(in, &ball, 1) != 1)
			exit(2);
		if (!stage->number)
			usleep(REST_US);
		unsigned long value = left;
		for (long i = 0; i < work; i++)
			value = value * 6364136223846793005ul + 1442695040888963407ul;
		sink += value;
		if ((stage->number || left > 1) && write(out, &ball, 1) != 1)
			exit(2);
	}
	return NULL;
}

static int be(int service, int services, const char *cgroup)
{
	pthread_t threads[MOST * MOST];
	static struct stage all[MOST * MOST];
	int count = 0;
	join(cgroup);
	for (int ring = 0; ring < rings; ring++)
		for (int number = service; number < stages; number += services) {
			all[count] = (struct stage){ring, number};
			if (pthread_create(&threads[count], NULL, serve, &all[count]))
				return 2;
			count++;
		}
	while (count > 0)
		pthread_join(threads[--count], NULL);
	return 0;
}

int main(int count, char **words)
{
	int services = count - 5, failed = 0, status;
	if (services < 1)
		return fprintf(stderr, "usage: services REQUESTS WORK RINGS STAGES CGROUP...\n"), 2;
	requests = atol(words[1]), work = atol(words[2]), rings = atoi(words[3]), stages = atoi(words[4]);
	if (rings < 1 || rings > MOST || stages < 2 || stages > MOST || services > stages)
		return fprintf(stderr, "1 to 64 rings, 2 to 64 stages, no more services than stages\n"), 2;
	for (int ring = 0; ring < rings; ring++)
		for (int number = 0; number < stages; number++)
			if (pipe(pipes[ring][number]))
				return perror("pipe"), 2;
	for (int service = 0; service < services; service++) {
		pid_t child = fork();
		if (child < 0)
			return perror("fork"), 2;
		if (!child)
			_exit(be(service, services, words[5 + service]));
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
