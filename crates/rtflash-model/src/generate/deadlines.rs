//! When the requests of a generated task are due.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::writes::WriteShare;
use crate::random::Stream;
use crate::task::{Request, Task};
use crate::time::Span;

const SCALE: u64 = 1_000_000_000;

/// D = x T, x uniform between two billionths. Sets that differ in it have the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeadlineRange {
    shortest: WriteShare,
    longest: WriteShare,
}

impl DeadlineRange {
    /// ⌊x T⌋, one nanosecond at least, from the stream of this key.
    pub(super) fn give(self, tasks: &mut [Task], key: [u8; 32]) {
        let mut stream = Stream::new(key);
        let [low, high] = [self.shortest, self.longest].map(|part| u64::from(part.billionths()));
        let mut due = |request: Option<Request>| {
            // Drawn for a request that is not there as well: no deadline depends on which ones are.
            let part = low + stream.below(high.saturating_sub(low) + 1);
            let request = request?;
            let deadline = u128::from(request.period().as_ns()) * u128::from(part) / u128::from(SCALE);
            let deadline = u64::try_from(deadline).ok().and_then(|deadline| Span::from_ns(deadline.max(1)));
            // From one nanosecond to the period: valid without jitter.
            Some(request.with_deadline(deadline).unwrap_or(request))
        };
        for task in tasks {
            (task.read, task.write) = (due(task.read), due(task.write));
        }
    }
}

/// A text is no range of [`DeadlineRange`]. Says what would be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("parts of the period above 0 and up to 1, the shorter first, such as 0.5..1.0")]
pub struct NotDeadlines;

impl FromStr for DeadlineRange {
    type Err = NotDeadlines;

    fn from_str(text: &str) -> Result<DeadlineRange, NotDeadlines> {
        let (shortest, longest) = text.split_once("..").unwrap_or((text, text));
        let part = |text: &str| text.parse::<WriteShare>().map_err(|_| NotDeadlines);
        let (shortest, longest) = (part(shortest)?, part(longest)?);
        let valid = shortest.billionths() > 0 && shortest <= longest;
        if valid { Ok(DeadlineRange { shortest, longest }) } else { Err(NotDeadlines) }
    }
}

impl fmt::Display for DeadlineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.shortest, self.longest)
    }
}

impl Serialize for DeadlineRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parts_of_the_period() {
        for (text, written) in [("0.5..1.0", "0.5..1"), ("0.25", "0.25..0.25"), (" 0.5 .. 0.5 ", "0.5..0.5")] {
            assert_eq!(text.parse::<DeadlineRange>().unwrap().to_string(), written);
            assert_eq!(written.parse::<DeadlineRange>(), text.parse());
        }
        for text in ["", "0..1", "0.6..0.5", "0.5..1.1", "0.5...1", "-0.5..1", "a..b", "..", "0.5.."] {
            assert_eq!(text.parse::<DeadlineRange>(), Err(NotDeadlines), "{text}");
        }
    }

    #[test]
    fn deadlines_are_in_the_range_and_differ() {
        let request = Request::new(3, Span::from_us(1_000)).unwrap();
        let task = Task { name: "a".into(), read: Some(request), write: Some(request), data_pages: None };
        let mut tasks = vec![task; 200];
        "0.5..0.9".parse::<DeadlineRange>().unwrap().give(&mut tasks, [7; 32]);
        let of = |tasks: &[Task]| -> Vec<u64> {
            tasks.iter().flat_map(Task::requests).map(|(request, _)| request.deadline().as_ns()).collect()
        };
        let all = of(&tasks);
        assert!(all.iter().all(|deadline| (500_000..=900_000).contains(deadline)));
        assert!(all.iter().any(|&deadline| deadline < 520_000) && all.iter().any(|&deadline| deadline > 880_000));
        // A request that is not there changes no other one's deadline.
        let mut fewer = tasks.clone();
        fewer[0].read = None;
        "0.5..0.9".parse::<DeadlineRange>().unwrap().give(&mut fewer, [7; 32]);
        assert_eq!(of(&fewer), all[1..]);
    }
}
