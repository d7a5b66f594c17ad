//! Lists in ascending order.

/// Where in an ascending list what is `below` ends. `guess`: where that was the last time.
pub(crate) fn end_of<T>(
    get: impl Fn(usize) -> Option<T>,
    len: usize,
    guess: usize,
    below: impl Fn(T) -> bool,
) -> usize {
    let is_below = |at: usize| get(at).is_some_and(&below);
    if guess <= len && (guess == 0 || is_below(guess - 1)) && !is_below(guess) {
        return guess;
    }
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_below(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
