//! Why measurements are refused.

/// Why a measurement is refused: one sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MeasurementRefused(pub String);

impl MeasurementRefused {
    /// For this reason.
    pub fn because(reason: impl Into<String>) -> MeasurementRefused {
        MeasurementRefused(reason.into())
    }
}

impl From<std::io::Error> for MeasurementRefused {
    fn from(error: std::io::Error) -> MeasurementRefused {
        MeasurementRefused(error.to_string())
    }
}
