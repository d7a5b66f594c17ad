//! Which part of an experiment to do, also from the environment of an array job.

use rtflash_experiment::Shard;

use crate::CommandFailure;

/// A job scheduler's array variables.
struct ArrayVariables {
    name: &'static str,
    /// The number of this job.
    index: &'static str,
    /// The number of the first job; where there is none, the number given.
    first: Result<&'static str, u32>,
    /// The distance of two numbers, if it may not be 1.
    step: Option<&'static str>,
    /// How many jobs there are, or the number of the last.
    extent: Option<ArrayExtent>,
}

enum ArrayExtent {
    Count(&'static str),
    Last(&'static str),
}

const SCHEDULERS: [ArrayVariables; 6] = [
    ArrayVariables {
        name: "Slurm",
        index: "SLURM_ARRAY_TASK_ID",
        first: Ok("SLURM_ARRAY_TASK_MIN"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
        extent: Some(ArrayExtent::Count("SLURM_ARRAY_TASK_COUNT")),
    },
    ArrayVariables {
        name: "Grid Engine",
        index: "SGE_TASK_ID",
        first: Ok("SGE_TASK_FIRST"),
        step: Some("SGE_TASK_STEPSIZE"),
        extent: Some(ArrayExtent::Last("SGE_TASK_LAST")),
    },
    ArrayVariables {
        name: "LSF",
        index: "LSB_JOBINDEX",
        first: Err(1),
        step: Some("LSB_JOBINDEX_STEP"),
        extent: Some(ArrayExtent::Last("LSB_JOBINDEX_END")),
    },
    ArrayVariables {
        name: "AWS Batch",
        index: "AWS_BATCH_JOB_ARRAY_INDEX",
        first: Err(0),
        step: None,
        extent: Some(ArrayExtent::Count("AWS_BATCH_JOB_ARRAY_SIZE")),
    },
    ArrayVariables { name: "PBS", index: "PBS_ARRAY_INDEX", first: Err(0), step: None, extent: None },
    ArrayVariables { name: "Torque", index: "PBS_ARRAYID", first: Err(0), step: None, extent: None },
];

/// The part that `--shard` names: `I/N`, `auto` or `auto/N`. `variable` looks up the environment.
pub fn shard(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, CommandFailure> {
    let wrong = |problem: String| CommandFailure(format!("--shard {text}: {problem}"));
    let count = match text.trim().strip_prefix("auto") {
        None => return text.parse().map_err(|error: rtflash_experiment::ShardError| wrong(error.to_string())),
        Some("") => None,
        Some(rest) => {
            let count = rest.strip_prefix('/').and_then(|count| count.trim().parse::<u32>().ok());
            Some(count.ok_or_else(|| wrong("write I/N, auto, or auto/N".into()))?)
        }
    };
    // An index may be set to something that is no number (Grid Engine: `undefined`) where there is
    // no array.
    let scheduler =
        SCHEDULERS.iter().find(|scheduler| variable(scheduler.index).is_some_and(|text| text != "undefined"));
    let Some(scheduler) = scheduler else {
        let names =
            SCHEDULERS.each_ref().map(|scheduler| format!("{} ({})", scheduler.index, scheduler.name)).join(", ");
        return Err(wrong(format!("this is no array job: none of {names} is set; write I/N")));
    };
    let number = |name: &str| {
        let text = variable(name);
        text.map(|text| {
            text.trim().parse::<u32>().map_err(|_| wrong(format!("{name} is `{text}`, not a whole number")))
        })
        .transpose()
    };
    let index = number(scheduler.index)?.expect("the scheduler was found by its index");
    let first = match scheduler.first {
        Ok(name) => number(name)?.ok_or_else(|| wrong(format!("{name} is not set: write I/N")))?,
        Err(first) => first,
    };
    let step = scheduler.step.map(number).transpose()?.flatten().unwrap_or(1).max(1);
    let beyond = || wrong(format!("{} is {index}, below the first index {first}", scheduler.index));
    let position = index.checked_sub(first).ok_or_else(beyond)? / step;
    let counted = match scheduler.extent {
        Some(ArrayExtent::Count(name)) => number(name)?,
        Some(ArrayExtent::Last(name)) => number(name)?.map(|last| last.saturating_sub(first) / step + 1),
        None => None,
    };
    let count = count
        .or(counted)
        .ok_or_else(|| wrong(format!("{} does not say how many jobs the array has: write auto/N", scheduler.name)))?;
    Shard::new(position, count).map_err(|error| {
        let hint = if scheduler.first == Err(0) { "; indices start at 0" } else { "" };
        wrong(format!("{} is {index}: {error}{hint}", scheduler.index))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, variables: &[(&str, &str)]) -> String {
        let variable = |name: &str| variables.iter().find(|found| found.0 == name).map(|found| found.1.to_owned());
        match shard(text, variable) {
            Ok(shard) => shard.to_string(),
            Err(failure) => failure.0,
        }
    }

    #[test]
    fn parts_come_from_every_scheduler() {
        for (text, variables, expected) in [
            ("1/3", &[][..], "1/3"),
            (
                "auto",
                &[("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_COUNT", "4")],
                "2/4",
            ),
            (
                "auto",
                &[
                    ("SLURM_ARRAY_TASK_ID", "6"),
                    ("SLURM_ARRAY_TASK_MIN", "2"),
                    ("SLURM_ARRAY_TASK_STEP", "2"),
                    ("SLURM_ARRAY_TASK_COUNT", "3"),
                ],
                "2/3",
            ),
            (
                "auto",
                &[("SGE_TASK_ID", "5"), ("SGE_TASK_FIRST", "1"), ("SGE_TASK_LAST", "9"), ("SGE_TASK_STEPSIZE", "2")],
                "2/5",
            ),
            ("auto", &[("LSB_JOBINDEX", "1"), ("LSB_JOBINDEX_END", "8")], "0/8"),
            ("auto/4", &[("PBS_ARRAY_INDEX", "3")], "3/4"),
            ("auto/4", &[("AWS_BATCH_JOB_ARRAY_INDEX", "0")], "0/4"),
            ("auto/4", &[("SGE_TASK_ID", "undefined"), ("PBS_ARRAYID", "2")], "2/4"),
        ] {
            assert_eq!(found(text, variables), expected, "{variables:?}");
        }
    }

    #[test]
    fn errors_say_what_is_missing() {
        for (text, variables, expected) in [
            ("auto", &[][..], "this is no array job"),
            ("auto", &[("PBS_ARRAY_INDEX", "3")], "PBS does not say how many jobs the array has: write auto/N"),
            (
                "auto/4",
                &[("PBS_ARRAY_INDEX", "4")],
                "PBS_ARRAY_INDEX is 4: part 4 of 4: parts are counted from 0 to 3; indices start at 0",
            ),
            ("auto", &[("LSB_JOBINDEX", "0")], "LSB_JOBINDEX is 0, below the first index 1"),
            ("auto", &[("SLURM_ARRAY_TASK_ID", "x")], "SLURM_ARRAY_TASK_ID is `x`, not a whole number"),
            ("autox", &[], "write I/N, auto, or auto/N"),
            ("4/4", &[], "part 4 of 4: parts are counted from 0 to 3"),
        ] {
            let failure = found(text, variables);
            assert!(failure.contains(expected), "{failure}");
        }
    }
}
