//! Bags, written by MCAP's own writer and compressed by it or by others, and the law of a
//! recorder: no window of the flush interval holds more than its task.

use crate::common::{Compression, write_bag};
use proptest::prelude::*;
use rtflash_import::bag::{Bag, BagError, RECORD_HEAD, Topic, read_bag};
use rtflash_model::{Access, Span};

const PAGE: u32 = 4_096;

/// Messages as (topic, time, bytes of data).
type Message = (usize, u64, usize);

fn read(bytes: &[u8]) -> Bag {
    read_bag(bytes).expect("a bag")
}

/// The most bytes of a topic in any window, each window tried that begins with a message.
fn plainly(messages: &[Message], topic: usize, window: u64) -> u64 {
    let of_topic = || messages.iter().filter(|message| message.0 == topic);
    let from = |begin: u64| of_topic().filter(move |(_, at, _)| (begin..begin + window).contains(at));
    let sums = of_topic().map(|(_, begin, _)| from(*begin).map(|message| message.2 as u64 + RECORD_HEAD).sum());
    sums.max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_window_holds_more_than_its_task(
        messages in prop::collection::vec((0..3_usize, 0..2_000_000_u64, 0..9_000_usize), 1..60),
        compression in prop::sample::select(vec![Compression::None, Compression::Lz4, Compression::Zstd, Compression::NoChunks]),
        flush in 1..500_000_u64,
        phase in 0..500_000_u64,
    ) {
        let bag = read(&write_bag(&messages, compression));
        prop_assert_eq!(bag.messages.read, messages.len() as u64);
        prop_assert_eq!(bag.messages.refused, 0);
        let flush_span = Span::from_ns(flush).unwrap();
        for topic in &bag.topics {
            let number: usize = topic.name.trim_start_matches("/topic").parse().unwrap();
            let fullest = topic.fullest_window(flush_span);
            prop_assert_eq!(fullest.bytes, plainly(&messages, number, flush));
            let task = topic.task(flush_span, PAGE).unwrap();
            let write = task.write.unwrap();
            prop_assert_eq!((write.period(), write.access(), task.read), (flush_span, Access::Stream, None));
            // The recorder itself, at some phase: what it writes at each flush.
            let mut flushes = std::collections::BTreeMap::<u64, u64>::new();
            for (_, at, bytes) in messages.iter().filter(|message| message.0 == number) {
                *flushes.entry((at + phase) / flush).or_default() += *bytes as u64 + RECORD_HEAD;
            }
            for bytes in flushes.values() {
                prop_assert!(*bytes <= write.pages() * u64::from(PAGE));
            }
            // And no page too many.
            prop_assert!((write.pages() - 1) * u64::from(PAGE) < fullest.bytes);
        }
    }

    #[test]
    fn a_damaged_bag_does_no_harm(
        messages in prop::collection::vec((0..3_usize, 0..2_000_000_u64, 0..300_usize), 1..20),
        compression in prop::sample::select(vec![Compression::None, Compression::Lz4, Compression::Zstd, Compression::NoChunks]),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = write_bag(&messages, compression);
        for (place, value) in places {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        if let Ok(bag) = read_bag(bytes.as_slice()) {
            let read: usize = bag.topics.iter().map(|topic| topic.messages.len()).sum();
            prop_assert_eq!(read as u64, bag.messages.read);
            prop_assert!(read <= messages.len());
        }
    }
}

#[test]
fn a_bag_that_breaks_off_says_so() {
    let messages: Vec<Message> = (0..50).map(|number| (0, number * 1_000, 100)).collect();
    let whole = write_bag(&messages, Compression::NoChunks);
    let bag = read(&whole[..whole.len() / 2]);
    assert_eq!(bag.messages.refused, 1);
    assert!(bag.messages.read > 5 && bag.messages.read < 50, "{:?}", bag.messages);
    assert!(bag.messages.first_refused[0].problem.contains("ended"), "{:?}", bag.messages);
}

#[test]
fn a_damaged_chunk_is_not_believed() {
    let mut bytes = write_bag(&[(0, 1, 3_000)], Compression::None);
    let middle = bytes.windows(64).position(|bytes| bytes == [7; 64]).expect("the data");
    bytes[middle] ^= 1;
    assert!(matches!(read_bag(bytes.as_slice()), Err(BagError::NoMessages(why)) if why.contains("sum")));
}

#[test]
fn what_is_no_bag_is_refused() {
    for text in [&b""[..], b"{}", b"\x89MCAP0\r\n", &[0x89; 100]] {
        assert!(matches!(read_bag(text), Err(BagError::NoMessages(_))), "{text:?}");
    }
}

/// The bag that fuzzing begins with.
#[test]
fn a_bag_in_a_file() {
    let bag = read(include_bytes!("small.mcap"));
    let counts: Vec<usize> = bag.topics.iter().map(|topic| topic.messages.len()).collect();
    assert_eq!((counts, bag.messages.refused), (vec![2, 1], 0));
}

/// MCAP does not forbid a topic without a name; a task has one.
#[test]
fn a_topic_without_a_name_becomes_a_task_with_one() {
    let named = |name: &str| Topic { name: name.into(), messages: vec![(0, 100)] };
    let task = |name| named(name).task(Span::from_us(10), PAGE).expect("a message").name;
    assert_eq!((task(""), task("/scan")), ("(no name)".into(), "/scan".into()));
}
