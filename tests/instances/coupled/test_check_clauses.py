"""Every clause of R1-R5 by hand: a schedule that obeys it, and a similar one that breaks it in a known slot."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from hindsched.instances import Verdict, check
from hindsched.instances.coupled import Configuration, Instance, Schedule

Tasks = dict[int, int]


@dataclass(frozen=True)
class Text:
    """Letters, one word per worker, and entries by slot."""

    letters: str
    entries: dict[int, Tasks] = field(default_factory=lambda: {0: {0: 1}})

    def check(self, instance: Instance) -> Verdict:
        return check(instance, self.schedule(instance))

    def schedule(self, instance: Instance) -> Schedule:
        entries = tuple(Configuration(slot, tasks) for slot, tasks in self.entries.items())
        return Schedule(instance.fingerprint, tuple(self.letters.split()), entries)


@dataclass(frozen=True)
class Clause:
    """A clause of a rule. ``good`` obeys it; the first violation of ``bad`` is that of ``rule`` in ``slot``."""

    statement: str
    states: str
    good: Text
    bad: Text
    slot: int
    rule: str
    reason: str
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def instance(self) -> Instance:
        rows = self.states.split()
        return Instance.from_letters(rows, **{"w": [1] * len(rows), "tasks": 1, **self.fields})


AGAIN = {0: {0: 1}, 2: {0: 1}}
LEAVE_AND_RETURN = {0: {0: 1}, 1: {}, 2: {0: 1}}
BOTH = {0: {0: 1, 1: 1}}
WITH_STAND_BY = {0: {0: 1, 1: 0}}

R1 = [
    Clause(
        "a DOWN worker is not enrolled",
        "uduu",
        Text("C.CC", AGAIN),
        Text("CICC", AGAIN),
        *(1, "R1", "worker 0 is DOWN, but has letter I"),
        {"w": [2]},
    ),
    Clause(
        "an entry cannot keep a DOWN worker",
        "uduu",
        Text("C.CC", AGAIN),
        Text("C.CC", {0: {0: 1}, 1: {0: 1}}),
        *(1, "R1", "worker 0 is DOWN, but the entry keeps it enrolled"),
        {"w": [2]},
    ),
    Clause(
        "DOWN loses a complete program",
        "uduu",
        Text("P.PC", AGAIN),
        Text("P.C", AGAIN),
        *(2, "R3", "worker 0 computes without the program, which it lost in slot 1 (R1)"),
        {"t_prog": 1},
    ),
    Clause(
        "DOWN loses a partial program",
        "uduuu",
        Text("P.PPC", AGAIN),
        Text("P.PC", AGAIN),
        *(3, "R3", "worker 0 computes without the program, which it lost in slot 1 (R1)"),
        {"t_prog": 2},
    ),
    Clause(
        "DOWN loses the program of a worker that is not enrolled",
        "uuduu",
        Text("P..PC", {0: {0: 1}, 1: {}, 3: {0: 1}}),
        Text("P..C", {0: {0: 1}, 1: {}, 3: {0: 1}}),
        *(3, "R3", "worker 0 computes without the program, which it lost in slot 2 (R1)"),
        {"t_prog": 1},
    ),
    Clause(
        "data is not sent to a worker whose program went DOWN with it",
        "uduuu",
        Text("P.PDC", AGAIN),
        Text("P.DDC", AGAIN),
        *(2, "R3", "worker 0 receives data without the program, which it lost in slot 1 (R1)"),
        {"t_prog": 1, "t_data": 1},
    ),
    Clause(
        "DOWN loses the data",
        "uduu",
        Text("D.DC", AGAIN),
        Text("D.C", AGAIN),
        *(2, "R3", "worker 0 computes without 1 slot of data"),
        {"t_data": 1},
    ),
    Clause(
        "DOWN of a worker with tasks loses the computation",
        "uduu",
        Text("C.CC", AGAIN),
        Text("C.C.", AGAIN),
        *(3, "R2", "worker 0 is enrolled, but has letter ."),
        {"w": [2]},
    ),
    Clause(
        "DOWN of a worker on stand-by does not lose the computation",
        "uuu udu",
        Text("CC I.", WITH_STAND_BY),
        Text("CCC I..", WITH_STAND_BY),
        *(
            2,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 1, without a new entry, but has letter C",
        ),
        {"w": [2, 1]},
    ),
    Clause(
        "the other members stay enrolled and keep their data",
        "uduu uuuu",
        Text("D.DC DIIC", {0: {0: 1, 1: 1}, 2: {0: 1, 1: 1}}),
        Text("D.DC DIDC", {0: {0: 1, 1: 1}, 2: {0: 1, 1: 1}}),
        *(2, "R3", "worker 1 receives data, but lacks none for its 1 task"),
        {"tasks": 2, "t_data": 1},
    ),
    Clause(
        "the other members do not leave without an entry",
        "udu uuu",
        Text("D. DI", BOTH),
        Text("D. D.", BOTH),
        *(1, "R2", "worker 1 is enrolled, but has letter ."),
        {"tasks": 2, "t_data": 1},
    ),
    Clause(
        "the other members do not compute",
        "uuduu uuuuu",
        Text("CC.C. CCICC", {0: {0: 1, 1: 1}, 3: {0: 1, 1: 1}, 4: {1: 2}}),
        Text("CC.C. CCCCC", {0: {0: 1, 1: 1}, 3: {0: 1, 1: 1}, 4: {1: 2}}),
        *(2, "R3", "worker 1 computes, but only 1 of 2 tasks are assigned"),
        {"tasks": 2, "w": [5, 5]},
    ),
    Clause(
        "a worker that went DOWN is not enrolled without an entry",
        "uduu",
        Text("C..."),
        Text("C..C"),
        *(3, "R2", "worker 0 is not enrolled, but has letter C"),
        {"w": [2]},
    ),
    Clause(
        "a RECLAIMED worker loses nothing",
        "uruu",
        Text("PIPC"),
        Text("PIPP"),
        *(3, "R4", "worker 0 has letter P, but nothing is sent in a computation slot"),
        {"t_prog": 2},
    ),
]

R2 = [
    Clause(
        "a new worker is not RECLAIMED",
        "ruu",
        Text(".C", {1: {0: 1}}),
        Text("IC"),
        *(0, "R2", "worker 0 is newly enrolled, but RECLAIMED"),
    ),
    Clause(
        "a new worker is not DOWN",
        "duu",
        Text(".C", {1: {0: 1}}),
        Text(".C"),
        *(0, "R2", "worker 0 is newly enrolled, but DOWN"),
    ),
    Clause(
        "after R5 every enrolment is new",
        "uru",
        Text("C.C", AGAIN),
        Text("CIC", {0: {0: 1}, 1: {0: 1}}),
        *(1, "R2", "worker 0 is newly enrolled, but RECLAIMED"),
    ),
    Clause(
        "a worker that stays may be RECLAIMED, one that left may not return then",
        "urru uuuu",
        Text("CII ..I", {0: {0: 1}, 2: {0: 1, 1: 0}}),
        Text("C.I .II", {0: {0: 1}, 1: {1: 0}, 2: {0: 1, 1: 0}}),
        *(2, "R2", "worker 0 is newly enrolled, but RECLAIMED"),
        {"w": [2, 1]},
    ),
    Clause(
        "at most mu tasks",
        "uu uu",
        Text("C C", BOTH),
        Text("C .", {0: {0: 2}}),
        *(0, "R2", "worker 0 has 2 tasks, but may hold at most 1"),
        {"tasks": 2, "mu": [1, None]},
    ),
    Clause(
        "at most m tasks together",
        "uu uu",
        Text("C C", BOTH),
        Text("C C", {0: {0: 2, 1: 1}}),
        *(0, "R2", "3 tasks are assigned, but an iteration has 2"),
        {"tasks": 2},
    ),
    Clause(
        "leaving loses the data",
        "uuuu",
        Text("D.DC", LEAVE_AND_RETURN),
        Text("D.C", LEAVE_AND_RETURN),
        *(2, "R3", "worker 0 computes without 1 slot of data"),
        {"t_data": 1},
    ),
    Clause(
        "leaving loses a partial program",
        "uuuuu",
        Text("P.PPC", LEAVE_AND_RETURN),
        Text("P.PC", LEAVE_AND_RETURN),
        *(3, "R3", "worker 0 computes without the program, which it lost in slot 1 (R2)"),
        {"t_prog": 2},
    ),
    Clause(
        "leaving keeps a complete program",
        "uuu",
        Text("P.C", LEAVE_AND_RETURN),
        Text("P.P", LEAVE_AND_RETURN),
        *(2, "R4", "worker 0 has letter P, but nothing is sent in a computation slot"),
        {"t_prog": 1},
    ),
    Clause(
        "other task counts lose the computation",
        "uuu uuu",
        Text("CCC C..", {0: {0: 1, 1: 1}, 1: {0: 2}}),
        Text("CC. C..", {0: {0: 1, 1: 1}, 1: {0: 2}}),
        *(2, "R2", "worker 0 is enrolled, but has letter ."),
        {"tasks": 2, "w": [1, 2]},
    ),
    Clause(
        "other task counts in a single slot lose it, too",
        "uuuuu uuuuu",
        Text("CICCC .C...", {0: {0: 1}, 1: {0: 0, 1: 1}, 2: {0: 1}}),
        Text("CICC. .C...", {0: {0: 1}, 1: {0: 0, 1: 1}, 2: {0: 1}}),
        *(4, "R2", "worker 0 is enrolled, but has letter ."),
        {"w": [3, 3]},
    ),
    Clause(
        "a worker that joins on stand-by does not lose the computation",
        "uuu uuu",
        Text("CC .I", {0: {0: 1}, 1: {0: 1, 1: 0}}),
        Text("CCC .II", {0: {0: 1}, 1: {0: 1, 1: 0}}),
        *(
            2,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 1, without a new entry, but has letter C",
        ),
        {"w": [2, 1]},
    ),
    Clause(
        "a worker that leaves from stand-by does not lose the computation",
        "uuu uuu",
        Text("CC I.", {0: {0: 1, 1: 0}, 1: {0: 1}}),
        Text("CCC I..", {0: {0: 1, 1: 0}, 1: {0: 1}}),
        *(
            2,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 1, without a new entry, but has letter C",
        ),
        {"w": [2, 1]},
    ),
    Clause(
        "an entry that changes nothing does not lose the computation",
        "uuu",
        Text("CC", {0: {0: 1}, 1: {0: 1}}),
        Text("CCC", {0: {0: 1}, 1: {0: 1}}),
        *(
            2,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 1, without a new entry, but has letter C",
        ),
        {"w": [2]},
    ),
    Clause(
        "a worker that stays with more tasks keeps its data",
        "uuuu uuuu",
        Text("DDCC D...", {0: {0: 1, 1: 1}, 1: {0: 2}}),
        Text("DDDC D...", {0: {0: 1, 1: 1}, 1: {0: 2}}),
        *(2, "R4", "worker 0 has letter D, but nothing is sent in a computation slot"),
        {"tasks": 2, "t_data": 1},
    ),
    Clause(
        "a worker that stays with fewer tasks keeps its data",
        "uuuuuu uuuuuu",
        Text("DDIICC ..D...", {0: {0: 2}, 2: {0: 1, 1: 1}, 3: {0: 0}, 4: {0: 2}}),
        Text("DDIDCC ..D...", {0: {0: 2}, 2: {0: 1, 1: 1}, 3: {0: 0}, 4: {0: 2}}),
        *(3, "R3", "worker 0 receives data, but lacks none for its 0 tasks"),
        {"tasks": 2, "t_data": 1},
    ),
    Clause(
        "a worker that stays keeps a partial program",
        "uuuu uuuu",
        Text("PPC I..", {0: {0: 1, 1: 0}, 1: {0: 1}}),
        Text("PPP I..", {0: {0: 1, 1: 0}, 1: {0: 1}}),
        *(2, "R4", "worker 0 has letter P, but nothing is sent in a computation slot"),
        {"t_prog": 2},
    ),
    Clause(
        "an enrolled worker has a letter",
        "uu uu",
        Text("C I", WITH_STAND_BY),
        Text("C .", WITH_STAND_BY),
        *(0, "R2", "worker 1 is enrolled, but has letter ."),
    ),
    Clause(
        "a worker that is not enrolled has no letter",
        "uu uu",
        Text("C ."),
        Text("C I"),
        *(0, "R2", "worker 1 is not enrolled, but has letter I"),
    ),
    Clause(
        "no worker is enrolled before the first entry",
        "uu",
        Text(".C", {1: {0: 1}}),
        Text("CC", {1: {0: 1}}),
        *(0, "R2", "worker 0 is not enrolled, but has letter C"),
    ),
]

R3 = [
    Clause(
        "at most n_com are served",
        "uuu uuu",
        Text("PIC IPC", BOTH),
        Text("PC PC", BOTH),
        *(0, "R3", "2 workers are served, but n_com is 1"),
        {"tasks": 2, "t_prog": 1, "n_com": 1},
    ),
    Clause(
        "program and data share the channels",
        "uuuuu uuuuu",
        Text("PDIIC IIPDC", BOTH),
        Text("PDIC IPDC", BOTH),
        *(1, "R3", "2 workers are served, but n_com is 1"),
        {"tasks": 2, "t_prog": 1, "t_data": 1, "n_com": 1},
    ),
    Clause(
        "a RECLAIMED worker receives no program",
        "uruu",
        Text("PIPC"),
        Text("PPC"),
        *(1, "R3", "worker 0 receives the program, but is RECLAIMED"),
        {"t_prog": 2},
    ),
    Clause(
        "a RECLAIMED worker receives no data",
        "uruu",
        Text("PIDC"),
        Text("PDC"),
        *(1, "R3", "worker 0 receives data, but is RECLAIMED"),
        {"t_prog": 1, "t_data": 1},
    ),
    Clause(
        "program before data",
        "uuuu",
        Text("PPDC"),
        Text("PDPC"),
        *(1, "R3", "worker 0 receives data without the program"),
        {"t_prog": 2, "t_data": 1},
    ),
    Clause(
        "the program is sent once",
        "uuuu",
        Text("PPDC"),
        Text("PPPC"),
        *(2, "R3", "worker 0 receives the program, but has it already"),
        {"t_prog": 2, "t_data": 1},
    ),
    Clause(
        "data is sent once",
        "uuuu uuuu",
        Text("DIC IDC", BOTH),
        Text("DDC IDC", BOTH),
        *(1, "R3", "worker 0 receives data, but lacks none for its 1 task"),
        {"tasks": 2, "t_data": 1},
    ),
    Clause(
        "data for every task",
        "uuuuuu",
        Text("DDDDCC", {0: {0: 2}}),
        Text("DDCC", {0: {0: 2}}),
        *(2, "R3", "worker 0 computes without 2 slots of data"),
        {"tasks": 2, "t_data": 2},
    ),
    Clause(
        "stand-by receives the program, but no data",
        "uuu uuu",
        Text("PDC PII", WITH_STAND_BY),
        Text("PDC PDI", WITH_STAND_BY),
        *(1, "R3", "worker 1 receives data, but lacks none for its 0 tasks"),
        {"t_prog": 1, "t_data": 1},
    ),
    Clause(
        "the master may idle and transfers may pause, but must be complete before the computation",
        "uuuuu",
        Text("IPIPC"),
        Text("IPICC"),
        *(3, "R3", "worker 0 computes without the program"),
        {"t_prog": 2},
    ),
    Clause(
        "no worker computes while another lacks the program",
        "uuu uuu",
        Text("PIC IPC", BOTH),
        Text("PCC IPC", BOTH),
        *(1, "R3", "worker 0 computes, but worker 1 lacks the program"),
        {"tasks": 2, "t_prog": 1, "n_com": 1},
    ),
    Clause(
        "stand-by does not compute while the others receive",
        "uu uu",
        Text("DC II", WITH_STAND_BY),
        Text("DC CI", WITH_STAND_BY),
        *(0, "R3", "worker 1 computes, but worker 0 lacks 1 slot of data"),
        {"t_data": 1},
    ),
    Clause(
        "no worker computes in an incomplete configuration",
        "uuu uuu",
        Text("ICC ...", {0: {0: 1}, 1: {0: 2}}),
        Text("CCC ...", {0: {0: 1}, 1: {0: 2}}),
        *(0, "R3", "worker 0 computes, but only 1 of 2 tasks are assigned"),
        {"tasks": 2},
    ),
    Clause(
        "a program without length needs no sending, not even after DOWN",
        "udu",
        Text("I.C", {0: {0: 0}, 2: {0: 1}}),
        Text("P.C", {0: {0: 0}, 2: {0: 1}}),
        *(0, "R3", "worker 0 receives the program, but has it already"),
    ),
]

R4 = [
    Clause(
        "a worker that can compute does",
        "uuu",
        Text("CC"),
        Text("ICC"),
        *(0, "R4", "worker 0 idles, but all workers with tasks are UP and have program and data"),
        {"w": [2]},
    ),
    Clause(
        "all members compute together",
        "uu uu",
        Text("C C", BOTH),
        Text("C I", BOTH),
        *(0, "R4", "worker 1 idles, but all workers with tasks are UP and have program and data"),
        {"tasks": 2},
    ),
    Clause(
        "no worker computes while another is RECLAIMED",
        "uuu uru",
        Text("CIC CIC", BOTH),
        Text("CCC CIC", BOTH),
        *(1, "R4", "worker 0 computes, but worker 1 is RECLAIMED"),
        {"tasks": 2, "w": [2, 2]},
    ),
    Clause(
        "a RECLAIMED worker does not compute",
        "uru",
        Text("CIC"),
        Text("CC"),
        *(1, "R4", "worker 0 computes, but worker 0 is RECLAIMED"),
        {"w": [2]},
    ),
    Clause(
        "stand-by does not hold up the computation",
        "uu ur",
        Text("CC II", WITH_STAND_BY),
        Text("CI II", WITH_STAND_BY),
        *(1, "R4", "worker 0 idles, but all workers with tasks are UP and have program and data"),
        {"w": [2, 1]},
    ),
    Clause(
        "stand-by does not compute",
        "uu uu",
        Text("C I", WITH_STAND_BY),
        Text("C C", WITH_STAND_BY),
        *(0, "R4", "worker 1 computes, but is on stand-by"),
    ),
    Clause(
        "nothing is sent to stand-by in a computation slot",
        "uuu uuu",
        Text("PC II", WITH_STAND_BY),
        Text("PC IP", WITH_STAND_BY),
        *(1, "R4", "worker 1 has letter P, but nothing is sent in a computation slot"),
        {"t_prog": 1},
    ),
    Clause(
        "nothing is sent while the computation is suspended",
        "uur uuu",
        Text("PCI III", WITH_STAND_BY),
        Text("PCI IIP", WITH_STAND_BY),
        *(2, "R4", "worker 1 has letter P, but nothing is sent in a computation slot"),
        {"t_prog": 1, "w": [2, 1]},
    ),
]

R5 = [
    Clause(
        "the iteration ends at W = max x w, not later",
        "uuuuu uuuuu",
        Text("CCCC CCCC", {0: {0: 2, 1: 1}}),
        Text("CCCCC CCCCC", {0: {0: 2, 1: 1}}),
        *(
            4,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 3, without a new entry, but has letter C",
        ),
        {"tasks": 3, "w": [2, 3]},
    ),
    Clause(
        "the iteration ends at W = max x w, not earlier",
        "uuuuu uuuuu",
        Text("CCCC. CCCC.", {0: {0: 2, 1: 1}}),
        Text("CCC.. CCC..", {0: {0: 2, 1: 1}}),
        *(3, "R2", "worker 0 is enrolled, but has letter ."),
        {"tasks": 3, "w": [2, 3]},
    ),
    Clause(
        "the next iteration needs an entry, even for the same workers",
        "uu",
        Text("CC", {0: {0: 1}, 1: {0: 1}}),
        Text("CC"),
        *(
            1,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 0, without a new entry, but has letter C",
        ),
    ),
    Clause(
        "an entry after the end applies from its slot on",
        "uuu",
        Text("C.C", AGAIN),
        Text("CIC", AGAIN),
        *(
            1,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 0, without a new entry, but has letter I",
        ),
    ),
    Clause(
        "the next iteration needs an entry, however late it begins",
        "uuuu",
        Text("C..C", {0: {0: 1}, 3: {0: 1}}),
        Text("C..C"),
        *(
            3,
            "R5",
            "worker 0 is not enrolled since the iteration ended in slot 0, without a new entry, but has letter C",
        ),
    ),
    Clause(
        "an entry without workers is an entry, so letters after it break R2",
        "uuu",
        Text("C..", {0: {0: 1}, 1: {}}),
        Text("C.C", {0: {0: 1}, 1: {}}),
        *(2, "R2", "worker 0 is not enrolled, but has letter C"),
    ),
    Clause(
        "data are lost",
        "uuuu",
        Text("DCDC", AGAIN),
        Text("DCC", AGAIN),
        *(2, "R3", "worker 0 computes without 1 slot of data"),
        {"t_data": 1},
    ),
    Clause(
        "a complete program stays",
        "uuu",
        Text("PCC", AGAIN),
        Text("PCP", AGAIN),
        *(2, "R4", "worker 0 has letter P, but nothing is sent in a computation slot"),
        {"t_prog": 1},
    ),
    Clause(
        "a complete program given on stand-by stays",
        "uuuu uuuu",
        Text("PPC. PPIC", {0: {0: 1, 1: 0}, 3: {1: 1}}),
        Text("PPC. PPIP", {0: {0: 1, 1: 0}, 3: {1: 1}}),
        *(3, "R4", "worker 1 has letter P, but nothing is sent in a computation slot"),
        {"t_prog": 2},
    ),
    Clause(
        "a partial program is lost",
        "uuuuuu uuuuuu",
        Text("PPC... PIIPPC", {0: {0: 1, 1: 0}, 3: {1: 1}}),
        Text("PPC... PIIPC.", {0: {0: 1, 1: 0}, 3: {1: 1}}),
        *(4, "R3", "worker 1 computes without the program, which it lost in slot 2 (R5)"),
        {"t_prog": 2},
    ),
]


@pytest.mark.parametrize("clause", R1 + R2 + R3 + R4 + R5, ids=lambda clause: clause.statement)
def test_every_clause_has_a_schedule_that_obeys_it_and_one_that_breaks_it(clause: Clause) -> None:
    assert clause.good.check(clause.instance).is_valid, clause.good.check(clause.instance)
    verdict = clause.bad.check(clause.instance)
    assert (verdict.time, verdict.rule) == (clause.slot, clause.rule), verdict
    assert verdict.reason == clause.reason
