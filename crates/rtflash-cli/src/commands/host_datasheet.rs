//! `rtflash host datasheet`: the lifetime and the least times of a drive that was not measured, by
//! the numbers of its data sheet.

use rtflash_drive::{bytes, three_digits};

use crate::CommandFailure;
use crate::answer::{SetAnswer, Unanswered, print};
use crate::args::drive::HostDatasheetArgs;
use crate::status::Status;

/// Prints these numbers.
pub fn run(args: &HostDatasheetArgs) -> Result<Status, CommandFailure> {
    print(answer(args))
}

fn answer(args: &HostDatasheetArgs) -> Result<SetAnswer, Unanswered> {
    let mut text = String::new();
    match (args.tbw, args.per_day) {
        (Some(tbw), Some(per_day)) => {
            let days = tbw / per_day;
            let years = days as f64 / 365.25;
            text += &format!("lifetime: {days} days ({years:.1} years), if the host writes no more than that a day\n");
        }
        (None, None) => {}
        _ => return Err(CommandFailure("a lifetime needs both: --tbw and --per-day".into()).into()),
    }
    for (name, bandwidth, iops) in [("read", args.read, args.read_iops), ("write", args.write, args.write_iops)] {
        if let Some(bandwidth) = bandwidth {
            // Times are rounded down: they are the least.
            let least = u128::from(args.io) * 1_000_000_000 / u128::from(bandwidth);
            let least = three_digits(u64::try_from(least).unwrap_or(u64::MAX));
            text += &format!("a {name} of {} takes at least {least}: no deadline below it is kept\n", bytes(args.io));
        }
        if let Some(iops) = iops {
            text += &format!("jobs that ask for more than {iops} {name}s a second fall behind\n");
        }
    }
    if text.is_empty() {
        return Err(
            CommandFailure("no number of the data sheet: --tbw and --per-day, --read, --write, …".into()).into()
        );
    }
    text += "no bound: a data sheet states no longest command; measure the drive (`rtflash host protocol`)\n";
    Ok(SetAnswer { text, ..SetAnswer::default() })
}
