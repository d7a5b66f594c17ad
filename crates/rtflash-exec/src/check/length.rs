//! How long operations may take.

use rtflash_model::{Instant, Span};

/// What an operation may take: as long as the device says, which may know no more than two bounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub(super) min: Span,
    pub(super) max: Span,
}

impl Length {
    /// No time at all.
    pub(super) const NONE: Length = Length { min: Span::ZERO, max: Span::ZERO };

    /// Up to a span, and shorter by so much.
    pub(super) fn within(max: Span, shorter: Span) -> Length {
        Length { min: max.saturating_sub(shorter), max }
    }

    /// Whether a span is within.
    #[inline(always)]
    pub(super) fn has(self, span: Span) -> bool {
        self.min <= span && span <= self.max
    }

    /// Whether the time from then until then is within, and not less than none.
    #[inline(always)]
    pub(super) fn is_between(self, from: Instant, until: Instant) -> bool {
        // All of these are below 2^63: what is less than the least becomes more than any rest.
        let longer = until.as_ns().wrapping_sub(from.as_ns()).wrapping_sub(self.min.as_ns());
        longer <= self.max.as_ns().wrapping_sub(self.min.as_ns())
    }

    /// By how much a span is not within.
    #[inline]
    pub(super) fn off(self, span: Span) -> u64 {
        if self.has(span) {
            return 0;
        }
        span.saturating_sub(self.max).max(self.min.saturating_sub(span)).as_ns()
    }
}

impl std::ops::Add<Span> for Length {
    type Output = Length;
    fn add(self, span: Span) -> Length {
        Length { min: self.min.saturating_add(span), max: self.max.saturating_add(span) }
    }
}
