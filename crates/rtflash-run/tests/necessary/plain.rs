//! (T'') of docs/analysis.md, Section 6.1, written plainly with the document's letters. Any one
//! term of W2 can be left out. It looks at every length. It shares no code with the library.

use rtflash_alloc::certified::Term;
use rtflash_run::climb::channel::{ChannelTask, ChannelWork, Chips, UnitTimes};

/// (T'') on a channel of stripe chips without siblings, servers and background jobs (Q1). D = T and
/// J = 0. Collection is a periodic job like any other.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'a> {
    pub times: UnitTimes,
    pub chips: Chips<'a>,
    pub left_out: Option<Term>,
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
    fn leaves_out(&self, term: Term) -> bool {
        self.left_out == Some(term)
    }

    /// o: the other chips of the channel.
    fn o(&self) -> i128 {
        i128::try_from(self.chips.len()).expect("few chips") - 1
    }

    fn others(&self, i: usize) -> impl Iterator<Item = &[ChannelTask]> {
        self.chips.iter().enumerate().filter(move |(j, _)| *j != i).map(|(_, tasks)| *tasks)
    }

    /// φ and σ, (38).
    fn phi_sigma(&self) -> (i128, i128) {
        let UnitTimes { t_r, t_d, .. } = self.times;
        let phi = t_r.min(t_d);
        let sigma = if self.o() >= 2 || self.leaves_out(Term::SigmaOfOne) { t_r.min(2 * t_d) } else { phi };
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

    /// W1, (45), with N_j of (33).
    fn W1(&self, i: usize, L: i128, n_i: i128) -> i128 {
        let N =
            |j: &[ChannelTask]| j.iter().map(|task| (ceil_div(L, task.T) + 1) * (pages(task).0 + pages(task).1)).sum();
        let waits: i128 = self.others(i).map(|j| n_i.min(N(j))).sum();
        self.times.t_d * waits
    }

    /// W2, (46).
    fn W2(&self, i: usize, L: i128, (n_r, n_w): (i128, i128)) -> i128 {
        let (o, t_d, (phi, sigma)) = (self.o(), self.times.t_d, self.phi_sigma());
        let released_and_due: i128 = self.chips[i].iter().map(|task| L / task.T).sum();
        let J = if self.leaves_out(Term::OwnJobs) { 0 } else { released_and_due };
        let (mut min_E, mut sum_E, mut sum_R) = (i128::MAX, 0, 0);
        for j in self.others(i) {
            let live = |task: &ChannelTask| ceil_div(L, task.T) + 1;
            // Periodic collection is in the sum, for P_j.
            let S: i128 = j.iter().map(live).sum::<i128>() + 1;
            let V: i128 = j.iter().map(|task| live(task) * pages(task).1).sum();
            let R = if self.times.t_w >= self.times.t_r { V.min(S) } else { V };
            let E = S + V;
            (min_E, sum_E, sum_R) = (min_E.min(E), sum_E + E, sum_R + R);
        }
        let sum_R = if self.leaves_out(Term::ServedTwice) { 0 } else { sum_R };
        let min_E = if self.leaves_out(Term::MinFresh) { 0 } else { min_E };
        let sum_E = if self.leaves_out(Term::SumFresh) { 0 } else { sum_E };
        o * t_d * (n_r + n_w) - sigma * n_r
            + sigma * (1 + J + sum_R)
            + phi * min_E
            + (sigma - phi) * ceil_div(sum_E, (o - 1).max(1))
    }

    /// dbf''(L) of chip i, (47).
    pub fn dbf(&self, i: usize, L: i128) -> i128 {
        let (mut base, mut n_r, mut n_w) = (0, 0, 0);
        for task in self.chips[i] {
            let jobs = L / task.T;
            base += jobs * self.cost(task);
            n_r += jobs * pages(task).0;
            n_w += jobs * pages(task).1;
        }
        base + self.W1(i, L, n_r + n_w).min(self.W2(i, L, (n_r, n_w)))
    }

    /// B(L) of chip i, (12).
    pub fn B(&self, i: usize, L: i128) -> i128 {
        let later = self.chips[i].iter().filter(|task| task.T > L);
        later.map(|task| self.q(task)).max().unwrap_or(0)
    }

    /// A length beyond which chip i passes, as in (37). `None` if its load is too much.
    ///
    /// U L + K is a line above dbf'' with W1, and another one is above dbf'' with W2. The one with
    /// the smaller rate counts. U here is the rate times H, a multiple of all periods.
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
        for (place, j) in self.others(i).enumerate() {
            U1 += t_d * sum(j, &both).min(sum(i_tasks, &both));
            K1 += t_d * j.iter().map(|task| 2 * both(task)).sum::<i128>();
            // The first chip's E_j stands for min E_j, and Σ E_j for ⌈Σ E_j/max(1, o − 1)⌉.
            let each_E = if place == 0 { sigma } else { sigma - phi };
            let V = |task: &ChannelTask| pages(task).1;
            U2 += sum(j, &|task| sigma * V(task) + each_E * (1 + V(task)));
            K2 += each_E + j.iter().map(|task| 2 * (sigma * V(task) + each_E * (1 + V(task)))).sum::<i128>();
        }
        let (U, K) = if U1 < U2 { (U1, K1) } else { (U2, K2) };
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
