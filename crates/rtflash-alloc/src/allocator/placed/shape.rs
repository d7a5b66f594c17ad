//! Clusters before they have chips: how many, and how pages are placed on them.

use std::cell::Cell;

use rtflash_model::{Access, Placement, Task, TaskSet};

use crate::sound::{Bus, Choice, Contention, Demand, Unit, choose};

/// A cluster's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) chips: u32,
    pub(super) form: Form,
}

/// What a cluster asks of its chips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Any chips.
    Stripe,
    /// Whole channels, or an aligned part of one.
    Compact,
    /// A superblock on any chips.
    Superblock,
}

pub(super) const FORMS: [Form; 3] = [Form::Stripe, Form::Compact, Form::Superblock];

impl Form {
    pub(super) fn placement(self) -> Placement {
        match self {
            Form::Stripe => Placement::Stripe,
            Form::Compact | Form::Superblock => Placement::Superblock,
        }
    }
}

/// How much of the waiting for the bus is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// All that there can be.
    Full,
    /// In stripes, that many transfers a page, its own included: to be confirmed once chips are placed.
    Hoped(u32),
    /// In stripes, as if all chips of a channel were the cluster's: likewise.
    Queue,
    /// None at all, wherever the chips are: what does not hold so holds nowhere.
    Nowhere,
}

/// Tests of task subsets against shapes.
pub(super) struct Shapes<'a> {
    set: &'a TaskSet,
    /// The forms that the analysis has.
    forms: Vec<Form>,
    /// Sizes of compact clusters within a channel, each a divisor of the next, so that they always pack.
    chain: Vec<u32>,
    waiting: Waiting,
    /// The largest cluster, where that is not the device.
    largest: Option<u32>,
    /// Tests that were given up.
    given_up: Cell<u32>,
}

/// Tests given up after which no more are begun: each of them takes long.
const GIVEN_UP: u32 = 8;

impl<'a> Shapes<'a> {
    pub(super) fn new(set: &'a TaskSet, placements: &[Placement], waiting: Waiting) -> Shapes<'a> {
        let forms = FORMS.into_iter().filter(|form| placements.contains(&form.placement())).collect();
        let ways = set.device().chips_per_channel().min(set.device().chips());
        Shapes { set, forms, chain: chain(ways), waiting, largest: None, given_up: Cell::new(0) }
    }

    /// The same with clusters of one chip only, if so.
    pub(super) fn of_one_chip(self, so: bool) -> Shapes<'a> {
        Shapes { largest: so.then_some(1), ..self }
    }

    pub(super) fn set(&self) -> &'a TaskSet {
        self.set
    }

    pub(super) fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// Whether a test was given up, so that a no is none.
    pub(super) fn given_up(&self) -> bool {
        self.given_up.get() > 0
    }

    fn tasks<'t>(&self, tasks: &'t [usize]) -> impl Iterator<Item = &'a Task> + Clone + use<'a, 't> {
        let all = self.set.tasks();
        tasks.iter().filter_map(move |&task| all.get(task))
    }

    /// The long-run load of a unit if these tasks hold in a cluster of this shape.
    pub(super) fn load(&self, tasks: &[usize], shape: Shape) -> Option<f64> {
        if self.given_up.get() >= GIVEN_UP {
            return None;
        }
        let device = self.set.device();
        let placement = shape.form.placement();
        if !self.set.space(tasks, shape.chips, Some(placement)).fits() {
            return None;
        }
        let bus = match (shape.form, self.waiting) {
            (_, Waiting::Nowhere) => Bus::alone(),
            (Form::Stripe, Waiting::Hoped(ways)) => Bus { ways, ..Bus::anywhere(device) },
            (Form::Compact, _) => Bus::compact(device, shape.chips),
            _ => Bus::anywhere(device),
        };
        let unit = Unit::new(device, self.tasks(tasks), shape.chips, placement, bus)?;
        let others = match (shape.form, self.waiting) {
            (Form::Stripe, Waiting::Queue) => Contention::new(device).in_a_queue(device, u64::from(bus.ways) - 1),
            _ => Contention::none(),
        };
        match choose(&unit, std::slice::from_ref(&others), 0) {
            Choice::Holds(gc) => Some(Demand::new(&unit, &others, gc, 0).load()),
            Choice::Fails => None,
            Choice::TooLong => {
                self.given_up.set(self.given_up.get() + 1);
                None
            }
        }
    }

    /// The smallest cluster of this form, of `least` to `most` chips, in which these tasks hold, and the load there.
    pub(super) fn smallest(&self, tasks: &[usize], form: Form, least: u32, most: u32) -> Option<(Shape, f64)> {
        let requests = self.tasks(tasks).flat_map(|task| [task.read, task.write]).flatten();
        // Beyond this size a cluster's chips have no less to do each.
        let widest = match form {
            Form::Stripe => {
                let spread = requests.filter(|request| request.access() == Access::Sequential);
                let pages = spread.map(|request| request.pages()).max().unwrap_or(1);
                let data = self.tasks(tasks).map(|task| task.data_pages.unwrap_or(1)).max().unwrap_or(1);
                u32::try_from(pages.max(data)).unwrap_or(u32::MAX)
            }
            Form::Compact | Form::Superblock => most,
        };
        let most = self.largest.map_or(most, |largest| most.min(largest));
        let mut chips = least.max(1);
        while chips <= most.min(widest.max(1)) {
            let size = match form {
                // One chip is a stripe of one, which copies inside the chip.
                Form::Superblock if chips == 1 && self.forms.contains(&Form::Stripe) => 2,
                Form::Compact if self.waiting != Waiting::Nowhere => self.next_compact(chips),
                _ => chips,
            };
            if size > most {
                return None;
            }
            let shape = Shape { chips: size, form };
            if let Some(load) = self.load(tasks, shape) {
                return Some((shape, load));
            }
            chips = size + 1;
        }
        None
    }

    /// The cluster of this form on so many free chips, or fewer where the form cannot have as many; `None` where it cannot have so few.
    pub(super) fn on_chips(&self, form: Form, chips: u32) -> Option<Shape> {
        let chips = self.largest.map_or(chips, |largest| chips.min(largest));
        let chips = match form {
            Form::Superblock if chips == 1 && self.forms.contains(&Form::Stripe) => return None,
            Form::Compact if self.waiting != Waiting::Nowhere => {
                let whole = self.chain.last().copied().unwrap_or(1);
                let within = self.chain.iter().copied().rfind(|&size| size <= chips);
                if chips >= whole { chips - chips % whole } else { within? }
            }
            _ => chips,
        };
        (chips > 0).then_some(Shape { chips, form })
    }

    /// The smallest size of a compact cluster from here on.
    fn next_compact(&self, chips: u32) -> u32 {
        let whole = self.chain.last().copied().unwrap_or(1);
        let within = self.chain.iter().copied().find(|&size| size >= chips);
        within.unwrap_or_else(|| chips.div_ceil(whole).saturating_mul(whole))
    }
}

/// 1, and each time the smallest prime factor more, up to `ways`.
fn chain(ways: u32) -> Vec<u32> {
    let mut sizes = vec![1];
    let mut at = 1;
    while at < ways {
        let rest = ways / at;
        let factor = (2..=rest).find(|factor| rest.is_multiple_of(*factor)).unwrap_or(rest);
        at *= factor;
        sizes.push(at);
    }
    sizes
}
