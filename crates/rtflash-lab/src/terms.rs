//! Terms of the tests that a search leaves out, to show what each is for.

/// Terms of (T), (T') or (T''), or of collection, in the letters of docs/analysis.md.
#[rustfmt::skip] // A term is a line.
pub const TERMS: [(&str, &str); 41] = [
    ("blocking", "B(L)"),
    ("step-wait", "the wait in q"),
    ("transfer", "one t_d of c_r and c_w"),
    ("window", "J in n(L)"),
    ("arrivals", "A in H"),
    ("server-reserve", "R in H"),
    ("reserve-page", "one page of H"),
    ("victim-page", "one page of v"),
    ("beside", "(v − n) t_d in C_g"),
    ("carry-in", "the 1 in ⌈L/T⌉ + 1"),
    ("stream-page", "the round-up of γ"),
    ("servers", "N_j = ∞ for servers"),
    ("copies", "copies in N_j of superblocks"),
    ("commands", "t_c G_j"),
    ("command-wait", "commands in n_i"),
    ("queued-programs", "t_d V_j"),
    ("pass-wait", "passes in n_i of superblocks"),
    ("min-fresh", "φ min E_j"),
    ("sum-fresh", "(σ − φ) Σ E_j"),
    ("shared-fresh", "σ Σ E_j / o"),
    ("ranked-fresh", "φ Σ E_j"),
    ("ranked-writes", "σ n_w"),
    ("own-jobs", "J_i"),
    ("served-twice", "R_j"),
    ("first-read", "the 1 in W2 and W3"),
    ("sigma-of-one", "t_d for 2 t_d in σ where o = 1"),
    ("turnaround", "I in W4"),
    ("commit", "the commit in B of two registers"),
    ("first-rank", "the first rank in W4"),
    ("last-page", "β in B if a chip reads alone"),
    ("own-row", "β_r for β_w"),
    ("pass-step", "a pass's step in B of two registers"),
    ("told-read", "a read's command in c_r"),
    ("resets", "resets"),
    ("reset-page", "the round-up of resets"),
    ("reset-step", "a reset in B"),
    ("repeats", "E"),
    ("repeated-transfers", "repeated programs in N_j"),
    ("spare-blocks", "N_s in N − N_s"),
    ("suspend", "t_s in c_s"),
    ("resume", "t_u in c_s"),
];

/// Terms of `stock`, in the letters of docs/baselines.md.
pub const STOCK_TERMS: [(&str, &str); 7] = [
    ("blocking", "t before reads"),
    ("other-reads", "other tasks' r t_r"),
    ("reads-first", "reads in s"),
    ("other-writes", "other tasks' n(a)"),
    ("first-pass", "the round-up of n/α"),
    ("copies", "v (t_r + t_w) in g"),
    ("free-block", "the 1 in B − 1"),
];

/// A term in the letters of its page.
pub fn letters(terms: &[(&'static str, &'static str)], term: &str) -> &'static str {
    terms.iter().find(|(name, _)| *name == term).expect("a term of the table").1
}
