//! MQSim, the simulator of Tavakkol and others (FAST 2018): its configuration, its workload, a
//! trace for each request, and its results.

mod clock;
mod results;
mod xml;

use std::fmt::Write as _;

use rtflash_model::{Allocation, ChipRectangle, Cluster, Device, Instant, TaskSet};

pub use clock::{Clock, clock};
pub use results::read_results;

use crate::export::exported::{Exported, ExportedFile, NotExported};
use crate::export::streams::{RequestStream, request_streams};

/// Flows that MQSim takes: a command's priority and stream are tables of eight.
pub const MAX_FLOWS: usize = 8;

/// Sectors of 512 bytes in a command: NVMe counts them in 16 bits.
const MAX_SECTORS: u64 = 65_535;

/// Blocks that a flow keeps open on each plane: for data, for copies, for the mapping table.
const OPEN_BLOCKS: u64 = 3;

/// Free blocks of a plane at which collection begins, at least, and at which it gives way to
/// nothing: MQSim stops writes where fewer than ten are free.
const LEAST_THRESHOLD: u64 = 20;
const HARD_THRESHOLD: u64 = 12;

/// Hundredths by which the transfer of a page may differ.
const MAX_ERROR: u64 = 5;

/// How MQSim collects garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MqsimGc {
    /// As it does by default: what has begun is finished, in front of requests that wait.
    Default,
    /// Requests come first, until few blocks are free.
    Preemptible,
}

/// The options of an export for fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MqsimOptions {
    /// How long requests come.
    pub duration: Instant,
    /// How garbage is collected.
    pub gc: MqsimGc,
    /// Whether a device that does not say so has the transfer in its times: so it is in the
    /// thesis's analysis, and not in the others.
    pub transfer_inside: bool,
    /// The seed of the places.
    pub seed: u64,
}

/// Flash in MQSim's terms.
pub(crate) struct Flash {
    pub clock: Clock,
    pub read_ns: u64,
    pub program_ns: u64,
    /// Blocks of a chip at which collection begins.
    pub threshold: u64,
}

struct Flow<'a> {
    stream: &'a RequestStream,
    position: usize,
    cluster: usize,
}

/// The files of a run in MQSim: `ssd.xml`, `workload.xml` and a trace for each request. Fails if it
/// has no form there.
pub fn export(set: &TaskSet, allocation: &Allocation, options: &MqsimOptions) -> Result<Exported, NotExported> {
    let streams = request_streams(set, options.duration)?;
    if streams.is_empty() {
        return Err(NotExported::NoRequests);
    }
    if streams.len() > MAX_FLOWS {
        return Err(NotExported::TooManyStreams(streams.len(), MAX_FLOWS));
    }
    let device = set.device();
    let clusters = allocation.clusters();
    let cluster_of =
        |stream: &RequestStream| allocation.cluster_of_task(stream.task).expect("every task is in a cluster");
    let flows = streams.iter().enumerate();
    let flows: Vec<Flow<'_>> =
        flows.map(|(position, stream)| Flow { stream, position, cluster: cluster_of(stream) }).collect();
    let mut notes = notes(set);
    let flash = flash(device, &flows, options, &mut notes)?;
    let mut files = vec![ExportedFile { name: "ssd.xml".into(), text: xml::ssd(device, &flash, options.gc) }];
    let mut workload = String::new();
    for flow in &flows {
        let cluster = &clusters[flow.cluster];
        let shape = ChipRectangle::of(device, &cluster.chips).ok_or(NotExported::NoRectangle(flow.cluster))?;
        let all = pages_of_flow(device, cluster, on_cluster(&flows, flow.cluster));
        let pages = set.tasks()[flow.stream.task].data_pages.map_or(all, |declared| declared.min(all));
        let name = format!("{}.trace", flow.stream.file_name(flow.position));
        files.push(ExportedFile { text: trace(flow, pages, &flash, options)?, name: name.clone() });
        xml::flow(&mut workload, &shape, &name);
    }
    files.insert(1, ExportedFile { name: "workload.xml".into(), text: xml::workload(&workload) });
    Ok(Exported { files, notes, page_bytes: flash.clock.sectors * 512 })
}

fn on_cluster(flows: &[Flow<'_>], cluster: usize) -> u64 {
    flows.iter().filter(|flow| flow.cluster == cluster).count() as u64
}

/// Pages of a flow's own addresses: MQSim divides the logical pages of a plane among the `flows`
/// that are on it.
fn pages_of_flow(device: &Device, cluster: &Cluster, flows: u64) -> u64 {
    // A page less for what MQSim rounds down in doubles.
    u64::from(cluster.size()) * (device.logical_pages_per_chip() / flows).saturating_sub(1)
}

fn flash(
    device: &Device,
    flows: &[Flow<'_>],
    options: &MqsimOptions,
    notes: &mut Vec<String>,
) -> Result<Flash, NotExported> {
    // MQSim opens blocks for every flow on every plane, wherever the flow is.
    let all = flows.len() as u64;
    let blocks = u64::from(device.blocks_per_chip());
    // More than what is open, and a twentieth as MQSim has it by default.
    let least = ((OPEN_BLOCKS + 1) * all + 6).max(LEAST_THRESHOLD);
    let threshold = least.max(blocks / 20);
    if blocks < 4 * threshold {
        return Err(NotExported::TooFewBlocks(4 * least));
    }
    let valid = device.logical_pages_per_chip().div_ceil(device.pages_per_block().into());
    let spare = threshold + OPEN_BLOCKS * all + 1;
    if blocks - valid < spare {
        return Err(NotExported::TooFull(spare));
    }
    let transfer = device.page_transfer().as_ns();
    let clock = clock(transfer, device.page_size().into());
    if clock.transfer_ns().abs_diff(transfer) > transfer / 100 * MAX_ERROR {
        return Err(NotExported::NoClock(clock.transfer_ns()));
    }
    notes.push(format!(
        "A page has {} bytes there, {} ns each, so that it crosses the bus in {} ns with commands, {:+} ns beside \
         {transfer}: MQSim cuts the time of a byte to whole ns.",
        clock.sectors * 512,
        clock.ns_a_byte,
        clock.transfer_ns(),
        i128::from(clock.transfer_ns()) - i128::from(transfer),
    ));
    let on_chip = |time: u64, stated: Option<bool>| match stated {
        None if options.transfer_inside => time.saturating_sub(transfer).max(1),
        _ => time,
    };
    let read_ns = on_chip(device.page_read().as_ns(), device.page_read_includes_transfer());
    let program_ns = on_chip(device.page_program().as_ns(), device.page_program_includes_transfer());
    Ok(Flash { clock, read_ns, program_ns, threshold })
}

/// `time device address size type`, a line a request: ns, sectors; 0 writes, 1 reads.
fn trace(flow: &Flow<'_>, pages: u64, flash: &Flash, options: &MqsimOptions) -> Result<String, NotExported> {
    let (stream, sectors) = (flow.stream, flash.clock.sectors);
    let size = stream.request.pages().checked_mul(sectors).filter(|size| *size <= MAX_SECTORS);
    let size = size.ok_or_else(|| NotExported::TooLarge(stream.name.clone()))?;
    let kind = if stream.writes { 0 } else { 1 };
    let mut text = String::new();
    for (number, place) in (0..).zip(stream.places(flow.position, pages, options.seed)?) {
        let _ = writeln!(text, "{} 0 {} {size} {kind}", stream.arrival(number), place * sectors);
    }
    Ok(text)
}

fn notes(set: &TaskSet) -> Vec<String> {
    let mut notes = vec![
        "MQSim serves requests in order of arrival, reads first, and knows no deadline: nothing is promised there."
            .into(),
        "The flash is empty at the start: garbage is collected once it has been written over.".into(),
        "A write that meets a page which collection is moving is lost in MQSim: a few writes may never be served."
            .into(),
        "Collection moves pages over the bus; rtflash's copies stay within a chip.".into(),
        "A request reads and writes pages of its own: reads are of pages that no request has written.".into(),
    ];
    if !set.device().chips().is_multiple_of(set.device().chips_per_channel()) {
        notes.push("The last channel has as many chips as the others there; the added chips stay unused.".into());
    }
    if !set.jobs().is_empty() {
        notes.push("Jobs that are not real-time are left out.".into());
    }
    if set.device().has_commands() {
        notes.push("`command` is left out: commands have times of their own in MQSim.".into());
    }
    if set.device().page_registers() > 1 {
        notes.push("`cache_register` is left out: chips use one page register.".into());
    }
    if set.tasks().iter().any(|task| task.requests().any(|(request, _)| request.jitter().as_ns() > 0)) {
        notes.push("Requests come without jitter.".into());
    }
    notes
}

pub(crate) fn listed(of: &[u32]) -> String {
    of.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

pub(crate) fn shape(of: &ChipRectangle) -> [String; 2] {
    [listed(&of.channels), listed(&of.ways)]
}
