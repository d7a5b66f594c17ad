//! Why measurements are refused.

use std::fmt;

/// Why a measurement is refused: one sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasurementRefused(pub String);

impl MeasurementRefused {
    /// For this reason.
    pub fn because(reason: impl Into<String>) -> MeasurementRefused {
        MeasurementRefused(reason.into())
    }
}

impl fmt::Display for MeasurementRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MeasurementRefused {}

impl From<std::io::Error> for MeasurementRefused {
    fn from(error: std::io::Error) -> MeasurementRefused {
        MeasurementRefused(error.to_string())
    }
}
