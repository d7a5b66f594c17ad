//! The answer of `size` for a person: the verdict, the limits, each task's, and what the allocation
//! costs.

use rtflash_alloc::sizing::RATIO_STEPS;
use rtflash_answers::{CostAnswer, FrontAnswer, SizeAnswer};
use rtflash_model::Device;

use super::alloc_text::OutcomeText;
use super::kind::KindWords;
use super::numbers::{count, lifetime, names, quantity};
use super::table::{ROWS, answer_table, first_rows, further};
use crate::output::{BOLD, paint};

const NAMES: usize = 4;

pub struct SizeView<'a> {
    pub answer: SizeAnswer<'a>,
    pub verdict: OutcomeText<'a>,
    pub words: &'static KindWords,
    pub device: &'a Device,
    /// Whether the analysis refuses the set, so that nothing was looked for.
    pub is_refused: bool,
    pub alone: bool,
}

impl SizeView<'_> {
    pub fn text(&self) -> String {
        let SizeView { answer, verdict, is_refused, alone, .. } = self;
        let mut text = verdict.headline();
        if !*alone {
            let [chips, ratio, load] = answer.limits().map(|limit| limit.text);
            let verdict = text.trim_end();
            return format!("{verdict}; fewest chips {chips}, largest logical_ratio {ratio}, load up to {load}\n");
        }
        let why = verdict.failure();
        if !why.is_empty() {
            text += &format!("\n{why}");
        }
        if !*is_refused {
            text += &self.found();
        }
        text + &answer.front.as_ref().map_or_else(String::new, front)
    }

    pub fn verdict(&self) -> String {
        self.verdict.line() + &self.verdict.failure()
    }

    fn found(&self) -> String {
        let (answer, device) = (&self.answer, self.device);
        let mut text = format!("\n{}{}", answer_table(&answer.limits_table(device)), self.at_least());
        if !answer.tasks.is_empty() {
            let heading = paint(BOLD, "One request changed, everything else as it is");
            text += &format!("\n{heading}\n{}", self.requests());
        }
        text + &match &answer.cost {
            None => "\nThere is no allocation whose cost is known.\n".to_owned(),
            Some(cost) => self.costs(cost),
        }
    }

    /// How many chips it takes whatever the algorithm.
    fn at_least(&self) -> String {
        let ratio = self.device.logical_ratio();
        match self.answer.chips.at_least {
            Some(1) => String::new(),
            Some(chips) => format!(
                "  (with fewer than {chips} chips no allocation meets every deadline at a logical_ratio of {ratio}, \
                 whatever the algorithm)\n"
            ),
            None => format!(
                "  (on no number of chips is there an allocation that meets every deadline at a logical_ratio of \
                 {ratio})\n"
            ),
        }
    }

    fn requests(&self) -> String {
        if self.answer.requests().all(|(_, _, request)| request.is_untried()) {
            return "  not tried: it would take too long with this number of tasks and chips\n".into();
        }
        first_rows(self.answer.requests_table(self.device), "requests")
            + "  (by bisection: the next step fails, and one further out can pass again; periods to four digits)\n"
    }

    fn costs(&self, cost: &CostAnswer<'_>) -> String {
        let as_it_is = self.answer.schedulable == Some(true);
        let on = if as_it_is { String::new() } else { format!(" on {}", count(cost.chips, "chip")) };
        let heading = paint(BOLD, &format!("What it costs{on}, at most, a day"));
        let mut text = format!("\n{heading}\n{}", answer_table(&cost.table(self.device.page_size(), ROWS)));
        text += &further(cost.serving().count().saturating_sub(ROWS), "clusters");
        text += &self.notes(cost);
        if let Some(table) = cost.expected_table(ROWS) {
            let heading = paint(BOLD, "What is to be expected of the tasks, in the long run");
            text += &format!("\n{heading}\n{}{EXPECTED}", answer_table(&table));
        }
        text
    }

    /// The meaning of a cost's numbers, and what is not among them.
    fn notes(&self, cost: &CostAnswer<'_>) -> String {
        let bound = self.words.write_amplification;
        let mut text = format!(
            "  (W: write amplification, {bound}; the last rows: the chip with most erases, the shortest lifetime)\n"
        );
        text += if self.device.erase_cycles().is_none() {
            "  (no lifetime: the device does not say how many erases a block endures, \"erase_cycles\")\n"
        } else {
            "  (erases and lifetime: if all blocks of a cluster are worn evenly)\n"
        };
        text += &self.answer.with_spread.as_ref().map_or_else(String::new, |better| with_spread(cost, better));
        if cost.with_jobs.is_some() {
            text += "  (jobs: their pages evenly on the chips of all clusters with a server, as if all of them could \
                     be served)\n";
        }
        if !cost.jobs_left_out.is_empty() {
            let left = names(cost.jobs_left_out.iter().map(AsRef::as_ref), NAMES);
            text += &format!("  (left out, as they arrive at single times: {left})\n");
        }
        text
    }
}

const EXPECTED: &str =
    "  (estimates: docs/lifetime.md says how far off they were. In rings: each task overwrites its data in \
     order, round and round; anywhere: any of its pages)
  (a range in rings: from a start in order, `exec --aging fresh`, to strewn data, as `exec` begins by \
     default; anywhere: where data that are never overwritten may be among the others)
  (without `data_pages` tasks and jobs share the space)
";

fn front(front: &FrontAnswer) -> String {
    let heading = paint(BOLD, "Devices on which it passes, none better than another in every respect");
    let mut text = format!("\n{heading}\n{}", answer_table(&front.table()));
    if front.points.is_empty() {
        text += "  none was found\n";
    }
    if !front.complete {
        text += "  (not every number of chips was tried: it would take too long)\n";
    }
    let step = front.resolution;
    if front.over.iter().any(|over| over == "logical_ratio") && step > 1.0 / f64::from(RATIO_STEPS) {
        text += &format!("  (logical_ratio in steps of {step}: finer ones would take too long)\n");
    }
    text
}

/// The gain from the chips that are left free.
fn with_spread(cost: &CostAnswer<'_>, better: &CostAnswer<'_>) -> String {
    let free = |cost: &CostAnswer<'_>| {
        let free = cost.clusters.iter().filter(|cluster| cluster.tasks.is_empty());
        free.map(|cluster| cluster.chips.len()).sum::<usize>()
    };
    let used = count(free(cost).saturating_sub(free(better)), "free chip");
    let gain = match (better.tasks.lifetime_years, cost.tasks.lifetime_years) {
        (Some(years), Some(now)) => format!("{} at least, instead of {}", lifetime(years), lifetime(now)),
        _ => {
            let [erases, now] = [better, cost].map(|of| quantity(of.tasks.erases_per_chip_per_day));
            format!("{erases} erases a chip at most, instead of {now}")
        }
    };
    format!("  (with --spread, which uses {used}: {gain})\n")
}
