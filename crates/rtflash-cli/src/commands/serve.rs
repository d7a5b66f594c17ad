//! `rtflash serve`: each task's range as an export for clients of the NBD protocol, with the
//! deadlines of the device.

use std::net::TcpListener;
use std::time::Duration;

use rtflash_check::verify_certified;
use rtflash_host::run::CertifiedClusters;
use rtflash_model::{Allocation, Placement, Reliance, Span, TaskSet};
use rtflash_serve::{DataFile, Drive, Export, ServeOptions, Served, ServedRequests, serve};
use rtflash_wire::{ServeAnswer, ServedDirection, ServedTask};

use super::exec::{FoundAllocation, find};
use super::{allocator, analysis_relying_on, export, policies};
use crate::args::ServeArgs;
use crate::render::Render;
use crate::render::numbers::{bytes, plain, time};
use crate::status::Status;
use crate::whole::SignalHold;
use crate::{CommandFailure, output, source};

/// A machine that is behind by more than this is said to be too slow.
const TOO_SLOW: Duration = Duration::from_millis(50);

/// Carries the command out.
///
/// # Errors
/// Where files cannot be read, what runs has no certificates, or nothing can listen there.
pub fn run(args: &ServeArgs) -> Result<Status, CommandFailure> {
    let Some(file) = export::read_one(&args.file, &args.set)? else { return Ok(Status::Wrong) };
    let set = &file.set;
    let allocation = match allocation(args, set)? {
        Ok(allocation) => allocation,
        Err(status) => return Ok(status),
    };
    let clusters = CertifiedClusters::new(set, &allocation, &[], Span::ZERO)
        .map_err(|error| CommandFailure(format!("{}: {error}", args.allocation.display())))?;
    let options = Drive::options();
    let drive = Drive::new(set, clusters.plan(), &options);
    fit_the_protocol(drive.exports())?;
    let duration = args.duration.as_deref().map(policies::duration).transpose()?;
    let hold = SignalHold::new();
    let listener = TcpListener::bind(args.listen).map_err(|error| {
        let listen = args.listen;
        CommandFailure::io(&format!("--listen {listen}"), &error)
    })?;
    let data = data(args, drive.exports())?;
    greet(args, &listener, drive.exports())?;
    let options = ServeOptions {
        slow: args.slow,
        once: args.once,
        duration: duration.map(|duration| Duration::from_nanos(duration.as_ns())),
    };
    let served = serve(&listener, drive, data, options, &|| hold.signal().is_some());
    let served = served.map_err(|error| CommandFailure::io(&format!("--listen {}", args.listen), &error))?;
    let answer = answer(args.slow, &served);
    if served.behind > TOO_SLOW {
        let behind = time(served.behind.as_nanos() as f64);
        let slower = args.slow.saturating_mul(10);
        output::complain(&output::warning(&format!(
            "this machine was behind the device by up to {behind}, so that clients waited longer than the device did: \
             --slow {slower} lets everything take longer"
        )));
    }
    output::print(&answer.render(args.format.format))?;
    // It was told to end, and has ended as it should.
    std::mem::forget(hold);
    Ok(if served.overloaded { Status::CannotTell } else { Status::of(Some(answer.passes)) })
}

/// What is run; the exit status where there is nothing, and it has been said why.
fn allocation(args: &ServeArgs, set: &TaskSet) -> Result<Result<Allocation, Status>, CommandFailure> {
    let analysis = analysis_relying_on("sound", args.rely_on.granted())?;
    let algorithm = allocator(rtflash_alloc::allocator::usual(analysis).name())?;
    let given = source::read(&args.allocation)?;
    let mut warnings = String::new();
    let found = find(set, Some(&given), algorithm, analysis, false, &mut warnings);
    output::complain(&warnings);
    Ok(match found {
        FoundAllocation::Allocation(found) if holds(set, &found, args.rely_on.granted()) => Ok(found),
        FoundAllocation::Allocation(found) => {
            let why = if holds(set, &found, Reliance::Queue) {
                "it holds only beside its neighbours as they are: see --rely-on"
            } else {
                "it does not keep its deadlines as it is: see `rtflash check`"
            };
            output::complain(&output::error(&format!("{}: {why}", given.0)));
            Err(Status::No)
        }
        FoundAllocation::Nothing(message, status) => {
            output::complain(&format!("{message}\n"));
            Err(status)
        }
        FoundAllocation::Wrong(complaint) => return Err(CommandFailure(complaint)),
        FoundAllocation::Refused(answer) => {
            output::complain(&answer.complaint);
            Err(answer.status)
        }
    })
}

/// Whether the verifier finds all clusters in time, whatever their kinds.
fn holds(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> bool {
    let verification = verify_certified(set, allocation, &Placement::ALL, granted);
    verification.clusters.iter().all(|cluster| cluster.holds == Some(true) && cluster.discrepancies.is_empty())
}

/// Blocks of the protocol are powers of two, up to 64 KiB for the smallest one.
fn fit_the_protocol(exports: &[Export]) -> Result<(), CommandFailure> {
    match exports.iter().find(|of| !of.page_size.is_power_of_two() || of.page_size > 1 << 16) {
        Some(of) => Err(CommandFailure(format!(
            "pages of {} bytes cannot be served: the protocol's blocks are powers of two, up to 65,536 bytes",
            of.page_size
        ))),
        None => Ok(()),
    }
}

/// Where the data are.
fn data(args: &ServeArgs, exports: &[Export]) -> Result<DataFile, CommandFailure> {
    let size = exports.iter().map(Export::size).sum();
    match &args.data {
        Some(path) => DataFile::open(path, size)
            .map_err(|error| CommandFailure::io(&format!("--data {}", path.display()), &error)),
        None => tempfile::tempfile()
            .and_then(|file| DataFile::of(file, size))
            .map_err(|error| CommandFailure::io("a file for the data", &error)),
    }
}

/// Says what is to be had, and where.
fn greet(args: &ServeArgs, listener: &TcpListener, exports: &[Export]) -> Result<(), CommandFailure> {
    let address = listener.local_addr().map_err(|error| CommandFailure::io("the socket", &error))?;
    if !address.ip().is_loopback() {
        output::complain(&output::warning("whoever reaches this address can read and write all exports"));
    }
    if output::is_quiet() {
        return Ok(());
    }
    let slow = if args.slow > 1 { format!(", {} times as slow as the device", args.slow) } else { String::new() };
    let mut text = format!("listening on {address}{slow}\n");
    for of in exports {
        let does = match (of.reads, of.writes) {
            (Some(_), Some(_)) => "read and write",
            (Some(_), None) => "read",
            _ => "write",
        };
        let (name, size, page) = (plain(&of.name), bytes(of.size().into()), of.page_size);
        text += &format!("  nbd://{address}/{name}: {size} in pages of {page} bytes, to {does}\n");
    }
    output::complain(&text);
    Ok(())
}

fn answer(slow: u32, served: &Served) -> ServeAnswer<'_> {
    let of = |counts: &ServedRequests| ServedDirection {
        commands: counts.commands,
        pages: counts.pages,
        held: counts.held,
        longest_command_ns: counts.longest_command.as_ns(),
        requests: counts.requests,
        longest_ns: counts.longest.as_ns(),
        deadline_ns: counts.deadline.as_ns(),
        late: counts.late,
    };
    let task = |of_task: &rtflash_serve::ServedExport| ServedTask {
        task: of_task.export.name.clone().into(),
        bytes: of_task.export.size(),
        read: of_task.reads.as_ref().map(of),
        write: of_task.writes.as_ref().map(of),
    };
    let exports: Vec<ServedTask<'_>> = served.run.exports.iter().map(task).collect();
    let broken = served.run.findings.iter().filter(|finding| !finding.gauge.holds());
    let broken: Vec<_> = broken.map(|finding| finding.assumption.name.into()).collect();
    let late = |of: &ServedTask<'_>| of.read.iter().chain(&of.write).any(|of| of.late > 0);
    ServeAnswer {
        passes: broken.is_empty() && !exports.iter().any(late),
        duration_ns: served.run.duration.as_ns(),
        slow,
        behind_ns: u64::try_from(served.behind.as_nanos()).unwrap_or(u64::MAX),
        clients: served.clients,
        malformed: served.malformed,
        refused: served.refused,
        overloaded: served.overloaded,
        exports,
        broken,
    }
}
