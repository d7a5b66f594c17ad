//! (T'') of docs/analysis.md, Section 6.1, written plainly with the document's letters. Any one
//! term of W2 and W3 can be left out. It tries every length. It shares no code with the library.

use rtflash_lab::climb::channel::{ChannelTask, ChannelWork, Chips, UnitTimes};

/// (T'') on a channel of stripe chips without siblings, servers and background jobs (Q1). D = T and
/// J = 0. Collection is a periodic job like any other.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'a> {
    pub times: UnitTimes,
    pub chips: Chips<'a>,
    pub left_out: Option<&'static str>,
}

fn ceil_div(of: i128, by: i128) -> i128 {
    (of + by - 1).div_euclid(by)
}

/// Pages of a job that cross the bus: of those read, of those written.
fn pages(task: &ChannelTask) -> (i128, i128) {
    match task.work {
        ChannelWork::Read(pages) => (pages, 0),
        ChannelWork::Write(pages) => (0, pages),
        ChannelWork::Collect(_) => (0, 0),
    }
}

impl Plain<'_> {
    fn leaves_out(&self, term: &str) -> bool {
        self.left_out == Some(term)
    }

    /// o: the other chips of the channel.
    fn o(&self) -> i128 {
        i128::try_from(self.chips.len()).expect("few chips") - 1
    }

    fn others(&self, i: usize) -> impl Iterator<Item = &[ChannelTask]> {
        self.chips.iter().enumerate().filter(move |(j, _)| *j != i).map(|(_, tasks)| *tasks)
    }

    /// φ and σ, (39).
    fn phi_sigma(&self) -> (i128, i128) {
        let UnitTimes { t_r, t_d, .. } = self.times;
        let phi = t_r.min(t_d);
        let sigma = if self.o() >= 2 || self.leaves_out("sigma-of-one") { t_r.min(2 * t_d) } else { phi };
        (phi, sigma)
    }

    /// Time of a job without waiting: pages · base, or C_g.
    fn cost(&self, task: &ChannelTask) -> i128 {
        let UnitTimes { t_r, t_w, t_d, t_e } = self.times;
        match task.work {
            ChannelWork::Read(pages) => pages * (t_r + t_d),
            ChannelWork::Write(pages) => pages * (t_w + t_d),
            ChannelWork::Collect(copies) => copies * (t_r + t_w) + t_e,
        }
    }

    /// q: the longest step of a job, with its whole wait.
    fn q(&self, task: &ChannelTask) -> i128 {
        let UnitTimes { t_r, t_w, t_d, t_e } = self.times;
        match task.work {
            ChannelWork::Read(_) => t_r + (self.o() + 1) * t_d,
            ChannelWork::Write(_) => t_w + (self.o() + 1) * t_d,
            ChannelWork::Collect(0) => t_e,
            ChannelWork::Collect(_) => t_e.max(t_r + t_w),
        }
    }

    /// W1, (46), with N_j of (34).
    fn W1(&self, i: usize, L: i128, n_i: i128) -> i128 {
        let N =
            |j: &[ChannelTask]| j.iter().map(|task| (ceil_div(L, task.T) + 1) * (pages(task).0 + pages(task).1)).sum();
        let waits: i128 = self.others(i).map(|j| n_i.min(N(j))).sum();
        self.times.t_d * waits
    }

    /// The lesser of W2, (47), and W3, (48).
    fn in_queue(&self, i: usize, L: i128, (n_r, n_w): (i128, i128)) -> i128 {
        let (o, t_d, (phi, sigma)) = (self.o(), self.times.t_d, self.phi_sigma());
        let kept = |term: &str, count: i128| if self.leaves_out(term) { 0 } else { count };
        let released_and_due: i128 = self.chips[i].iter().map(|task| L / task.T).sum();
        let (mut min_E, mut sum_E, mut sum_R, mut X) = (i128::MAX, 0, 0, vec![]);
        for j in self.others(i) {
            let live = |task: &ChannelTask| ceil_div(L, task.T) + 1;
            // Periodic collection is in the sum, for P_j.
            let S: i128 = j.iter().map(live).sum::<i128>() + 1;
            let V: i128 = j.iter().map(|task| live(task) * pages(task).1).sum();
            let R = if self.times.t_w > self.times.t_r - t_d { V.min(S) } else { V };
            let E = S + V;
            (min_E, sum_E, sum_R) = (min_E.min(E), sum_E + E, sum_R + R);
            let N: i128 = j.iter().map(|task| live(task) * (pages(task).0 + pages(task).1)).sum();
            X.push(N.min(n_r + n_w));
        }
        X.sort_unstable();
        X.reverse();
        let full = kept("first-read", 1) + kept("own-jobs", released_and_due) + kept("served-twice", sum_R);
        let apart = phi * kept("min-fresh", min_E) + (sigma - phi) * ceil_div(kept("sum-fresh", sum_E), (o - 1).max(1));
        let shared = sigma * kept("shared-fresh", sum_E) / o;
        let W2 = o * t_d * (n_r + n_w) - sigma * n_r + sigma * full + apart.min(shared);
        let c = |rank: usize| match rank {
            0 => t_d - phi,
            1 => t_d - (sigma - phi),
            _ => t_d,
        };
        let ranked: i128 = X.iter().enumerate().map(|(rank, X)| c(rank) * X).sum();
        let W3 = ranked + sigma * (kept("ranked-writes", n_w) + full) + phi * kept("ranked-fresh", sum_E);
        W2.min(W3)
    }

    /// dbf''(L) of chip i, (49).
    pub fn dbf(&self, i: usize, L: i128) -> i128 {
        let (mut base, mut n_r, mut n_w) = (0, 0, 0);
        for task in self.chips[i] {
            let jobs = L / task.T;
            base += jobs * self.cost(task);
            n_r += jobs * pages(task).0;
            n_w += jobs * pages(task).1;
        }
        let W1 = self.W1(i, L, n_r + n_w);
        // Without other chips nothing is waited for.
        base + if self.o() == 0 { W1 } else { W1.min(self.in_queue(i, L, (n_r, n_w))) }
    }

    /// B(L) of chip i, (12).
    pub fn B(&self, i: usize, L: i128) -> i128 {
        let later = self.chips[i].iter().filter(|task| task.T > L);
        later.map(|task| self.q(task)).max().unwrap_or(0)
    }

    /// A length beyond which chip i passes, as in (38). `None` if its load is too much.
    ///
    /// U L + K is a line above dbf'' with W1, and others are above dbf'' with W2 and W3. The one
    /// with the smallest rate counts. U here is the rate times H, a multiple of all periods.
    fn L_max(&self, i: usize) -> Option<i128> {
        let H: i128 = self.chips.iter().copied().flatten().map(|task| task.T).product();
        let sum = |tasks: &[ChannelTask], of: &dyn Fn(&ChannelTask) -> i128| -> i128 {
            tasks.iter().map(|t| of(t) * H / t.T).sum()
        };
        let (o, t_d, (phi, sigma)) = (self.o(), self.times.t_d, self.phi_sigma());
        let i_tasks = self.chips[i];
        let both = |task: &ChannelTask| pages(task).0 + pages(task).1;
        let (mut U1, mut K1) = (sum(i_tasks, &|task| self.cost(task)), 0);
        let own = |task: &ChannelTask| self.cost(task) + o * t_d * both(task) - sigma * pages(task).0 + sigma;
        let (mut U2, mut K2) = (sum(i_tasks, &own), sigma);
        let with_writes = |task: &ChannelTask| self.cost(task) + sigma * pages(task).1 + sigma;
        let (mut U3, mut K3) = (sum(i_tasks, &with_writes), sigma);
        let mut others: Vec<&[ChannelTask]> = self.others(i).collect();
        // Those that transfer most first.
        others.sort_by_key(|j| -sum(j, &both).min(sum(i_tasks, &both)));
        for (place, j) in others.into_iter().enumerate() {
            let c = [t_d - phi, t_d - (sigma - phi)].get(place).copied().unwrap_or(t_d);
            let E_and_R = |task: &ChannelTask| sigma * pages(task).1 + phi * (1 + pages(task).1);
            U3 += c * sum(j, &both).min(sum(i_tasks, &both)) + sum(j, &E_and_R);
            K3 += phi + j.iter().map(|task| 2 * (c * both(task) + E_and_R(task))).sum::<i128>();
            U1 += t_d * sum(j, &both).min(sum(i_tasks, &both));
            K1 += t_d * j.iter().map(|task| 2 * both(task)).sum::<i128>();
            // The first chip's E_j stands for min E_j, and Σ E_j for ⌈Σ E_j/max(1, o − 1)⌉.
            let each_E = if place == 0 { sigma } else { sigma - phi };
            let V = |task: &ChannelTask| pages(task).1;
            U2 += sum(j, &|task| sigma * V(task) + each_E * (1 + V(task)));
            K2 += each_E + j.iter().map(|task| 2 * (sigma * V(task) + each_E * (1 + V(task)))).sum::<i128>();
        }
        let (U, K) = [(U1, K1), (U2, K2), (U3, K3)].into_iter().min_by_key(|line| line.0)?;
        let T_max = i_tasks.iter().map(|task| task.T).max()?;
        (U < H).then(|| T_max.max(ceil_div(K * H, H - U)))
    }

    /// Whether chip i passes (T''): dbf''(L) + B(L) ≤ L for every L from the shortest period on.
    pub fn accepts(&self, i: usize) -> bool {
        let shortest = self.chips[i].iter().map(|task| task.T).min().expect("a task");
        let Some(L_max) = self.L_max(i) else { return false };
        (shortest..=L_max).all(|L| self.dbf(i, L) + self.B(i, L) <= L)
    }
}
