//! Table 3 of Koshiba et al., and which of its numbers the constants of the device were fitted on.

/// A row: by a scheduler, and the longest request.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The host's longest request, in KiB, where it is not the profile's.
    pub max_sectors: Option<u32>,
    /// K2-split's piece, in KiB; `None` for K2.
    pub split: Option<u32>,
    /// Random and sequential reads, random and sequential writes; real-time I/Os of 4 and of 64
    /// KiB; MiB/s and milliseconds.
    pub columns: [[[f64; 2]; 2]; 4],
}

/// The rows.
pub const ROWS: [Row; 7] = [
    Row {
        name: "K2",
        max_sectors: None,
        split: None,
        columns: [
            [[81.02, 16.32], [75.63, 3.26]],
            [[85.93, 6.65], [79.24, 3.19]],
            [[51.98, 10.16], [48.04, 6.59]],
            [[55.49, 10.16], [51.83, 6.46]],
        ],
    },
    Row {
        name: "K2+max_sectors 64",
        max_sectors: Some(64),
        split: None,
        columns: [
            [[55.5, 1.5], [71.47, 2.61]],
            [[58.36, 1.42], [70.53, 2.61]],
            [[31.28, 4.11], [45.26, 5.21]],
            [[32.32, 4.08], [44.32, 5.21]],
        ],
    },
    Row {
        name: "K2+max_sectors 16",
        max_sectors: Some(16),
        split: None,
        columns: [
            [[28.2, 0.99], [51.97, 2.77]],
            [[30.37, 0.93], [53.93, 2.67]],
            [[13.65, 1.94], [27.55, 6.91]],
            [[14.26, 1.94], [24.63, 7.18]],
        ],
    },
    Row {
        name: "K2+max_sectors 4",
        max_sectors: Some(4),
        split: None,
        columns: [
            [[17.08, 0.85], [22.52, 6.26]],
            [[16.34, 0.84], [22.6, 6.19]],
            [[8.79, 1.25], [12.3, 14.75]],
            [[8.96, 1.24], [12.12, 12.91]],
        ],
    },
    Row {
        name: "K2-split 64",
        max_sectors: None,
        split: Some(64),
        columns: [
            [[55.55, 1.5], [73.12, 2.38]],
            [[58.84, 1.42], [74.84, 2.34]],
            [[31.79, 4.11], [44.61, 5.41]],
            [[31.92, 4.11], [47.85, 5.08]],
        ],
    },
    Row {
        name: "K2-split 16",
        max_sectors: None,
        split: Some(16),
        columns: [
            [[28.2, 1.0], [72.3, 1.7]],
            [[30.43, 0.93], [74.01, 1.63]],
            [[13.67, 1.94], [36.88, 4.36]],
            [[14.03, 1.94], [38.6, 4.36]],
        ],
    },
    Row {
        name: "K2-split 4",
        max_sectors: None,
        split: Some(4),
        columns: [
            [[17.08, 0.85], [62.05, 1.53]],
            [[16.4, 0.83], [65.53, 1.47]],
            [[8.67, 1.25], [35.12, 3.72]],
            [[8.96, 1.24], [35.16, 3.78]],
        ],
    },
];

/// Eleven numbers for twelve constants; docs/host-claims.md says how.
const FITTED: [&str; 11] = [
    "random read: K2+max_sectors 4, RT 64 KiB, all together",
    "random read: K2-split 4, RT 64 KiB, all together",
    "random read: K2-split 64, RT 64 KiB, all together",
    "random read: K2+max_sectors 4, RT 64 KiB, p99",
    "random write: K2+max_sectors 4, RT 64 KiB, all together",
    "random write: K2-split 4, RT 64 KiB, all together",
    "random write: K2-split 64, RT 64 KiB, all together",
    "random write: K2+max_sectors 16, RT 4 KiB, p99",
    "random write: K2+max_sectors 16, RT 64 KiB, p99",
    "random write: K2+max_sectors 4, RT 64 KiB, p99",
    "random write: K2+max_sectors 64, RT 4 KiB, p99",
];

/// Whether a constant was fitted on the claim of this text.
pub fn is_fitted(text: &str) -> bool {
    FITTED.contains(&text)
}
