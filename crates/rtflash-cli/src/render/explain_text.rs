//! Every term of every equation in text, with its number.

use rtflash_analysis::server::{JobPages, Server};
use rtflash_analysis::{Analysis, GcDemand, StreamDemand, TaskDemand, reclaimed_pages};
use rtflash_answers::{CheckedAllocation, CheckedCluster};
use rtflash_model::{ChipId, Cluster, Instant, Job, Span, Task, TaskId, TaskSet};

use super::data;
use super::numbers::{chips, count, percent, period, plain, request_rate, share, time};
use super::table::table;
use crate::output::{BOLD, DIM, GREEN, RED, paint};

/// The device's terms, and those of each cluster; without an allocation, what each task takes
/// alone.
pub fn terms(set: &TaskSet, analysis: &dyn Analysis, checked: Option<&CheckedAllocation<'_>>) -> String {
    let mut text = device(set, analysis);
    let Some(CheckedAllocation { allocation, verdict }) = checked else {
        return text + &alone(set, analysis) + &data::whole(set);
    };
    for ((position, of), checked) in allocation.clusters().iter().enumerate().zip(&verdict.clusters) {
        if !of.tasks.is_empty() || !set.jobs().is_empty() {
            text += &cluster(set, analysis, position, checked, of);
            text += &found(checked);
        }
    }
    text
}

/// The device's part: Eq. (IV.3) and what goes into it.
fn device(set: &TaskSet, analysis: &dyn Analysis) -> String {
    let device = set.device();
    let [read, write] = page_times(set, analysis);
    let (valid, pages) = (device.valid_pages_bound(), device.pages_per_block());
    let rows = [
        (
            "m, m_c",
            format!("{} on {}", count(device.chips(), "chip"), count(device.channels(), "channel")),
            format!("{}, {}", device.chips(), device.chips_per_channel()),
        ),
        read,
        write,
        ("t_d", "a transfer: what other pages wait for".into(), device.page_transfer().to_string()),
        (
            "ceil(lambda P)",
            format!("ceil({} x {pages}): valid pages of a victim block, at most, by Theorem 1", device.logical_ratio()),
            valid.to_string(),
        ),
        (
            "alpha",
            format!("{pages} - {valid}: pages reclaimed on a chip by one GC pass, at least"),
            device.reclaimed_per_chip().to_string(),
        ),
        (
            "C^g (IV.3)",
            format!("{valid} x ({} + {}) + {}", device.page_read(), device.page_program(), device.block_erase()),
            device.gc_pass().to_string(),
        ),
    ];
    let rows = rows.map(|(term, how, value)| vec![term.to_owned(), how, value]);
    format!("{}\n{}", paint(BOLD, "device"), table(&["term", "how", ">value"], rows))
}

/// t_r and t_w, and what is in them. If the device says it, they are the analysis's cost of a page.
fn page_times(set: &TaskSet, analysis: &dyn Analysis) -> [(&'static str, String, String); 2] {
    let (device, costs, reads) = (set.device(), analysis.page_costs(set.device()), longest_read(set));
    let (transfer, many) = (device.page_transfer(), count_pages(reads));
    let read = match device.page_read_includes_transfer() {
        None => {
            let all = times(device.page_read(), reads);
            let how = format!("a read, its transfer over the bus in it: {many} one after another take {all}");
            ("t_r", how, device.page_read().to_string())
        }
        Some(_) => {
            let (sensing, all) = (device.page_read(), times(costs.read, reads));
            let how = format!(
                "a read: {sensing} on the chip, then its transfer of {transfer}: {many} one after another take {all}"
            );
            ("t_r", how, costs.read.to_string())
        }
    };
    let write = match device.page_program_includes_transfer() {
        None => ("t_w", "a program, its transfer in it".into(), device.page_program().to_string()),
        Some(_) => {
            let how = format!("a program: its transfer of {transfer}, then {} on the chip", device.page_program());
            ("t_w", how, costs.write.to_string())
        }
    };
    [read, write]
}

/// Pages of the longest read request; one where nothing is read.
pub(super) fn longest_read(set: &TaskSet) -> u64 {
    set.tasks().iter().filter_map(|task| task.read).map(|read| read.pages()).max().unwrap_or(1)
}

pub(super) fn times(each: Span, number: u64) -> String {
    each.checked_mul(number).map_or_else(|| "2^63 ns or more".into(), |all| all.to_string())
}

struct SharePart {
    what: String,
    share: f64,
}

/// The complaints of `check` against the verdict, and its notes.
pub fn found(checked: &CheckedCluster<'_>) -> String {
    let complaints = checked.complaints.iter().map(|complaint| format!("  {complaint}\n"));
    let notes = checked.notes.iter().map(|note| format!("  {}\n", paint(DIM, &format!("note: {note}"))));
    complaints.chain(notes).collect()
}

pub fn cluster_heading(position: usize, of: &[ChipId]) -> String {
    format!("\n{}\n", paint(BOLD, &format!("cluster {position}: {}", chips(of))))
}

/// One cluster: every term of its tasks, blocking, the sum, the room left, and what it means for
/// the jobs.
fn cluster(
    set: &TaskSet,
    analysis: &dyn Analysis,
    position: usize,
    checked: &CheckedCluster<'_>,
    cluster: &Cluster,
) -> String {
    let size = cluster.size();
    let delay = analysis.transfer_delay(set.device(), size);
    let mut text = cluster_heading(position, &cluster.chips);
    text += &format!(
        "  s = {size}, alpha s = {}, D(s) = {delay} a page (IV.5, IV.6)\n",
        reclaimed_pages(set.device(), size)
    );
    let mut rows = Vec::new();
    let mut parts = Vec::new();
    let mut blocking = None;
    for task in cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)) {
        let Some(demand) = analysis.demand(set.device(), task, size) else { continue };
        blocking = blocking.into_iter().chain(demand.min_period()).min();
        task_rows(set, analysis, task, &demand, size, &mut rows, &mut parts);
    }
    if let Some(shortest) = blocking {
        let value = share_of(set.device().block_erase(), shortest.to_f64());
        rows.push(row(
            "",
            "blocking",
            format!("t_e / min(T) = {} / {}", set.device().block_erase(), period(shortest)),
            share(value),
        ));
        parts.push(SharePart { what: "blocking".into(), share: value });
    }
    if !rows.is_empty() {
        text += &table(&["task", "term", "how", ">value"], rows);
    }
    let space = set.space(&cluster.tasks, size, None);
    text += &summary(checked, &parts, space.fits());
    text + &data::lines(set, &cluster.tasks, &space) + &jobs(set, analysis, cluster)
}

fn share_of(time: Span, period: f64) -> f64 {
    time.as_ns() as f64 / period
}

fn row(task: &str, term: &str, how: String, value: String) -> Vec<String> {
    vec![task.to_owned(), term.to_owned(), how, value]
}

fn task_rows(
    set: &TaskSet,
    analysis: &dyn Analysis,
    task: &Task,
    demand: &TaskDemand,
    size: u32,
    rows: &mut Vec<Vec<String>>,
    parts: &mut Vec<SharePart>,
) {
    let costs = analysis.page_costs(set.device());
    let delay = analysis.transfer_delay(set.device(), size);
    let name = plain(&task.name);
    let mut total = 0.0;
    let streams = [
        ("r", "read", demand.read, costs.read, ("IV.1", "IV.5")),
        ("w", "write", demand.write, costs.write, ("IV.2", "IV.6")),
    ];
    for (letter, kind, stream, cost, (service, waiting)) in streams {
        let Some(StreamDemand { pages, service: time, delay: wait, period }) = stream else { continue };
        rows.push(row(
            &name,
            &format!("C^{letter} ({service})"),
            format!("{} x {cost}", count_pages(pages)),
            time.to_string(),
        ));
        rows.push(row(
            "",
            &format!("D^{letter} ({waiting})"),
            format!("{} x {delay}", count_pages(pages)),
            wait.to_string(),
        ));
        let value = stream.map_or(0.0, |stream| stream.utilization().to_f64());
        rows.push(row(
            "",
            kind,
            format!(
                "(C^{letter} + D^{letter}) / T^{letter}, T^{letter} = {period}: {}",
                request_rate(set.device(), pages, period)
            ),
            share(value),
        ));
        parts.push(SharePart { what: format!("{kind} of {name}"), share: value });
        total += value;
    }
    if let (Some(gc), Some(write)) = (demand.gc, task.write) {
        rows.push(row("", "T^g (IV.4)", gc_period(set, gc, write.pages(), write.period(), size), period(gc.period)));
        let value = gc.utilization().to_f64();
        rows.push(row("", "gc", format!("C^g / T^g = {} / {}", gc.cost, period(gc.period)), share(value)));
        parts.push(SharePart { what: format!("garbage collection of {name}"), share: value });
        total += value;
    }
    rows.push(row("", "U_i (IV.7)", "read + write + gc".into(), share(total)));
}

pub(super) fn count_pages(pages: u64) -> String {
    if pages == 1 { "1 page".into() } else { format!("{pages} pages") }
}

fn gc_period(set: &TaskSet, gc: GcDemand, pages: u64, period: Span, size: u32) -> String {
    let reclaimed = reclaimed_pages(set.device(), size);
    debug_assert!(gc.cost == set.device().gc_pass());
    if pages > reclaimed {
        format!("T^w / ceil(w / alpha s) = {period} / ceil({pages} / {reclaimed})")
    } else {
        format!("T^w floor(alpha s / w) = {period} x floor({reclaimed} / {pages})")
    }
}

fn summary(checked: &CheckedCluster<'_>, parts: &[SharePart], data_fit: bool) -> String {
    let total = parts.iter().map(|part| part.share).fold(0.0, |sum, share| sum + share);
    let verdict = if checked.in_time == Some(true) {
        // Theorem 1 is about time.
        let verdict = if data_fit { paint(GREEN, "schedulable") } else { "Theorem 1 holds".into() };
        format!("{verdict}; U_s = {} is left for other jobs (IV.10)", share((1.0 - total).max(0.0)))
    } else {
        format!("{}: {} too much", paint(RED, "not schedulable"), percent((total - 1.0).max(f64::MIN_POSITIVE)))
    };
    let mut text = format!("  U = {} (IV.9), {verdict}\n", share(total));
    // The first of the largest, so that ties read the same every time.
    let largest = parts.iter().rev().max_by(|a, b| a.share.total_cmp(&b.share));
    if let Some(largest) = largest.filter(|_| total > 0.0) {
        text += &format!(
            "  largest term: {}, {} ({} of U)\n",
            largest.what,
            share(largest.share),
            percent(largest.share / total)
        );
    }
    text
}

/// The grant of the cluster's server to each job, were it the first.
fn jobs(set: &TaskSet, analysis: &dyn Analysis, cluster: &Cluster) -> String {
    let Some(server) = Server::new(set, analysis, &cluster.tasks, cluster.size()) else {
        return if set.jobs().is_empty() {
            String::new()
        } else {
            "  no server: nothing is left for other jobs\n".into()
        };
    };
    let line = |job: &Job| {
        let pages = JobPages { read: job.read_pages, write: job.write_pages };
        let name = plain(&job.name);
        match server.offer(Instant::START, pages) {
            Some(grant) => format!(
                "  job {name}: C_j = {} with B = {} (IV.12), due {} after it arrives at an idle server (IV.11)\n",
                grant.execution,
                grant.gc_passes,
                time(grant.deadline.as_ns() as f64)
            ),
            None => format!("  job {name}: would take 2^63 ns or more\n"),
        }
    };
    set.jobs().iter().map(line).collect()
}

/// The share of each task in the smallest and the largest cluster, by itself.
fn alone(set: &TaskSet, analysis: &dyn Analysis) -> String {
    let chips = set.device().chips();
    let total =
        |task: TaskId, size: u32| share(rtflash_analysis::report_cluster(set, analysis, &[task], size).utilization);
    let rows = set.tasks().enumerate().map(|(id, task)| vec![plain(&task.name), total(id, 1), total(id, chips)]);
    let table = table(&["task alone", ">U on 1 chip", &format!(">U on {chips}")], rows.collect::<Vec<_>>());
    format!("\n{}\n{table}", paint(BOLD, "no allocation to explain"))
}

fn item(text: &str) -> String {
    const COLUMNS: usize = 100;
    let mut lines = String::new();
    let mut line = String::from(" ");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines += &format!("{line}\n");
            line = String::from("   ");
        }
        line += " ";
        line += word;
    }
    format!("{lines}{line}\n")
}

pub fn assumptions(analysis: &dyn Analysis) -> String {
    let lines =
        analysis.assumes().iter().map(|assumption| item(&format!("{}: {}", assumption.name, assumption.statement)));
    let heading = format!("what `{}` assumes", analysis.name());
    format!(
        "\n{} {}\n{}",
        paint(BOLD, &heading),
        paint(DIM, &format!("({})", analysis.summary())),
        lines.collect::<String>()
    )
}
