//! Streams of task sets, with a stream of allocations beside them where one is given: the k-th
//! belongs to the k-th.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;

use rtflash_model::reading::Change;
use rtflash_model::{
    Allocation, AllocationRecord, Frame, FrameTooLong, Frames, TaskSet, read_allocation, read_allocation_record,
};

use crate::CommandFailure;
use crate::answer::Unanswered;
use crate::args::ChangeArg;
use crate::source::InputSource;

#[derive(Debug)]
pub struct SetAndAllocation {
    pub set: Frame,
    pub allocation: Beside,
    /// Why the task set cannot be changed as it should be.
    pub unchanged: Option<String>,
}

impl SetAndAllocation {
    fn new(mut set: Frame, allocation: Beside, changes: &[Change]) -> SetAndAllocation {
        let unchanged = change(&mut set, changes).err();
        SetAndAllocation { set, allocation, unchanged }
    }
}

/// Changes a task set as `--set` says. Bytes that are not UTF-8 stay as they are: the reader of the
/// set says so.
pub fn change(set: &mut Frame, changes: &[Change]) -> Result<(), String> {
    for change in changes {
        let Ok(text) = std::str::from_utf8(&set.text) else { return Ok(()) };
        set.text = change.apply(text).map_err(|error| format!("--set {change}: {error}"))?.into_bytes();
    }
    Ok(())
}

#[derive(Debug)]
pub enum Beside {
    /// There is no such stream.
    Nothing,
    /// The stream ended before, after this number of allocations.
    Ended(u64),
    Value(Frame),
}

pub struct Pairs {
    pub sets_name: String,
    changes: Vec<Change>,
    sets: Frames<InputSource>,
    allocations: Option<Values>,
}

struct Values {
    name: String,
    frames: Frames<InputSource>,
    ready: VecDeque<Frame>,
    taken: u64,
}

impl Values {
    fn next(&mut self) -> Result<Option<Frame>, CommandFailure> {
        if self.ready.is_empty() {
            self.ready.extend(next_batch(&mut self.frames, &self.name)?.into_iter().flatten());
        }
        let next = self.ready.pop_front();
        self.taken += u64::from(next.is_some());
        Ok(next)
    }
}

impl Pairs {
    /// The files `sets` and `allocations`, of which one can be standard input.
    pub fn open(sets: &Path, allocations: Option<&Path>, changed: &ChangeArg) -> Result<Pairs, CommandFailure> {
        if allocations == Some(sets) && sets.as_os_str() == "-" {
            fail!("the task set and the allocation cannot both come from standard input");
        }
        let sets = InputSource::open(sets)?;
        let allocations = allocations.map(InputSource::open).transpose()?.map(|source| Values {
            name: source.name.clone(),
            frames: Frames::new(source),
            ready: VecDeque::new(),
            taken: 0,
        });
        let (sets_name, changes) = (sets.name.clone(), changed.changes.clone());
        Ok(Pairs { sets_name, changes, sets: Frames::new(sets), allocations })
    }

    pub fn allocations_name(&self) -> &str {
        self.allocations.as_ref().map_or("", |values| &values.name)
    }

    /// The next task sets, each with its allocation: at least one, or `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Vec<SetAndAllocation>>, CommandFailure> {
        let sets = next_batch(&mut self.sets, &self.sets_name)?;
        let Some(values) = &mut self.allocations else {
            let alone = |set| SetAndAllocation::new(set, Beside::Nothing, &self.changes);
            return Ok(sets.map(|sets| sets.into_iter().map(alone).collect()));
        };
        let Some(sets) = sets else {
            return match values.next()? {
                Some(_) if values.taken > 1 => Err(CommandFailure(format!(
                    "{} goes on after {} has ended, behind number {}",
                    values.name,
                    self.sets_name,
                    values.taken - 1
                ))),
                _ => Ok(None),
            };
        };
        let mut pairs = Vec::with_capacity(sets.len());
        for set in sets {
            let allocation = match values.next()? {
                Some(frame) => Beside::Value(frame),
                None if values.taken == 0 => {
                    fail!("{}:1:1: there is nothing in it", values.name);
                }
                None => Beside::Ended(values.taken),
            };
            pairs.push(SetAndAllocation::new(set, allocation, &self.changes));
        }
        Ok(Some(pairs))
    }
}

pub fn next_batch(frames: &mut Frames<InputSource>, name: &str) -> Result<Option<Vec<Frame>>, CommandFailure> {
    frames.next_batch().map_err(|error| match error.get_ref().and_then(|inner| inner.downcast_ref::<FrameTooLong>()) {
        Some(long) => CommandFailure(format!("{name}:{}:{}: {long}", long.first_line, long.first_column)),
        None => CommandFailure::io(&format!("cannot read {name}"), &error),
    })
}

/// An input where an allocation is expected, read.
#[derive(Debug)]
pub enum Given<'t> {
    /// An allocation, with what it is written as and what complaints call the file.
    Allocation { allocation: Allocation, text: Cow<'t, str>, name: &'t str },
    /// No allocation: the allocator found none, or (`None`) cannot tell.
    Nothing {
        schedulable: Option<bool>,
        /// A clause that says so.
        reason: String,
    },
}

/// Reads what was given for a task set: an allocation, or any line that `alloc --format json`
/// prints.
pub fn read_given<'t>(name: &'t str, frame: &'t Frame, set: &TaskSet) -> Result<Given<'t>, Unanswered> {
    let text = String::from_utf8_lossy(&frame.text);
    let refused = |diagnostics| Unanswered::refused_in(name, frame, &diagnostics);
    match read_allocation_record(&text).map_err(refused)? {
        AllocationRecord::Allocation => {
            let allocation = read_allocation(&text, set).map_err(refused)?;
            Ok(Given::Allocation { allocation, text, name })
        }
        AllocationRecord::Nothing { schedulable, reason } => {
            let what = match schedulable {
                Some(_) => "there is no allocation: it says that none was found",
                None => "there is no allocation: it says that this was not decided",
            };
            let reason = reason.map_or_else(|| what.to_owned(), |reason| format!("{what} ({reason})"));
            Ok(Given::Nothing { schedulable, reason })
        }
        AllocationRecord::Error(message) => {
            let message = format!("there is no allocation, but an error: {message}");
            Err(Unanswered::wrong_at(name, frame, &message, "error"))
        }
    }
}
