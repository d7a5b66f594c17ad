//! Which commands are sequential: a drive sees no jobs, only where commands begin and end.

use std::collections::VecDeque;

use crate::{Command, Op};

/// Ends that are remembered.
const STREAMS: usize = 64;

/// The ends of the latest commands.
#[derive(Debug, Default)]
pub(super) struct Streams(VecDeque<(Op, u64)>);

impl Streams {
    /// Whether a command begins where one of these ended; and remembers its end.
    pub(super) fn is_sequential(&mut self, command: &Command) -> bool {
        let known = self.0.iter().position(|&end| end == (command.op, command.from));
        if let Some(known) = known {
            self.0.remove(known);
        } else if self.0.len() == STREAMS {
            self.0.pop_front();
        }
        self.0.push_back((command.op, command.from.saturating_add(command.size)));
        known.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    fn command(op: Op, from: u64) -> Command {
        let class = Class::BestEffort;
        Command { id: 0, op, from, size: 10, class, level: 4, cpu: 0, job: 0, user_centric: false }
    }

    #[test]
    fn streams_side_by_side() {
        let mut streams = Streams::default();
        let mut see = |op, from| streams.is_sequential(&command(op, from));
        assert!(!see(Op::Read, 0) && !see(Op::Read, 100) && !see(Op::Write, 10));
        assert!(see(Op::Read, 10) && see(Op::Read, 110) && see(Op::Write, 20));
        // A gap, and what has gone on.
        assert!(!see(Op::Read, 25) && !see(Op::Read, 10));
        for from in 0..64 {
            see(Op::Read, 1_000 * (from + 1));
        }
        // 120 is forgotten, the latest are not.
        assert!(!see(Op::Read, 120) && see(Op::Read, 64_010));
    }
}
