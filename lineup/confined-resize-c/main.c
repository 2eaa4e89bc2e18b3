// Shrinks images with two workers; each takes the next image from a common counter.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 256, HEIGHT = 256, WORKERS = 2 };

static atomic_int next;
static int images;
static atomic_ulong sum;

static unsigned long shrink_image(int number) {
	unsigned long total = 0;
	unsigned pixel = number * 2654435761u;
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			pixel = pixel * 1664525u + 1013904223u;
			total += (pixel >> 24) * (x ^ y);
		}
	return total;
}

static void *work_off(void *unused) {
	(void)unused;
	for (int image; (image = atomic_fetch_add(&next, 1)) < images;)
		atomic_fetch_add(&sum, shrink_image(image));
	return NULL;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: resize IMAGES\n");
		return 2;
	}
	images = atoi(argv[1]);
	pthread_t workers[WORKERS];
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work_off, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	printf("%lu\n", sum);
	return 0;
}
