//! The plan: the points of an experiment, the sets at each, and the contenders on them.

mod bandwidth;
mod contender;
mod error;
mod own_sets;
mod sweep;

use rtflash_alloc::allocator::{Allocator, AnyAllocation, ClusteringBfd, EqualSplit, Global, PartFtlTest};
use rtflash_analysis::{Analysis, NecessaryWithZones, Thesis, fits_alone};
use rtflash_model::generate::{Exhausted, SetOptions, SetSpec, Utilization, UtilizationRange};
use rtflash_model::{Device, Task, TaskSet};

pub use bandwidth::Bandwidth;
pub use contender::Contender;
pub use error::{ExperimentError, MAX_CONTENDERS, MAX_POINTS};
pub use own_sets::OwnSets;
pub use sweep::{Axis, MAX_VALUES, Sweep, SweepError, Value};

/// Draws of a set whose tasks have to fit under Dhara. A page costs ten times t_w there, so above a
/// utilization of about 0.3 none does, and its test takes long.
const DRAWS_UNDER_DHARA: u32 = 10_000;

/// The measurement that is made for each set.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// Whether each contender divides the chips so that all deadlines are met.
    Schedulability,
    /// How many pages of jobs that are not real-time are served, on sets that all contenders can
    /// schedule.
    Bandwidth(Bandwidth),
}

/// A description of an experiment that is not yet checked; [`Plan::new`] checks it.
#[derive(Clone)]
pub struct Spec {
    /// The measurement.
    pub measure: Measure,
    /// The sets; the sweep changes some of it. Page costs are taken from the analysis that sets are
    /// made for.
    pub sets: SetSpec,
    /// Sets drawn at each point.
    pub sets_per_point: u64,
    /// The analysis that all sets are made for: it gives the page costs, and the test of each task
    /// alone. Without it, every contender is given sets made for its own analysis: what it
    /// schedules does not depend on which other analyses are there.
    pub analysis: Option<&'static dyn Analysis>,
    /// Total utilizations, ascending; none where the generator divides no total.
    pub utilizations: Vec<Utilization>,
    /// The axis besides utilization.
    pub sweep: Option<Sweep>,
    /// The contenders.
    pub contenders: Vec<Contender>,
}

impl Default for Spec {
    /// As `rtflash experiment schedulability` has it: 100 sets at each of the utilizations 0.1,
    /// 0.2, … 4.0, made for `thesis`, on which the thesis's algorithms are compared.
    fn default() -> Spec {
        let algorithms: [&'static dyn Allocator; 4] = [&ClusteringBfd, &EqualSplit, &PartFtlTest, &Global];
        let range = "0.1..4.0".parse::<UtilizationRange>().ok();
        let utilizations = range.and_then(|range| range.points(Utilization::TENTH).ok());
        Spec {
            measure: Measure::Schedulability,
            sets: SetSpec::default(),
            sets_per_point: 100,
            analysis: Some(&Thesis),
            utilizations: utilizations.expect("a range as it is written on the command line"),
            sweep: None,
            contenders: algorithms.map(|allocator| Contender::new(allocator, &Thesis)).to_vec(),
        }
    }
}

/// A point of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The total utilization of its sets; the mean of them where the generator divides no total.
    pub utilization: Utilization,
    /// The value of the sweep, if there is one.
    pub value: Option<Value>,
}

/// A value of the sweep, and what to draw there for each maker.
type Setting = (Option<Value>, Vec<SetOptions>);

/// An experiment, checked. Its sets are numbered: by value of the sweep, then by utilization, then
/// by index.
#[derive(Clone)]
pub struct Plan {
    spec: Spec,
    /// The analyses that sets are made for, each once.
    makers: Vec<&'static dyn Analysis>,
    /// For each contender, the position of the one that its sets are made for.
    maker_of: Vec<usize>,
    /// One for each value of the sweep, and in it one for each maker.
    settings: Vec<Setting>,
    own: Option<OwnSets>,
}

impl Plan {
    /// Checks an experiment. The error is the first thing found wrong.
    pub fn new(mut spec: Spec) -> Result<Plan, ExperimentError> {
        check_contenders(&mut spec)?;
        let generator = spec.sets.generator;
        match (generator.divides_total(), spec.utilizations.is_empty()) {
            (true, true) => return Err(ExperimentError::Empty("utilization")),
            (false, false) => return Err(ExperimentError::Undivided(generator)),
            _ => {}
        }
        if spec.sets_per_point == 0 {
            return Err(ExperimentError::Empty("set at each point"));
        }
        let mut analyses = spec.contenders.iter().map(|contender| contender.analysis);
        if let Some(other) = analyses.find(|analysis| spec.sets.deadlines.is_some() && !analysis.takes_deadlines()) {
            return Err(ExperimentError::NotImplicit(other.name()));
        }
        let (makers, maker_of) = makers(&spec);
        if makers.len() > 1 && matches!(spec.measure, Measure::Bandwidth(_)) {
            return Err(ExperimentError::SeveralAnalyses);
        }
        let settings = settings(&spec, &makers)?;
        let commands = settings.iter().flat_map(|(_, options)| options).any(|of| of.spec().device.has_commands());
        let mut analyses = spec.contenders.iter().map(|contender| contender.analysis);
        if let Some(other) = analyses.find(|analysis| commands && !analysis.takes_commands()) {
            return Err(ExperimentError::Commands(other.name()));
        }
        if settings.is_empty() {
            return Err(ExperimentError::Empty("value to try"));
        }
        refuse_impossible(&spec, &settings)?;
        let points = settings.len().saturating_mul(spec.utilizations.len().max(1));
        if points > MAX_POINTS {
            return Err(ExperimentError::TooManyPoints(points));
        }
        // Numbers of sets are multiplied with what a shard adds to them.
        if spec.sets_per_point > (1 << 52) / points as u64 {
            return Err(ExperimentError::TooManySets);
        }
        Ok(Plan { spec, makers, maker_of, settings, own: None })
    }

    /// An experiment on task sets of your own. Each is counted at the multiple of `step` that is
    /// nearest to its total utilization, Σ(pages · cost)/T with the page costs of the analysis that
    /// the sets are made for (of the first contender where none is stated). All contenders are
    /// given the same sets.
    ///
    /// The random sets of `spec` are not used, but its seed is: runs of [`Measure::Bandwidth`] draw
    /// from it. It has the utilizations of the points afterwards, and no sets at each.
    ///
    /// ```
    /// use rtflash_alloc::allocator::ClusteringBfd;
    /// use rtflash_analysis::Thesis;
    /// use rtflash_experiment::plan::{Contender, Spec};
    /// use rtflash_experiment::{Plan, run_whole};
    /// use rtflash_model::{generate::Utilization, read_task_set};
    ///
    /// let text = r#"{"device": "dgist-2021", "tasks": [{"name": "log", "write": {"pages": 24, "period": "30ms"}}]}"#;
    /// let sets = vec![read_task_set(text).map_err(|wrong| wrong.to_string())?.set];
    /// let spec = Spec { contenders: vec![Contender::new(&ClusteringBfd, &Thesis)], ..Spec::default() };
    /// let plan = Plan::of_sets(spec, sets, Utilization::TENTH)?;
    /// assert_eq!(plan.point(0).utilization.to_string(), "0.4");
    /// assert_eq!(run_whole(&plan)?[0].yes, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The error is the first thing found wrong.
    pub fn of_sets(mut spec: Spec, sets: Vec<TaskSet>, step: Utilization) -> Result<Plan, ExperimentError> {
        check_contenders(&mut spec)?;
        if sets.is_empty() {
            return Err(ExperimentError::Empty("task set"));
        }
        if spec.sweep.is_some() {
            return Err(ExperimentError::SweepOfOwn);
        }
        let maker = spec.analysis.unwrap_or(spec.contenders[0].analysis);
        let (own, utilizations) = OwnSets::new(sets, maker, step);
        if utilizations.len() > MAX_POINTS {
            return Err(ExperimentError::TooManyPoints(utilizations.len()));
        }
        (spec.utilizations, spec.sets_per_point) = (utilizations, 0);
        let maker_of = vec![0; spec.contenders.len()];
        Ok(Plan { spec, makers: vec![maker], maker_of, settings: vec![(None, Vec::new())], own: Some(own) })
    }

    /// The task sets, where they are your own.
    pub fn own_sets(&self) -> Option<&OwnSets> {
        self.own.as_ref()
    }

    /// The experiment as it was asked for.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The contenders.
    pub fn contenders(&self) -> &[Contender] {
        &self.spec.contenders
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.settings.len() * self.points_at_a_value()
    }

    fn points_at_a_value(&self) -> usize {
        self.spec.utilizations.len().max(1)
    }

    /// The values of the sweep; a single `None` where there is no sweep.
    pub fn values(&self) -> impl Iterator<Item = Option<Value>> {
        self.settings.iter().map(|(value, _)| *value)
    }

    /// A point by its number, below [`Plan::points`].
    pub fn point(&self, number: usize) -> Point {
        let (value, options) = &self.settings[number / self.points_at_a_value()];
        let asked = || self.spec.utilizations[number % self.points_at_a_value()];
        // Sets of your own have no options.
        let mean = options.first().and_then(SetOptions::mean_utilization);
        Point { utilization: mean.unwrap_or_else(asked), value: *value }
    }

    /// All sets, at all points.
    pub fn sets(&self) -> u64 {
        self.first_of(self.points())
    }

    /// The number of the first set of a point; of the number of points, that of all sets.
    pub(crate) fn first_of(&self, point: usize) -> u64 {
        match &self.own {
            None => point as u64 * self.spec.sets_per_point,
            Some(own) => own.points().get(point).map_or(own.all().len() as u64, |sets| sets.start),
        }
    }

    /// The point and the index at it of the set of this number, below [`Plan::sets`].
    pub fn place(&self, number: u64) -> (usize, u64) {
        let point = match &self.own {
            None => usize::try_from(number / self.spec.sets_per_point).expect("a set of the plan"),
            Some(own) => own.points().partition_point(|sets| sets.end <= number),
        };
        (point, number - self.first_of(point))
    }

    /// How many analyses sets are made for.
    pub fn makers(&self) -> usize {
        self.makers.len()
    }

    /// For a contender, by position, which of the analyses that sets are made for makes its sets.
    pub fn maker_of(&self, contender: usize) -> usize {
        self.maker_of[contender]
    }

    /// Whether two contenders, by position, are given the same sets.
    pub fn same_sets(&self, i: usize, j: usize) -> bool {
        self.maker_of[i] == self.maker_of[j]
    }

    /// Draws the set made for one analysis, by position; or gives the own set. Fails if there is
    /// none.
    pub fn draw(&self, point: usize, index: u64, maker: usize) -> Result<TaskSet, Exhausted> {
        if let Some(own) = &self.own {
            let number = usize::try_from(self.first_of(point) + index).expect("a set of the plan");
            return Ok(own.all()[number].clone());
        }
        let options = &self.settings[point / self.points_at_a_value()].1[maker];
        let analysis = self.makers[maker];
        let utilization = self.point(point).utilization;
        let fits = |device: &Device, task: &Task| fits_alone(analysis, device, task);
        if analysis.name().starts_with("dhara") {
            return options.draw_at_most(DRAWS_UNDER_DHARA, utilization, index, fits);
        }
        options.draw(utilization, index, fits)
    }
}

fn check_contenders(spec: &mut Spec) -> Result<(), ExperimentError> {
    bound_zones(&mut spec.contenders);
    if spec.contenders.is_empty() {
        return Err(ExperimentError::Empty("algorithm"));
    }
    if spec.contenders.len() > MAX_CONTENDERS {
        return Err(ExperimentError::TooManyContenders(spec.contenders.len()));
    }
    let names: Vec<String> = spec.contenders.iter().map(Contender::to_string).collect();
    match names.iter().enumerate().find(|(position, name)| names[..*position].contains(name)) {
        Some((_, name)) => Err(ExperimentError::Twice(name.clone())),
        None => Ok(()),
    }
}

/// If the necessary tests are to bound analyses of zones, on whose device they do not all hold,
/// those that do are added; without any other analysis they replace the former.
fn bound_zones(contenders: &mut Vec<Contender>) {
    let with_zones = Contender::new(&AnyAllocation, &NecessaryWithZones);
    let any = |is: &dyn Fn(&Contender) -> bool| contenders.iter().any(is);
    let owns = |of: &Contender| of.analysis.owns_zones();
    if !any(&owns) || any(&|of| of.analysis.bounds_zones()) {
        return;
    }
    let Some(place) = contenders.iter().position(|of| of.analysis.is_necessary()) else { return };
    if any(&|of| !owns(of) && !of.analysis.is_necessary()) {
        contenders.insert(place + 1, with_zones);
    } else {
        contenders[place] = with_zones;
    }
}

/// Every utilization needs a value of the sweep, and every value a utilization, at which there are
/// sets.
fn refuse_impossible(spec: &Spec, settings: &[Setting]) -> Result<(), ExperimentError> {
    if spec.utilizations.is_empty() {
        return Ok(());
    }
    let possible = |setting: &Setting, utilization: Utilization| {
        setting.1.first().is_some_and(|options| options.is_possible(utilization))
    };
    let beyond = |&&utilization: &&Utilization| !settings.iter().any(|setting| possible(setting, utilization));
    if let Some(&utilization) = spec.utilizations.iter().find(beyond) {
        return Err(ExperimentError::Impossible(None, utilization));
    }
    let empty = |setting: &&Setting| !spec.utilizations.iter().any(|&utilization| possible(setting, utilization));
    match settings.iter().find(empty) {
        Some((value, _)) => {
            Err(ExperimentError::Impossible(spec.sweep.as_ref().map(Sweep::axis).zip(*value), spec.utilizations[0]))
        }
        None => Ok(()),
    }
}

fn makers(spec: &Spec) -> (Vec<&'static dyn Analysis>, Vec<usize>) {
    let mut makers: Vec<&'static dyn Analysis> = Vec::new();
    let mut analyses = spec.contenders.iter().map(|contender| contender.analysis);
    let bounded = analyses.find(|analysis| !analysis.is_necessary()).unwrap_or(&Thesis);
    let maker_of = spec.contenders.iter().map(|contender| {
        // The necessary tests are given the sets of those that they bound.
        let own = if contender.analysis.is_necessary() { bounded } else { contender.analysis };
        let maker = spec.analysis.unwrap_or(own);
        let known = makers.iter().position(|known| known.name() == maker.name());
        known.unwrap_or_else(|| {
            makers.push(maker);
            makers.len() - 1
        })
    });
    let maker_of = maker_of.collect();
    (makers, maker_of)
}

fn settings(spec: &Spec, makers: &[&'static dyn Analysis]) -> Result<Vec<Setting>, ExperimentError> {
    let priced = |sets: SetSpec, maker: &dyn Analysis| SetSpec { page_costs: maker.page_costs(&sets.device), ..sets };
    let each = |sets: SetSpec| makers.iter().map(move |&maker| SetOptions::new(priced(sets, maker)));
    let Some(sweep) = &spec.sweep else {
        let options: Result<_, _> = each(spec.sets).collect();
        return Ok(vec![(None, options.map_err(|error| ExperimentError::Options(None, error))?)]);
    };
    let axis = sweep.axis();
    let values = sweep.values().iter().map(|&value| {
        let sets = sweep::apply(axis, value, &spec.sets).map_err(ExperimentError::Sweep)?;
        let options: Result<_, _> = each(sets).collect();
        Ok((Some(value), options.map_err(|error| ExperimentError::Options(Some((axis, value)), error))?))
    });
    values.collect()
}
