//! Why a promise does not rely on the queue unless it is asked to: operations that are faster than
//! stated break it (docs/analysis.md, Section 6.1).

use std::collections::VecDeque;

use rtflash_alloc::allocator::{Allocator, EqualSplit};
use rtflash_analysis::certified::{holding, reliances};
use rtflash_analysis::{Stripe, Work};
use rtflash_model::{Device, DeviceSpec, LogicalRatio, Reliance, Request, Span, Task, TaskSet};

/// t_r and t_d, in microseconds.
const READ: u64 = 4;
const TRANSFER: u64 = 4;
/// Pages of a request and its period, of the task on each chip.
const READS: [(u64, u64); 3] = [(6, 92), (44, 36_000), (44, 36_000)];

fn us(micros: u64) -> Span {
    Span::from_us(u32::try_from(micros).expect("short"))
}

fn set() -> TaskSet {
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    let device = Device::new(DeviceSpec {
        chips: 3,
        chips_per_channel: 3,
        logical_ratio: LogicalRatio::HALF,
        page_read: us(READ),
        page_program: us(1),
        block_erase: us(4),
        page_transfer: us(TRANSFER),
        ..spec
    });
    let task = |(chip, (pages, period)): (usize, (u64, u64))| Task {
        name: format!("chip-{chip}"),
        read: Request::new(pages, us(period)),
        write: None,
        data_pages: None,
    };
    TaskSet::new(device.expect("a device"), READS.into_iter().enumerate().map(task).collect(), vec![]).expect("a set")
}

/// A chip with one request of a number of pages: it senses, asks for the bus, transfers, and begins
/// anew.
#[derive(Clone, Copy)]
struct Chip {
    left: u64,
    /// When the page is sensed, or the request arrives.
    ready: u64,
    sensing: u64,
}

/// The response time of chip 0's request, released at `offset`, on a bus that serves first come,
/// first served. The others read from 0 on.
fn response(sensing: [u64; 3], offset: u64) -> u64 {
    let mut chips: Vec<Chip> = (0..3)
        .map(|chip| Chip {
            left: READS[chip].0,
            ready: if chip == 0 { offset } else { 0 } + sensing[chip],
            sensing: sensing[chip],
        })
        .collect();
    let (mut queue, mut bus) = (VecDeque::new(), None::<(u64, usize)>);
    for now in 0.. {
        if let Some((_, chip)) = bus.take_if(|(until, _)| *until == now) {
            chips[chip].left -= 1;
            chips[chip].ready = now + chips[chip].sensing;
            if chip == 0 && chips[0].left == 0 {
                return now - offset;
            }
        }
        // The one that is looked at stands last where several ask at once.
        for chip in [1, 2, 0] {
            let asks = chips[chip].left > 0 && chips[chip].ready == now && !queue.contains(&chip);
            if asks {
                queue.push_back(chip);
            }
        }
        if bus.is_none() {
            bus = queue.pop_front().map(|chip| (now + TRANSFER, chip));
        }
    }
    unreachable!("time does not end")
}

#[test]
fn faster_neighbours_make_late_what_relies_on_the_queue() {
    let set = set();
    let outcome = EqualSplit.allocate(&set, &Stripe::relying_on(Reliance::Queue));
    let allocation = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)).expect("accepted");
    assert_eq!(reliances(&set, allocation)[0], Some(Reliance::Queue));
    // Less is granted: the same clusters fail.
    assert!(!holding(&set, allocation, Reliance::Neighbours, &Work::new())[0]);
    assert_eq!(EqualSplit.allocate(&set, &Stripe::default()).is_schedulable(), Some(false));
    let worst = |sensing: [u64; 3]| (0..120).map(|offset| response(sensing, offset)).max().expect("a response");
    // As stated it is in time, at every offset; with neighbours that sense in no time it is late.
    assert!(worst([READ; 3]) <= 92, "{}", worst([READ; 3]));
    assert_eq!(worst([READ, 0, 0]), 96);
}
