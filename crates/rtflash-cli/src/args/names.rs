//! Names of algorithms, analyses, commands and answers, and of shapes.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rtflash_alloc::allocator::ALLOCATORS;
use rtflash_analysis::{NECESSARY, analyses_and_baselines};
use rtflash_model::Reliance;
use rtflash_plan::Policy;

/// How clusters lie on the channels.
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
    host-bound host-check host-run host-tune export replay import";

/// A policy of a run, each choice with what it does in a line.
pub(super) fn policy<P: Policy>() -> impl TypedValueParser<Value = P> {
    let value = |of: &P| {
        let value = PossibleValue::new(of.name()).help(of.summary());
        of.other_name().map_or(value.clone(), |other| value.alias(other))
    };
    PossibleValuesParser::new(P::ALL.iter().map(value)).map(|name| P::from_name(&name).expect("a name of the list"))
}

/// Grounds that a promise can rely on.
pub(super) fn reliances() -> impl TypedValueParser<Value = Reliance> {
    let values = [
        (Reliance::Nothing, "Every cluster holds whatever the others do"),
        (Reliance::Neighbours, "The clusters on its channels move no more than their tasks"),
        (
            Reliance::Queue,
            "And the bus is first come, first served, transfers take exactly as long as stated, and reads sense for \
             that long, or for less than a transfer shorter",
        ),
    ];
    PossibleValuesParser::new(values.map(|(of, help)| PossibleValue::new(of.name()).help(help)))
        .map(|name| Reliance::from_name(&name).expect("a name of the list"))
}

/// The algorithms, each with what it does in a line.
pub(super) fn algorithms() -> PossibleValuesParser {
    PossibleValuesParser::new(
        ALLOCATORS.map(|allocator| PossibleValue::new(allocator.name()).help(allocator.summary())),
    )
}

/// What `experiment --algorithms` takes: the algorithms, each with what it does in a line.
pub(super) fn contenders() -> String {
    let lines = ALLOCATORS.map(|allocator| format!("\n- {}: {}", allocator.name(), allocator.summary()));
    "Which algorithms to compare, with commas between them; for bandwidth each may have `+tbs` or `+background` \
     behind it [default: clustering-bfd,equal-split,global, with the thesis's analyses part-ftl, and with \
     stripe, superblock, sound or zoned best-fit; bandwidth: clustering-bfd+tbs,equal-split+background, with \
     these best-fit+tbs,equal-split+background]\n\nPossible values:"
        .to_owned()
        + &lines.concat()
}

/// The analyses, each with what it is in a line.
pub(super) fn analyses() -> PossibleValuesParser {
    PossibleValuesParser::new(
        analyses_and_baselines().map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary())),
    )
}

/// Those of them that make certificates.
#[cfg(feature = "exchange")]
pub(super) fn certified_analyses() -> PossibleValuesParser {
    let certified = rtflash_analysis::ANALYSES.into_iter().filter(|analysis| analysis.demand_test().is_some());
    PossibleValuesParser::new(certified.map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary())))
}

/// All analyses, and the necessary tests.
pub(super) fn analyses_and_necessary() -> PossibleValuesParser {
    let all = analyses_and_baselines().chain(NECESSARY);
    PossibleValuesParser::new(all.map(|analysis| PossibleValue::new(analysis.name()).help(analysis.summary())))
}
