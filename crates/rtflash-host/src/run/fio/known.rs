//! Options of fio, and the treatment of each here. Names are as in options.c and engines/ of fio
//! 3.33 to 3.41.

/// The treatment of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It says what is done and when.
    Taken,
    /// It changes no I/O.
    Ignored,
    /// It changes I/O in fio, and not here: how jobs differ.
    Differs(&'static str),
    /// It asks for something that is not here: why a file with it is refused.
    Refused(&'static str),
}

use Treatment::{Differs, Ignored, Refused, Taken};

/// Options by their treatment.
const GROUPS: [(Treatment, &str); 18] = [
    (
        Taken,
        "rw bs bsrange bssplit bs_is_seq_rand ba size io_size filesize offset offset_increment offset_align number_ios \
         filename directory filename_format nrfiles iodepth numjobs ioengine direct buffered stonewall wait_for \
         time_based runtime ramp_time startdelay loops thinktime thinktime_blocks thinktime_iotime rate rate_iops \
         rate_process rwmixread rwmixwrite prio prioclass cpus_allowed norandommap verify do_verify kb_base \
         create_only random_distribution fsync fdatasync fill_device",
    ),
    (
        Ignored,
        "name description randrepeat randseed random_generator softrandommap fallocate fadvise_hint overwrite openfiles \
         thread new_group group_reporting unified_rw_reporting per_job_logs write_bw_log write_lat_log write_iops_log \
         write_hist_log log_entries log_avg_msec log_hist_msec log_hist_coarseness log_window_value log_offset log_prio \
         log_issue_time log_compression log_compression_cpus log_store_compressed log_alternate_epoch \
         log_alternate_epoch_clock_id job_start_clock_id write_iolog stats bwavgtime iopsavgtime \
         block_error_percentiles percentile_list clat_percentiles lat_percentiles slat_percentiles significant_figures \
         disk_util gtod_reduce gtod_cpu disable_lat disable_clat disable_slat disable_bw_measurement clocksource \
         zero_buffers refill_buffers scramble_buffers buffer_pattern buffer_compress_percentage buffer_compress_chunk \
         dedupe_percentage dedupe_global dedupe_mode dedupe_working_set_percentage mem iomem_align hugepage-size \
         lockmem invalidate pre_read create_serialize create_fsync create_on_open allow_file_create \
         allow_mounted_write unlink unlink_each_loop continue_on_error ignore_error error_dump exitall_on_error \
         exec_prerun exec_postrun unit_base uid gid comm nice cpus_allowed_policy numa_cpu_nodes numa_mem_policy \
         gpu_dev_id cgroup_nodelete priohint write_hint max_latency rate_min rate_iops_min rate_cycle \
         rwmixcycle thinktime_spin thinkcycles filetype unique_filename lockfile opendir atomic \
         replay_no_stall replay_redirect replay_scale replay_align replay_time_scale replay_skip read_iolog_chunked",
    ),
    (
        Ignored,
        "verify_policy verifysort verifysort_nr verify_interval verify_offset verify_pattern verify_pattern_interval \
         verify_fatal verify_dump verify_async verify_async_cpus verify_state_load verify_state_save \
         verify_write_sequence verify_header_seed",
    ),
    // These are options of engines.
    (
        Ignored,
        "userspace_reap fixedbufs registerfiles sqthread_poll sqthread_poll_cpu hipri hipri_percentage nonvectored \
         force_async uncached nowait libaio_vectored cmd_type md_per_io_size pi_act pi_chk apptag apptag_mask \
         stat_type thp hdfs_use_direct fdp dataplacement plid_select plids dp_scheme xnvme_be xnvme_async xnvme_sync \
         xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn xnvme_mem xnvme_iovec libblkio_driver \
         libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size libblkio_pre_start_props \
         libblkio_vectored libblkio_write_zeroes_on_trim libblkio_wait_mode \
         libblkio_force_enable_completion_eventfd no_completion_thread verify_mode cdb_len inplace donorname \
         gpu_dev_ids cuda_io rocm_io brick volume",
    ),
    (Differs("places of I/Os are drawn evenly"), "percentage_random percentage_sequential random_sequence_stride"),
    (Differs("I/Os go through the files in turn"), "file_service_type rw_sequencer"),
    (
        Differs("I/Os are submitted one by one"),
        "iodepth_batch iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low io_submit_mode \
         serialize_overlap",
    ),
    (Differs("an I/O counts as it is released"), "thinktime_blocks_type"),
    (Differs("think times count for the rate"), "rate_ignore_thinktime"),
    (Differs("the depth stays as `iodepth` says"), "latency_target latency_window latency_percentile latency_run"),
    (
        Differs("no flush follows, and no write goes through the device's cache"),
        "sync writefua readfua write_barrier sync_file_range fsync_on_close end_fsync end_syncfs",
    ),
    (
        Differs("what was written is read back after all writes, in order"),
        "verify_backlog verify_backlog_batch experimental_verify trim_percentage trim_verify_zero trim_backlog \
         trim_backlog_batch",
    ),
    (Differs("each job goes on to its own end"), "exitall exit_what"),
    (
        Differs("a job runs for all its time"),
        "steadystate steadystate_duration steadystate_ramp_time steadystate_check_interval",
    ),
    (Refused("no group of processes is modelled, and none of its weights and limits"), "cgroup cgroup_weight"),
    (Differs("the scheduler is that of the device's file, or `--scheduler`"), "ioscheduler"),
    (Differs("it is not modelled"), "file_append bs_unaligned write_mode sg_write_mode num_range stream_id deac"),
    (
        Refused("zones are not modelled"),
        "zonemode zonesize zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones \
         ignore_zone_limits zone_reset_threshold zone_reset_frequency recover_zbd_write_error write_zone_remainder",
    ),
];

/// Options for which files are refused, each for a reason of its own.
const REFUSED: [(&str, &str); 13] = [
    ("flow", "jobs here do not wait for each other's progress"),
    ("flow_id", "jobs here do not wait for each other's progress"),
    ("flow_watermark", "jobs here do not wait for each other's progress"),
    ("flow_sleep", "jobs here do not wait for each other's progress"),
    ("read_iolog", "a log that is replayed is no job: `rtflash import fio` reads it"),
    ("merge_blktrace_file", "traces are not merged here"),
    ("profile", "a profile is not in the file"),
    ("verify_only", "no job writes what it verifies"),
    ("sprandom", "blocks of a drive's garbage collection are not in the file"),
    ("cmdprio_percentage", "I/Os of a job have one class: write a section for each class"),
    ("cmdprio_class", "I/Os of a job have one class: write a section for each class"),
    ("cmdprio_bssplit", "I/Os of a job have one class: write a section for each class"),
    ("cmdprio_split", "I/Os of a job have one class: write a section for each class"),
];

/// Options of which the value says whether they ask for something that is not here.
const OFF: [&str; 4] = ["0", "none", "null", "off"];

/// Other names of options.
const ALIASES: [(&str, &str); 33] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blockalign", "ba"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("io_limit", "io_size"),
    ("fill_fs", "fill_device"),
    ("fileoffset", "offset"),
    ("allrandrepeat", "randrepeat"),
    ("nr_files", "nrfiles"),
    ("timeout", "runtime"),
    ("iomem", "mem"),
    ("mem_align", "iomem_align"),
    ("data_placement", "dataplacement"),
    ("fdp_pli_select", "plid_select"),
    ("fdp_pli", "plids"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("wait_for_previous", "stonewall"),
    ("log_max_value", "log_window_value"),
    ("log_unix_epoch", "log_alternate_epoch"),
    ("disable_bw", "disable_bw_measurement"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("ss_interval", "steadystate_check_interval"),
    ("cpumask", "cpus_allowed"),
    // fio has this name for it, too.
    ("threads", "thread"),
    ("libblkio_path", "filename"),
    ("merge_blktrace_scalars", "merge_blktrace_file"),
    ("merge_blktrace_iters", "merge_blktrace_file"),
];

/// An option by its name: how it is called here, and its treatment.
pub(super) fn option(name: &str) -> Option<(&'static str, Treatment)> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    if let Some((known, why)) = REFUSED.iter().find(|(known, _)| *known == name) {
        return Some((known, Refused(why)));
    }
    let of_group = |(treatment, names): &(Treatment, &'static str)| {
        Some((names.split_whitespace().find(|known| *known == name)?, *treatment))
    };
    GROUPS.iter().find_map(of_group)
}

/// All options that are known.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let refused = REFUSED.iter().map(|(name, _)| *name);
    GROUPS.iter().flat_map(|(_, names)| names.split_whitespace()).chain(refused)
}

/// Whether a value asks for nothing.
pub(super) fn is_off(value: &str) -> bool {
    OFF.contains(&value)
}

/// How an engine submits I/Os; `None` where it does no block I/O.
pub(super) fn engine_waits(engine: &str) -> Option<bool> {
    const WAIT: [&str; 10] =
        ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libcufile", "libhipfile", "cpp_null"];
    const QUEUE: [&str; 13] = [
        "libaio",
        "posixaio",
        "solarisaio",
        "windowsaio",
        "io_uring",
        "io_uring_cmd",
        "sg",
        "libblkio",
        "xnvme",
        "guasi",
        "spdk",
        "null",
        "external",
    ];
    // The engine's file stands after a colon.
    let engine = engine.split(':').next().unwrap_or(engine).trim();
    WAIT.contains(&engine).then_some(true).or(QUEUE.contains(&engine).then_some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_known_once() {
        let mut all: Vec<&str> = names().chain(ALIASES.iter().map(|(alias, _)| *alias)).collect();
        let number = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), number);
        for (alias, name) in ALIASES {
            assert!(option(name).is_some() && option(alias) == option(name), "{alias}");
        }
        assert_eq!(option("zonemode"), Some(("zonemode", Refused("zones are not modelled"))));
        assert_eq!((option("iodeth"), option("readwrite")), (None, Some(("rw", Taken))));
        assert_eq!(engine_waits("external:/usr/lib/spdk_nvme"), Some(false));
        assert_eq!((engine_waits("psync"), engine_waits("net")), (Some(true), None));
    }
}
