//! Claims of Koshiba et al., with what was published.

use rtflash::host::Op::{self, Read, Write};
use rtflash::host::SchedulerSettings;
use rtflash::host::run::JobPattern::{self, Random, Sequential};
use rtflash::host::scheduler::{Cut, K2Settings, MqDeadlineSettings, Split};

use super::claim::Kind::{self, Also, Must, NotAsked, Shown};
use super::claim::Rule::{self, Below, Flat, Folds, Grows, Near, Third};
use super::claim::{Claim, Value};
use super::run::Setting;
use super::table3::{self, ROWS};

/// All claims, and the settings that they need.
#[derive(Debug, Default)]
pub struct Claims {
    /// The settings to run.
    pub settings: Vec<Setting>,
    /// The claims, in the order of the paper.
    pub claims: Vec<Claim>,
}

impl Claims {
    /// All of them.
    pub fn all() -> Claims {
        let mut claims = Claims::default();
        COLUMNS.into_iter().for_each(|column| claims.figure_2(column));
        COLUMNS.into_iter().for_each(|column| claims.figures_3_and_5(column));
        claims.figure_7();
        claims.table_3();
        claims
    }

    /// The position of a setting.
    fn at(&mut self, setting: Setting) -> usize {
        let known = self.settings.iter().position(|other| *other == setting);
        known.unwrap_or_else(|| {
            self.settings.push(setting);
            self.settings.len() - 1
        })
    }

    fn add(&mut self, place: &'static str, text: String, (kind, published): Asked, rule: Rule, value: Value) {
        self.claims.push(Claim { place, text, kind, is_fitted: false, published, rule, value });
    }

    /// Figure 2: how many requests are outstanding.
    fn figure_2(&mut self, column: Column) {
        const PLACE: &str = "Fig. 2";
        let ends = |claims: &mut Claims, scheduler| {
            [1, 128].map(|depth| claims.at(Setting { depth, ..setting(column, scheduler, 64, 4) }))
        };
        let [one, many] = ends(self, SchedulerSettings::None);
        let [k2_one, k2_many] = ends(self, k2());
        let [mq_one, mq_many] = ends(self, mq_deadline());
        // Folds, and milliseconds with one and with 128 outstanding.
        let (fold, rule, absolute) = match column {
            (Read, Random) => ((Must, Some(40.0)), Folds, Some([2.2, 80.2])),
            (Read, _) => ((Must, Some(37.0)), Folds, Some([2.1, 79.1])),
            (_, Random) => ((Must, Some(29.0)), Third, Some([6.1, 179.3])),
            _ => ((Shown, None), Third, None),
        };
        let col = words(column);
        self.add(PLACE, format!("{col}: none, 128 over 1 outstanding"), fold, rule, Value::Fold(many, one));
        let text = format!("{col}: K2, 128 over 1 outstanding (not at all)");
        self.add(PLACE, text, (Must, Some(1.0)), Flat, Value::Fold(k2_many, k2_one));
        let is_read = column.0 == Read;
        let (says, asked, rule) =
            if is_read { ("", (Also, Some(1.0)), Flat) } else { (" (grows)", (Also, None), Grows) };
        let text = format!("{col}: mq-deadline, 128 over 1 outstanding{says}");
        self.add(PLACE, text, asked, rule, Value::Fold(mq_many, mq_one));
        for (at, (depth, published)) in [one, many].into_iter().zip([1, 128].into_iter().zip(absolute.iter().flatten()))
        {
            let text = format!("{col}: none, {depth} outstanding");
            self.add(PLACE, text, (Also, Some(*published)), Third, Value::P99(at));
        }
    }

    /// Figures 3 and 5: how long the requests of the background are.
    fn figures_3_and_5(&mut self, column: Column) {
        let ends =
            |claims: &mut Claims, scheduler| [4, 512].map(|size| claims.at(setting(column, scheduler, 64, size)));
        let [k2_short, k2_long] = ends(self, k2());
        let [none_short, none_long] = ends(self, SchedulerSettings::None);
        let [mq_short, mq_long] = ends(self, mq_deadline());
        let split = SIZES.map(|size| self.at(setting(column, k2_split(4), 64, size)));
        let cut = SIZES.map(|size| self.at(Setting { max_sectors: Some(4), ..setting(column, k2(), 64, size) }));
        let [split_short, .., split_long] = split;
        let [.., cut_long] = cut;
        let col = words(column);
        let mut add =
            |place, text: &str, asked, rule, value| self.add(place, format!("{col}: {text}"), asked, rule, value);
        if column == (Read, Random) {
            add("Fig. 3a", "K2, 512 over 4 KiB", (Must, Some(5.0)), Third, Value::Fold(k2_long, k2_short));
            add("Fig. 5a", "K2 at 512 KiB", (Must, Some(8.0)), Third, Value::P99(k2_long));
            add("Fig. 5a", "K2-split 4 at 512 KiB", (Must, Some(1.6)), Third, Value::P99(split_long));
            add("Fig. 3a", "none at 512 KiB", (Also, Some(8.2)), Third, Value::P99(none_long));
            let text = "none at 4 KiB (Fig. 2a: 2.2)";
            add("Fig. 3a", text, (NotAsked, Some(3.8)), Third, Value::P99(none_short));
            let text = "max_sectors 4 over K2-split 4, at 512 KiB";
            add("Fig. 5a", text, (Also, Some(3.0)), Third, Value::Fold(cut_long, split_long));
        } else {
            add("Fig. 3", "K2, 512 over 4 KiB (grows)", (Shown, None), Third, Value::Fold(k2_long, k2_short));
        }
        add("Fig. 3", "mq-deadline, 512 over 4 KiB (grows)", (Shown, None), Third, Value::Fold(mq_long, mq_short));
        let flat = Some(1.0);
        let text = "K2-split 4, 512 over 4 KiB (flat)";
        add("Fig. 5", text, (Must, flat), Flat, Value::Fold(split_long, split_short));
        let text = "K2-split 4, longest over shortest of all sizes (flat)";
        add("Fig. 5", text, (Must, flat), Flat, Value::Spread(split.to_vec()));
        let text = "max_sectors 4, longest over shortest of all sizes (flat)";
        add("Fig. 5", text, (Also, flat), Flat, Value::Spread(cut.to_vec()));
        let ratio = match column {
            (Read, Random) => 5.0,
            (Read, _) => 4.9,
            (_, Random) => 3.1,
            _ => 2.8,
        };
        let text = "K2 over K2-split 4 at 512 KiB";
        add("Fig. 5", text, (Must, Some(ratio)), Third, Value::Fold(k2_long, split_long));
        let text = "K2-split 4 over the lower of K2 and max_sectors 4, p99.99, at 512 KiB";
        add("Fig. 6", text, (Also, None), Below, Value::Tail(split_long, [k2_long, cut_long]));
    }

    /// Figure 7: the longest request, by the size of real-time I/Os.
    fn figure_7(&mut self) {
        const PLACE: &str = "Fig. 7";
        let at = |claims: &mut Claims, is_split: bool, longest: u32, real_time| {
            let scheduler = if is_split { k2_split(longest) } else { k2() };
            let max_sectors = (!is_split).then_some(longest.into());
            claims.at(Setting { max_sectors, ..setting((Read, Random), scheduler, real_time, 512) })
        };
        for (real_time, best) in [(4, 4.0), (64, 32.0), (128, 64.0), (512, 128.0)] {
            let [cut, split] = [false, true].map(|is_split| {
                Value::Best(SIZES.map(|longest| (longest, at(self, is_split, longest, real_time))).to_vec())
            });
            let kind = if real_time > 4 { Must } else { Also };
            let text = format!("max_sectors does best at, RT {real_time} KiB");
            self.add(PLACE, text, (kind, Some(best)), Near, cut);
            let text = format!("K2-split does best at, RT {real_time} KiB");
            self.add(PLACE, text, (Also, Some(4.0)), Near, split);
        }
        for (is_split, real_time, longest, published, kind) in [
            (true, 4, 512, 6.5, Also),
            (true, 4, 4, 0.9, Also),
            (false, 64, 32, 2.4, Also),
            (false, 64, 4, 6.2, Also),
            (true, 64, 4, 1.6, Must),
            (false, 512, 4, 43.7, Must),
            (true, 512, 4, 7.1, Must),
        ] {
            let text = format!("{} {longest}, RT {real_time} KiB", if is_split { "K2-split" } else { "max_sectors" });
            let value = Value::P99(at(self, is_split, longest, real_time));
            self.add(PLACE, text, (kind, Some(published)), Third, value);
        }
    }

    /// Table 3: throughput and latency.
    fn table_3(&mut self) {
        for row in ROWS {
            for (column, published) in COLUMNS.into_iter().zip(row.columns) {
                let scheduler = row.split.map_or(k2(), k2_split);
                let max_sectors = row.max_sectors.map(u64::from);
                for (real_time, [throughput, p99]) in [(4, published[0]), (64, published[1])] {
                    let at = self.at(Setting { max_sectors, ..setting(column, scheduler, real_time, 512) });
                    let text = format!("{}: {}, RT {real_time} KiB", words(column), row.name);
                    // The K2 row's latencies contradict its throughput and the figures.
                    let odd = row.name == "K2" && (real_time == 64 || column == (Read, Random));
                    let kind = if odd { NotAsked } else { Must };
                    let values = [
                        ("all together", (Must, Some(throughput)), Value::Throughput(at)),
                        ("p99", (kind, Some(p99)), Value::P99(at)),
                    ];
                    for (what, asked, value) in values {
                        self.add("Table 3", format!("{text}, {what}"), asked, Third, value);
                        if let Some(claim) = self.claims.last_mut() {
                            claim.is_fitted = table3::is_fitted(&claim.text);
                        }
                    }
                }
            }
        }
    }
}

/// The expectation, and the published value.
type Asked = (Kind, Option<f64>);

/// Operation and pattern: a column of the paper's tables and figures.
type Column = (Op, JobPattern);

const COLUMNS: [Column; 4] = [(Read, Random), (Read, Sequential), (Write, Random), (Write, Sequential)];

/// Sizes of the background's I/Os, and longest requests, in KiB.
const SIZES: [u32; 7] = [4, 16, 32, 64, 128, 256, 512];

/// One I/O outstanding in each job; sizes in KiB.
fn setting((op, pattern): Column, scheduler: SchedulerSettings, real_time: u32, size: u32) -> Setting {
    let (real_time, size) = (real_time.into(), size.into());
    Setting { op, pattern, scheduler, max_sectors: None, real_time, depth: 1, size }
}

/// K2 with one inside.
fn k2() -> SchedulerSettings {
    SchedulerSettings::K2(K2Settings { max_inflight: 1, ..K2Settings::k2() })
}

/// K2-split as in the paper, in pieces of `kib` KiB.
fn k2_split(kib: u32) -> SchedulerSettings {
    let split = Split { cut: Cut::Rest, max_sectors: u64::from(kib) << 10, multiples: false };
    SchedulerSettings::K2(K2Settings { split: Some(split), ..K2Settings::split(Cut::Rest) })
}

fn mq_deadline() -> SchedulerSettings {
    SchedulerSettings::MqDeadline(MqDeadlineSettings::default())
}

fn words((op, pattern): Column) -> String {
    let pattern = if pattern == Random { "random" } else { "sequential" };
    format!("{pattern} {}", if op == Read { "read" } else { "write" })
}
