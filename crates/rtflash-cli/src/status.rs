//! Exit statuses.

use std::process::ExitCode;

/// How a command, or one line of a batch, ended. Ordered from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Status {
    /// 0: schedulable, all checks hold, done.
    #[default]
    Yes,
    /// 1: not schedulable, a check failed.
    No,
    /// 3: a limit was reached, or an algorithm does not apply.
    CannotTell,
    /// 2: the input or the call is wrong.
    Wrong,
}

impl Status {
    /// The status of a verdict; `None` is "cannot tell".
    pub fn of(verdict: Option<bool>) -> Status {
        match verdict {
            Some(true) => Status::Yes,
            Some(false) => Status::No,
            None => Status::CannotTell,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Yes => 0,
            Status::No => 1,
            Status::CannotTell => 3,
            Status::Wrong => 2,
        })
    }
}
