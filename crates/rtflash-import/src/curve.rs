//! Arrival curves: how much comes at most in a window of some length.

use rtflash_model::{Span, capped};

use crate::block::TracedRequest;

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
}

/// The arrival curve of requests that are sorted by time, at windows of 1, 2, 4, 8, … ms, up to the
/// first one that holds all requests. Bytes above 2⁶⁴ − 1 are 2⁶⁴ − 1.
pub fn arrival_curve(requests: &[TracedRequest]) -> Vec<CurvePoint> {
    let Some((first, last)) = requests.first().zip(requests.last()) else { return Vec::new() };
    let mut curve = Vec::new();
    for power in 0.. {
        let Some(window) =
            1_000_000_u64.checked_shl(power).and_then(Span::from_ns).filter(|w| w.as_ns() >> power == 1_000_000)
        else {
            break;
        };
        curve.push(CurvePoint {
            window,
            read_bytes: most(requests, window.as_ns(), |request| if request.writes { 0 } else { request.bytes }),
            write_bytes: most(requests, window.as_ns(), |request| if request.writes { request.bytes } else { 0 }),
            bytes: most(requests, window.as_ns(), |request| request.bytes),
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
