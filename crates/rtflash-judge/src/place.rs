//! The place of an observation.

use rtflash_model::{ChipId, ClusterId, Instant};
use rtflash_trace::{Failed, JobId, LeftOut, Operation, Padding, Selection, Transfer};
use serde::{Deserialize, Serialize};

/// The place and the time of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Place {
    /// When.
    pub at: Instant,
    /// In which cluster.
    pub cluster: Option<ClusterId>,
    /// For which job.
    pub job: Option<JobId>,
    /// On which chip.
    pub chip: Option<ChipId>,
}

impl Place {
    pub(crate) fn in_cluster(at: Instant, cluster: Option<ClusterId>) -> Place {
        Place { at, cluster, ..Place::default() }
    }
}

/// The place of a record that has a job and a chip, and the field that says when it was.
macro_rules! places {
    ($($record:ident $at:ident;)*) => {
        $(impl From<&$record> for Place {
            #[inline(always)]
            fn from(record: &$record) -> Place {
                let $record { $at: at, job, cluster, chip, .. } = *record;
                Place { at, job: Some(job), cluster: Some(cluster), chip: Some(chip) }
            }
        })*
    };
}

places! {
    Failed at;
    LeftOut at;
    Operation start;
    Padding start;
    Selection at;
    Transfer start;
}
