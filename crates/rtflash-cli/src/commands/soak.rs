//! `rtflash soak`: random search for a broken assumption.

use rtflash_answers::{BrokenLine, SoakAnswer};
use rtflash_model::{format_ns, write_task_set};
use rtflash_plan::{Policy, write_release_pattern};
use rtflash_run::soak::{Broken, Case, Search, SoakWatch, World, soak};
use serde_json::value::RawValue;

use super::on_threads;
use crate::CommandFailure;
use crate::answer::{SetAnswer, Status, Unanswered, print};
use crate::args::{SoakArgs, SoakWorld};
use crate::output::{GREEN, RED, paint};
use crate::progress::Bar;
use crate::render::numbers::count;
use crate::render::rendered;
use crate::render::table::table;
use crate::whole::SignalHold;

/// Carries the command out. A signal ends the search; what was found until then is printed before
/// it ends the process.
pub fn run(args: &SoakArgs) -> Result<Status, CommandFailure> {
    let signals = SignalHold::new();
    print(answer(args, Some(&signals)))
}

pub fn answer(args: &SoakArgs, signals: Option<&SignalHold>) -> Result<SetAnswer, Unanswered> {
    let world = match args.world {
        SoakWorld::Any => World::Any,
        SoakWorld::Sound => World::Sound,
    };
    let watch = BarWatch::new(args.runs, signals);
    let searched = || soak(Search { seed: args.seed, world }, args.runs, &watch);
    let soaked = on_threads(args.jobs.map(usize::from), searched)?;
    watch.bar.finish();
    let answer = SoakAnswer {
        seed: args.seed,
        runs: args.runs,
        stopped_after: watch.stopped_after(soaked.cases),
        judged: soaked.judged,
        mean_load: (soaked.load > 0).then_some(soaked.load as f64 / 1e6),
        broken: soaked.broken.iter().map(broken_line).collect(),
    };
    let status = Status::of(Some(answer.broken.is_empty()));
    let text = rendered(args.format.format, &answer, || text(&answer));
    Ok(SetAnswer { text, status, ..SetAnswer::default() })
}

fn broken_line(broken: &Broken) -> BrokenLine {
    let worst = broken.finding.gauge.worst();
    BrokenLine {
        name: broken.finding.assumption.name().into(),
        runs: broken.runs,
        first_run: broken.first,
        bound: worst.map(|worst| worst.bound),
        observed: worst.map(|worst| worst.observed),
        command: command(&broken.smallest),
        task_set: RawValue::from_string(write_task_set(&broken.smallest.set, None)).ok(),
    }
}

fn command(case: &Case) -> String {
    let options = &case.options;
    let mut command = format!(
        "rtflash exec - --algorithm {} --analysis {} --duration {} --seed {}",
        case.allocator.name(),
        case.analysis.name(),
        format_ns(options.duration.as_ns()),
        options.seed
    );
    let mut add = |option: &str, value: Option<&str>| {
        value.into_iter().for_each(|value| command += &format!(" --{option} {value}"));
    };
    add("assume", case.analysis.demand_test().map(|test| test.rely_on.assumption()));
    add("dispatch", options.dispatch.stated());
    add("server", options.service.stated());
    add("victims", options.victims.stated());
    add("aging", options.aging.stated());
    add("pattern", options.pattern.stated());
    add("times", options.times.stated());
    add("waits", options.placed.waits.stated());
    add("phases", options.phases.stated());
    add("arbitration", options.arbitration.stated());
    add("ties", options.ties.stated());
    add("arrivals", options.recurrence.stated());
    if !options.placed.backfill {
        command += " --no-backfill";
    }
    if options.placed.faults > 0 {
        command += &format!(" --faults {}", options.placed.faults);
    }
    if let Some(releases) = &options.releases {
        let stated = write_release_pattern(releases, &case.set);
        // A shell's quotes end at each of these.
        command += &format!(" --releases '{}'", stated.replace('\'', r"'\''"));
    }
    command
}

struct BarWatch<'s> {
    bar: Bar,
    signals: Option<&'s SignalHold>,
}

impl<'s> BarWatch<'s> {
    fn new(cases: u64, signals: Option<&'s SignalHold>) -> BarWatch<'s> {
        let template = "{wide_bar} {percent} % of {human_len} cases, {per_sec} a second, {eta} left";
        BarWatch { bar: Bar::new(template, 0, cases), signals }
    }

    /// The cases that are over, if the search was stopped.
    fn stopped_after(&self, cases: u64) -> Option<u64> {
        self.stops().then_some(cases)
    }
}

impl SoakWatch for BarWatch<'_> {
    fn over(&self, cases: u64) {
        self.bar.inc(cases);
    }

    fn stops(&self) -> bool {
        self.signals.is_some_and(|signals| signals.signal().is_some())
    }
}

fn text(answer: &SoakAnswer) -> String {
    let cases = cases(answer);
    let drawn =
        format!("{cases} drawn from seed {}, {} accepted by their analysis and run", answer.seed, answer.judged);
    let drawn = match answer.mean_load {
        Some(load) => format!("{drawn} (mean real-time load of the fullest cluster {load:.3})"),
        None => drawn,
    };
    if answer.broken.is_empty() {
        return format!("{}: {drawn}: no check fails\n", paint(GREEN, "pass"));
    }
    let assumptions = count(answer.broken.len(), "assumption");
    let verb = if answer.broken.len() == 1 { "breaks" } else { "break" };
    let mut text = format!("{}: {drawn}: {assumptions} {verb}\n\n", paint(RED, "fail"));
    let number = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let rows = answer.broken.iter().map(|broken| {
        vec![
            broken.name.to_string(),
            broken.runs.to_string(),
            broken.first_run.to_string(),
            number(broken.bound),
            number(broken.observed),
        ]
    });
    text += &table(&["check", ">runs", ">first", ">bound", ">observed"], rows.collect::<Vec<_>>());
    text += "\nThe smallest cases found (bound and observation above are theirs):\n";
    for broken in &answer.broken {
        let set = broken.task_set.as_deref().map_or("", RawValue::get);
        text += &format!("\n{}\n  {}\n  {set}\n", broken.name, broken.command);
    }
    text
}

fn cases(answer: &SoakAnswer) -> String {
    match answer.stopped_after {
        None => format!("{} cases", answer.runs),
        Some(cases) => format!("{cases} of {} cases (stopped by a signal)", answer.runs),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rtflash_alloc::allocator::Global;
    use rtflash_analysis::Thesis;
    use rtflash_model::{Span, TaskId, read_task_set};
    use rtflash_plan::{Options, ReleasePattern};

    use super::*;

    #[test]
    fn a_command_states_the_releases() {
        let text = r#"{"device":"dgist-2021","tasks":[{"name":"nose's","read":{"pages":4,"period":"36ms"}}]}"#;
        let set = read_task_set(text).expect("a set").set;
        let mut pattern = ReleasePattern::default();
        pattern.request_mut(TaskId(0), rtflash_trace::Kind::Read).gaps = vec![Span::from_us(3)];
        let options = Options { releases: Some(Arc::new(pattern)), ..Options::default() };
        let case = Case { seed: 1, run: 0, set, allocator: &Global, analysis: &Thesis, options };
        let expected = r#"rtflash exec - --algorithm global --analysis thesis --duration 10s --seed 1 --releases '{"nose'\''s":{"read":{"gaps":["3us"]}}}'"#;
        assert_eq!(command(&case), expected);
    }
}
