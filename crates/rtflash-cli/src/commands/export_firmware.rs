//! `rtflash export firmware`: certificates as `rtflash-ftl` loads them.

use std::mem::size_of;
use std::path::Path;

use rtflash_answers::ExportAnswer;
use rtflash_ftl::image::Image;
use rtflash_ftl::{FtlCluster, FtlProcessor, GcJob, Geometry, RecoveryBound, RequestSlot, SourceSlot};
use rtflash_model::{Allocation, Span, TaskSet};

use super::{analysis, warn_of_typical_times};
use crate::{CommandFailure, output};

/// Writes the image of an allocation, and says what it needs. `late` as in [`Geometry::of`],
/// `backfill` as in [`rtflash_plan::Plan::image`].
pub fn write(
    set: &TaskSet,
    allocation: &Allocation,
    out: &Path,
    late: u32,
    backfill: bool,
) -> Result<ExportAnswer<'static>, CommandFailure> {
    warn_of_typical_times(set.device());
    let failure = |why: &dyn std::fmt::Display| CommandFailure(format!("this cannot be exported: {why}"));
    let plan = rtflash_run::plan(set, allocation, analysis("sound")?).map_err(|why| failure(&why))?;
    let bytes = plan.image(backfill).map_err(|why| failure(&why))?;
    let image = Image::read(&bytes).map_err(|why| failure(&why))?;
    let geometry = Geometry::of(&image, late).ok_or_else(|| failure(&"its memory is more than can be counted"))?;
    output::save(out, &bytes)?;
    let mut notes = vec![format!(
        "{} bytes, identity {:08x}: {} clusters, {} sources of requests",
        bytes.len(),
        image.identity(),
        image.clusters(),
        image.sources()
    )];
    notes.push(format!("on this machine it takes {} bytes of memory", memory(&geometry)));
    notes.extend(recovery(&image));
    notes.extend(driver(&image));
    if !set.jobs().is_empty() {
        notes.push(jobs(&image));
    }
    Ok(ExportAnswer {
        to: "firmware".into(),
        files: vec![out.display().to_string().into()],
        text: Some(rust(&geometry, late).into()),
        notes: notes.into_iter().map(Into::into).collect(),
        page_bytes: Some(image.device().page_bytes.into()),
        streams: Vec::new(),
    })
}

fn recovery(image: &Image<'_>) -> Option<String> {
    let bound = RecoveryBound::of(image);
    let RecoveryBound { reads, copybacks, copies, erases } = bound;
    let length = Span::from_ns(bound.length_ns(&image.device()))?;
    let copies = copybacks.saturating_add(copies);
    Some(format!(
        "after a loss of power it serves requests within {length}, one operation at a time: {reads} reads, {erases} erases, {copies} copies at most"
    ))
}

fn jobs(image: &Image<'_>) -> String {
    let streams = (0..image.job_streams()).filter_map(|number| image.job_stream(number));
    let (pages, waiting) = streams.clone().fold((0, 0), |most, of| (of.pages.max(most.0), of.waiting.max(most.1)));
    match streams.count() {
        0 => "jobs that are not real-time are not served: no cluster has a server".into(),
        count => format!(
            "jobs that are not real-time are served: {count} streams in their clusters, {pages} pages a job and {waiting} jobs waiting at most"
        ),
    }
}

fn driver(image: &Image<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if image.device().wear_gap > 0 {
        notes.push("wear is levelled: how often a block was erased goes beside each of its pages".into());
    }
    let clusters = (0..image.clusters()).filter_map(|number| image.cluster(number));
    let suspending = clusters.filter(rtflash_ftl::image::ImageCluster::suspends_erases).count();
    if suspending > 0 {
        notes.push(format!("erases are suspended in {suspending} of the clusters"));
    }
    notes
}

/// Bytes of all lists.
fn memory(of: &Geometry) -> usize {
    let slots = of.processors * size_of::<Option<FtlProcessor<'_>>>()
        + of.clusters * size_of::<FtlCluster>()
        + of.sources * size_of::<SourceSlot>()
        + of.requests * size_of::<RequestSlot>()
        + of.gc_jobs * size_of::<GcJob>();
    4 * of.words() + 8 * of.bits() + slots
}

/// The geometry as firmware writes it down.
fn rust(geometry: &Geometry, late: u32) -> String {
    format!("const LATE: u32 = {late};\nconst GEOMETRY: rtflash_ftl::Geometry = rtflash_ftl::{geometry:#?};\n")
}
