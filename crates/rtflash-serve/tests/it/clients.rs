//! Clients on a socket.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rtflash_alloc::allocator::allocator;
use rtflash_analysis::Sound;
use rtflash_host::run::CertifiedClusters;
use rtflash_model::{Device, Request, Span, Task, TaskSet};
use rtflash_serve::{DataFile, Drive, Export, ServeOptions, Served, serve};

/// A camera that reads and writes, and a log that only writes.
fn set() -> TaskSet {
    let device = Device::profile("dgist-2021").expect("a profile");
    let request = |pages, us| Request::new(pages, Span::from_us(us));
    let task = |name: &str, read, write| Task { name: name.into(), read, write, data_pages: Some(512) };
    let tasks = vec![task("camera", request(8, 20_000), request(8, 40_000)), task("log", None, request(2, 40_000))];
    TaskSet::new(device, tasks, vec![]).expect("a set")
}

/// Serves these tasks to clients that this makes, and ends.
fn with_clients(clients: impl FnOnce(SocketAddr, &[Export])) -> Served {
    let set = set();
    let outcome = allocator("best-fit").expect("an algorithm").allocate(&set, &Sound::default());
    let allocation = outcome.allocation().expect("an allocation");
    let clusters = CertifiedClusters::new(&set, allocation, &[], Span::ZERO).expect("it can be run");
    let options = Drive::options();
    let drive = Drive::new(&set, clusters.plan(), &options);
    let exports = drive.exports().to_vec();
    let size = exports.iter().map(Export::size).sum();
    let data = DataFile::of(tempfile::tempfile().expect("a file"), size).expect("it grows");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let stop = AtomicBool::new(false);
    let options = ServeOptions { slow: 1, once: false, duration: None };
    thread::scope(|scope| {
        let served = scope.spawn(|| serve(&listener, drive, data, options, &|| stop.load(Ordering::SeqCst)));
        // If one side fails, the other one ends.
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| clients(address, &exports)));
        stop.store(true, Ordering::SeqCst);
        let served = served.join().expect("it ends").expect("the socket works");
        found.expect("the clients find what they expect");
        served
    })
}

/// A client with an export.
struct Client(TcpStream);

impl Client {
    fn connect(to: SocketAddr) -> Client {
        let stream = TcpStream::connect(to).expect("somebody listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
        Client(stream)
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).expect("it answers");
        bytes
    }

    fn send(&mut self, parts: &[&[u8]]) {
        self.0.write_all(&parts.concat()).expect("it listens");
    }

    /// Takes an export by its name: its size and flags.
    fn take(to: SocketAddr, name: &str) -> (Client, u64, u16) {
        let mut client = Client::connect(to);
        assert_eq!(&client.bytes::<18>(), b"NBDMAGICIHAVEOPT\0\x03");
        let length = u32::try_from(name.len()).expect("short").to_be_bytes();
        client.send(&[&[0, 0, 0, 3], b"IHAVEOPT", &[0, 0, 0, 1], &length, name.as_bytes()]);
        let about = client.bytes::<10>();
        let size = u64::from_be_bytes(about[..8].try_into().expect("eight"));
        (client, size, u16::from_be_bytes([about[8], about[9]]))
    }

    fn ask(&mut self, kind: u16, cookie: u64, offset: u64, length: u32, data: &[u8]) {
        self.ask_with(0, kind, cookie, offset, length);
        self.send(&[data]);
    }

    fn ask_with(&mut self, flags: u16, kind: u16, cookie: u64, offset: u64, length: u32) {
        let head = [0x2560_9513_u32.to_be_bytes(), (u32::from(flags) << 16 | u32::from(kind)).to_be_bytes()].concat();
        self.send(&[&head, &cookie.to_be_bytes(), &offset.to_be_bytes(), &length.to_be_bytes()]);
    }

    /// The next answer: its cookie, its error, and data where there is none.
    fn answer(&mut self, reads: usize) -> (u64, u32, Vec<u8>) {
        let head = self.bytes::<16>();
        assert_eq!(head[..4], 0x6744_6698_u32.to_be_bytes());
        let error = u32::from_be_bytes(head[4..8].try_into().expect("four"));
        let mut data = vec![0; if error == 0 { reads } else { 0 }];
        self.0.read_exact(&mut data).expect("its data");
        (u64::from_be_bytes(head[8..].try_into().expect("eight")), error, data)
    }

    fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn what_is_written_is_read_again() {
    let served = with_clients(|to, exports| {
        let page = exports[0].page_size;
        let (mut camera, size, flags) = Client::take(to, "camera");
        assert_eq!((size, flags & 2, flags & 32), (exports[0].size(), 0, 32));
        let (mut log, _, _) = Client::take(to, "log");
        let data: Vec<u8> = (0..3 * page).map(|at| (at / 7).to_le_bytes()[0]).collect();
        // 20 pages: three requests.
        let long = vec![9; 20 * page as usize];
        camera.ask(1, 1, u64::from(5 * page), 3 * page, &data);
        camera.ask(1, 2, u64::from(40 * page), 20 * page, &long);
        log.ask(1, 3, 0, page, &data[..page as usize]);
        assert_eq!(log.answer(0), (3, 0, vec![]));
        assert_eq!(camera.answer(0), (1, 0, vec![]));
        assert_eq!(camera.answer(0), (2, 0, vec![]));
        // The bytes beside it are given back, with a flag, and a flush.
        camera.ask(4, 7, u64::from(40 * page), 20 * page, &[]);
        assert_eq!(camera.answer(0), (7, 0, vec![]));
        camera.ask_with(1, 4, 8, u64::from(40 * page), 20 * page);
        assert_eq!(camera.answer(0), (8, 0, vec![]));
        camera.ask(3, 4, 0, 0, &[]);
        assert_eq!(camera.answer(0), (4, 0, vec![]));
        camera.ask(0, 5, u64::from(4 * page), 3 * page, &[]);
        let read = camera.answer(3 * page as usize);
        assert_eq!(read.2, [&vec![0; page as usize][..], &data[..2 * page as usize]].concat());
        camera.ask(2, 6, 0, 0, &[]);
        assert!(camera.is_closed());
    });
    let [camera, log] = &served.run.exports[..] else { panic!("two exports") };
    let (reads, writes) = (camera.reads.as_ref().expect("it reads"), camera.writes.as_ref().expect("it writes"));
    assert_eq!((writes.commands, writes.pages, writes.held, writes.late), (2, 23, 1, 0));
    assert_eq!((reads.commands, reads.pages, reads.requests), (1, 3, 1));
    assert_eq!((camera.trimmed, log.trimmed), (40, 0));
    assert_eq!((log.reads.as_ref(), log.writes.as_ref().map(|of| of.commands)), (None, Some(1)));
    assert_eq!((served.clients, served.malformed), (2, 0));
    assert!(served.run.findings.iter().all(|finding| finding.gauge.holds()));
}

#[test]
fn what_is_wrong_is_refused_and_ends_nothing_else() {
    let served = with_clients(|to, exports| {
        let page = exports[0].page_size;
        let (mut log, size, _) = Client::take(to, "log");
        let (mut camera, _, _) = Client::take(to, "camera");
        // Not declared, beyond the end, not of whole pages, nothing at all, not offered.
        let wrong = [
            (0, 0, page, 1),
            (1, size, page, 28),
            (4, size, page, 22),
            (1, 1, page, 22),
            (4, 0, page - 1, 22),
            (1, 0, 0, 22),
            (6, 0, page, 22),
        ];
        for ((kind, offset, length, error), cookie) in wrong.into_iter().zip(10..) {
            let data = if kind == 1 { vec![1; length as usize] } else { vec![] };
            log.ask(kind, cookie, offset, length, &data);
            assert_eq!(log.answer(0), (cookie, error, vec![]));
        }
        camera.ask(0, 7, u64::MAX - 5, 2 * page, &[]);
        assert_eq!(camera.answer(0), (7, 22, vec![]));
        // A client that sends what is outside the protocol.
        let mut other = Client::connect(to);
        other.send(&[b"GET / HTTP/1.1\r\n\r\n"]);
        assert!(other.is_closed());
        let (mut other, _, _) = Client::take(to, "log");
        other.send(&[&[0xff; 40]]);
        assert!(other.is_closed());
        let mut other = Client::connect(to);
        other.send(&[&[0, 0, 0, 3], b"IHAVEOPT", &[0, 0, 0, 1, 0, 0, 0, 4], b"none"]);
        assert!(other.is_closed());
        // One that leaves with a command under way.
        let (mut other, _, _) = Client::take(to, "log");
        other.ask(1, 1, 0, page, &vec![3; page as usize]);
        drop(other);
        log.ask(1, 30, 0, page, &vec![3; page as usize]);
        assert_eq!(log.answer(0), (30, 0, vec![]));
    });
    // To ask for what there is not is of the protocol.
    assert_eq!(served.malformed, 2);
    assert!(served.run.findings.iter().all(|finding| finding.gauge.holds()));
}

/// The drive withdraws requests of a client that has gone.
#[test]
fn what_a_client_leaves_behind_is_not_done() {
    let served = with_clients(|to, exports| {
        let page = exports[1].page_size;
        let (mut gone, _, _) = Client::take(to, "log");
        let data = vec![1; 2 * page as usize];
        // Two pages are a request: 40 ms each.
        for cookie in 0..100 {
            gone.ask(1, cookie, 0, 2 * page, &data);
        }
        assert_eq!(gone.answer(0), (0, 0, vec![]));
        drop(gone);
        let (mut log, _, _) = Client::take(to, "log");
        log.ask(1, 1, 0, page, &data[..page as usize]);
        assert_eq!(log.answer(0), (1, 0, vec![]));
    });
    let writes = served.run.exports[1].writes.as_ref().expect("it writes");
    assert!(writes.commands < 90, "{writes:?}");
    assert!(served.run.findings.iter().all(|finding| finding.gauge.holds()));
}
