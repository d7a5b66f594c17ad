//! Names of algorithms, analyses, commands and answers, and of shapes; values of options.

use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rtflash_alloc::allocator::ALLOCATORS;
use rtflash_analysis::{Analysis as _, Dhara, FIFO_DRIVE, NECESSARY, analyses_and_baselines};
use rtflash_model::reading::parse_bytes;
use rtflash_model::{Instant, Reliance, Span, parse_ns};
use rtflash_plan::Policy;

/// The shape of clusters on the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShapeArg {
    /// Anyhow
    Any,
    /// Rectangles: equal ways on each of some channels
    Rectangles,
}

/// The commands that have a manual page of their own, with blanks between them.
pub const COMMANDS: &str = "alloc check explain size admit migrate exec serve soak gen experiment merge host host-order host-run \
    host-bound host-tune host-protocol host-fit host-check host-datasheet export export-mqsim export-fio export-femu export-nvme export-firmware import \
    import-mcap import-mqsim import-fio import-blkparse import-msr profile schema completions man";

/// Names of schemas, with blanks between them.
pub const SCHEMAS: &str = "task-set allocation alloc check explain size admit migrate exec serve soak experiment manifest \
    host-bound host-check host-datasheet host-fit host-protocol host-run host-tune export replay import";

pub(super) fn policy<P: Policy>() -> impl TypedValueParser<Value = P> {
    let value = |of: &P| {
        let value = PossibleValue::new(of.name()).help(of.summary());
        of.other_name().map_or(value.clone(), |other| value.alias(other))
    };
    PossibleValuesParser::new(P::ALL.iter().map(value)).map(|name| P::from_name(&name).expect("a name of the list"))
}

/// A choice among these names, each of which stands for what `of` gives.
pub(super) fn named<T: Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
    of: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).map(move |name| of(&name).expect("a name of the list"))
}

/// A duration above zero.
pub(super) fn duration(text: &str) -> Result<Instant, String> {
    match parse_ns(text).map_err(|error| format!("{error}; expected a time such as 10s"))? {
        0 => Err("nothing happens in no time; expected a time such as 10s".into()),
        ns => Ok(Instant::from_ns(ns).unwrap_or(Instant::END)),
    }
}

/// A length of time above zero.
pub(super) fn span(text: &str) -> Result<Span, String> {
    let ns = parse_ns(text).map_err(|error| error.to_string())?;
    Span::from_ns(ns).filter(|_| ns > 0).ok_or_else(|| "expected a time above 0, such as `5ms`".into())
}

/// The time on the clock between two writes of a file.
pub(super) fn every(text: &str) -> Result<Duration, String> {
    parse_ns(text).map(Duration::from_nanos).map_err(|error| format!("{error}; expected a time such as 60s"))
}

pub(super) fn bytes(text: &str) -> Result<u64, String> {
    parse_bytes(text)
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected a size above zero such as 500MB or 8GiB".into())
}

pub(super) fn reliances() -> impl TypedValueParser<Value = Reliance> {
    let values = [
        (Reliance::Nothing, "None: every cluster holds whatever the others do"),
        (Reliance::Neighbours, "The clusters on its channels follow their own certificates"),
        (
            Reliance::Queue,
            "Also: the bus is first come, first served, transfers take exactly the stated time, and reads sense for \
             the stated time, or for less than a transfer shorter",
        ),
    ];
    PossibleValuesParser::new(values.map(|(of, help)| PossibleValue::new(of.assumption()).alias(of.name()).help(help)))
        .map(|name| Reliance::from_assumption(&name).expect("a name of the list"))
}

pub(super) fn algorithms() -> PossibleValuesParser {
    PossibleValuesParser::new(
        ALLOCATORS.map(|allocator| PossibleValue::new(allocator.name()).help(allocator.summary())),
    )
}

pub(super) fn analyses() -> PossibleValuesParser {
    PossibleValuesParser::new(
        analyses_and_baselines()
            .map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary()))
            .chain(unlisted()),
    )
}

/// Analyses too numerous to be listed, and second names.
fn unlisted() -> impl Iterator<Item = PossibleValue> {
    let names = Dhara::with_any_ratio().iter().map(|dhara| dhara.name());
    names.chain([FIFO_DRIVE]).map(|name| PossibleValue::new(name).hide(true))
}

#[cfg(feature = "exchange")]
pub(super) fn certified_analyses() -> PossibleValuesParser {
    let certified = rtflash_analysis::ANALYSES.into_iter().filter(|analysis| analysis.demand_test().is_some());
    PossibleValuesParser::new(certified.map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary())))
}

pub(super) fn analyses_and_necessary() -> PossibleValuesParser {
    let all = analyses_and_baselines().chain(NECESSARY);
    let listed = all.map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary()));
    PossibleValuesParser::new(listed.chain(unlisted()))
}
