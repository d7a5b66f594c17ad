//! When the requests or messages of a file came and how much they move, and whether that is
//! plausible.

use rtflash_model::capped;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// Days from 1 January 1601 to 1 January 1970.
const DAYS_1601_TO_1970: u64 = 134_774;

/// Bytes a second that no drive reaches.
const FASTEST: u64 = 32_000_000_000;

/// How the times of a format are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeBase {
    /// Microseconds from the start of a run (fio).
    Microseconds,
    /// Seconds from the start of a trace (blkparse).
    Seconds,
    /// Ticks of 100 ns from 1 January 1601 (Microsoft Research).
    FileTime,
    /// Nanoseconds from 1 January 1970, or from the start of a recorder (bags).
    Unix,
}

/// When the requests or messages of a file came, and how much they move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// When the first one came, in ns of the file's own clock.
    pub first: u64,
    /// When the last one came, in ns of the file's own clock.
    pub last: u64,
    /// How many there are, at least one.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u128,
    /// Whether each time is a whole second.
    pub whole_seconds: bool,
}

impl Extent {
    /// The extent of requests or messages, each with its time and its bytes, in any order.
    pub(crate) fn of(times: impl Iterator<Item = (u64, u64)>) -> Option<Extent> {
        times.fold(None, |extent, (at, bytes)| {
            let none = Extent { first: at, last: at, count: 0, bytes: 0, whole_seconds: true };
            let Extent { first, last, count, bytes: before, whole_seconds } = extent.unwrap_or(none);
            Some(Extent {
                first: first.min(at),
                last: last.max(at),
                count: count + 1,
                bytes: before + u128::from(bytes),
                whole_seconds: whole_seconds && at.is_multiple_of(SECOND),
            })
        })
    }

    /// From the first one to the last one, in ns.
    pub fn length(&self) -> u64 {
        self.last - self.first
    }

    /// Bytes a second on average, rounded down, at most 2⁶⁴ − 1; `None` if all came at one time.
    pub fn mean_rate(&self) -> Option<u64> {
        let rate = (self.bytes * u128::from(SECOND)).checked_div(self.length().into())?;
        Some(capped(rate))
    }

    /// Reasons why the times are implausible as times of this clock: sentences. Times in another
    /// unit are the usual cause.
    pub fn doubts(&self, clock: TimeBase) -> Vec<String> {
        let mut doubts = Vec::new();
        doubts.extend(self.odd_start(clock));
        let (count, length, what) = (self.count, self.length(), clock.of());
        let of_length = rtflash_model::format_ns(length);
        match self.mean_rate() {
            None if count > 1 => doubts.push(format!("All {count} {what} come at one time.")),
            Some(rate) if rate > FASTEST => {
                doubts.push(format!("{} bytes in {of_length} are more than any drive moves.", self.bytes));
            }
            _ => {}
        }
        // Between the first and the last one.
        let gaps = count - 1;
        if length > 0 && u128::from(gaps) * 1_000 >= u128::from(length) {
            doubts.push(format!("{count} {what} in {of_length} are a million a second or more."));
        }
        if gaps > 0 && length / gaps >= clock.rarest() {
            let gap = rtflash_model::format_ns(length / gaps);
            doubts.push(format!("{count} {what} in {of_length} are one in {gap}."));
        } else if self.whole_seconds && count >= 3 && length > 0 {
            doubts.push("Each time is a whole second: the times are coarse, or are in another unit.".into());
        }
        if !doubts.is_empty() {
            doubts.push(format!("This format has {}: are the times in another unit?", clock.meaning()));
        }
        doubts
    }

    fn odd_start(&self, clock: TimeBase) -> Option<String> {
        let (year, date) = (clock.year(self.first), clock.date(self.first));
        match clock {
            TimeBase::FileTime if !year.is_some_and(|year| (1980..2100).contains(&year)) => Some(format!(
                "The first of the {} comes at {}.",
                clock.of(),
                date.expect("the clock counts from a date")
            )),
            // A recorder without a date begins at zero.
            TimeBase::Unix if self.first > 10 * DAY && !year.is_some_and(|year| (2000..2100).contains(&year)) => Some(
                format!("The first of the {} comes at {}.", clock.of(), date.expect("the clock counts from a date")),
            ),
            TimeBase::Microseconds | TimeBase::Seconds if self.first > 365 * DAY => {
                Some(format!("The first of the {} comes {} days after the start.", clock.of(), self.first / DAY))
            }
            _ => None,
        }
    }
}

impl TimeBase {
    fn of(self) -> &'static str {
        match self {
            TimeBase::Microseconds | TimeBase::Seconds | TimeBase::FileTime => "requests",
            TimeBase::Unix => "messages",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            TimeBase::Microseconds => "µs from the start of the run",
            TimeBase::Seconds => "seconds from the start of the trace",
            TimeBase::FileTime => "ticks of 100 ns from 1601",
            TimeBase::Unix => "ns from 1970 or from the recorder's start",
        }
    }

    /// A longer time between two requests or messages, on average, is implausible: a run of fio is
    /// busy, a disk is traced because it is used, and the traces of a week have hundreds.
    fn rarest(self) -> u64 {
        match self {
            TimeBase::Microseconds => SECOND,
            TimeBase::Seconds | TimeBase::Unix => 60 * SECOND,
            TimeBase::FileTime => 3_600 * SECOND,
        }
    }

    /// Days from 1970, if the clock has dates.
    fn days(self, at: u64) -> Option<i64> {
        let from_1970 = match self {
            TimeBase::Microseconds | TimeBase::Seconds => return None,
            TimeBase::FileTime => DAYS_1601_TO_1970,
            TimeBase::Unix => 0,
        };
        Some(i64::try_from(at / DAY).ok()? - i64::try_from(from_1970).ok()?)
    }

    fn year(self, at: u64) -> Option<i64> {
        self.days(at).map(|days| year_month_day(days).0)
    }

    /// A time of this clock as a date and a time of day (UTC), to the second; `None` if the clock
    /// counts from the start of something.
    pub fn date(self, at: u64) -> Option<String> {
        let (year, month, day) = year_month_day(self.days(at)?);
        let second = at % DAY / SECOND;
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}", second % 60))
    }
}

/// Year, month and day of the Gregorian calendar, from days after 1 January 1970.
fn year_month_day(days: i64) -> (i64, i64, i64) {
    // Years that begin in March end with the leap day; 400 of them have 146,097 days.
    let from_march_0000 = days + 719_468;
    let (era, of_era) = (from_march_0000.div_euclid(146_097), from_march_0000.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // From March on, five months have 153 days.
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, of_year - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let unix = |seconds: u64| TimeBase::Unix.date(seconds * SECOND).unwrap();
        // As `date -u` prints them.
        assert_eq!(unix(0), "1970-01-01 00:00:00");
        assert_eq!(unix(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(unix(951_868_800), "2000-03-01 00:00:00");
        assert_eq!(unix(1_700_000_000), "2023-11-14 22:13:20");
        assert_eq!(unix(4_107_542_399), "2100-02-28 23:59:59");
        assert_eq!(unix(4_107_542_400), "2100-03-01 00:00:00");
        assert_eq!(TimeBase::FileTime.date(0).unwrap(), "1601-01-01 00:00:00");
        // The first request of Microsoft Research's traces.
        assert_eq!(TimeBase::FileTime.date(128_166_372_003_061_629 * 100).unwrap(), "2007-02-22 17:00:00");
        assert_eq!((TimeBase::Seconds.date(5), TimeBase::Microseconds.date(5)), (None, None));
        // The last one of all.
        assert!(TimeBase::FileTime.date(u64::MAX).is_some_and(|date| date.starts_with("2185-")));
    }
}
