//! Scripts in JSON.

use std::collections::HashMap;

use rtflash_model::reading::{Place, Reader, quote};
use rtflash_model::{Diagnostics, Instant};

use super::{Event, Names, Script, Step};
use crate::file::{ObjectField, bytes_above_zero, class, level, op, scheduler};
use crate::scheduler::{Scheduler, SchedulerSettings};
use crate::{Class, Command, Op};

const A_SCRIPT: &str = "a script: an object with `scheduler` and `script`";

/// Reads a script.
///
/// # Errors
/// All that is wrong with it.
pub fn read_script(text: &str) -> Result<Script, Diagnostics> {
    let (mut reader, root) = Reader::open(text, A_SCRIPT)?;
    let script = script(&mut reader, root);
    match script {
        Some(script) if reader.faults() == 0 => Ok(script),
        _ => Err(reader.into_diagnostics()),
    }
}

fn script<'t>(reader: &mut Reader<'t>, root: &'t str) -> Option<Script> {
    let place = Place::Root;
    let mut fields = ObjectField::open(reader, root, &place, ["scheduler", "script"])?;
    let settings = fields.required(root, "scheduler", "a scheduler's name, or an object with it", scheduler);
    let mut writer = StepList::new(settings);
    fields.required(root, "script", "an array of steps", |reader, raw, place| {
        reader
            .list(raw, place, "an array of steps", |reader, raw, place| {
                // Steps beyond the limit of reported faults are dropped.
                if !reader.is_hopeless() {
                    writer.step(reader, raw, place);
                }
            })
            .then_some(())
    });
    Some(Script { scheduler: settings?, steps: writer.steps, names: writer.names })
}

/// The steps so far.
struct StepList {
    scheduler: Box<dyn Scheduler>,
    /// Whether this is the script's, so that it is known what is cut.
    known: bool,
    now: Instant,
    steps: Vec<Step>,
    names: Names,
    jobs: HashMap<String, u32>,
}

impl StepList {
    fn new(settings: Option<SchedulerSettings>) -> StepList {
        StepList {
            scheduler: settings.unwrap_or(SchedulerSettings::None).scheduler(),
            known: settings.is_some(),
            now: Instant::START,
            steps: Vec::new(),
            names: Names::default(),
            jobs: HashMap::new(),
        }
    }

    fn step<'t>(&mut self, reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) {
        let Some(mut fields) = ObjectField::open(reader, raw, place, ["at", "insert", "ask", "complete"]) else {
            return;
        };
        let now = self.now;
        let at = fields.required(raw, "at", "when, such as \"2ms\"", |reader, raw, place| {
            let at = Instant::from_ns(reader.time(raw, place)?.as_ns())?;
            if at < now {
                let problem = format!("{} is before the step before, at {now}", place.subject());
                reader.refuse(raw, place, problem, "steps in the order of their times");
            }
            Some(at)
        });
        self.now = at.unwrap_or(now).max(now);
        let given: Vec<&str> = ["insert", "ask", "complete"].into_iter().filter(|name| fields.has(name)).collect();
        if given.len() != 1 {
            let problem =
                if given.is_empty() { "a step in which nothing happens" } else { "a step with several things" };
            reader.refuse(raw, place, problem, "exactly one of `insert`, `ask` and `complete`");
            return;
        }
        let insert = fields.or("insert", None, |reader, raw, place| {
            let mut commands = Vec::new();
            let is_list = reader.list(raw, place, "an array of requests", |reader, raw, place| {
                if !reader.is_hopeless() {
                    self.request(reader, raw, place, &mut commands);
                }
            });
            is_list.then_some(Some(Event::Insert(commands)))
        });
        let ask = fields.or("ask", None, |reader, raw, place| Some(reader.whole(raw, place, u64::MAX).map(Event::Ask)));
        let complete = fields.or("complete", None, |reader, raw, place| {
            let mut ended = Vec::new();
            let is_list = reader.list(raw, place, "an array of ids", |reader, raw, place| {
                if !reader.is_hopeless() {
                    ended.extend(self.named(reader, raw, place));
                }
            });
            is_list.then_some(Some(Event::Complete(ended)))
        });
        if let Some(event) = insert.or(ask).or(complete) {
            self.steps.push(Step { at: self.now, event });
        }
    }

    /// A request or piece that has been inserted.
    fn named<'t>(
        &self,
        reader: &mut Reader<'t>,
        raw: &'t str,
        place: &Place<'_>,
    ) -> Option<(u64, std::ops::Range<usize>)> {
        let name = reader.string(raw, place, "the id of a request or piece, in a string")?;
        match self.names.find(&name) {
            Some(id) => Some((id, reader.range(raw))),
            None if !self.known => None,
            None => {
                let expected = if self.names.is_cut(&name) {
                    "its pieces, each by its own id".to_owned()
                } else {
                    "a request or piece that has been inserted before".to_owned()
                };
                reader.refuse(raw, place, format!("nothing is called {}", quote(&name)), expected);
                None
            }
        }
    }

    fn request<'t>(&mut self, reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, commands: &mut Vec<Command>) {
        let names = ["id", "op", "from", "size", "class", "level", "cpu", "job", "user_centric"];
        let Some(mut fields) = ObjectField::open(reader, raw, place, names) else { return };
        let id = fields.required(raw, "id", "a string that tells it from the others", |reader, raw, place| {
            let name = reader.string(raw, place, "a string that tells it from the others")?;
            Some((name, raw))
        });
        let kind = fields.required(raw, "op", "`read` or `write`, in a string", op);
        let from = fields.or("from", 0, |reader, raw, place| reader.bytes(raw, place));
        let size = fields.required(raw, "size", "bytes with their unit, such as \"4KiB\"", bytes_above_zero);
        let class = fields.or("class", Class::default(), class);
        let level = fields.or("level", 4, level);
        let cpu = fields.or("cpu", 0, Reader::whole_u32);
        // Requests of one job are alike in where they come from, if nothing else is said.
        let job = fields.or("job", format!("\0{cpu} {} {level}", class.name()), |reader, raw, place| {
            reader.string(raw, place, "whose it is, in a string")
        });
        let user_centric = fields.or("user_centric", false, |reader, raw, place| reader.truth(raw, place));
        let (Some((name, named)), Some(size)) = (id, size) else { return };
        if from.checked_add(size).is_none() {
            let problem = "it ends beyond 2^64 bytes";
            reader.refuse(raw, place, problem, "`from` and `size` that stay below together");
            return;
        }
        let jobs = u32::try_from(self.jobs.len()).expect("a job takes more than a byte of a file below 4 GiB");
        let job = *self.jobs.entry(job).or_insert(jobs);
        let op = kind.unwrap_or(Op::Read);
        let request = Command { id: 0, op, from, size, class, level, cpu, job, user_centric };
        let piece = self.scheduler.piece(&request);
        let pieces = piece.map_or(1, |piece| size.div_ceil(piece));
        if pieces > MAX_COMMANDS.saturating_sub(self.names.commands()) {
            let problem = format!("{} is cut into {pieces} pieces", quote(&name));
            reader.refuse(raw, place, problem, format!("at most {MAX_COMMANDS} requests and pieces in all"));
            return;
        }
        let Some(first) = self.names.insert(&name, piece.map(|_| pieces)) else {
            let problem = format!("a second request or piece is called {}", quote(&name));
            reader.refuse(named, &place.key("id"), problem, "an id of its own for each");
            return;
        };
        let piece = piece.unwrap_or(size);
        commands.extend((0..pieces).map(|number| {
            let before = number * piece;
            Command { id: first + number, from: from + before, size: piece.min(size - before), ..request }
        }));
    }
}

/// Requests and pieces that a script may have.
const MAX_COMMANDS: u64 = 1 << 22;
