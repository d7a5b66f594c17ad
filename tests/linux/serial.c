// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
/*
 * A block device that does one command at a time, in base + per_kib * size, and a probe that logs what a scheduler
 * gets, is asked, and gives. A test driver: it stores nothing.
 *
 * budget=0: `depth` hardware tags. budget=1: a command needs one of `depth` budgets before the scheduler is asked, and
 * each end of a command runs the queue, as drivers/scsi/scsi_lib.c does.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <trace/events/block.h>
#include "elevator.h"

static int budget, depth = 1;
static ulong read_base = 200000, write_base = 500000, read_kib = 10000, write_kib = 15000, max_kib = 1280;
module_param(budget, int, 0444);
module_param(depth, int, 0444);
module_param(read_base, ulong, 0444);
module_param(write_base, ulong, 0444);
module_param(read_kib, ulong, 0444);
module_param(write_kib, ulong, 0444);
module_param(max_kib, ulong, 0444);

/* The probe: I a request is inserted, D the scheduler answers an asking (id 0: nothing), C a request ends. */
struct entry {
	u64 time, sector;
	u32 id, bytes, process, tick;
	u16 priority;
	u8 type, op;
};

#define MOST_ENTRIES (4u << 20)
#define MOST_TAGS 4096
static struct entry *entries;
static u32 entry_count, last_id, ids[MOST_TAGS];
static bool is_logging;
static struct request_queue *probed;
static struct request *(*dispatch)(struct blk_mq_hw_ctx *);

static u32 *id_of(struct request *rq)
{
	int tag = rq->internal_tag >= 0 ? rq->internal_tag : MOST_TAGS / 2 + rq->tag;

	return &ids[tag & (MOST_TAGS - 1)];
}

static void note(u8 type, struct request *rq)
{
	struct entry *entry;

	if (!is_logging || entry_count >= MOST_ENTRIES)
		return;
	entry = &entries[entry_count++];
	*entry = (struct entry){ .time = ktime_get_ns(), .tick = (u32)jiffies, .type = type, .process = current->pid };
	if (rq) {
		entry->id = *id_of(rq);
		entry->sector = blk_rq_pos(rq);
		entry->bytes = blk_rq_bytes(rq);
		entry->priority = req_get_ioprio(rq);
		entry->op = req_op(rq);
	}
}

static void on_insert(void *data, struct request *rq)
{
	if (probed && rq->q == probed) {
		*id_of(rq) = ++last_id;
		note('I', rq);
	}
}

static void on_complete(void *data, struct request *rq, blk_status_t error, unsigned int bytes)
{
	if (rq->q == probed)
		note('C', rq);
}

static struct request *noted_dispatch(struct blk_mq_hw_ctx *hctx)
{
	struct request *rq = dispatch(hctx);

	if (hctx->queue == probed)
		note('D', rq);
	return rq;
}

static int show(struct seq_file *file, void *of)
{
	struct entry *e = of;

	seq_printf(file, "%llu %c %u %llu %u %u %u %u %u\n", e->time, e->type, e->id, e->sector, e->bytes, e->op,
		   e->priority, e->process, e->tick);
	return 0;
}

static void *start(struct seq_file *file, loff_t *at)
{
	return *at < entry_count ? &entries[*at] : NULL;
}

static void *next(struct seq_file *file, void *of, loff_t *at)
{
	++*at;
	return start(file, at);
}

static void stop(struct seq_file *file, void *of)
{
}

static const struct seq_operations rows = { .start = start, .next = next, .stop = stop, .show = show };

static int open_log(struct inode *inode, struct file *file)
{
	is_logging = false;
	return seq_open(file, &rows);
}

/* The name of a device: it is probed from here on, with the scheduler that it has. */
static ssize_t probe_device(struct file *file, const char __user *bytes, size_t size, loff_t *at)
{
	char name[32] = "";
	struct file *opened;
	struct elevator_type *type;

	if (size >= sizeof(name) || copy_from_user(name, bytes, size))
		return -EINVAL;
	/* It stays open until the guest is off. */
	opened = bdev_file_open_by_path(strim(name), BLK_OPEN_READ, NULL, NULL);
	if (IS_ERR(opened))
		return PTR_ERR(opened);
	probed = bdev_get_queue(file_bdev(opened));
	if (!probed->elevator)
		return -EINVAL;
	type = probed->elevator->type;
	dispatch = type->ops.dispatch_request;
	type->ops.dispatch_request = noted_dispatch;
	is_logging = true;
	return size;
}

static const struct proc_ops log_ops = {
	.proc_open = open_log, .proc_read = seq_read, .proc_lseek = seq_lseek, .proc_release = seq_release,
	.proc_write = probe_device,
};

/* The device. Its commands wait in a list. */
static struct blk_mq_tag_set tags;
static struct gendisk *disk;
static LIST_HEAD(waiting);
static DEFINE_SPINLOCK(lock);
static struct hrtimer timer;
static struct request *running;
static atomic_t budgets = ATOMIC_INIT(0);

static void begin(struct request *rq)
{
	u64 kib = DIV_ROUND_UP(blk_rq_bytes(rq), 1024);
	u64 takes = req_op(rq) == REQ_OP_READ ? read_base + read_kib * kib : write_base + write_kib * kib;

	running = rq;
	hrtimer_start(&timer, ns_to_ktime(takes), HRTIMER_MODE_REL);
}

static enum hrtimer_restart ended(struct hrtimer *of)
{
	struct request *rq = running, *first;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	running = NULL;
	first = list_first_entry_or_null(&waiting, struct request, queuelist);
	if (first) {
		list_del_init(&first->queuelist);
		begin(first);
	}
	spin_unlock_irqrestore(&lock, flags);
	if (budget)
		atomic_dec(&budgets);
	blk_mq_end_request(rq, BLK_STS_OK);
	if (budget)
		blk_mq_run_hw_queues(disk->queue, true);
	return HRTIMER_NORESTART;
}

static blk_status_t take(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *data)
{
	unsigned long flags;

	blk_mq_start_request(data->rq);
	spin_lock_irqsave(&lock, flags);
	if (running)
		list_add_tail(&data->rq->queuelist, &waiting);
	else
		begin(data->rq);
	spin_unlock_irqrestore(&lock, flags);
	return BLK_STS_OK;
}

static int get_budget(struct request_queue *queue)
{
	if (atomic_inc_return(&budgets) <= depth)
		return 0;
	atomic_dec(&budgets);
	return -1;
}

static void put_budget(struct request_queue *queue, int token)
{
	atomic_dec(&budgets);
}

static const struct blk_mq_ops tag_ops = { .queue_rq = take };
static const struct blk_mq_ops budget_ops = { .queue_rq = take, .get_budget = get_budget, .put_budget = put_budget };
static const struct block_device_operations disk_ops = { .owner = THIS_MODULE };

static int __init serial_init(void)
{
	struct queue_limits limits = {
		.logical_block_size = 512, .max_hw_sectors = 2 * max_kib, .max_segments = 2048, .max_segment_size = 1u << 20,
	};
	int error;

	entries = vzalloc(sizeof(*entries) * (size_t)MOST_ENTRIES);
	if (!entries)
		return -ENOMEM;
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = ended;
	tags.ops = budget ? &budget_ops : &tag_ops;
	tags.nr_hw_queues = 1;
	tags.nr_maps = 1;
	tags.queue_depth = depth;
	tags.numa_node = NUMA_NO_NODE;
	tags.flags = BLK_MQ_F_SHOULD_MERGE;
	error = blk_mq_alloc_tag_set(&tags);
	if (error)
		return error;
	disk = blk_mq_alloc_disk(&tags, &limits, NULL);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->fops = &disk_ops;
	disk->flags |= GENHD_FL_NO_PART;
	strscpy(disk->disk_name, "serial", sizeof(disk->disk_name));
	/* 16 GiB. */
	set_capacity(disk, 16ull << 21);
	error = add_disk(disk);
	if (error)
		return error;
	register_trace_block_rq_insert(on_insert, NULL);
	register_trace_block_rq_complete(on_complete, NULL);
	proc_create("probe", 0644, NULL, &log_ops);
	return 0;
}
late_initcall(serial_init);
MODULE_LICENSE("Dual MIT/GPL");
