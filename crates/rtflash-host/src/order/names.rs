//! The names of requests and their pieces.

use std::borrow::Cow;
use std::collections::HashMap;

/// A request that has been inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InsertedRequest {
    name: String,
    /// The number of its first piece, or its own.
    first: u64,
    /// Its pieces; `None` where it is not cut.
    pieces: Option<u64>,
}

/// The names of requests, and of pieces: `a.0`, `a.1`, … of a request `a` that is cut. Commands are
/// numbered in the order in which they are inserted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// In order of their numbers.
    requests: Vec<InsertedRequest>,
    /// The position of each.
    positions: HashMap<String, usize>,
    /// For a name that reads as a piece of this request: the requests that have it.
    dotted: HashMap<String, Vec<u64>>,
    commands: u64,
}

/// The request and the number in the name of a piece.
fn piece(name: &str) -> Option<(&str, u64)> {
    let (request, number) = name.rsplit_once('.')?;
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (number == "0" || !number.starts_with('0'));
    Some((request, number.parse().ok().filter(|_| plain)?))
}

impl Names {
    /// Commands so far.
    pub(super) fn commands(&self) -> u64 {
        self.commands
    }

    /// Inserts a request, in `pieces` pieces if it is cut, and returns the number of its first
    /// command; `None` if another command already has its name or the name of a piece.
    pub(super) fn insert(&mut self, name: &str, pieces: Option<u64>) -> Option<u64> {
        let like_others = pieces.is_some_and(|pieces| {
            self.dotted.get(name).is_some_and(|numbers| numbers.iter().any(|&number| number < pieces))
        });
        if self.positions.contains_key(name) || self.find(name).is_some() || like_others {
            return None;
        }
        if let Some((request, number)) = piece(name) {
            self.dotted.entry(request.to_owned()).or_default().push(number);
        }
        let first = self.commands;
        self.positions.insert(name.to_owned(), self.requests.len());
        self.requests.push(InsertedRequest { name: name.to_owned(), first, pieces });
        self.commands += pieces.unwrap_or(1);
        Some(first)
    }

    /// The number of a command by its name.
    pub(super) fn find(&self, name: &str) -> Option<u64> {
        let request = |name: &str| self.positions.get(name).and_then(|&position| self.requests.get(position));
        if let Some(InsertedRequest { first, pieces: None, .. }) = request(name) {
            return Some(*first);
        }
        let (of, number) = piece(name)?;
        let InsertedRequest { first, pieces, .. } = request(of)?;
        (number < (*pieces)?).then(|| first + number)
    }

    /// Whether a request of this name is cut.
    pub(super) fn is_cut(&self, name: &str) -> bool {
        let position = self.positions.get(name);
        position.and_then(|&position| self.requests.get(position)).is_some_and(|request| request.pieces.is_some())
    }

    /// The name of a command, by its [`id`](crate::Command::id); empty where there is none.
    pub fn of(&self, id: u64) -> Cow<'_, str> {
        let behind = self.requests.partition_point(|request| request.first <= id);
        match behind.checked_sub(1).and_then(|at| self.requests.get(at)).filter(|_| id < self.commands) {
            None => Cow::Borrowed(""),
            Some(InsertedRequest { name, pieces: None, .. }) => Cow::Borrowed(name),
            Some(InsertedRequest { name, first, .. }) => Cow::Owned(format!("{name}.{}", id - first)),
        }
    }
}
