//! How long operations may take.

use rtflash_model::Span;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Length {
    pub(crate) min: Span,
    pub(crate) max: Span,
}

impl Length {
    pub(crate) fn within(max: Span, shorter: Span) -> Length {
        Length { min: max.saturating_sub(shorter), max }
    }

    #[inline(always)]
    pub(crate) fn has(self, span: Span) -> bool {
        self.min <= span && span <= self.max
    }

    #[inline]
    pub(crate) fn off(self, span: Span) -> u64 {
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
