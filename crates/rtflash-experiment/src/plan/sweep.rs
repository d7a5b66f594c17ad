//! The axis besides utilization along which an experiment may go.

use std::fmt;
use std::str::FromStr;

use rtflash_model::generate::{NotAShare, SetSpec, Writes};
use rtflash_model::{Device, LogicalRatio, Span, format_ns, parse_ns};

/// Values that a sweep may have.
pub const MAX_VALUES: usize = 1_000;

/// A quantity that a sweep changes: a field of the device, the number of tasks, or how much they
/// write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// m.
    Chips,
    /// m_c.
    ChipsPerChannel,
    /// Blocks on each chip.
    BlocksPerChip,
    /// P.
    PagesPerBlock,
    /// λ.
    LogicalRatio,
    /// t_r.
    PageRead,
    /// t_w.
    PageProgram,
    /// t_e.
    BlockErase,
    /// t_d.
    PageTransfer,
    /// t_c: zero is a bus that carries pages alone.
    Command,
    /// Page registers of a chip: 1 or 2.
    PageRegisters,
    /// n.
    Tasks,
    /// K: how many of the tasks are write-heavy.
    WriteHeavy,
    /// The part of every task's utilization that its writes take.
    WriteShare,
}

rtflash_model::names! {
    Axis {
        Chips = "chips",
        ChipsPerChannel = "chips_per_channel",
        BlocksPerChip = "blocks_per_chip",
        PagesPerBlock = "pages_per_block",
        LogicalRatio = "logical_ratio",
        PageRead = "page_read",
        PageProgram = "page_program",
        BlockErase = "block_erase",
        PageTransfer = "page_transfer",
        Command = "command",
        PageRegisters = "page_registers",
        Tasks = "tasks",
        WriteHeavy = "write_heavy",
        WriteShare = "write_share",
    }
}

impl Axis {
    /// Whether its values are times.
    pub const fn is_time(self) -> bool {
        matches!(self, Axis::PageRead | Axis::PageProgram | Axis::BlockErase | Axis::PageTransfer | Axis::Command)
    }

    /// The name of its column in a table: times are nanoseconds.
    pub fn column(self) -> String {
        format!("{}{}", self.name(), if self.is_time() { "_ns" } else { "" })
    }

    /// The title of an axis of a figure, with the factor from [`Value::number`] to its unit.
    pub const fn title(self) -> (&'static str, f64) {
        match self {
            Axis::Chips => ("Flash chips", 1.0),
            Axis::ChipsPerChannel => ("Flash chips per channel", 1.0),
            Axis::BlocksPerChip => ("Blocks per chip", 1.0),
            Axis::PagesPerBlock => ("Pages per block", 1.0),
            Axis::LogicalRatio => ("Logical / physical address space λ", 1.0),
            Axis::PageRead => ("Page read time (µs)", 1e-3),
            Axis::PageProgram => ("Page program time (µs)", 1e-3),
            Axis::BlockErase => ("Block erase time (ms)", 1e-6),
            Axis::PageTransfer => ("Page transfer time (µs)", 1e-3),
            Axis::Command => ("Time of commands on the bus (µs)", 1e-3),
            Axis::PageRegisters => ("Page registers per chip", 1.0),
            Axis::Tasks => ("Tasks", 1.0),
            Axis::WriteHeavy => ("Write-heavy tasks", 1.0),
            Axis::WriteShare => ("Share of writes in each task's utilization", 1.0),
        }
    }

    /// Reads one value of this axis. The error states what would be right.
    pub fn value(self, text: &str) -> Result<Value, SweepError> {
        let text = text.trim();
        let value = match self {
            Axis::LogicalRatio => text.parse().ok().map(Value::Ratio),
            Axis::WriteShare => text.parse().ok().map(Value::Share),
            _ if self.is_time() => {
                let time = parse_ns(text).ok().and_then(Span::from_ns);
                time.filter(|&time| time > Span::ZERO || self == Axis::Command).map(Value::Time)
            }
            _ => text.parse().ok().map(Value::Count),
        };
        value.ok_or_else(|| self.wrong(text.to_owned()))
    }

    fn takes(self, value: Value) -> bool {
        match value {
            Value::Ratio(_) => self == Axis::LogicalRatio,
            Value::Share(_) => self == Axis::WriteShare,
            Value::Time(_) => self.is_time(),
            Value::Count(_) => !self.is_time() && !matches!(self, Axis::LogicalRatio | Axis::WriteShare),
        }
    }

    fn wrong(self, text: String) -> SweepError {
        let expected = match self {
            Axis::LogicalRatio => "a decimal above 0 and below 1, such as 0.5".to_owned(),
            Axis::WriteShare => NotAShare.to_string(),
            _ if self.is_time() => "a time with its unit, such as 5ms".to_owned(),
            _ => "a whole number".to_owned(),
        };
        SweepError::Value { axis: self, text, expected }
    }
}

/// A value on an [`Axis`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A number of chips, blocks, pages or tasks.
    Count(u32),
    /// λ.
    Ratio(LogicalRatio),
    /// A time.
    Time(Span),
    /// A share of writes.
    Share(rtflash_model::generate::WriteShare),
}

impl Value {
    /// The value as a number, times in nanoseconds: the nearest double.
    pub fn number(self) -> f64 {
        match self {
            Value::Count(count) => f64::from(count),
            Value::Ratio(ratio) => ratio.to_string().parse().unwrap_or(f64::NAN),
            Value::Time(time) => time.as_ns() as f64,
            Value::Share(share) => share.to_f64(),
        }
    }

    /// As it stands in a table: times are whole numbers of nanoseconds.
    pub fn cell(self) -> String {
        match self {
            Value::Time(time) => time.as_ns().to_string(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Ratio(ratio) => ratio.fmt(f),
            Value::Time(time) => f.pad(&format_ns(time.as_ns())),
            Value::Share(share) => share.fmt(f),
        }
    }
}

/// An axis and the values to try, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    axis: Axis,
    values: Vec<Value>,
}

/// Why a text is no [`Sweep`], or a value suits no experiment.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    #[error("write AXIS=VALUE,VALUE,… such as chips=4,8,16")]
    Form,
    #[error("there is no axis `{0}`: the axes are {names}", names = Axis::ALL.map(Axis::name).join(", "))]
    Axis(String),
    #[error("`{text}` is no value of {}: {expected} was expected", .axis.name())]
    Value { axis: Axis, text: String, expected: String },
    #[error("{0} is there twice")]
    Twice(Value),
    #[error("{0} values are too many: at most {MAX_VALUES}")]
    TooMany(usize),
    #[error("{}={value}: {problem}", .axis.name())]
    Impossible { axis: Axis, value: Value, problem: String },
}

impl Sweep {
    /// Along `axis`, through `values`. Fails if a value is not one of the axis or is there twice,
    /// or there are too many.
    pub fn new(axis: Axis, values: Vec<Value>) -> Result<Sweep, SweepError> {
        if values.len() > MAX_VALUES {
            return Err(SweepError::TooMany(values.len()));
        }
        if let Some(other) = values.iter().find(|&&value| !axis.takes(value)) {
            return Err(axis.wrong(other.to_string()));
        }
        let twice = values.iter().enumerate().find(|(position, value)| values[..*position].contains(value));
        match twice {
            Some((_, &value)) => Err(SweepError::Twice(value)),
            None => Ok(Sweep { axis, values }),
        }
    }

    /// The axis.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The values.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

impl FromStr for Sweep {
    type Err = SweepError;

    /// Reads `AXIS=VALUE,VALUE,…`; the axis's name may be written with hyphens.
    fn from_str(text: &str) -> Result<Sweep, SweepError> {
        let (name, values) = text.split_once('=').ok_or(SweepError::Form)?;
        let name = name.trim().replace('-', "_");
        let axis = Axis::ALL.into_iter().find(|axis| axis.name() == name).ok_or(SweepError::Axis(name))?;
        Sweep::new(axis, values.split(',').map(|value| axis.value(value)).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(Value::to_string).collect();
        f.pad(&format!("{}={}", self.axis.name(), values.join(",")))
    }
}

/// The sets to draw where `axis` has `value` and all else is as in `spec`. Page costs are left as
/// they are.
pub(super) fn apply(axis: Axis, value: Value, spec: &SetSpec) -> Result<SetSpec, SweepError> {
    let mut spec = *spec;
    let mut device = spec.device.spec();
    match (axis, value) {
        (Axis::Chips, Value::Count(count)) => device.chips = count,
        (Axis::ChipsPerChannel, Value::Count(count)) => device.chips_per_channel = count,
        (Axis::BlocksPerChip, Value::Count(count)) => device.blocks_per_chip = count,
        (Axis::PagesPerBlock, Value::Count(count)) => device.pages_per_block = count,
        (Axis::LogicalRatio, Value::Ratio(ratio)) => device.logical_ratio = ratio,
        (Axis::PageRead, Value::Time(time)) => device.page_read = time,
        (Axis::PageProgram, Value::Time(time)) => device.page_program = time,
        (Axis::BlockErase, Value::Time(time)) => device.block_erase = time,
        (Axis::PageTransfer, Value::Time(time)) => device.page_transfer = time,
        (Axis::Command, Value::Time(time)) => device.command = Some(time),
        (Axis::PageRegisters, Value::Count(count)) => device.page_registers = Some(count),
        (Axis::Tasks, Value::Count(count)) => spec.tasks = count,
        (Axis::WriteHeavy, Value::Count(count)) => spec.writes = Writes::Heavy(count),
        (Axis::WriteShare, Value::Share(share)) => spec.writes = Writes::Share(share),
        _ => unreachable!("a sweep has values of its axis alone"),
    }
    spec.device = Device::new(device).map_err(|wrong| SweepError::Impossible {
        axis,
        value,
        problem: wrong.first().map_or_else(String::new, |wrong| wrong.to_string()),
    })?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_read_and_written() {
        for (text, shown) in [
            ("chips=4,8,16", "chips=4,8,16"),
            ("chips-per-channel = 1, 2", "chips_per_channel=1,2"),
            ("logical_ratio=0.30,0.5", "logical_ratio=0.3,0.5"),
            ("block_erase=500us,5ms", "block_erase=500us,5ms"),
            ("write_share=0,0.5,1", "write_share=0,0.5,1"),
            ("tasks=0", "tasks=0"),
            ("command=0us,1us", "command=0ns,1us"),
        ] {
            let sweep = text.parse::<Sweep>().expect("a sweep").to_string();
            assert_eq!(sweep, shown, "{text}");
        }
    }

    #[test]
    fn values_are_of_the_axis() {
        let error = Sweep::new(Axis::Chips, vec![Value::Time(Span::from_us(5))]).unwrap_err().to_string();
        assert_eq!(error, "`5us` is no value of chips: a whole number was expected");
        let one = |value: Value| Axis::ALL.into_iter().filter(|&axis| Sweep::new(axis, vec![value]).is_ok()).count();
        let share = "0.5".parse().expect("a share");
        let values =
            [Value::Count(4), Value::Time(Span::from_us(5)), Value::Ratio(LogicalRatio::HALF), Value::Share(share)];
        assert_eq!(values.map(one), [7, 5, 1, 1]);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (text, message) in [
            ("chips", "write AXIS=VALUE,VALUE,… such as chips=4,8,16"),
            ("chips=4,x", "`x` is no value of chips: a whole number was expected"),
            ("page_read=0us", "`0us` is no value of page_read: a time with its unit, such as 5ms was expected"),
            ("block_erase=5", "`5` is no value of block_erase: a time with its unit, such as 5ms was expected"),
            (
                "logical_ratio=0.3,.5",
                "`.5` is no value of logical_ratio: a decimal above 0 and below 1, such as 0.5 was expected",
            ),
            ("chips=4,8,4", "4 is there twice"),
        ] {
            assert_eq!(text.parse::<Sweep>().unwrap_err().to_string(), message);
        }
        let error = "colour=red".parse::<Sweep>().unwrap_err().to_string();
        assert!(error.contains("`colour`") && error.contains("chips_per_channel"), "{error}");
    }
}
