// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The guest's first process. It carries out /host/case.txt, writes latencies and the probe's log beside it, and powers
 * the guest off. Lines of a case, with times in nanoseconds and sizes in bytes:
 *   device NAME
 *   set FILE VALUE      a file of the queue in sysfs
 *   show FILE           its value, on the console
 *   probe               the probe logs from here on
 *   seed NUMBER         of random places, before the jobs
 *   run DURATION
 *   job NUMBER read|write random|sequential sync|async CLASS LEVEL FROM SPAN SIZE DEPTH THINK EVERY PHASE COUNT
 * A job is a thread. A synchronous one has one I/O at a time, an asynchronous one DEPTH of them (libaio).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define MOST_JOBS 1024

struct job {
	int number, is_write, is_random, is_async, class, level;
	unsigned depth;
	uint64_t from, span, size, think, every, phase, count;
	pthread_t thread;
	uint64_t random, released;
	/* Pairs: release, end. */
	uint64_t *done;
	size_t ended, room;
};

static struct job jobs[MOST_JOBS];
static int job_count;
static char device[64];
static uint64_t begin, end, seed;

static void fail(const char *what)
{
	/* The driver looks for "<-" on the console. */
	fprintf(stderr, "%s <- %s\n", what, strerror(errno));
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static struct timespec timespec(uint64_t ns)
{
	return (struct timespec){ ns / SECOND, ns % SECOND };
}

static void sleep_until(uint64_t at)
{
	struct timespec t = timespec(at);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(struct job *job)
{
	uint64_t z = job->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t next_place(struct job *job)
{
	uint64_t places = job->span / job->size, place = job->released % places;

	if (job->is_random)
		place = next_random(job) % places;
	job->released++;
	return job->from + place * job->size;
}

static int has_next(const struct job *job)
{
	return now() < end && (!job->count || job->released < job->count);
}

static void note(struct job *job, uint64_t release, uint64_t end)
{
	if (job->ended == job->room) {
		job->room = 2 * job->room + 1024;
		job->done = realloc(job->done, job->room * 2 * sizeof(*job->done));
	}
	job->done[2 * job->ended] = release;
	job->done[2 * job->ended + 1] = end;
	job->ended++;
}

static void *buffer(const struct job *job)
{
	void *memory;

	if (posix_memalign(&memory, 4096, job->size))
		return NULL;
	return memset(memory, 1, job->size);
}

static void run_sync(struct job *job, int file)
{
	void *memory = buffer(job);

	while (has_next(job)) {
		if (job->every)
			sleep_until(begin + job->phase + job->released * job->every);
		uint64_t place = next_place(job), release = now();
		ssize_t size = job->is_write ? pwrite(file, memory, job->size, place) : pread(file, memory, job->size, place);

		if (size != (ssize_t)job->size) {
			fail("I/O");
			return;
		}
		note(job, release, now());
		if (job->think)
			sleep_until(now() + job->think);
	}
}

/* One place of an asynchronous job. */
struct place {
	struct iocb control;
	void *memory;
	uint64_t release, due;
	int is_busy;
};

/* Submits all that is due. Says when the next place is due, 0 for never. */
static uint64_t submit(struct job *job, int file, aio_context_t context, struct place *places, unsigned *busy)
{
	struct iocb *batch[job->depth];
	unsigned in_batch = 0, sent = 0;
	uint64_t at = now(), next = 0;

	for (unsigned i = 0; i < job->depth; i++) {
		struct place *place = &places[i];

		if (place->is_busy || !has_next(job))
			continue;
		if (place->due > at) {
			next = next && next < place->due ? next : place->due;
			continue;
		}
		place->control = (struct iocb){
			.aio_fildes = file, .aio_lio_opcode = job->is_write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
			.aio_buf = (uintptr_t)place->memory, .aio_nbytes = job->size, .aio_offset = next_place(job), .aio_data = i,
		};
		place->release = at;
		place->is_busy = 1;
		batch[in_batch++] = &place->control;
	}
	*busy += in_batch;
	while (sent < in_batch) {
		long taken = syscall(SYS_io_submit, context, in_batch - sent, batch + sent);

		if (taken < 0) {
			fail("io_submit");
			exit(1);
		}
		sent += taken;
	}
	return next;
}

static void run_async(struct job *job, int file)
{
	struct place *places = calloc(job->depth, sizeof(*places));
	struct io_event *events = calloc(job->depth, sizeof(*events));
	aio_context_t context = 0;
	unsigned busy = 0;

	if (syscall(SYS_io_setup, 2 * job->depth + 8, &context)) {
		fail("io_setup");
		return;
	}
	for (unsigned i = 0; i < job->depth; i++)
		places[i].memory = buffer(job);
	for (;;) {
		uint64_t due = submit(job, file, context, places, &busy), at = now();
		struct timespec wait = timespec(due > at ? due - at : 0);

		if (!busy && !due)
			return;
		if (!busy) {
			sleep_until(due);
			continue;
		}
		long ended = syscall(SYS_io_getevents, context, 1, job->depth, events, due ? &wait : NULL);

		/* Once for all: the guest's clock moves on as it is read. */
		at = now();
		for (long i = 0; i < ended; i++) {
			struct place *place = &places[events[i].data];

			if ((uint64_t)events[i].res != job->size) {
				fail("asynchronous I/O");
				return;
			}
			note(job, place->release, at);
			place->is_busy = 0;
			place->due = at + job->think;
			busy--;
		}
	}
}

static void *run(void *of)
{
	struct job *job = of;
	int file = open(device, O_RDWR | O_DIRECT);

	if (file < 0 || syscall(SYS_ioprio_set, 1, 0, job->class << 13 | job->level))
		fail("a job");
	prctl(PR_SET_TIMERSLACK, 1);
	sleep_until(begin + job->phase);
	if (job->is_async)
		run_async(job, file);
	else
		run_sync(job, file);
	return NULL;
}

static void set(const char *path, const char *value)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, value, strlen(value)) < 0)
		fail(path);
	close(file);
}

static void show(const char *path)
{
	char value[256];
	FILE *file = fopen(path, "r");

	if (file && fgets(value, sizeof(value), file))
		printf("%s: %s", path, value);
	if (file)
		fclose(file);
}

static void read_job(const char *line)
{
	struct job *job = &jobs[job_count];
	char op[16], pattern[16], how[16];

	if (job_count == MOST_JOBS ||
	    sscanf(line, "job %d %15s %15s %15s %d %d %lu %lu %lu %u %lu %lu %lu %lu", &job->number, op, pattern, how,
		   &job->class, &job->level, &job->from, &job->span, &job->size, &job->depth, &job->think, &job->every,
		   &job->phase, &job->count) != 14) {
		fail(line);
		return;
	}
	job->is_write = !strcmp(op, "write");
	job->is_random = !strcmp(pattern, "random");
	job->is_async = !strcmp(how, "async");
	job->random = seed + ((uint64_t)job_count++ << 32);
}

static void queue_file(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/sys/block/%s/queue/%s", device + strlen("/dev/"), name);
}

/* Does what a line says. Returns the duration, if the line states it. */
static uint64_t obey(const char *line)
{
	char first[64], second[64], path[256];
	uint64_t duration = 0;

	if (sscanf(line, "device %31s", first) == 1) {
		snprintf(device, sizeof(device), "/dev/%.31s", first);
		/* A card is found a while after the start. */
		for (int i = 0; i < 200 && access(device, F_OK); i++)
			usleep(10000);
	} else if (sscanf(line, "set %63s %63s", first, second) == 2) {
		queue_file(path, sizeof(path), first);
		set(path, second);
	} else if (sscanf(line, "show %63s", first) == 1) {
		queue_file(path, sizeof(path), first);
		show(path);
	} else if (!strcmp(line, "probe\n")) {
		set("/proc/probe", device);
	} else if (sscanf(line, "seed %lu", &seed) == 1) {
		return 0;
	} else if (sscanf(line, "run %lu", &duration) != 1) {
		read_job(line);
	}
	return duration;
}

static void write_latencies(void)
{
	FILE *out = fopen("/host/latencies.txt", "w");

	for (int i = 0; i < job_count; i++)
		for (size_t k = 0; k < jobs[i].ended; k++)
			fprintf(out, "%d %lu %lu\n", jobs[i].number, jobs[i].done[2 * k] - begin, jobs[i].done[2 * k + 1] - begin);
	fclose(out);
}

static void copy_log(void)
{
	static char bytes[1 << 16];
	int from = open("/proc/probe", O_RDONLY), to = open("/host/log.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t size;

	while ((size = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, size) != size)
			fail("log");
	close(to);
}

/* Mounts what is needed, and the host's folder of the case, which the command line names. */
static void mount_all(void)
{
	char line[1024] = "", folder[512] = "";
	FILE *file;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	file = fopen("/proc/cmdline", "r");
	if (file && fgets(line, sizeof(line), file) && strstr(line, "case="))
		sscanf(strstr(line, "case="), "case=%511s", folder);
	if (mount("none", "/host", "hostfs", 0, folder))
		fail("/host");
}

int main(void)
{
	char line[512];
	uint64_t duration = 0;
	FILE *lines;

	mount_all();
	lines = fopen("/host/case.txt", "r");
	while (lines && fgets(line, sizeof(line), lines))
		duration += obey(line);
	/* At a tick of the clock. */
	begin = (now() / 1000000 + 50) * 1000000;
	end = begin + duration;
	for (int i = 0; i < job_count; i++) {
		pthread_attr_t attributes;

		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, 1 << 16);
		if (pthread_create(&jobs[i].thread, &attributes, run, &jobs[i]))
			fail("thread");
	}
	for (int i = 0; i < job_count; i++)
		pthread_join(jobs[i].thread, NULL);
	write_latencies();
	copy_log();
	puts("done");
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 0;
}
