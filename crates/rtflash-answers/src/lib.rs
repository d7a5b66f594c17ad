//! The answers of the command as data: what it prints as JSON, written here, read back here, and
//! described by schemas.
//!
//! Times are numbers of nanoseconds and their names end in `_ns`; utilizations are shares of one.
//! docs/formats.md says what is promised of the format.
//!
//! An answer of `alloc`, read and written again:
//!
//! ```
//! use rtflash_answers::{AllocAnswer, line, read};
//!
//! let text = r#"{"format":1,"schedulable":false,
//!     "theorem":{"verdict":"no","reason":"cluster 0 has U = 2.5, the limit is 1"},
//!     "guarantee":{"verdict":"not asked","reason":null},
//!     "algorithm":"global","analysis":"thesis","clusters":[],"unplaced":null,
//!     "guaranteed":null,"guaranteed_as_placed":null,"relies_on":null,"advice":null}"#;
//! let answer = read::<AllocAnswer>(text)?.answer.map_err(|fault| fault.message)?;
//! assert_eq!(answer.schedulable, Some(false));
//! assert_eq!(line(&answer), text.replace("\n    ", "") + "\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admit;
mod alloc;
mod check;
mod data;
mod envelope;
mod exec;
mod experiment;
mod explain;
mod export;
mod grounds;
mod guarantee;
mod host_bound;
mod host_check;
mod host_fit;
mod host_run;
mod host_tune;
mod import;
mod migrate;
mod necessary;
pub mod numbers;
mod parts;
pub mod reasons;
mod schemas;
mod scheme;
mod serve;
mod size;
mod soak;
mod table;
mod unplaced;
mod verdicts;

pub use admit::{
    AddedTask, AdmitAnswer, LeftOutAnswer, RefusedTask, RefusingCluster, RemovableTask, RunningCluster, ServedStream,
    StageAnswer,
};
pub use alloc::{
    AdviceAnswer, AllocAnswer, ClusterAnswer, FrontPointAnswer, GcAnswer, RequestTimeAnswer, ServedByAnswer,
    SupposedAnswer,
};
pub use check::{CheckAnswer, CheckedCluster, relied_on};
pub use data::{DataAnswer, TaskDataAnswer, on_device};
pub use envelope::{Answer, ErrorLine, Fault, ReadAnswer, ReadError, framed, line, number, pretty, read};
pub use exec::{
    ChannelLine, CheckLine, ChipLine, ClusterLine, ExecAnswer, JobsLine, OperationCounts, Settings, WearLine, WorstLine,
};
pub use experiment::{bandwidth_table, contenders_table, gains};
pub use explain::{
    AssumptionText, CheckedAllocation, ExplainAnswer, ExplainedCluster, Explanation, GcTerms, StreamTerms, TaskTerms,
    Unexplained, UnitCosts,
};
pub use export::{ExportAnswer, ExportedStream, ReplayAnswer, ReplayLine};
pub use grounds::{GroundText, ProofText};
pub use guarantee::{Guarantee, beyond, needed};
pub use host_bound::{BoundAnswer, BoundTerms, JobBound, StepLatency};
pub use host_check::{DriveCheckAnswer, DriveLimit};
pub use host_fit::{DatasheetAnswer, DriveFitAnswer, DriveKind, DrivePercentile, DriveProtocolAnswer, DriveResidual};
pub use host_run::{HostAnswer, HostAssumption, HostJob, HostQueue, HostQueues, HostStep};
pub use host_tune::{TuneAnswer, TuneSetting};
pub use import::{CurveAnswer, ExtentAnswer, ImportAnswer, RecorderAnswer, RefusedAnswer, TopicAnswer};
pub use migrate::{MigrateAnswer, MissingCluster, MovingStage, MovingTask, StageExecution};
pub use necessary::{ImpossibleAnswer, proof};
pub use parts::{CertificateAnswer, Nanoseconds, RawMeta, Text, task_name};
pub use rtflash_experiment::output::{BandwidthSummary, ContenderSummary, GainSummary, Interval, Summary};
pub use schemas::schema;
pub use scheme::{SchemeRoom, SchemeTerm, SchemeTerms};
pub use serve::{ServeAnswer, ServedDirection, ServedTask};
pub use size::{
    ChipsAnswer, ClusterCostAnswer, CostAnswer, ExpectedAnswer, FrontAnswer, LoadAnswer, NoLimit, Range, RatioAnswer,
    RequestAnswer, SizeAnswer, TaskAnswer, WearAnswer,
};
pub use soak::{BrokenLine, SoakAnswer};
pub use table::{AnswerTable, Cell, Column, Tone};
pub use unplaced::UnplacedAnswer;
pub use verdicts::{TestVerdict, Verdict, VerdictLine, VerdictWord, Verdicts};
