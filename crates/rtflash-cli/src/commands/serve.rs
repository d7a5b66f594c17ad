//! `rtflash serve`: each task's range as an export for clients of the NBD protocol, with the
//! deadlines of the device.

use std::net::TcpListener;
use std::time::Duration;

use rtflash_answers::{ServeAnswer, ServedDirection, ServedTask};
use rtflash_host::run::CertifiedClusters;
use rtflash_model::{Span, capped};
use rtflash_serve::{DataFile, Drive, Export, ServeOptions, Served, ServedRequests, serve};

use super::found::certified;
use super::{export, warn_of_typical_times};
use crate::answer::{Status, Unanswered};
use crate::args::ServeArgs;
use crate::render::numbers::{bytes, plain, time};
use crate::render::{rendered, serve_text};
use crate::whole::SignalHold;
use crate::{CommandFailure, output};

/// A machine that is behind by more than this is said to be too slow.
const TOO_SLOW: Duration = Duration::from_millis(50);

pub fn run(args: &ServeArgs) -> Result<Status, Unanswered> {
    let file = export::read_one(&args.file, &args.set)?;
    let set = &file.set;
    warn_of_typical_times(set.device());
    let allocation = certified(Some(&args.allocation), "sound", args.rely_on.granted, set)?;
    let clusters = CertifiedClusters::new(set, &allocation, &[], Span::ZERO)
        .map_err(|error| CommandFailure(format!("{}: {error}", args.allocation.display())))?;
    let options = Drive::options();
    let drive = Drive::new(set, clusters.plan(), &options);
    fit_the_protocol(drive.exports())?;
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
        duration: args.duration.map(|duration| Duration::from_nanos(duration.as_ns())),
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
    output::print(&rendered(args.format.format, &answer, || serve_text::text(&answer, set.device())))?;
    // The server ended by a signal as it should; the process must not end by it once more.
    std::mem::forget(hold);
    Ok(if served.overloaded { Status::CannotTell } else { Status::of(Some(answer.passes)) })
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

fn greet(args: &ServeArgs, listener: &TcpListener, exports: &[Export]) -> Result<(), CommandFailure> {
    let address = listener.local_addr().map_err(|error| CommandFailure::io("the socket", &error))?;
    if !address.ip().is_loopback() {
        output::complain(&output::warning("any client that reaches this address can read and write all exports"));
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
        trimmed_pages: of_task.trimmed,
    };
    let exports: Vec<ServedTask<'_>> = served.run.exports.iter().map(task).collect();
    let broken = served.run.findings.iter().filter(|finding| !finding.gauge.holds());
    let broken: Vec<_> = broken.map(|finding| finding.assumption.name().into()).collect();
    let late = |of: &ServedTask<'_>| of.read.iter().chain(&of.write).any(|of| of.late > 0);
    ServeAnswer {
        passes: broken.is_empty() && !exports.iter().any(late),
        duration_ns: served.run.duration.as_ns(),
        slow,
        behind_ns: capped(served.behind.as_nanos()),
        clients: served.clients,
        malformed: served.malformed,
        refused: served.refused,
        overloaded: served.overloaded,
        exports,
        broken,
    }
}
