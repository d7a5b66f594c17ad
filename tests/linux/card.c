// SPDX-License-Identifier: GPL-2.0 OR MIT OR Apache-2.0
/*
 * An eMMC card behind the kernel's own mmc core and mmc_block: one transfer at a time, in base + per_kib * size. With
 * `queue` the card has a command queue of this depth, first in, first out. A test driver: it stores nothing. Registers
 * are those of JESD84-B51, as drivers/mmc/core/mmc.c decodes them.
 */
#include <linux/hrtimer.h>
#include <linux/mmc/card.h>
#include <linux/mmc/core.h>
#include <linux/mmc/host.h>
#include <linux/mmc/mmc.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>

static int on, queue;
static ulong read_base = 200000, write_base = 500000, read_kib = 10000, write_kib = 15000, max_kib = 1280;
module_param(on, int, 0444);
module_param(queue, int, 0444);
module_param(read_base, ulong, 0444);
module_param(write_base, ulong, 0444);
module_param(read_kib, ulong, 0444);
module_param(write_kib, ulong, 0444);
module_param(max_kib, ulong, 0444);

static struct mmc_host *card;
static struct hrtimer timer;
static struct mmc_request *running;

/* Commands of the queue that wait. */
#define MOST_QUEUED 32
static struct mmc_request *queued[MOST_QUEUED];
static unsigned int first_queued, queued_count;
static DEFINE_SPINLOCK(lock);

/* 128 bits, the highest word first. */
static void set_bits(u32 *words, int first, int size, u32 value)
{
	int bit;

	for (bit = first; bit < first + size; bit++, value >>= 1)
		words[3 - bit / 32] |= (value & 1) << (bit % 32);
}

static void card_specific_data(u32 *words)
{
	set_bits(words, 126, 2, 3); /* structure: the version is in EXT_CSD */
	set_bits(words, 122, 4, 4); /* version 4 */
	set_bits(words, 96, 7, 0x32); /* 26 MHz */
	set_bits(words, 84, 12, 0x5f5); /* classes of commands */
	set_bits(words, 80, 4, 9); /* read blocks of 512 bytes */
	set_bits(words, 62, 12, 0xfff); /* the size is in EXT_CSD */
	set_bits(words, 47, 3, 7);
	set_bits(words, 37, 10, 0x3ff); /* erase groups */
	set_bits(words, 22, 4, 9); /* write blocks of 512 bytes */
}

static void send_extended(struct mmc_data *data)
{
	u8 *bytes = kzalloc(512, GFP_ATOMIC);
	u32 sectors = 16u << 21;

	if (!bytes)
		return;
	bytes[EXT_CSD_REV] = queue ? 8 : 6;
	bytes[EXT_CSD_CMDQ_SUPPORT] = queue ? EXT_CSD_CMDQ_SUPPORTED : 0;
	bytes[EXT_CSD_CMDQ_DEPTH] = queue ? queue - 1 : 0;
	bytes[EXT_CSD_GENERIC_CMD6_TIME] = 1;
	bytes[EXT_CSD_STRUCTURE] = 2;
	bytes[EXT_CSD_CARD_TYPE] = 1;
	memcpy(bytes + EXT_CSD_SEC_CNT, &sectors, sizeof(sectors));
	sg_copy_from_buffer(data->sg, data->sg_len, bytes, 512);
	kfree(bytes);
}

static void begin(struct mmc_request *request)
{
	struct mmc_data *data = request->data;
	u64 kib = DIV_ROUND_UP(data->blocks * data->blksz, 1024);
	bool is_read = data->flags & MMC_DATA_READ;

	data->error = 0;
	data->bytes_xfered = data->blocks * data->blksz;
	running = request;
	hrtimer_start(&timer, ns_to_ktime(is_read ? read_base + read_kib * kib : write_base + write_kib * kib),
		      HRTIMER_MODE_REL);
}

static enum hrtimer_restart ended(struct hrtimer *of)
{
	struct mmc_request *request = running;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	running = NULL;
	if (queued_count) {
		begin(queued[first_queued]);
		first_queued = (first_queued + 1) % MOST_QUEUED;
		queued_count--;
	}
	spin_unlock_irqrestore(&lock, flags);
	if (queue)
		mmc_cqe_request_done(card, request);
	else
		mmc_request_done(card, request);
	return HRTIMER_NORESTART;
}

static int enqueue(struct mmc_host *host, struct mmc_request *request)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (running)
		queued[(first_queued + queued_count++) % MOST_QUEUED] = request;
	else
		begin(request);
	spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static int enable_queue(struct mmc_host *host, struct mmc_card *of)
{
	return 0;
}

static void no_step(struct mmc_host *host)
{
}

static int is_idle(struct mmc_host *host)
{
	return 0;
}

static bool timed_out(struct mmc_host *host, struct mmc_request *request, bool *recovers)
{
	return false;
}

static const struct mmc_cqe_ops queue_ops = {
	.cqe_enable = enable_queue, .cqe_disable = no_step, .cqe_request = enqueue, .cqe_off = no_step,
	.cqe_wait_for_idle = is_idle, .cqe_timeout = timed_out, .cqe_recovery_start = no_step,
	.cqe_recovery_finish = no_step,
};

/* Says whether the transfer takes time. */
static bool transfer(struct mmc_request *request)
{
	struct mmc_data *data = request->data;

	if (request->cmd->opcode == MMC_SEND_EXT_CSD) {
		data->error = 0;
		data->bytes_xfered = data->blocks * data->blksz;
		send_extended(data);
		return false;
	}
	begin(request);
	return true;
}

static void respond(struct mmc_command *command)
{
	if (command) {
		command->error = 0;
		memset(command->resp, 0, sizeof(command->resp));
		command->resp[0] = R1_READY_FOR_DATA | R1_STATE_TRAN << 9;
	}
}

static void request(struct mmc_host *host, struct mmc_request *request)
{
	struct mmc_command *command = request->cmd;

	respond(command);
	respond(request->sbc);
	respond(request->stop);
	switch (command->opcode) {
	case MMC_SEND_OP_COND:
		command->resp[0] = 0xc0ff8080; /* ready, addressed by sectors */
		break;
	case MMC_ALL_SEND_CID:
	case MMC_SEND_CID:
		command->resp[0] = 0x15010052; /* any maker, any name */
		break;
	case MMC_SEND_CSD:
		command->resp[0] = 0;
		card_specific_data(command->resp);
		break;
	}
	if (!request->data || !transfer(request))
		mmc_request_done(host, request);
}

static void set_ios(struct mmc_host *host, struct mmc_ios *ios)
{
}

static int yes(struct mmc_host *host)
{
	return 1;
}

static int no(struct mmc_host *host)
{
	return 0;
}

static const struct mmc_host_ops ops = { .request = request, .set_ios = set_ios, .get_cd = yes, .get_ro = no };

static int __init card_init(void)
{
	struct platform_device *platform;

	if (!on)
		return 0;
	platform = platform_device_register_simple("card", -1, NULL, 0);
	if (IS_ERR(platform))
		return PTR_ERR(platform);
	card = mmc_alloc_host(0, &platform->dev);
	if (!card)
		return -ENOMEM;
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = ended;
	card->ops = &ops;
	card->f_min = 400000;
	card->f_max = 26000000;
	card->ocr_avail = 0xff8000;
	card->caps = MMC_CAP_NONREMOVABLE | MMC_CAP_WAIT_WHILE_BUSY | MMC_CAP_CMD23;
	card->caps2 = MMC_CAP2_NO_SD | MMC_CAP2_NO_SDIO;
	if (queue) {
		card->caps2 |= MMC_CAP2_CQE;
		card->cqe_ops = &queue_ops;
		card->cqe_qdepth = MOST_QUEUED;
	}
	card->max_blk_size = 512;
	card->max_req_size = max_kib << 10;
	card->max_blk_count = max_kib * 2;
	card->max_segs = 2048;
	card->max_seg_size = 1 << 20;
	return mmc_add_host(card);
}
late_initcall(card_init);
MODULE_LICENSE("Dual MIT/GPL");
