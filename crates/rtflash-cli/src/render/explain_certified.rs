//! The parts of a certificate, with its numbers (docs/analysis.md).

use rtflash_analysis::certified::{ChosenGc, Cost, GROUNDS, Ground, Held, WorkloadCurve, grounds, held, reliances};
use rtflash_analysis::{DemandTest, Work};
use rtflash_answers::{CheckedAllocation, CheckedCluster, task_name};
use rtflash_model::{Cluster, Device, Placement, Reliance, Span, TaskSet};

use super::data;
use super::explain_text::{cluster_heading, count_pages, found, longest_read, times};
use super::numbers::{count, plain, request_rate, share, time};
use super::table::table;
use crate::output::{BOLD, GREEN, RED, paint};

pub fn terms(set: &TaskSet, test: DemandTest, checked: Option<&CheckedAllocation<'_>>) -> String {
    let clusters = match checked {
        Some(checked) => clusters(set, checked, test.rely_on),
        None => data::whole(set),
    };
    device(set) + &clusters
}

/// The device's part: what its operations take, and what they are charged where nothing is known of
/// the other chips of their channel.
fn device(set: &TaskSet) -> String {
    let device = set.device();
    let ways = device.chips_per_channel().min(device.chips());
    let [t_r, t_w, t_d] = [device.page_read(), device.page_program(), device.page_transfer()];
    let reads = longest_read(set);
    let (t_c, t_b) = (device.command(), device.bus_hold());
    let whole = |parts: &[(Span, u64)]| {
        let all = parts.iter().try_fold(Span::ZERO, |sum, (span, times)| sum.checked_add(span.checked_mul(*times)?));
        all.map_or_else(|| "-".into(), |cost| cost.to_string())
    };
    let both = t_r.checked_add(t_b).unwrap_or(t_r);
    let (others, every) = (u64::from(ways) - 1, "every chip of the channel transferring first");
    let (reading, writing) = if device.has_commands() {
        (
            (
                format!("t_c + t_r + t_d + 2 x {others} t_b: reading a page, {every}, and again before its command"),
                whole(&[(t_c, 1), (t_r, 1), (t_d, 1), (t_b, 2 * others)]),
            ),
            (format!("t_w + {ways} t_b: programming a page, {every}"), whole(&[(t_w, 1), (t_b, ways.into())])),
        )
    } else {
        (
            (format!("t_r + {ways} t_d: reading a page, {every}"), whole(&[(t_r, 1), (t_d, ways.into())])),
            (format!("t_w + {ways} t_d: programming a page, {every}"), whole(&[(t_w, 1), (t_d, ways.into())])),
        )
    };
    let commands = device.has_commands().then(|| {
        [
            ("t_c", "commands of an operation on the bus".into(), t_c.to_string()),
            ("t_b", "t_c + t_d: the longest that one request holds the bus".into(), t_b.to_string()),
        ]
    });
    let mut rows = vec![
        (
            "m, m_c",
            format!("{} on {}", count(device.chips(), "chip"), count(device.channels(), "channel")),
            format!("{}, {}", device.chips(), device.chips_per_channel()),
        ),
        (
            "t_r",
            format!(
                "sensing a page, its transfer not in it: {} one after another take {} x ({t_r} + {t_b}) = {}",
                count_pages(reads),
                reads,
                times(both, reads)
            ),
            t_r.to_string(),
        ),
        ("t_w", "programming a page, its transfer not in it".into(), t_w.to_string()),
        ("t_d", "moving a page over the bus".into(), t_d.to_string()),
        ("t_e", "erasing a block".into(), device.block_erase().to_string()),
    ];
    rows.extend(commands.into_iter().flatten());
    rows.extend([("c_r", reading.0, reading.1), ("c_w", writing.0, writing.1)]);
    let rows = rows.into_iter().map(|(term, how, value)| vec![term.to_owned(), how, value]);
    format!("{}\n{}", paint(BOLD, "device"), table(&["term", "how", ">value"], rows))
}

fn clusters(
    set: &TaskSet,
    CheckedAllocation { allocation, verdict }: &CheckedAllocation<'_>,
    granted: Reliance,
) -> String {
    let clusters = allocation.clusters();
    let parts = clusters.iter().zip(held(set, allocation, granted)).enumerate();
    let is_shown = |position: usize| {
        let checked = &verdict.clusters[position];
        !clusters[position].tasks.is_empty() || !set.jobs().is_empty() || !checked.complaints.is_empty()
    };
    let shown: Vec<_> = parts.filter(|&(position, _)| is_shown(position)).collect();
    let text: String = shown
        .iter()
        .map(|(position, (cluster, held))| {
            let checked = &verdict.clusters[*position];
            cluster_heading(*position, &cluster.chips) + &one(set, cluster, held.as_ref(), checked) + &found(checked)
        })
        .collect();
    let relied = reliances(set, allocation);
    let rest = shown.iter().filter_map(|(position, (_, held))| {
        Some((*position, grounds(set, allocation, *position, held.as_ref()?, relied[*position]?)))
    });
    text + &proofs(&rest.collect::<Vec<_>>())
}

/// The grounds of each step of the promises, and the clusters that have them.
fn proofs(clusters: &[(usize, Vec<Ground>)]) -> String {
    if clusters.is_empty() {
        return String::new();
    }
    // As far as each is checked: of clusters with streams, say, it may be less.
    let mut rows: Vec<(Ground, Vec<String>)> = Vec::new();
    for step in GROUNDS {
        for (position, grounds) in clusters {
            let Some(&ground) = grounds.iter().find(|ground| ground.claim == step.claim) else { continue };
            match rows.iter_mut().find(|(of, _)| *of == ground) {
                Some((_, of)) => of.push(position.to_string()),
                None => rows.push((ground, vec![position.to_string()])),
            }
        }
    }
    let rows = rows.into_iter().map(|(ground, of)| {
        let of = if of.len() == clusters.len() { "all".to_owned() } else { of.join(", ") };
        let by = ground.machine.map_or("people".to_owned(), |(name, file)| format!("Coq: {name}, {file}"));
        vec![ground.claim.to_owned(), ground.theorem.to_owned(), by, of]
    });
    let heading = paint(BOLD, "what this rests on (docs/analysis.md), and who has checked the proof");
    format!("\n{heading}\n{}", table(&["step", "by", "checked by", "clusters"], rows))
}

/// The processor of a cluster.
fn organised(set: &TaskSet, cluster: &Cluster, held: &Held) -> String {
    let placement = held.certificate.placement;
    let what = match placement {
        Placement::Stripe | Placement::CachedStripe => {
            "every chip is an EDF processor of its own; what follows is of each".to_owned()
        }
        Placement::Zoned => {
            let zone = set.device().zone_pages(cluster.size());
            let zone = data::amount(set.device(), zone);
            format!("every chip is an EDF processor of its own; a zone has {zone}")
        }
        Placement::Superblock | Placement::CachedSuperblock => "the cluster is one EDF processor".to_owned(),
    };
    format!("{}: {what}", placement.name())
}

fn one(set: &TaskSet, cluster: &Cluster, held: Option<&Held>, checked: &CheckedCluster<'_>) -> String {
    let Some(held) = held else {
        let space = set.space(&cluster.tasks, cluster.size(), None);
        let none = "  no certificate by which garbage collection keeps up\n".to_owned();
        return none + &data::lines(set, &cluster.tasks, &space);
    };
    let unit = &held.placed.processor;
    let mut text = format!("  {}\n", organised(set, cluster, held));
    text += &format!("  {}\n", costs(set, held));
    let named = cluster.tasks.iter().filter_map(|&task| Some((task, set.tasks().get(task)?)));
    let resets = held.certificate.placement.is_zoned();
    let requests = named.flat_map(|(task, of)| {
        [(of.read, "read"), (of.write, "write"), (of.write.filter(|_| resets), "reset")]
            .map(|(request, what)| Some((task, what, request?)))
    });
    let rows = requests.flatten().zip(&unit.tasks).map(|((task, kind, request), item)| {
        let (cost, period) = (time(item.cost().to_f64()), time(item.period.as_ns() as f64));
        let rate = request_rate(set.device(), request.pages(), request.period());
        let rate = if kind == "reset" { String::new() } else { format!(": {rate}") };
        let how = format!("{} of {}, every {period}{rate}", steps(item.transfers), time(item.step_cost.to_f64()));
        vec![
            plain(task_name(set, task)),
            kind.to_owned(),
            how,
            cost,
            share(item.step_cost.to_f64() * item.transfers.mean() / item.period.as_ns() as f64),
        ]
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    if let Some(gc) = held.gc {
        // Not `sum`, whose empty sum is −0.0.
        let arriving = unit.write_streams.iter().map(|writer| writer.pages.mean() / writer.period.as_ns() as f64);
        let arriving = arriving.fold(0.0, |sum, rate| sum + rate);
        let due =
            gc.deadline.map_or_else(String::new, |deadline| format!(", due {} later", time(deadline.as_ns() as f64)));
        rows.push(vec![
            String::new(),
            "gc".into(),
            format!("a pass for each {}{due}", data::amount(set.device(), gc.reclaimed)),
            time(gc.cost.to_f64()),
            share(gc.cost.to_f64() / gc.reclaimed as f64 * arriving),
        ]);
    }
    if !rows.is_empty() {
        text += &table(&["task", "what", "how", ">C", ">C / T"], rows);
    }
    if let Some(gc) = held.gc {
        text += &collection(set, cluster, held, gc);
        text += &suspension(set.device(), held);
    }
    text + &test(held, checked) + &data::lines(set, &cluster.tasks, &held.space)
}

/// The time that each job takes for an erase that it may suspend; or why none is suspended, if the
/// device can.
fn suspension(device: &Device, held: &Held) -> String {
    if device.spec().erase_suspend.is_none() {
        return String::new();
    }
    let Some(suspend) = device.erase_suspend().filter(|_| held.certificate.suspends_erases(device)) else {
        let why = if device.has_commands() {
            "commands use the bus"
        } else if held.certificate.placement.is_cached() {
            "chips work with two page registers"
        } else {
            "the cluster has a server"
        };
        return format!("  no erase is suspended here, as {why} (Section 18)\n");
    };
    let (resume, both) = (device.erase_resume(), suspend.saturating_add(device.erase_resume()));
    format!(
        "  c_s = t_s + t_u = {suspend} + {resume} = {both} more of each job: it may suspend an erase (Section 18)\n"
    )
}

/// Steps of a job; of a stream also what it has in the long run, which is what the share is of.
fn steps(of: WorkloadCurve) -> String {
    let one = if of.of_one() == 1 { "1 step".to_owned() } else { format!("{} steps", of.of_one()) };
    match of.rate() {
        (_, 1) => one,
        (pages, chips) => format!("{one} ({pages}/{chips} in the long run)"),
    }
}

/// The commands' addition to C_g: copies inside a chip and erases wait for theirs.
fn with_commands(device: &Device, held: &Held, gc: ChosenGc) -> String {
    if !device.has_commands() {
        return String::new();
    }
    let unit = &held.placed.processor;
    let others = match held.certificate.placement {
        Placement::CachedStripe => waits_of_a_command(device, unit.page_costs().0),
        // A row waits as often.
        Placement::Stripe | Placement::Superblock | Placement::CachedSuperblock | Placement::Zoned => {
            let waits = unit.pass_costs().1.as_ns().saturating_sub(device.page_program().as_ns());
            (waits / device.bus_hold().as_ns()).saturating_sub(1)
        }
    };
    let each = format!("(t_c + {others} t_b)");
    match held.certificate.placement {
        Placement::Stripe | Placement::CachedStripe | Placement::Zoned => format!(" + {} {each}", gc.valid + 1),
        Placement::Superblock | Placement::CachedSuperblock => format!(" + {each}"),
    }
}

fn collection(set: &TaskSet, cluster: &Cluster, held: &Held, gc: ChosenGc) -> String {
    let unit = &held.placed.processor;
    let device = set.device();
    let commands = with_commands(device, held, gc);
    let parts = match held.certificate.placement {
        Placement::Stripe | Placement::CachedStripe | Placement::Zoned => format!("{} (t_r + t_w)", gc.valid),
        Placement::Superblock | Placement::CachedSuperblock => {
            let steps = gc.valid.min(unit.block_pages / u64::from(cluster.size()));
            let rows = gc.valid.div_ceil(cluster.size().into());
            let (read, write) = unit.pass_costs();
            let (asks, name) = if device.has_commands() { (2, "t_b") } else { (1, "t_d") };
            let beside = asks * (gc.valid - steps);
            let hold = u128::from(device.bus_hold().as_ns());
            let alone = wide(read).max(u128::from(asks) * hold);
            let apart = alone * u128::from(steps) + hold * u128::from(beside);
            let others = wide(write) * u128::from(rows) + u128::from(device.block_erase().as_ns());
            // With two page registers c_r and c_w are what users' pages take.
            let (a_read, a_row) = if held.certificate.placement.is_cached() {
                (format!("reads of {}", time(read.to_f64())), format!("rows of {}", time(write.to_f64())))
            } else {
                ("c_r".to_owned(), "c_w".to_owned())
            };
            // If more chips of others are on one channel, and more of its own on another one, all
            // may be charged in full.
            let reads = if wide(gc.cost) >= apart + others {
                format!("{steps} {a_read} + {beside} {name}")
            } else {
                format!("{steps} reads beside {} chips", device.chips_per_channel() - 1)
            };
            format!("{reads} + ceil({} / {}) {a_row}", gc.valid, cluster.size())
        }
    };
    format!(
        "  H = {} free in reserve, F = {} of N = {} blocks cannot be victims,\n  v = floor({} / {}) = {} valid \
         pages of a victim, alpha = {} - {} = {},\n  C_g = {} + t_e{commands} = {}\n",
        data::amount(device, gc.reserve),
        gc.open,
        unit.blocks,
        unit.mapped,
        unit.blocks - gc.open,
        gc.valid,
        unit.block_pages,
        gc.valid,
        gc.reclaimed,
        parts,
        time(gc.cost.to_f64())
    )
}

fn wide(cost: Cost) -> u128 {
    cost.as_ns().into()
}

fn costs(set: &TaskSet, held: &Held) -> String {
    let (read, write) = held.placed.processor.page_costs();
    let device = set.device();
    let known = held.placed.contentions.iter().all(|contention| contention.is_none());
    let more = if known { "" } else { "; waits for neighbours that are known come on top" };
    if held.certificate.placement.is_cached() {
        let turn = held.placed.processor.turnaround(held.certificate.server_thousandths > 0);
        let reading = if device.has_commands() {
            let waits = waits_of_a_command(device, read);
            format!("{waits} t_b + t_c + max(t_r, t_d)")
        } else {
            "t_r, or what the bus takes where that is longer".to_owned()
        };
        return format!(
            "c_r = {reading} = {}, c_w = t_w, or what the bus takes where that is longer = {}; {} more for each job \
             and pass: the cache register, emptied and filled{more}",
            time(read.to_f64()),
            time(write.to_f64()),
            time(turn.to_f64())
        );
    }
    let hold = device.bus_hold().as_ns();
    let ways = |cost: Cost, own: Span| {
        let waits = cost.as_ns().checked_sub(own.as_ns()).expect("a page costs its own time at least");
        waits / hold.max(1)
    };
    let (each, reading) = if device.has_commands() {
        let own = device.page_read().saturating_add(device.bus_hold());
        ("t_b", format!("t_c + t_r + t_d + {} t_b", ways(read, own)))
    } else {
        ("t_d", format!("t_r + {} t_d", ways(read, device.page_read())))
    };
    format!(
        "c_r = {reading} = {}, c_w = t_w + {} {each} = {}{}",
        time(read.to_f64()),
        ways(write, device.page_program()),
        time(write.to_f64()),
        more
    )
}

/// How many other chips the command of a read waits for, where there are two page registers.
fn waits_of_a_command(device: &Device, read: Cost) -> u64 {
    let alone = device.command().saturating_add(device.page_read().max(device.page_transfer()));
    read.as_ns().saturating_sub(alone.as_ns()) / device.bus_hold().as_ns()
}

fn test(held: &Held, checked: &CheckedCluster<'_>) -> String {
    let Some(tightest) = held.certificate.tightest else { return String::new() };
    let length = tightest.length;
    let server = held.certificate.server_thousandths;
    let work = Work::new();
    let demands = held.demands(&work).map(|demand| (demand.at(length), demand.blocking(length)));
    let (demand, blocking) = demands.max().expect("a cluster has a chip, and so a neighbourhood");
    let verdict = match (checked.schedulable, checked.in_time) {
        (Some(true), _) => paint(GREEN, "schedulable"),
        (Some(false), Some(true)) if !held.space.fits() => "its deadlines are met".into(),
        (Some(false), _) => paint(RED, "not schedulable"),
        (None, _) => "cannot tell".into(),
    };
    let reserved =
        if server == 0 { String::new() } else { format!(", {} of it the server's", share(f64::from(server) / 1e3)) };
    format!(
        "  tightest interval: L = {}{reserved}: demand {} + blocking {}, slack {}{}: {verdict}\n",
        time(length.as_ns() as f64),
        time(demand.to_f64()),
        time(blocking.to_f64()),
        if tightest.slack_ns < 0 { "-" } else { "" },
        time(tightest.slack_ns.unsigned_abs() as f64)
    )
}
