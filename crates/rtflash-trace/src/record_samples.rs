//! Any records of the plan of `samples.rs`, for the tests of formats, here and in rtflash-draw.

use proptest::prelude::*;
use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId};
use rtflash_plan::{BlockId, ChannelId, SourceId};
use rtflash_trace::{
    Action, Complete, EmptyPage, Failed, JobId, Kind, LeftOut, Moved, NO_LPN, NONE, Operation, Padding, Policed,
    Record, Release, Reserve, Selection, Starved, Step, TermsChange, Transfer, Trimmed,
};

use super::{at, plan};

fn changed(at: Instant, (cluster, chip): (ClusterId, ChipId), (random, arrived, free): (u32, u64, u64)) -> Record {
    Record::Changed(TermsChange { at, cluster, chip, stage: random / 2, extra: random / 3, arrived, free })
}

fn trimmed(at: Instant, cluster: ClusterId, (random, logical): (u32, u32), kept: bool) -> Record {
    let lpn = random % logical;
    Record::Trimmed(Trimmed { at, cluster, lpn: Lpn(lpn), pages: 1 + (random / 7) % (logical - lpn), kept })
}

/// Any record that fits the [`plan`].
pub(crate) fn any_record() -> impl Strategy<Value = Record> {
    let plan = plan();
    let kinds: PerId<SourceId, _> = plan.sources().iter().map(|source| source.kind).collect();
    let logical: PerId<ClusterId, _> = plan.clusters().iter().map(|cluster| cluster.layout.logical_pages()).collect();
    let sources = kinds.count();
    let times = (0..1_u64 << 62, 1..1_u64 << 62);
    let numbers = (any::<u64>(), any::<u64>(), any::<u32>(), any::<bool>(), any::<bool>());
    (0..12_u8, times, 0..sources, 0..2_u32, 0..6_u32, numbers).prop_map(
        move |(what, (start, length), source, cluster, chip, (index, pages, random, first, second))| {
            let (start, end) = (at(start), at(start + length));
            let job = JobId { source: SourceId(source), index };
            let (cluster, chip, block) = (ClusterId(cluster), ChipId(chip), BlockId(random % 16));
            let (of, logical) = (kinds[job.source], logical[cluster]);
            let kind = if of == Kind::Server && first { Kind::Gc } else { of };
            let action = [Action::Read, Action::Program, Action::Erase, Action::ErasePart][random as usize % 4];
            let (page, lpn) = match action {
                Action::Erase | Action::ErasePart => (NONE, NO_LPN),
                _ => (random % 8, Lpn(random % logical)),
            };
            match what {
                0 => {
                    let (deadline, cluster) = (first.then_some(end), second.then_some(cluster));
                    Record::Release(Release { at: start, job, kind: of, deadline, pages, cluster })
                }
                1 => Record::Complete(Complete { at: start, job }),
                2 => Record::Starved(Starved { at: start, job, cluster, chip }),
                3 => Record::Operation(Operation { start, end, cluster, chip, action, job, kind, block, page, lpn }),
                4 => {
                    Record::Transfer(Transfer { start, end, channel: ChannelId(random % 3), cluster, chip, job, kind })
                }
                10 => trimmed(start, cluster, (random, logical), first),
                11 => Record::EmptyPage(EmptyPage { at: start, job, cluster, chip, lpn: Lpn(random % logical) }),
                5 if !first => Record::Reserve(Reserve {
                    at: start,
                    cluster,
                    chip,
                    arrived: pages,
                    free: index,
                    pending: pages / 2,
                }),
                9 if second => Record::Policed(Policed { at: end, job, arrived: start, pages }),
                5 => changed(start, (cluster, chip), (random, pages, index)),
                6 if first => Record::Failed(Failed { at: start, job, cluster, chip, block, page }),
                6 => Record::Moved(Moved { at: start, job, cluster, chip, lpn: Lpn(random % logical) }),
                _ if !matches!(of, Kind::Gc | Kind::Server) => Record::Complete(Complete { at: start, job }),
                7 => Record::LeftOut(LeftOut { at: start, job, cluster, chip, free: pages }),
                8 => {
                    let valid = random / 2;
                    Record::Selected(Selection { at: start, job, cluster, chip, block, valid, forced: first })
                }
                _ => {
                    let step = [Step::Read, Step::Program, Step::Copyback][random as usize % 3];
                    Record::Padding(Padding { start, end, job, cluster, chip, step })
                }
            }
        },
    )
}
