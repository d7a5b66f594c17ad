"""Algorithms and tests of one's own, to take part in an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Union

from rtflash._rtflash import ClusterVerdicts, Device, OwnAlgorithm, OwnTest, Request, Task

Number = Union[int, float, Fraction]

# The parts of one that are kept of a load that is no fraction of two numbers below 2**127.
PARTS = 2**64
LIMIT = 2**127


class ClusterTest:
    """A schedulability test of a cluster: any yes or no that depends on tasks and chips alone.

    A subclass has a `name`, and `verdict`. The same input has the same verdict, always. Objects are
    sent to the workers of an executor by pickle.
    """

    name: str = ""
    """Its name in results; it is no name of an analysis of rtflash."""

    def verdict(
        self, device: Device, tasks: Sequence[Task], chips: int
    ) -> bool | Number | tuple[bool, Number]:
        """Whether these tasks, at least one, are schedulable in a cluster of so many chips.

        A number is a load, which may be one at most. A pair is the verdict and the load: what
        algorithms order clusters by, and what decides nothing else.
        """
        raise NotImplementedError

    def _asked(self, device: Device, tasks: Sequence[Task], chips: int) -> tuple[bool, int, int]:
        said = self.verdict(device, tasks, chips)
        if isinstance(said, tuple):
            passes, load = said
        elif isinstance(said, bool):
            passes, load = said, (1 if said else 2)
        else:
            passes, load = said <= 1, said
        return (bool(passes), *fraction(load))

    def _made(self) -> OwnTest:
        return OwnTest(_named(self), _summary(self), self._asked)


class UtilizationTest(ClusterTest):
    """Theorem 1 with utilizations of one's own: t_e/min(T) + sum of U_i is at most one.

    A subclass has a `name`, and `utilization`. Fractions are summed exactly; floats are taken for
    exactly what they are. The shortest period is that of a request or of a task's garbage
    collection, T^g of Eq. (IV.4).
    """

    def utilization(self, device: Device, task: Task, chips: int) -> Number:
        """U_i(s): the task's share of a cluster of so many chips."""
        raise NotImplementedError

    def verdict(self, device: Device, tasks: Sequence[Task], chips: int) -> Number:
        """The blocking by an erase, and all utilizations."""
        requests = [request for task in tasks for request in (task.read, task.write) if request]
        shortest = min(Fraction(request.period_ns) for request in requests)
        passes = [gc_period_ns(device, task.write, chips) for task in tasks if task.write]
        blocking = device.block_erase_ns / min([shortest, *passes])
        shares = (Fraction(self.utilization(device, task, chips)) for task in tasks)
        return sum(shares, blocking)


def gc_period_ns(device: Device, write: Request, chips: int) -> Fraction:
    """T^g of Eq. (IV.4): how often a write needs a pass of garbage collection on so many chips."""
    reclaimed = device.reclaimed_per_chip * chips
    if write.pages > reclaimed:
        return Fraction(write.period_ns, -(-write.pages // max(reclaimed, 1)))
    return Fraction(write.period_ns * (reclaimed // write.pages))


class Allocator:
    """An algorithm that divides the chips.

    A subclass has a `name`, and `divide`. What it gives is tested again before it counts.
    """

    name: str = ""
    """Its name in results; it is no name of an algorithm of rtflash."""

    def divide(
        self, device: Device, tasks: Sequence[Task], test: ClusterVerdicts
    ) -> Sequence[tuple[Sequence[int], Sequence[int]]]:
        """Clusters, each with the numbers of its chips and the positions of its tasks.

        `test(tasks, chips)` gives whether tasks, by position, are schedulable on so many chips, and
        their load. Every chip is in one cluster. A task that is in none could not be placed.
        """
        raise NotImplementedError

    def _asked(
        self, device: Device, tasks: Sequence[Task], test: ClusterVerdicts
    ) -> list[tuple[list[int], list[int]]]:
        return [(list(chips), list(some)) for chips, some in self.divide(device, tasks, test)]

    def _made(self) -> OwnAlgorithm:
        return OwnAlgorithm(_named(self), _summary(self), self._asked)


def fraction(load: Number) -> tuple[int, int]:
    """A load as numerator and denominator. What is too fine for them is rounded to 2**-64."""
    exact = Fraction(load)
    if exact < 0:
        raise ValueError(f"a load below zero: {load}")
    if exact >= PARTS:
        exact = Fraction(PARTS)
    if exact.numerator >= LIMIT or exact.denominator >= LIMIT:
        # Up, so that a load above one stays above it.
        exact = Fraction(-(-exact.numerator * PARTS // exact.denominator), PARTS)
    return exact.numerator, exact.denominator


def _named(own: Any) -> str:
    if not isinstance(own.name, str) or not own.name or "," in own.name or "+" in own.name:
        raise ValueError(f"{type(own).__name__}.name: a name without commas and plus signs")
    return own.name


def _summary(own: Any) -> str:
    doc = (type(own).__doc__ or "").strip()
    return doc.splitlines()[0] if doc else own.name
