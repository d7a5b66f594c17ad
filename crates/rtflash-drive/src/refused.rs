//! Why measurements are refused.

use std::fmt;

/// Why a measurement is refused: one sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

impl Refused {
    /// For this reason.
    pub fn because(reason: impl Into<String>) -> Refused {
        Refused(reason.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Refused {
        Refused(error.to_string())
    }
}
