//! The weakened theories: what the analysis computes with a term left out.

/// An expression of the analysis with a term left out.
pub struct Edit {
    /// The term.
    pub term: &'static str,
    /// The file in the sources of rtflash-analysis.
    pub file: &'static str,
    /// A piece of it that stands there once, the expression between two marks.
    pub at: &'static str,
    /// The text that stands there without the term.
    pub without: &'static str,
}

const fn edit(term: &'static str, file: &'static str, at: &'static str, without: &'static str) -> Edit {
    Edit { term, file, at, without }
}

const W1: &str = "demand/bus/w1.rs";
const BUS: &str = "demand/bus/mod.rs";
const QUEUE: &str = "demand/bus/queue.rs";
const PROCESSOR: &str = "organisation/processor.rs";
const TURNS: &str = "organisation/processor/registers.rs";
const REGISTERS: &str = "organisation/registers.rs";
const STOCK: &str = "field/stock.rs";

/// All of them. The terms left out of a processor once it is made are in `processors.rs`.
#[rustfmt::skip] // An edit is a line.
pub const EDITS: &[Edit] = &[
    edit("blocking", PROCESSOR, "return §registers.blocking(self.duties(true))§", "Cost::ZERO"),
    edit("blocking", PROCESSOR,
        "§longest_erase.max(longest_write).max(organisation(self.placement).copying(&self.costs)).max(longest_read)§",
        "Cost::ZERO"),
    edit("blocking", TURNS, "§registers.blocking(self.duties(server))§", "Cost::ZERO"),
    edit("blocking", "gc/mod.rs",
        "let step = §if self.suspension.is_some() { copying } else { erase.max(copying) }§;", "Cost::ZERO"),
    edit("pass-step", "gc/mod.rs",
        "let step = §if self.suspension.is_some() { copying } else { erase.max(copying) }§;", "Cost::ZERO"),
    edit("pass-step", REGISTERS, ".max(self.committed).max(§self.inside§)", "Cost::ZERO"),
    edit("commit", REGISTERS, "longest.max(§self.committed§).max(self.inside)", "self.t_w.max(self.beta_w)"),
    edit("last-page", REGISTERS, "if §work.writes§ { Cost::ZERO }", "true"),
    edit("own-row", REGISTERS,
        "Some(§Registers { beta_r, read, inside: copying.max(erase), ways: read_ways, ..chip }§)",
        "Registers { beta_r, beta_w: beta_r, committed: chip.t_w.max(beta_r).checked_add(chip.t_w)?, \
         row_ways: read_ways, read, inside: copying.max(erase), ways: read_ways, ..chip }"),
    edit("turnaround", TURNS, "§registers.turnaround_beside(self.duties(server), chips)§", "Cost::ZERO"),
    edit("turnaround", TURNS, "§Registers::turns(self.duties(server), server, of)§", "RegisterTurns::default()"),
    edit("turnaround", TURNS, "§registers.turnaround(self.duties(server))§", "Cost::ZERO"),
    edit("arrivals", "gc/mod.rs", "self.numbers(§self.arrivals(deadline)§?, self", "Some(0)"),
    edit("server-reserve", "gc/room.rs", "let drawn = if §server§ {", "false"),
    edit("reserve-page", "gc/room.rs",
        "arrivals.checked_add(§self.block_pages - 1§)", "(self.block_pages - 1).saturating_sub(1)"),
    edit("victim-page", "gc/room.rs",
        "let valid = §self.mapped / closed§;", "(self.mapped / closed).saturating_sub(1)"),
    edit("spare-blocks", PROCESSOR,
        "blocks: §failures::blocks_left(device, width)§", "u64::from(device.blocks_per_chip())"),
    edit("repeats", "organisation/processor/failures.rs",
        "if §self.programs(server)§ { self.repeated.at_once }", "false"),
    edit("suspend", "organisation/processor/suspension.rs", "§suspend.checked_add(resume)§.expect", "Some(resume)"),
    edit("resume", "organisation/processor/suspension.rs", "§suspend.checked_add(resume)§.expect", "Some(suspend)"),
    edit("stream-page", "organisation/stripe.rs",
        "§WorkloadCurve::stream(request.pages(), chips)§",
        "let mut curve = WorkloadCurve::stream(request.pages(), chips); curve.more = 0; curve"),
    edit("reset-page", "organisation/zoned.rs",
        "Some(§WorkloadCurve::stream(write.pages(), block_pages.checked_mul(chips)?)§)",
        "let mut curve = WorkloadCurve::stream(write.pages(), block_pages.checked_mul(chips)?); curve.more = 0; curve"),
    edit("carry-in", BUS,
        "(§processor.tasks.clone()§, processor.repeated_programs())",
        "processor.tasks.iter().map(|task| DemandTask { deadline: Span::ZERO, ..*task }).collect()"),
    edit("repeated-transfers", BUS, "§processor.repeated_programs()§", "0"),
    edit("copies", BUS,
        "gc, repeated, §processor.rows()§",
        "processor.rows().map(|rows| crate::weakened::organisation::processor::Rows { chip_pages: 0, ..rows })"),
    edit("command-wait", W1, "§u128::from(self.command > Span::ZERO)§", "0"),
    edit("pass-wait", W1, "§steps + programs§", "0"),
    edit("commands", W1, "let G_j = §j.commands(length)§", "0"),
    edit("commands", W1, "&j.commands_line(), §commands§, 1", "0"),
    edit("queued-programs", "demand/bus/queued_commands.rs", "self.transfer().times(§V_j§)", "0"),
    edit("min-fresh", "demand/bus/w2.rs", "phi.times(§exceptions.min_E§)", "0"),
    edit("sum-fresh", "demand/bus/w2.rs", "let cycles = §exceptions.sum_E§", "0u128"),
    edit("shared-fresh", "demand/bus/w2.rs", "sigma.times(§exceptions.sum_E§)", "0"),
    edit("ranked-writes", "demand/bus/w3.rs", "exceptions.full.saturating_add(§activity.writes§)", "0"),
    edit("ranked-fresh", "demand/bus/w3.rs", "phi.times(§exceptions.sum_E§)", "0"),
    edit("own-jobs", QUEUE, "full: §activity.jobs§.", "0u128"),
    edit("served-twice", QUEUE, "saturating_add(§sum_R§).saturating_add(1)", "0"),
    edit("first-read", QUEUE, "saturating_add(sum_R).saturating_add(§1§)", "0"),
    edit("sigma-of-one", QUEUE, "let sigma = if §o > 1§", "true"),
    edit("first-rank", "demand/bus/w4.rs",
        "§registers.longer(ranks).as_ns()§",
        "registers.longer(ranks).as_ns().saturating_sub(registers.longer(1).as_ns())"),
    edit("servers", "certificate/channels.rs",
        "fn serves(&self, position: usize) -> bool {\n        §self.servers[position] > 0§", "false"),
    edit("servers", "certificate/channels/certify.rs", "let quiet = §contention.near(&fragile)§", "fragile"),
    edit(EVERY, "certificate/channels.rs",
        "§Processor::new(device, self.tasks(position), size, self.placements[position], bus)§",
        "crate::processors::new(device, self.tasks(position), size, self.placements[position], bus)"),
    edit("blocking", STOCK, "if writes { §times.longest()§ }", "0"),
    edit("other-reads", STOCK,
        "§reads.iter().map(|read| read.amount).fold(blocking, u128::saturating_add)§",
        "reads.iter().map(|read| read.amount).fold(0, u128::max).saturating_add(blocking)"),
    edit("reads-first", STOCK, "§reads.iter().map(|read| read.within(begins)).fold(0, u128::saturating_add)§", "0"),
    edit("other-writes", STOCK,
        "§writes.iter().map(|write| write.within(at)).fold(0, u128::saturating_add)§",
        "writes.iter().map(|write| write.within(at)).fold(0, u128::max)"),
    edit("first-pass", STOCK,
        "let passes = §pages.div_ceil(times.reclaimed.max(1))§", "pages / times.reclaimed.max(1)"),
    edit("copies", STOCK, "§victim.map_or(0, |victim| victim * (read + write))§", "0"),
    edit("free-block", STOCK, "checked_div(§blocks - 1§)", "blocks"),
];

/// For an edit that stands whatever is left out.
pub const EVERY: &str = "";
