//! That no allocation will do, and why.

use rtflash_alloc::allocator::{Outcome, excluded};
use rtflash_analysis::Analysis;
use rtflash_analysis::necessary::Impossible;
use rtflash_model::TaskSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{Text, task_name};

/// A proof that no allocation meets every deadline (docs/analysis.md, Section 12), in an answer.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ImpossibleAnswer<'a> {
    /// Why: `data`, more is declared than the device has logical pages; `request`, one request
    /// takes longer than it has; `bus` or `chips`, the channels or chips would have to be busy for
    /// more than all of their time; `window`, in an interval more is due than all of them can do.
    pub reason: Text<'static>,
    /// `bus`, `chips`: the share of its time that each channel, or chip, would have to be busy, on
    /// average. Above 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// `chips`: the part of the load that is garbage collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc_load: Option<f64>,
    /// `request`: the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Text<'a>>,
    /// `request`: `read` or `write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Text<'static>>,
    /// `request`: its pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_pages: Option<u64>,
    /// `request`: those that one chip may have to serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages_on_one_chip: Option<u64>,
    /// `request`, `chips`: whether it supposes that all logical pages are in use, as no task
    /// declares `data_pages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_full: Option<bool>,
    /// `request`: the least time that it takes, on all chips and by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_ns: Option<u128>,
    /// `request`: the least time from its release to its deadline, which is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<u64>,
    /// `window`: `bus` or `chips`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Text<'static>>,
    /// `window`: the length of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<u64>,
    /// `window`: the work in it, of all channels or chips together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand_ns: Option<u128>,
    /// `window`: what all of them can do in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_ns: Option<u128>,
    /// `data`: pages that tasks declare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_pages: Option<u128>,
    /// `data`: logical pages of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_pages: Option<u128>,
}

impl<'a> ImpossibleAnswer<'a> {
    /// The answer for a proof.
    pub fn new(set: &'a TaskSet, proof: &Impossible) -> ImpossibleAnswer<'a> {
        let blank = ImpossibleAnswer { reason: proof.name().into(), ..ImpossibleAnswer::default() };
        match *proof {
            Impossible::Data { data_pages, logical_pages } => {
                ImpossibleAnswer { data_pages: Some(data_pages), logical_pages: Some(logical_pages), ..blank }
            }
            Impossible::Request(long) => ImpossibleAnswer {
                task: Some(task_name(set, long.task).into()),
                request: Some(if long.writes { "write" } else { "read" }.into()),
                request_pages: Some(long.pages),
                pages_on_one_chip: Some(long.on_one_chip),
                if_full: Some(long.if_full),
                request_ns: Some(long.least_ns),
                window_ns: Some(long.window.as_ns()),
                ..blank
            },
            Impossible::Bus { load } => ImpossibleAnswer { load: Some(load), ..blank },
            Impossible::Chips { load, collection, if_full } => {
                ImpossibleAnswer { load: Some(load), gc_load: Some(collection), if_full: Some(if_full), ..blank }
            }
            Impossible::Window(full) => ImpossibleAnswer {
                of: Some(if full.bus { "bus" } else { "chips" }.into()),
                interval_ns: Some(full.interval.as_ns()),
                demand_ns: Some(full.demand_ns),
                available_ns: Some(full.available_ns()),
                ..blank
            },
        }
    }
}

/// The proof behind an outcome that is no yes, if there is one: on the device that the analysis
/// speaks of.
pub fn proof(set: &TaskSet, analysis: &dyn Analysis, outcome: &Outcome) -> Option<Impossible> {
    match outcome {
        Outcome::Impossible(proof) => Some(*proof),
        // Another organisation of the device, which keeps parity.
        Outcome::Partitioned(_) => None,
        _ if outcome.is_schedulable() == Some(true) => None,
        _ => excluded(set, analysis),
    }
}
