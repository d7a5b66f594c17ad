//! Bags, written by MCAP's own writer and compressed by it or by others, and the law of a
//! recorder: no window of the flush interval holds more than its task.

use crate::common::{Compression, write_bag, write_bag_with};
use proptest::prelude::*;
use rtflash_exchange::import::bag::{Bag, BagError, RECORD_HEAD, read_bag};
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
        waiting in 1..6_u32,
    ) {
        let bag = read(&write_bag(&messages, compression));
        prop_assert_eq!(bag.messages.read, messages.len() as u64);
        prop_assert_eq!(bag.messages.refused, 0);
        let flush_span = Span::from_ns(flush).unwrap();
        for topic in &bag.topics {
            let number: usize = topic.name.trim_start_matches("/topic").parse().unwrap();
            let fullest = topic.fullest_window(flush_span);
            prop_assert_eq!(fullest.bytes, plainly(&messages, number, flush));
        }
        let task = bag.task(flush_span, waiting, PAGE).unwrap();
        let write = task.write.unwrap();
        prop_assert_eq!((write.period(), write.access(), task.read), (flush_span, Access::Stream, None));
        // The recorder itself, at some phase: what it writes of all topics at each flush.
        let mut flushes = std::collections::BTreeMap::<u64, u64>::new();
        let indexed = if matches!(compression, Compression::None) { 16 } else { 0 };
        for (_, at, bytes) in &messages {
            *flushes.entry((at + phase) / flush).or_default() += *bytes as u64 + RECORD_HEAD + indexed;
        }
        for bytes in flushes.values() {
            prop_assert!(*bytes <= write.pages() * u64::from(PAGE));
        }
        // Buffers are filled in turn. That of the first interval is filled again in the interval
        // that has its number: until then it is to be written.
        let buffers = u64::from(waiting) + 1;
        let again = (1..).find(|interval| interval % buffers == 0).unwrap();
        prop_assert_eq!(write.deadline().as_ns(), again * flush - flush);
        // And no page too many.
        prop_assert!((write.pages() - 1) * u64::from(PAGE) < bag.fullest_window(flush_span).bytes);
    }

    #[test]
    fn every_byte_of_a_file_is_in_a_window_or_in_the_summary(
        messages in prop::collection::vec((0..3_usize, 0..2_000_000_u64, 0..9_000_usize), 1..60),
        attachments in prop::collection::vec((0..2_000_000_u64, 0..9_000_usize), 0..3),
        compression in prop::sample::select(vec![Compression::None, Compression::NoChunks]),
        bags in 1..4_usize,
    ) {
        let bytes = write_bag_with(&messages, &attachments, compression).repeat(bags);
        let bag = read(&bytes);
        prop_assert_eq!((bag.bags, bag.attachments.len(), bag.unread_bytes), (bags as u64, bags * attachments.len(), 0));
        let all = bag.fullest_window(Span::from_us(10_000));
        prop_assert_eq!(bag.extent().unwrap().bytes, u128::from(all.bytes));
        // The magic bytes at the end of each bag are behind the summary.
        prop_assert_eq!(all.bytes + bag.summary_bytes, (bytes.len() - 8 * bags) as u64);
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

/// Bytes that are not read are counted: the rate lacks them.
#[test]
fn a_bag_states_what_damage_hides() {
    let messages: Vec<Message> = (0..400).map(|number| (0, number * 1_000, 4_000)).collect();
    let whole = write_bag(&messages, Compression::None);
    let (chunks, bag) = (records(&whole, 6), read(&whole));
    assert!(chunks.len() > 1 && (bag.unread_bytes, bag.unread_parts) == (0, 0));
    let mut bytes = whole.clone();
    bytes[chunks[0].start + 500] ^= 1;
    let bag = read(&bytes);
    assert_eq!((bag.unread_bytes, bag.unread_parts), (chunks[0].len() as u64, 1));
    let says = format!("; {} bytes are not read", chunks[0].len());
    assert!(bag.messages.first_refused[0].problem.ends_with(&says), "{:?}", bag.messages);
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
    let bag = read(include_bytes!("../../../../examples/small.mcap"));
    let counts: Vec<usize> = bag.topics.iter().map(|topic| topic.messages.len()).collect();
    assert_eq!((counts, bag.messages.refused), (vec![2, 1], 0));
}

/// Sixty topics of small messages are one stream of their sum, not a page each.
#[test]
fn small_topics_share_pages() {
    let messages: Vec<Message> =
        (0..1_200).map(|number| (number % 60, 50_000_000 * (number / 60) as u64, 200)).collect();
    let bag = read(&write_bag(&messages, Compression::None));
    assert_eq!(bag.topics.len(), 60);
    let pages = bag.task(Span::from_us(100_000), 1, PAGE).unwrap().write.unwrap().pages();
    // Two of each topic within 100 ms, each with its head and an entry of an index; heads of chunks
    // and of indexes come beside them.
    let least = 120 * (200 + RECORD_HEAD + 16);
    assert!((least.div_ceil(PAGE.into())..=least.div_ceil(PAGE.into()) + 1).contains(&pages), "{pages}");
}

/// A sensor of 400 Hz: what stands behind each chunk is a third of what its recorder writes.
#[test]
fn indexes_are_in_the_rate() {
    let messages: Vec<Message> = (0..4_000).map(|number| (0, number * 2_500_000, 5)).collect();
    let bytes = write_bag(&messages, Compression::None);
    let bag = read(&bytes);
    let a_second = bag.fullest_window(Span::from_us(1_000_000)).bytes;
    assert!(a_second >= (bytes.len() as u64 - bag.summary_bytes) / 10, "{a_second} of {}", bytes.len());
    assert!(a_second >= 400 * (5 + RECORD_HEAD + 16), "{a_second}");
    assert!(bag.extent().unwrap().mean_rate().unwrap() > 20_000);
}

#[test]
fn an_attachment_is_written_too() {
    let bytes =
        write_bag_with(&[(0, 5, 100), (0, 1_000_000_000, 100)], &[(500_000_000, 500_000)], Compression::NoChunks);
    let bag = read(&bytes);
    assert!(bag.attachments.len() == 1 && bag.attachments[0].0 == 500_000_000 && bag.attachments[0].1 > 500_000);
    let fullest = bag.fullest_window(Span::from_us(1_000));
    assert_eq!((fullest.bytes, fullest.begins), (bag.attachments[0].1, 500_000_000));
}

/// A record of these bytes behind the header of a bag.
fn with_record(bag: &[u8], opcode: u8, body: &[u8]) -> Vec<u8> {
    let header = 8 + 9 + usize::try_from(u64::from_le_bytes(bag[9..17].try_into().unwrap())).unwrap();
    let record = [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat();
    [&bag[..header], &record, &bag[header..]].concat()
}

#[test]
fn records_that_are_too_short_are_refused_one_by_one() {
    let bag = write_bag(&[(0, 5, 100), (0, 9, 100)], Compression::None);
    for (opcode, refused) in [(3, 0), (4, 1), (5, 1), (6, 1), (7, 1), (9, 1), (12, 0), (0x30, 0), (0x90, 0)] {
        for length in [0, 1, 3, 5] {
            let bag = read(&with_record(&bag, opcode, &[0; 5][..length]));
            assert_eq!((bag.messages.read, bag.messages.refused), (2, refused), "{opcode} {length}");
        }
    }
}

#[test]
fn a_damaged_chunk_costs_its_own_messages_alone() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let messages: Vec<Message> = (0..50).map(|number| (number % 2, number as u64, 3_000)).collect();
        let mut bytes = write_bag(&messages, compression);
        let chunks = records(&bytes, 6);
        assert!(chunks.len() > 4, "{compression:?}");
        let damaged = &chunks[1];
        // The last byte of a chunk is of its content.
        bytes[damaged.end - 1] ^= 1;
        let bag = read(&bytes);
        assert_eq!(bag.messages.refused, 1, "{compression:?} {:?}", bag.messages);
        // Each chunk holds seven messages.
        assert_eq!(bag.messages.read, 43, "{compression:?}");
        assert_eq!(bag.topics.len(), 2);
    }
}

/// The places of the records of a bag that have this opcode.
fn records(bag: &[u8], opcode: u8) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (8, Vec::new());
    while at + 9 < bag.len() {
        let end = at + 9 + usize::try_from(u64::from_le_bytes(bag[at + 1..at + 9].try_into().unwrap())).unwrap();
        if bag[at] == opcode {
            found.push(at..end);
        }
        at = end;
    }
    found
}

/// The first chunk describes the channels; the summary does so again.
#[test]
fn channels_of_a_damaged_chunk_are_known_from_the_summary() {
    let messages: Vec<Message> = (0..50).map(|number| (number % 2, number as u64, 3_000)).collect();
    let mut bytes = write_bag(&messages, Compression::None);
    let first = records(&bytes, 6)[0].clone();
    bytes[first.end - 1] ^= 1;
    let bag = read(&bytes);
    let names: Vec<&str> = bag.topics.iter().map(|topic| topic.name.as_str()).collect();
    assert_eq!((names, bag.messages.read, bag.messages.refused), (vec!["/topic0", "/topic1"], 43, 1));
    // Without their records in the summary nothing describes them.
    let summary = records(&bytes, 4);
    bytes.drain(summary[0].start..summary[1].end);
    let bag = read(&bytes);
    assert_eq!((bag.topics.len(), bag.messages.read, bag.messages.refused), (2, 43, 3));
    assert!(bag.topics[0].name.starts_with("(channel "), "{:?}", bag.topics[0].name);
}

#[test]
fn a_second_bag_is_read_and_rubbish_is_counted() {
    let [first, second] = [(0, 1_000, 10), (1, 2_000, 20)].map(|message| write_bag(&[message], Compression::Zstd));
    let bag = read(&[&first[..], &second].concat());
    let names: Vec<(&str, usize)> =
        bag.topics.iter().map(|topic| (topic.name.as_str(), topic.messages.len())).collect();
    assert_eq!((names, bag.bags, bag.messages.refused), (vec![("/topic0", 1), ("/topic1", 1)], 2, 0));
    let bag = read(&[&first[..], &[7; 1_000]].concat());
    assert_eq!((bag.messages.read, bag.messages.refused, bag.bags, bag.unread_bytes), (1, 1, 1, 1_000));
    assert!(bag.messages.first_refused[0].problem.contains("1000 bytes from there on are not read"), "{bag:?}");
    // A second bag that breaks off within its header.
    let bag = read(&[&first[..], &second[..20]].concat());
    assert_eq!((bag.messages.read, bag.messages.refused, bag.unread_bytes), (1, 1, 20));
    // A length that no record has hides all that is behind it.
    let broken = with_record(&first, 0x90, &[0; 100]);
    let at = broken.windows(9).position(|bytes| bytes == [0x90, 100, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    let mut broken = broken;
    broken[at + 6] = 1;
    let broken = [&second[..], &broken].concat();
    let bag = read(&broken);
    assert_eq!((bag.messages.read, bag.unread_bytes), (1, (broken.len() - second.len() - at) as u64));
}
