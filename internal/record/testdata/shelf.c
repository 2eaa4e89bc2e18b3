/* A library for box.c. */
static volatile unsigned long work;

static __attribute__((noinline, noclone)) void rounds(long count)
{
	for (long i = 0; i < count; i++)
		work += i * i;
}

void shelf_spin(long count)
{
	rounds(count);
	work++;
}
