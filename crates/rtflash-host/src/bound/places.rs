//! Tags that jobs can want at a time.

use super::Why;
use super::view::Loops;

/// Tags that jobs together can want; `None` for more than can be counted.
fn wanted<'a>(mut loops: impl Iterator<Item = &'a Loops>) -> Option<u64> {
    loops.try_fold(0_u64, |sum, of| sum.checked_add(of.tags.checked_mul(of.pending)?))
}

/// Why a real-time request can wait for one of `tags` tags, if one can.
pub(super) fn short(loops: &[Loops], tags: u32) -> Option<Why> {
    let all = wanted(loops.iter());
    // Requests without a limit can hold the tags of the others.
    let limit = loops.iter().filter(|of| of.is_real_time).filter_map(|of| of.limit).min();
    if let Some(limit) = limit.filter(|&limit| all.is_none_or(|all| all > limit.into())) {
        return Some(Why::Limited { wanted: all, limit });
    }
    let limited = |is_limited: bool| loops.iter().filter(move |of| of.limit.is_some() == is_limited);
    let most = limited(true).filter_map(|of| of.limit).max();
    let held = most.map_or(0, |most| wanted(limited(true)).map_or(most.into(), |wanted| wanted.min(most.into())));
    let wanted = wanted(limited(false)).and_then(|wanted| wanted.checked_add(held));
    wanted.is_none_or(|wanted| wanted > tags.into()).then_some(Why::Tags { wanted, there: tags })
}
