//! The state of a run as bytes, so that another one that is made alike goes on from there.
//!
//! The state leaves out all that follows from the plan and the options: a run that goes on makes
//! everything anew, and then replaces what the run has changed.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A state on its way to a file.
pub struct State<'w> {
    to: Sink<'w>,
}

/// The target of a state, and the error that it met.
struct Sink<'w> {
    to: &'w mut dyn Write,
    failure: Option<io::Error>,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes).map_err(|error| {
            let kind = error.kind();
            // A writer of values passes no reasons on.
            self.failure = Some(error);
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<'w> State<'w> {
    /// A state that is written to `to`, in many small pieces.
    pub fn to(to: &'w mut dyn Write) -> State<'w> {
        State { to: Sink { to, failure: None } }
    }

    /// Adds a value.
    pub fn put(&mut self, value: &(impl Serialize + ?Sized)) {
        // Behind a failure there is nothing to be added.
        if self.to.failure.is_none() && postcard::to_io(value, &mut self.to).is_err() {
            self.to.failure.get_or_insert_with(|| io::Error::other("the state of the run cannot be written"));
        }
    }

    /// No more follows. Returns the error of the first write that failed.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.failure.take().map_or(Ok(()), Err)?;
        self.to.flush()
    }
}

/// The bytes are not the state of a run that is made like this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not the state of such a run")]
pub struct NoState;

/// The rest of a state that is read.
pub struct Rest<'r>(&'r mut dyn Read);

impl<'r> Rest<'r> {
    /// The rest of this reader, which is asked for single bytes.
    pub fn of(from: &'r mut dyn Read) -> Rest<'r> {
        Rest(from)
    }

    /// The next value, unless the next bytes are none.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, NoState> {
        // Room for texts, of which a state has none.
        postcard::from_io((&mut *self.0, &mut [])).map(|(value, _)| value).map_err(|_| NoState)
    }
}

/// A type with a state that a run changes.
pub trait Resume {
    /// Adds the state.
    fn save(&self, state: &mut State<'_>);

    /// The value was made like this one. It is useless after an error.
    fn restore(&mut self, rest: &mut Rest<'_>) -> Result<(), NoState>;
}

impl<A: Resume, B: Resume> Resume for (A, B) {
    fn save(&self, state: &mut State<'_>) {
        self.0.save(state);
        self.1.save(state);
    }

    fn restore(&mut self, rest: &mut Rest<'_>) -> Result<(), NoState> {
        self.0.restore(rest)?;
        self.1.restore(rest)
    }
}

impl<T: Serialize + DeserializeOwned> Resume for Vec<T> {
    fn save(&self, state: &mut State<'_>) {
        state.put(self);
    }

    fn restore(&mut self, rest: &mut Rest<'_>) -> Result<(), NoState> {
        *self = rest.take()?;
        Ok(())
    }
}

/// [`Resume`] for a type. Every field is named: as a value, a part with a state of its own, a list
/// of such parts (as long in both), or one that is made from plan and options, or is empty between
/// two instants.
#[doc(hidden)]
#[macro_export]
macro_rules! resume_of_fields {
    (
        [$($generics:tt)*] $of:ty {
            values: [$($value:ident),*],
            parts: [$($part:ident),*],
            lists: [$($list:ident),*],
            made: [$($made:ident),*] $(,)?
        }
    ) => {
        impl<$($generics)*> $crate::resume::Resume for $of {
            fn save(&self, state: &mut $crate::resume::State<'_>) {
                let Self { $($value,)* $($part,)* $($list,)* $($made: _,)* } = self;
                $(state.put($value);)*
                $($crate::resume::Resume::save($part, state);)*
                $($list.iter().for_each(|one| $crate::resume::Resume::save(one, state));)*
            }

            #[allow(unused_variables)]
            fn restore(&mut self, rest: &mut $crate::resume::Rest<'_>) -> Result<(), $crate::resume::NoState> {
                let Self { $($value,)* $($part,)* $($list,)* $($made: _,)* } = self;
                $(*$value = rest.take()?;)*
                $($crate::resume::Resume::restore($part, rest)?;)*
                $($list.iter_mut().try_for_each(|one| $crate::resume::Resume::restore(one, rest))?;)*
                Ok(())
            }
        }
    };
}

pub use resume_of_fields as resume;
