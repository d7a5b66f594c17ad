//! Clients on a socket, and the drive at the pace of the clock.

mod clock;
mod session;

use std::cell::Cell;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use crate::backing::DataFile;
use crate::drive::{Drive, ServedRun};
use crate::export::Export;
use clock::{DriveClock, Pace};
use session::{ForDrive, run_session};

/// Clients at a time.
const MAX_CLIENTS: usize = 16;
/// How long no client is connected before the last one counts as gone: programs can connect again
/// at once.
const DESERTED: Duration = Duration::from_secs(1);
/// How often the server checks for new clients and for its end.
const LOOK: Duration = Duration::from_millis(20);

/// How a device is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeOptions {
    /// How many times as long as on the device everything takes: at least one.
    pub slow: u32,
    /// Whether all ends when the last client has left that took an export.
    pub once: bool,
    /// How long, at most.
    pub duration: Option<Duration>,
}

/// The outcome of serving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The work of the device.
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

#[derive(Debug)]
struct FrontDesk {
    exports: Vec<Export>,
    data: DataFile,
    stopping: AtomicBool,
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

    fn is_deserted(&self) -> bool {
        self.clients.load(Ordering::SeqCst) > 0 && self.active.load(Ordering::SeqCst) == 0
    }

    fn enter(&self, number: usize, stream: &TcpStream) -> io::Result<()> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        // A client that connects while the server closes all connections must not be missed.
        if self.is_stopping() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        streams.push((number, stream.try_clone()?));
        self.open.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn leave(&self, number: usize) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| *of != number);
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

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
/// The device goes on in simulated time, `slow` times as slowly as the clock. If the machine is too
/// slow for that, commands come later than they did and are answered later than they ended: the
/// device's work in simulated time stays as certified, and [`Served::behind`] says by how much.
/// Fails if the socket fails.
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
        let deserted = Cell::new(None);
        let is_over = |since: Duration| {
            deserted.set(if desk.is_deserted() { Some(deserted.get().unwrap_or(since)) } else { None });
            let is_left = deserted.get().is_some_and(|left| since - left >= DESERTED);
            stops() || options.duration.is_some_and(|most| since >= most) || options.once && is_left
        };
        let clock = DriveClock::new(drive, pace, asked).run(&is_over);
        desk.close();
        acceptor.join().map_err(|_| io::Error::other("the thread that accepts connections has failed"))?;
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

fn accept<'s, 'e>(
    scope: &'s thread::Scope<'s, 'e>,
    listener: &TcpListener,
    desk: &'e FrontDesk,
    ask: &Sender<ForDrive>,
) {
    let mut number = 0;
    while !desk.is_stopping() {
        // Either no client waits, or one has gone, or too many files are open: that passes.
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(LOOK);
            continue;
        };
        // One too many is closed, and so is one that breaks at once.
        if desk.open.load(Ordering::SeqCst) >= MAX_CLIENTS || desk.enter(number, &stream).is_err() {
            continue;
        }
        let ask = ask.clone();
        scope.spawn(move || {
            if run_session(&stream, desk, ask, number).is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
                desk.malformed.fetch_add(1, Ordering::SeqCst);
            }
            let _ = stream.shutdown(Shutdown::Both);
            desk.leave(number);
        });
        number += 1;
    }
}
