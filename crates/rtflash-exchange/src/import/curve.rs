//! Arrival curves: how much comes at most in a window of some length.

use rtflash_model::{Span, capped};

use crate::import::block::TracedRequest;
use crate::import::jobs::pages_touched;

/// The most that comes in any window of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurvePoint {
    /// The window's length w: requests that come at t or later and before t + w are in it.
    pub window: Span,
    /// The most bytes that are read in any such window.
    pub read_bytes: u64,
    /// The most bytes that are written in any such window.
    pub write_bytes: u64,
    /// The most bytes of both; no more than their sum, perhaps less.
    pub bytes: u64,
    /// The most pages that are read in any such window: those that the requests touch, each
    /// request's counted anew.
    pub read_pages: u64,
    /// The most pages that are written in any such window.
    pub write_pages: u64,
    /// The most pages of both.
    pub pages: u64,
}

/// The arrival curve of requests that are sorted by time, for pages of this many bytes, at windows
/// of 1, 2, 4, 8, … ms, up to the first one that holds all requests. Sums above 2⁶⁴ − 1 are
/// 2⁶⁴ − 1.
///
/// # Panics
/// If a page has no bytes.
pub fn arrival_curve(requests: &[TracedRequest], page_size: u32) -> Vec<CurvePoint> {
    let Some((first, last)) = requests.first().zip(requests.last()) else { return Vec::new() };
    let bytes = |request: &TracedRequest| request.bytes;
    let pages = |request: &TracedRequest| pages_touched(request, page_size);
    let mut curve = Vec::new();
    for power in 0.. {
        let Some(window) =
            1_000_000_u64.checked_shl(power).and_then(Span::from_ns).filter(|w| w.as_ns() >> power == 1_000_000)
        else {
            break;
        };
        let of = |writes, amount: &dyn Fn(&TracedRequest) -> u64| {
            most(requests, window.as_ns(), |request| if request.writes == writes { amount(request) } else { 0 })
        };
        curve.push(CurvePoint {
            window,
            read_bytes: of(false, &bytes),
            write_bytes: of(true, &bytes),
            bytes: most(requests, window.as_ns(), bytes),
            read_pages: of(false, &pages),
            write_pages: of(true, &pages),
            pages: most(requests, window.as_ns(), pages),
        });
        if last.at - first.at < window.as_ns() {
            break;
        }
    }
    curve
}

/// The greatest sum of weights in any window of this many ns.
fn most(requests: &[TracedRequest], window: u64, weight: impl Fn(&TracedRequest) -> u64) -> u64 {
    let times = requests.iter().map(|request| (request.at, weight(request)));
    most_in_window(times, requests.iter().map(|request| (request.at, weight(request))), window).0
}

/// The greatest sum of weights in any window of this many ns, at most 2⁶⁴ − 1, and when the first
/// such window begins. Both iterators give the same times, in order, with their weights.
pub(crate) fn most_in_window(
    ends: impl Iterator<Item = (u64, u64)>,
    mut begins: impl Iterator<Item = (u64, u64)>,
    window: u64,
) -> (u64, u64) {
    let (mut sum, mut most, mut begin) = (0_u128, (0_u128, 0), begins.next());
    for (at, weight) in ends {
        sum += u128::from(weight);
        while let Some((first, leaving)) = begin {
            if at - first < window {
                break;
            }
            sum -= u128::from(leaving);
            begin = begins.next();
        }
        if sum > most.0 {
            most = (sum, begin.map_or(at, |(first, _)| first));
        }
    }
    (capped(most.0), most.1)
}
