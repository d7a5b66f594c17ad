//! One client: what it asks goes to the clock, and what has ended goes back to it.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::FrontDesk;
use crate::drive::{ClientAction, ClientCommand};
use crate::export::Export;
use crate::nbd::{
    ClientRequest, CommandKind, EINVAL, EIO, ENOSPC, EPERM, ESHUTDOWN, MAX_BYTES, read_request, reply, shake_hands,
};

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);
/// Commands of a client that are not answered, at most, and bytes of them: it is not listened to
/// while there are more.
const MAX_UNANSWERED: usize = 256;
const MAX_UNANSWERED_BYTES: usize = 1 << 25;

#[derive(Debug)]
pub(super) enum ForDrive {
    Command(CommandForDrive),
    /// The client of this number has gone without a word.
    Gone(usize),
}

#[derive(Debug)]
pub(super) struct CommandForDrive {
    pub(super) client: usize,
    pub(super) command: ClientCommand,
    pub(super) ended: Ended,
}

/// The work left once a command has ended. Dropped, it says that the device has gone.
#[derive(Debug)]
pub(super) struct Ended {
    answer: Option<DueAnswer>,
    to: Sender<(DueAnswer, u32)>,
}

impl Ended {
    /// It has ended, with this error or with zero.
    pub(super) fn tell(mut self, error: u32) {
        self.answer_with(error);
    }

    fn answer_with(&mut self, error: u32) {
        // The session can have ended, and the answer is dropped.
        self.answer.take().into_iter().for_each(|answer| drop(self.to.send((answer, error))));
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.answer_with(ESHUTDOWN);
    }
}

#[derive(Debug)]
struct DueAnswer {
    cookie: u64,
    /// The offset of its data in the file.
    offset: u64,
    reads: u32,
    data: Vec<u8>,
    /// Whether all that was written is to be on the disk first.
    syncs: bool,
}

impl DueAnswer {
    /// Bytes that it takes up until it is given.
    fn weight(&self) -> usize {
        self.data.len() + self.reads as usize
    }
}

#[derive(Debug, Default)]
struct UnansweredCount {
    /// Commands, and their bytes.
    open: Mutex<(usize, usize)>,
    fewer: Condvar,
}

impl UnansweredCount {
    fn add(&self, bytes: usize) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |open: &mut (usize, usize)| {
            open.0 > 0 && (open.0 >= MAX_UNANSWERED || open.1 + bytes > MAX_UNANSWERED_BYTES)
        };
        let mut open = self.fewer.wait_while(open, full).unwrap_or_else(PoisonError::into_inner);
        (open.0, open.1) = (open.0 + 1, open.1 + bytes);
    }

    fn remove(&self, bytes: usize) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        (open.0, open.1) = (open.0 - 1, open.1 - bytes);
        self.fewer.notify_all();
    }
}

/// Serves a client until it leaves. Fails if the connection breaks, or what comes is not of the
/// protocol.
pub(super) fn run_session(
    stream: &TcpStream,
    desk: &FrontDesk,
    ask: Sender<ForDrive>,
    number: usize,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut impatient = Impatient { stream, until: Instant::now() + PATIENCE };
    let Some(export) = shake_hands(&mut impatient, &desk.exports)? else { return Ok(()) };
    stream.set_read_timeout(None)?;
    desk.active.fetch_add(1, Ordering::SeqCst);
    desk.clients.fetch_add(1, Ordering::SeqCst);
    let listened = thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let unanswered = Arc::new(UnansweredCount::default());
        let counted = Arc::clone(&unanswered);
        scope.spawn(move || answer_all(stream, desk, &told, &counted));
        let of = &desk.exports[export];
        Client { stream, number, export, of, ask, tell, unanswered: &unanswered }.listen()
    });
    desk.active.fetch_sub(1, Ordering::SeqCst);
    listened
}

/// A connection that has to say all it has to say by a time.
struct Impatient<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Read for Impatient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

impl Write for Impatient<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.stream.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

struct Client<'a> {
    stream: &'a TcpStream,
    number: usize,
    export: usize,
    of: &'a Export,
    ask: Sender<ForDrive>,
    tell: Sender<(DueAnswer, u32)>,
    unanswered: &'a UnansweredCount,
}

impl Client<'_> {
    /// Takes commands until the client leaves. If the client says that it leaves, its commands are
    /// done; otherwise the drive withdraws them.
    fn listen(self) -> io::Result<()> {
        let listened = self.listen_on();
        if !matches!(listened, Ok(true)) {
            let _ = self.ask.send(ForDrive::Gone(self.number));
        }
        listened.map(drop)
    }

    fn listen_on(&self) -> io::Result<bool> {
        let mut from = BufReader::with_capacity(1 << 16, self.stream);
        while let Some(request) = read_request(&mut from)? {
            if request.kind == CommandKind::Disconnect {
                return Ok(true);
            }
            self.take(request);
        }
        Ok(false)
    }

    fn take(&self, request: ClientRequest) {
        let ClientRequest { kind, is_forced, cookie, offset, length, .. } = request;
        let command = self.command(&request);
        let page = u64::from(self.of.page_size);
        let answer = DueAnswer {
            cookie,
            offset: (self.of.first_page * page).saturating_add(offset),
            reads: if kind == CommandKind::Read && command.is_ok() { length } else { 0 },
            data: request.data,
            syncs: kind == CommandKind::Flush || is_forced && matches!(kind, CommandKind::Write | CommandKind::Trim),
        };
        self.unanswered.add(answer.weight());
        let ended = Ended { answer: Some(answer), to: self.tell.clone() };
        match command {
            Ok(Some(command)) => {
                // A clock that has stopped ends all.
                let _ = self.ask.send(ForDrive::Command(CommandForDrive { client: self.number, command, ended }));
            }
            Ok(None) => ended.tell(0),
            Err(error) => ended.tell(error),
        }
    }

    /// The device's command for a request: none for a flush.
    fn command(&self, request: &ClientRequest) -> Result<Option<ClientCommand>, u32> {
        let action = match request.kind {
            CommandKind::Read => ClientAction::Read,
            CommandKind::Write => ClientAction::Write,
            // Not offered.
            CommandKind::Trim if self.of.in_order => return Err(EINVAL),
            CommandKind::Trim => ClientAction::Trim,
            CommandKind::Flush if !request.has_other_flags => return Ok(None),
            CommandKind::Flush | CommandKind::Disconnect | CommandKind::Other => return Err(EINVAL),
        };
        let declared = if action == ClientAction::Read { self.of.reads } else { self.of.writes };
        if declared.is_none() {
            return Err(EPERM);
        }
        let page = u64::from(self.of.page_size);
        let (offset, length) = (request.offset, u64::from(request.length));
        if offset.checked_add(length).is_none_or(|end| end > self.of.size()) {
            return Err(if action == ClientAction::Write { ENOSPC } else { EINVAL });
        }
        let is_whole = offset.is_multiple_of(page) && length.is_multiple_of(page) && length > 0;
        // A trim carries no data.
        let is_long = request.length > MAX_BYTES && action != ClientAction::Trim;
        if request.has_other_flags || !is_whole || is_long {
            return Err(EINVAL);
        }
        let number = |pages: u64| u32::try_from(pages).map_err(|_| EINVAL);
        let (first, pages) = (number(offset / page)?, number(length / page)?);
        Ok(Some(ClientCommand { export: self.export, action, first, pages }))
    }
}

/// Gives all answers that are due. Once one cannot be given, the connection ends, and the rest are
/// dropped.
fn answer_all(stream: &TcpStream, desk: &FrontDesk, told: &Receiver<(DueAnswer, u32)>, unanswered: &UnansweredCount) {
    let mut to = BufWriter::with_capacity(1 << 16, stream);
    let mut broken = false;
    let mut next = told.recv().ok();
    while let Some((due, error)) = next.take() {
        let weight = due.weight();
        if !broken && answer_one(&mut to, desk, due, error).is_err() {
            broken = true;
            let _ = stream.shutdown(Shutdown::Both);
        }
        unanswered.remove(weight);
        // Commands that are due already go with it.
        next = told.try_recv().ok();
        if next.is_none() {
            if !broken && to.flush().is_err() {
                broken = true;
                let _ = stream.shutdown(Shutdown::Both);
            }
            next = told.recv().ok();
        }
    }
}

fn answer_one(to: &mut impl Write, desk: &FrontDesk, due: DueAnswer, mut error: u32) -> io::Result<()> {
    let mut data = due.data;
    if error == 0 {
        let kept = if due.reads > 0 {
            data.resize(due.reads as usize, 0);
            desk.data.read(due.offset, &mut data)
        } else if data.is_empty() {
            Ok(())
        } else {
            desk.data.write(due.offset, &data)
        };
        let kept = kept.and_then(|()| if due.syncs { desk.data.sync() } else { Ok(()) });
        if kept.is_err() {
            error = EIO;
        }
    }
    reply(to, due.cookie, error, if error == 0 && due.reads > 0 { &data } else { &[] })
}
