//! Files of the host side, read with the places of all that is wrong.

mod scheduler;

use rtflash_model::Span;
use rtflash_model::reading::{Place, Reader, Slot};

pub(crate) use scheduler::scheduler;

use crate::{Class, Op};

/// A field of an object that is being read.
pub(crate) struct ObjectField<'r, 't, 'p, const N: usize> {
    reader: &'r mut Reader<'t>,
    place: &'p Place<'p>,
    names: [&'static str; N],
    slots: [Slot<'t>; N],
}

impl<'r, 't, 'p, const N: usize> ObjectField<'r, 't, 'p, N> {
    /// The known fields of an object; `None` where it is none, which has been recorded.
    pub(crate) fn open(
        reader: &'r mut Reader<'t>,
        raw: &'t str,
        place: &'p Place<'p>,
        names: [&'static str; N],
    ) -> Option<ObjectField<'r, 't, 'p, N>> {
        let slots = reader.object(raw, place, &names)?;
        Some(ObjectField { reader, place, names, slots })
    }

    /// The text of a field, null being as good as absent.
    fn slot(&self, name: &str) -> Slot<'t> {
        self.names.iter().position(|known| *known == name).map_or(Slot::Absent, |at| self.slots[at].or_null())
    }

    /// Whether a field is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.slot(name) != Slot::Absent
    }

    /// A field that may be left out: the default where it is, or where what is wrong with it has
    /// been recorded.
    pub(crate) fn or<T>(
        &mut self,
        name: &'static str,
        default: T,
        read: impl FnOnce(&mut Reader<'t>, &'t str, &Place<'_>) -> Option<T>,
    ) -> T {
        match self.slot(name).given() {
            Some(raw) => read(self.reader, raw, &self.place.key(name)).unwrap_or(default),
            None => default,
        }
    }

    /// A field that may be left out: `None` where it is, or where what is wrong with it has been
    /// recorded.
    pub(crate) fn maybe<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Reader<'t>, &'t str, &Place<'_>) -> Option<T>,
    ) -> Option<T> {
        self.or(name, None, |reader, raw, place| read(reader, raw, place).map(Some))
    }

    /// A field that has to be there, in the object `raw`.
    pub(crate) fn required<T>(
        &mut self,
        raw: &str,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&mut Reader<'t>, &'t str, &Place<'_>) -> Option<T>,
    ) -> Option<T> {
        let value = self.reader.required(self.slot(name), raw, self.place, name, expected)?;
        read(self.reader, value, &self.place.key(name))
    }
}

/// Whole numbers of 32 bits from 1 on.
pub(crate) fn above_zero(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<u32> {
    let number = reader.whole_u32(raw, place)?;
    if number == 0 {
        reader.refuse(raw, place, format!("{} is zero", place.subject()), "a whole number from 1 up");
    }
    (number > 0).then_some(number)
}

/// Bytes above zero.
pub(crate) fn bytes_above_zero(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<u64> {
    let bytes = reader.bytes(raw, place)?;
    if bytes == 0 {
        reader.refuse(raw, place, format!("{} is zero", place.subject()), "bytes above zero, such as \"4KiB\"");
    }
    (bytes > 0).then_some(bytes)
}

/// A time above zero.
pub(crate) fn time_above_zero(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<Span> {
    let time = reader.time(raw, place)?;
    if time == Span::ZERO {
        reader.refuse(raw, place, format!("{} is zero", place.subject()), "a time above zero, such as \"2ms\"");
    }
    (time > Span::ZERO).then_some(time)
}

/// The operation of a request.
pub(crate) fn op<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Op> {
    reader.choice(raw, place, "operation", &Op::ALL.map(Op::name)).map(|at| Op::ALL[at])
}

/// A priority class.
pub(crate) fn class<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Class> {
    reader.choice(raw, place, "class", &Class::ALL.map(Class::name)).map(|at| Class::ALL[at])
}

/// A level in a class.
pub(crate) fn level(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<u8> {
    reader.whole(raw, place, 7).and_then(|level| u8::try_from(level).ok())
}
