//! `rtflash host datasheet`: the lifetime and the least times of a drive that was not measured, by
//! the numbers of its data sheet.

use rtflash_answers::DatasheetAnswer;
use rtflash_drive::{bytes, three_digits};
use rtflash_model::capped;

use crate::answer::{SetAnswer, Unanswered};
use crate::args::drive::HostDatasheetArgs;
use crate::render::rendered;

pub fn answer(args: &HostDatasheetArgs) -> Result<SetAnswer, Unanswered> {
    let lifetime_days = match (args.tbw, args.per_day) {
        (Some(tbw), Some(per_day)) => Some(tbw / per_day),
        (None, None) => None,
        _ => fail!("a lifetime needs both: --tbw and --per-day"),
    };
    // Times are rounded down: they are the least.
    let least = |bandwidth: u64| capped(u128::from(args.io) * 1_000_000_000 / u128::from(bandwidth));
    let [read_least_ns, write_least_ns] = [args.read, args.write].map(|bandwidth| bandwidth.map(least));
    let (io, read_iops, write_iops) = (args.io, args.read_iops, args.write_iops);
    let answer = DatasheetAnswer { lifetime_days, io, read_least_ns, write_least_ns, read_iops, write_iops };
    if [lifetime_days, read_least_ns, write_least_ns, read_iops, write_iops].iter().all(Option::is_none) {
        fail!("no number of the data sheet: --tbw and --per-day, --read, --write, …");
    }
    Ok(SetAnswer { text: rendered(args.format.format, &answer, || text(&answer)), ..SetAnswer::default() })
}

fn text(of: &DatasheetAnswer) -> String {
    let mut text = String::new();
    if let Some(days) = of.lifetime_days {
        let years = days as f64 / 365.25;
        text += &format!("lifetime: {days} days ({years:.1} years), if the host writes no more than that a day\n");
    }
    for (name, least, iops) in [("read", of.read_least_ns, of.read_iops), ("write", of.write_least_ns, of.write_iops)] {
        if let Some(least) = least.map(three_digits) {
            text += &format!("a {name} of {} takes at least {least}: no deadline below it is kept\n", bytes(of.io));
        }
        if let Some(iops) = iops {
            text += &format!("jobs that ask for more than {iops} {name}s a second fall behind\n");
        }
    }
    text + "no bound: a data sheet states no longest command; measure the drive (`rtflash host protocol`)\n"
}
