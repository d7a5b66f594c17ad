//! Requests that become part of others which wait at the scheduler.

use std::collections::{BTreeSet, HashMap};

use crate::{Class, Command, Op};

/// A place where a request begins or ends, with all that a request merged there has in common with
/// it. Requests of one place stand in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MergeKey {
    op: Op,
    class: Class,
    level: u8,
    place: u64,
    id: u64,
}

/// Commands at the scheduler that others may be merged into.
#[derive(Debug)]
pub(super) struct CommandMerger {
    /// The longest request, in bytes.
    limit: u64,
    /// As they are by now.
    queued: HashMap<u64, Command>,
    /// By where they end, and by where they begin.
    ends: BTreeSet<MergeKey>,
    begins: BTreeSet<MergeKey>,
}

fn key(command: &Command, place: u64, id: u64) -> MergeKey {
    MergeKey { op: command.op, class: command.class, level: command.level, place, id }
}

fn end(command: &Command) -> u64 {
    command.from.saturating_add(command.size)
}

impl CommandMerger {
    /// A merger for requests of at most `limit` bytes.
    pub(super) fn new(limit: u64) -> CommandMerger {
        CommandMerger { limit, queued: HashMap::new(), ends: BTreeSet::new(), begins: BTreeSet::new() }
    }

    /// A request is at the scheduler.
    pub(super) fn insert(&mut self, command: Command) {
        // A flush has no place.
        if command.op != Op::Other {
            self.queued.insert(command.id, command);
            self.ends.insert(key(&command, end(&command), command.id));
            self.begins.insert(key(&command, command.from, command.id));
        }
    }

    /// A command leaves the scheduler: what has become of it, if it was inserted here.
    pub(super) fn take(&mut self, id: u64) -> Option<Command> {
        let command = self.queued.remove(&id)?;
        self.ends.remove(&key(&command, end(&command), id));
        self.begins.remove(&key(&command, command.from, id));
        Some(command)
    }

    /// Merges a request, if it can be, into one that ends where it begins, or else into one that
    /// begins where it ends; the first that arrived, of several. Returns that command as it was
    /// before, and as it is now.
    pub(super) fn merge(
        &mut self,
        request: &Command,
        may: impl Fn(&Command, &Command) -> bool,
    ) -> Option<(Command, Command)> {
        let fits = |queued: &Command| {
            queued.size.checked_add(request.size).is_some_and(|size| size <= self.limit) && may(queued, request)
        };
        let at = |places: &BTreeSet<MergeKey>, place: u64| {
            let all = key(request, place, 0)..=key(request, place, u64::MAX);
            places.range(all).filter_map(|key| self.queued.get(&key.id)).find(|&queued| fits(queued)).copied()
        };
        let back = at(&self.ends, request.from);
        let before = back.or_else(|| at(&self.begins, end(request)))?;
        let from = if back.is_some() { before.from } else { request.from };
        let after = Command { from, size: before.size + request.size, ..before };
        self.take(before.id);
        self.insert(after);
        Some((before, after))
    }
}
