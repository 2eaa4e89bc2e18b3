// Command counter sums up readings of sensors. With "guarded" its table is one that threads may share: it takes and
// gives back a lock for each reading, which no other thread ever asks for.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
	pthread_mutex_t lock;
	long values[4096];
};

static int guarded;

static __attribute__((noinline)) long reading_at(struct table *table, unsigned position) {
	if (!guarded) return table->values[position & 4095];
	pthread_mutex_lock(&table->lock);
	long value = table->values[position & 4095];
	pthread_mutex_unlock(&table->lock);
	return value;
}

static __attribute__((noinline)) long smooth(struct table *table, unsigned position) {
	long sum = 0;
	for (int i = 0; i < 24; i++) sum = sum * 31 + (table->values[(position + i) & 4095] ^ sum >> 7);
	return sum;
}

struct work {
	long readings, sum;
};

static void *sensor(void *argument) {
	struct work *work = argument;
	struct table *table = calloc(1, sizeof *table);
	pthread_mutex_init(&table->lock, NULL);
	for (int i = 0; i < 4096; i++) table->values[i] = i * 2654435761u % 1000;
	for (long i = 0; i < work->readings; i++)
		work->sum += reading_at(table, i * 7) + (i % 4 == 0 ? smooth(table, i) : 0);
	free(table);
	return NULL;
}

int main(int count, char **arguments) {
	struct work work[2] = {{count > 1 ? atol(arguments[1]) : 1000000, 0}, {0, 0}};
	work[1].readings = work[0].readings;
	guarded = count > 2 && strcmp(arguments[2], "guarded") == 0;
	pthread_t threads[2];
	for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, sensor, &work[i]);
	for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
	printf("%ld\n", work[0].sum + work[1].sum);
	return 0;
}
