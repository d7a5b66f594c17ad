//! Intervals in which more is released and due than all buses, or all chips, can do.

use rtflash_model::{Request, Span, TaskId, capped};

use super::{FullWindow, Impossible, NecessaryTests};

/// Lengths looked at, times requests: with more there is no proof.
const MAX_WORK: usize = 1_000_000;

/// A request: its work, its period, and d.
struct Item {
    cost: u128,
    period: u64,
    window: u64,
}

impl NecessaryTests<'_> {
    /// Eq. (59): for the buses, and for the chips. If no d is below its period, the loads say it.
    pub(super) fn window(&self) -> Option<Impossible> {
        if self.requests().all(|(_, request, _)| request.has_a_whole_period()) {
            return None;
        }
        let device = self.device;
        let hold = u128::from(device.bus_hold().as_ns());
        let items = |cost: &dyn Fn(bool) -> u128| -> Vec<Item> {
            let item = |(_, request, writes): (TaskId, Request, bool)| Item {
                cost: u128::from(request.pages()) * cost(writes),
                period: request.period().as_ns(),
                window: request.window().as_ns(),
            };
            self.requests().map(item).collect()
        };
        let buses = items(&|_| hold);
        let chips = items(&|writes| self.page(writes).as_ns().into());
        let full = |bus, items: &[Item], servers: u32| {
            let (interval, demand_ns) = overfull(items, servers.into())?;
            let interval = Span::from_ns(interval)?;
            Some(Impossible::Window(FullWindow { bus, interval, demand_ns, servers }))
        };
        full(true, &buses, device.channels()).or_else(|| full(false, &chips, device.chips()))
    }
}

/// A length L with a demand above `servers`·L, by QPA, which needs nondecreasing demand alone
/// (Lemma 5).
fn overfull(items: &[Item], servers: u128) -> Option<(u64, u128)> {
    let demand = |length: u64| -> u128 {
        let jobs = |item: &Item| length.checked_sub(item.window).map_or(0, |rest| rest / item.period + 1);
        items.iter().map(|item| item.cost.saturating_mul(jobs(item).into())).fold(0, u128::saturating_add)
    };
    let shortest = items.iter().map(|item| item.window).min()?;
    let mut length = last_length(items, servers)?;
    for _ in 0..MAX_WORK / items.len().max(1) {
        if length < shortest {
            break;
        }
        let needed = demand(length);
        let time = capped(needed.div_ceil(servers));
        if time > length {
            // As much is due by the last deadline before it.
            let last = |item: &Item| Some(length - length.checked_sub(item.window)? % item.period);
            return Some((items.iter().filter_map(last).max().unwrap_or(length), needed));
        }
        length = time.min(length - 1);
    }
    None
}

/// A length beyond which the demand is not above. In doubles, and twice as long as need be.
fn last_length(items: &[Item], servers: u128) -> Option<u64> {
    let load: f64 = items.iter().map(|item| item.cost as f64 / item.period as f64).sum();
    let early: f64 = items.iter().map(|item| item.cost as f64 * (1.0 - item.window as f64 / item.period as f64)).sum();
    let longest = items.iter().map(|item| item.window).max()?;
    let room = servers as f64 - load;
    // At a load of one the loads' own test has had its say.
    let last = if room > 0.0 { 2.0 * early / room } else { 0.0 };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Not negative, and saturates.
    let last = last.min((1u64 << 53) as f64) as u64;
    Some(longest.max(last))
}
