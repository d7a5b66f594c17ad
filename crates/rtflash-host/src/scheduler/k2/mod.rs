//! K2 (Park and Lee 2021; its source, TUD-OS/k2-scheduler) and K2-split (Koshiba et al.;
//! ertlnagoya/k2-split).
//!
//! A queue for each real-time level, the lowest number first, and one for the rest; each first in,
//! first out. There is no ageing. Nothing goes out while `max_inflight` commands are inside, of
//! whatever size and class.
//!
//! k2-ahead, ours, is K2-split that cuts as it hands over: into longer pieces, and with more of
//! them inside, where all of them end before a real-time request can be released.

mod ahead;

use std::collections::VecDeque;

use rtflash_model::Instant;

pub use ahead::{Ends, TimeBySize};

use self::ahead::Outlook;
use super::Scheduler;
use crate::command::LEVELS;
use crate::{Class, Command};

/// Bytes that K2-split's pieces are counted in, and the smallest piece.
const PAGE: u64 = 4 << 10;

/// Which requests K2-split cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Those of class idle, as its source has it.
    Idle,
    /// All that is not real-time, as the paper has it.
    Rest,
}

/// How real-time levels are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Levels {
    /// A queue for each of them, as the paper has it.
    #[default]
    Eight,
    /// One queue for all of them: what the published source comes to.
    One,
}

/// Parameters of K2 and K2-split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct K2Settings {
    /// Commands that may be inside, above zero.
    pub max_inflight: u32,
    /// Commands that may be inside and are not real-time; `None` for no bound of their own. Not in
    /// the papers: it keeps places for real-time requests.
    pub max_inflight_rest: Option<u32>,
    /// See [`Levels`].
    pub levels: Levels,
    /// Which requests are cut, and into what; `None` for K2.
    pub split: Option<Split>,
    /// For k2-ahead: commands that may be inside as long as all of them end before a real-time
    /// request can be released; `max_inflight` at least counts.
    pub max_inflight_ahead: Option<u32>,
}

/// How K2-split cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// See [`Cut`].
    pub cut: Cut,
    /// The longest piece, in bytes. A whole number of 4 KiB counts, one at least.
    pub max_sectors: u64,
    /// Whether only requests are cut that are whole multiples of a piece, as the source has it.
    pub multiples: bool,
}

impl K2Settings {
    /// K2's defaults: 32 inside.
    pub fn k2() -> K2Settings {
        K2Settings {
            max_inflight: 32,
            max_inflight_rest: None,
            levels: Levels::Eight,
            split: None,
            max_inflight_ahead: None,
        }
    }

    /// K2-split's defaults: one inside, pieces of 1,024 KiB; where idle requests are cut, only
    /// whole multiples.
    pub fn split(cut: Cut) -> K2Settings {
        let split = Split { cut, max_sectors: 1 << 20, multiples: cut == Cut::Idle };
        K2Settings { max_inflight: 1, split: Some(split), ..K2Settings::k2() }
    }

    /// k2-ahead's defaults: one inside, all that is not real-time cut into pieces of 4 KiB at
    /// least.
    pub fn ahead() -> K2Settings {
        let split = Split { cut: Cut::Rest, max_sectors: PAGE, multiples: false };
        K2Settings { max_inflight: 1, split: Some(split), max_inflight_ahead: Some(1), ..K2Settings::k2() }
    }
}

impl Split {
    /// The size of a piece, in bytes.
    pub fn piece(&self) -> u64 {
        (self.max_sectors / PAGE * PAGE).max(PAGE)
    }
}

/// K2, K2-split or k2-ahead.
#[derive(Debug)]
pub struct K2 {
    settings: K2Settings,
    /// By level.
    real_time: [VecDeque<Command>; LEVELS as usize],
    rest: VecDeque<Command>,
    /// Commands inside, and those of them that are not real-time.
    inside: u32,
    rest_inside: u32,
    outlook: Outlook,
}

impl K2 {
    /// With nothing in it.
    pub fn new(settings: K2Settings) -> K2 {
        K2 {
            settings,
            real_time: Default::default(),
            rest: VecDeque::new(),
            inside: 0,
            rest_inside: 0,
            outlook: Outlook::default(),
        }
    }

    /// The size of the pieces of a request.
    fn cut(&self, request: &Command) -> Option<u64> {
        let split = self.settings.split?;
        let cut = match split.cut {
            Cut::Idle => request.class == Class::Idle,
            Cut::Rest => !request.is_real_time(),
        };
        let piece = split.piece();
        let whole = request.size.is_multiple_of(piece);
        (cut && request.size > piece && (whole || !split.multiples)).then_some(piece)
    }

    /// The next request that is not real-time.
    fn ask_rest(&mut self, now: Instant) -> Option<Command> {
        if self.settings.max_inflight_rest.is_some_and(|max| self.rest_inside >= max) {
            return None;
        }
        let request = *self.rest.front()?;
        if self.outlook.ends.is_none() {
            return if self.inside < self.settings.max_inflight { self.rest.pop_front() } else { None };
        }
        let fits = self.outlook.fits(&request, self.inside, now);
        let min = if self.inside < self.settings.max_inflight {
            self.cut(&request).unwrap_or(request.size)
        } else if self.settings.max_inflight_ahead.is_some_and(|max| self.inside < max) {
            0
        } else {
            return None;
        };
        let size = fits.max(min).min(request.size);
        if size == 0 {
            return None;
        }
        let left = request.size - size;
        if left == 0 {
            return self.rest.pop_front();
        }
        *self.rest.front_mut()? = Command { from: request.from.saturating_add(size), size: left, ..request };
        Some(Command { size, ..request })
    }
}

impl Scheduler for K2 {
    fn piece(&self, request: &Command) -> Option<u64> {
        // With an outlook, requests are cut as they go out.
        self.outlook.ends.map_or_else(|| self.cut(request), |_| None)
    }

    fn insert(&mut self, command: Command, _: Instant) {
        let level = match self.settings.levels {
            Levels::Eight => command.level.min(LEVELS - 1),
            Levels::One => 0,
        };
        let queue = if command.is_real_time() { &mut self.real_time[usize::from(level)] } else { &mut self.rest };
        queue.push_back(command);
    }

    fn ask(&mut self, now: Instant) -> Option<Command> {
        let level = self.real_time.iter_mut().find(|queue| !queue.is_empty());
        let command = match level {
            Some(queue) if self.inside < self.settings.max_inflight => queue.pop_front()?,
            Some(_) => return None,
            None => self.ask_rest(now)?,
        };
        self.outlook.hand_over(&command, now);
        self.inside += 1;
        self.rest_inside += u32::from(!command.is_real_time());
        Some(command)
    }

    fn foretell(&mut self, ends: Ends) {
        if self.settings.max_inflight_ahead.is_some() {
            self.outlook.ends = Some(ends);
        }
    }

    fn looks_ahead(&self) -> bool {
        self.outlook.ends.is_some()
    }

    fn foresee(&mut self, earliest: Option<Instant>) {
        self.outlook.foresee(earliest);
    }

    fn merges(&self, _: &Command, _: &Command) -> bool {
        self.settings.split.is_none()
    }

    fn completed(&mut self, command: &Command, now: Instant) {
        self.inside = self.inside.saturating_sub(1);
        if self.inside == 0 {
            self.outlook.is_empty(now);
        }
        self.rest_inside = self.rest_inside.saturating_sub(u32::from(!command.is_real_time()));
    }
}
