//! The order in which jobs get their bounds, as what is known of some helps others.

use super::response::ResponseWork;
use super::view::Loops;
use super::{BoundPass, Found, Why, chain, deadline, one_of, why_of};
use crate::run::Scenario;
use crate::scheduler::{MqDeadlineSettings, SchedulerSettings};

/// Bounds of one pass shorten the windows of the next one.
const PASSES: u32 = 4;

/// The bound of each job, or why it has none. The more urgent ones come first, as theirs are terms
/// of the others.
pub(super) fn all(scenario: &Scenario, loops: &[Loops], work: &ResponseWork) -> Vec<Found> {
    if let SchedulerSettings::MqDeadline(settings) = scenario.scheduler {
        return by_position(scenario, settings, loops, work);
    }
    let mut found: Vec<Found> = vec![Err(Why::Work); loops.len()];
    let mut order: Vec<usize> = (0..loops.len()).collect();
    order.sort_by_key(|&job| loops[job].queue);
    for job in order {
        let pass = BoundPass { scenario, loops, found: &found, work };
        let next = match loops[job].chain {
            None => one_of(&pass, job, &loops[job]),
            Some(_) => chain::whole(&pass, job),
        };
        found[job] = next.map_err(|limit| why_of(scenario, limit));
    }
    found
}

/// The terms of each job, or why it has none. For lower classes they are the time for which
/// requests pile up.
fn by_position(scenario: &Scenario, settings: MqDeadlineSettings, loops: &[Loops], work: &ResponseWork) -> Vec<Found> {
    let mut found: Vec<Found> = vec![Err(Why::Work); loops.len()];
    for _ in 0..PASSES {
        for job in 0..loops.len() {
            // A device that is not asked at each end idles while lower classes wait: no time is
            // known for these.
            if loops[job].is_real_time || scenario.device.attach().asks_at_ends() {
                let pass = BoundPass { scenario, loops, found: &found, work };
                let next = match loops[job].chain {
                    None => deadline::one(&pass, settings, job, &loops[job]),
                    Some(_) => chain::whole(&pass, job),
                };
                if next.is_ok() || found[job].is_err() {
                    found[job] = next.map_err(|limit| why_of(scenario, limit));
                }
            }
        }
    }
    found
}
