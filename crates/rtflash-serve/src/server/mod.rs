//! Clients on a socket, and the drive at the pace of the clock.

mod clock;
mod session;

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::backing::DataFile;
use crate::drive::{Drive, ServedRun};
use crate::export::Export;
use clock::{DriveClock, Pace};
use session::{CommandForDrive, run_session};

/// Clients at a time.
const MAX_CLIENTS: usize = 32;
/// How often it is looked whether somebody has come, or all is to end.
const LOOK: Duration = Duration::from_millis(20);

/// How a device is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeOptions {
    /// So many times as long as on the device everything takes: at least one.
    pub slow: u32,
    /// Whether all ends when the last client has left that took an export.
    pub once: bool,
    /// How long, at most.
    pub duration: Option<Duration>,
}

/// What came of serving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// What the device did.
    pub run: ServedRun,
    /// Clients that took an export.
    pub clients: u64,
    /// Connections that ended because what came was not of the protocol.
    pub malformed: u64,
    /// Commands that were not taken.
    pub refused: u64,
    /// By how much the device was behind the clock, at most.
    pub behind: Duration,
    /// Whether more was pending than can be kept, so that all ended.
    pub overloaded: bool,
}

/// What clients have in common.
#[derive(Debug)]
struct FrontDesk {
    exports: Vec<Export>,
    data: DataFile,
    stopping: AtomicBool,
    /// Connections that are open.
    open: AtomicUsize,
    /// Clients with an export, now and ever.
    active: AtomicUsize,
    clients: AtomicUsize,
    malformed: AtomicUsize,
    streams: Mutex<Vec<(usize, TcpStream)>>,
}

impl FrontDesk {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Whether the last client has left.
    fn is_deserted(&self) -> bool {
        self.clients.load(Ordering::SeqCst) > 0 && self.active.load(Ordering::SeqCst) == 0
    }

    fn enter(&self, number: usize, stream: &TcpStream) -> io::Result<()> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.push((number, stream.try_clone()?));
        self.open.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn leave(&self, number: usize) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != number);
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// No one is served any more.
    fn close(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        for (_, stream) in self.streams.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Serves clients of `listener` on a drive, with their data in `data`, until `stops` says so or as
/// the options say.
///
/// The device goes on in simulated time, `slow` times as slowly as the clock. Where the machine is
/// too slow for that, commands come later than they did and are answered later than they ended:
/// what the device does in simulated time stays as certified, and [`Served::behind`] says by how
/// much.
///
/// # Errors
/// Where the socket fails.
pub fn serve(
    listener: &TcpListener,
    drive: Drive<'_>,
    data: DataFile,
    options: ServeOptions,
    stops: &dyn Fn() -> bool,
) -> io::Result<Served> {
    listener.set_nonblocking(true)?;
    let desk = FrontDesk {
        exports: drive.exports().to_vec(),
        data,
        stopping: AtomicBool::new(false),
        open: AtomicUsize::new(0),
        active: AtomicUsize::new(0),
        clients: AtomicUsize::new(0),
        malformed: AtomicUsize::new(0),
        streams: Mutex::new(Vec::new()),
    };
    let (ask, asked) = mpsc::channel();
    thread::scope(|scope| {
        let desk = &desk;
        let acceptor = scope.spawn(move || accept(scope, listener, desk, &ask));
        let pace = Pace::new(options.slow);
        let is_over = |since: Duration| {
            stops()
                || options.duration.is_some_and(|most| since >= most)
                || options.once && desk.is_deserted()
                || acceptor.is_finished()
        };
        let clock = DriveClock::new(drive, pace, asked).run(&is_over);
        desk.close();
        let accepted = acceptor.join().unwrap_or_else(|_| Err(io::Error::other("nobody listens any more")));
        accepted?;
        Ok(Served {
            run: clock.run,
            clients: desk.clients.load(Ordering::SeqCst) as u64,
            malformed: desk.malformed.load(Ordering::SeqCst) as u64,
            refused: clock.refused,
            behind: clock.behind,
            overloaded: clock.overloaded,
        })
    })
}

/// Lets clients in until all stops.
fn accept<'s, 'e>(
    scope: &'s thread::Scope<'s, 'e>,
    listener: &TcpListener,
    desk: &'e FrontDesk,
    ask: &Sender<CommandForDrive>,
) -> io::Result<()> {
    let mut number = 0;
    while !desk.is_stopping() {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if passes(error.kind()) => {
                thread::sleep(LOOK);
                continue;
            }
            Err(error) => return Err(error),
        };
        // One too many is closed, and so is one that breaks at once.
        if desk.open.load(Ordering::SeqCst) >= MAX_CLIENTS || desk.enter(number, &stream).is_err() {
            continue;
        }
        let ask = ask.clone();
        scope.spawn(move || {
            if run_session(&stream, desk, ask).is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
                desk.malformed.fetch_add(1, Ordering::SeqCst);
            }
            let _ = stream.shutdown(Shutdown::Both);
            desk.leave(number);
        });
        number += 1;
    }
    Ok(())
}

/// Whether listening goes on after such an error.
fn passes(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::TimedOut
    )
}
