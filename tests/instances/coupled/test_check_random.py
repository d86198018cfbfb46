"""The checker on random legal schedules and their mutants, compared with two other implementations of R1-R5.

`walk` makes schedules slot by slot and records the state. `expected` checks a text without state: it derives from the
earlier letters which workers have the program and how much is computed. Neither uses the checker. On every schedule
and mutant the compiled twin of the checker must give the same verdict.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from hindsched.instances import check
from hindsched.instances.coupled import Configuration, Instance, Schedule
from hindsched.instances.coupled.generate import small
from hindsched.instances.coupled.replay import first_broken_rule, replay
from hindsched.instances.states import DOWN, RECLAIMED, to_letters

Tasks = dict[int, int]
SEEDS = range(300)


# ------------------------------------------------------------------------------------------------- legal schedules


def walk(instance: Instance, draw: random.Random) -> Schedule:
    """Make random decisions slot by slot that obey R1-R5."""
    states = to_letters(instance.states)
    everyone = range(instance.num_workers)
    letters: list[list[str]] = [[] for _ in everyone]
    entries: list[Configuration] = []
    now: Tasks = {}
    program, data = dict.fromkeys(everyone, 0), dict.fromkeys(everyone, 0)
    computed = 0
    for t in range(instance.slots):
        before = dict(now)
        for q in everyone:
            if states[q][t] == "d":
                program[q] = data[q] = 0
                now.pop(q, None)
        if draw.random() < (0.15 if sum(now.values()) == instance.tasks else 0.7):
            now = choose(instance, [q for q in everyone if states[q][t] == "u" or q in now], draw)
            entries.append(Configuration(t, now))
        for q in everyone:
            if q not in now:
                data[q] = 0
                program[q] = program[q] if program[q] == instance.t_prog else 0
        if any(before.get(q, 0) != now.get(q, 0) for q in everyone):
            computed = 0
        column = ["I" if q in now else "." for q in everyone]
        ready = sum(now.values()) == instance.tasks
        ready = ready and all(program[q] == instance.t_prog for q in now if now[q])
        ready = ready and all(data[q] >= now[q] * instance.t_data for q in now if now[q])
        if ready and all(states[q][t] == "u" for q in now if now[q]):
            computed += 1
            for q in now:
                column[q] = "C" if now[q] else "I"
        elif not ready:
            wants = [q for q in now if states[q][t] == "u"]
            wants = [q for q in wants if program[q] < instance.t_prog or data[q] < now[q] * instance.t_data]
            draw.shuffle(wants)
            for q in wants[: instance.n_com if draw.random() < 0.8 else draw.randint(0, instance.n_com or 1)]:
                column[q] = "P" if program[q] < instance.t_prog else "D"
                (program if column[q] == "P" else data)[q] += 1
        for q in everyone:
            letters[q].append(column[q])
        if ready and computed == max(x * instance.w[q] for q, x in now.items()):
            now, computed = {}, 0
            data = dict.fromkeys(everyone, 0)
            program = {q: slots if slots == instance.t_prog else 0 for q, slots in program.items()}
    return Schedule(instance.fingerprint, tuple("".join(row) for row in letters), tuple(entries))


def choose(instance: Instance, workers: list[int], draw: random.Random) -> Tasks:
    """Return a random configuration of these workers, mostly with as many tasks as possible."""
    draw.shuffle(workers)
    chosen = workers[: draw.randint(0, len(workers))] if draw.random() < 0.3 else workers
    tasks = dict.fromkeys(chosen, 0)
    for _ in range(instance.tasks if draw.random() < 0.8 else draw.randint(0, instance.tasks)):
        able = [q for q in chosen if tasks[q] < instance.capacities[q]]
        if able:
            tasks[draw.choice(able)] += 1
    return {q: x for q, x in tasks.items() if x or draw.random() < 0.5}


# --------------------------------------------------------------------------------------------- the second checker


class Hindsight:
    """A schedule and what follows from its earlier letters. The enrolled workers are the only state."""

    def __init__(self, instance: Instance, schedule: Schedule) -> None:
        self.instance = instance
        self.states = to_letters(instance.states)
        self.letters = schedule.letters
        self.entries = {entry.slot: dict(entry.tasks) for entry in schedule.configurations}
        self.enrolled: list[Tasks] = []
        self.ends: list[int] = []

    def before(self, t: int) -> Tasks:
        return {} if t == 0 or t - 1 in self.ends else self.enrolled[t - 1]

    def survivors(self, t: int) -> Tasks:
        return {q: x for q, x in self.before(t).items() if self.states[q][t] != "d"}

    def joined(self, q: int, t: int) -> int:
        """Return the slot since which q has been enrolled without a break."""
        while q in self.before(t):
            t -= 1
        return t

    def has_program(self, q: int, t: int) -> bool:
        """Return whether q has received the whole program before slot t in one enrolment since it was last DOWN."""
        born = self.states[q].rfind("d", 0, t + 1) + 1
        stays = (s for s in range(born, t + 1) if q in self.enrolled[s])
        counts = Counter(self.joined(q, s) for s in stays if s < t and self.letters[q][s] == "P")
        return self.instance.t_prog == 0 or max(counts.values(), default=0) >= self.instance.t_prog

    def lacks_data(self, q: int, t: int) -> bool:
        received = self.letters[q][self.joined(q, t) : t].count("D")
        return received < self.enrolled[t][q] * self.instance.t_data

    def is_ready(self, t: int) -> bool:
        members = [q for q, x in self.enrolled[t].items() if x]
        assigned = sum(self.enrolled[t].values())
        return assigned == self.instance.tasks and not any(
            not self.has_program(q, t) or self.lacks_data(q, t) for q in members
        )

    def computed(self, t: int) -> int:
        """Count computed slots up to t since the last change of task counts or the begin of the iteration."""
        held = {q: x for q, x in self.enrolled[t].items() if x}
        count = 0
        while t >= 0 and t not in self.ends and {q: x for q, x in self.enrolled[t].items() if x} == held:
            count += any(row[t] == "C" for row in self.letters)
            t -= 1
        return count

    def broken_rules(self, t: int) -> Iterator[str]:
        """Yield every rule that is broken in slot t."""
        everyone = range(self.instance.num_workers)
        now = self.entries.get(t, self.survivors(t))
        self.enrolled.append(now)
        column = [row[t] for row in self.letters]
        for q in everyone:
            is_down = self.states[q][t] == "d"
            if is_down and (column[q] != "." or (q in now and q in self.before(t))):
                yield "R1"
            if q in now and q not in self.before(t) and self.states[q][t] != "u":
                yield "R2"
            if now.get(q, 0) > self.instance.capacities[q]:
                yield "R2"
            if (q in now) != (column[q] != "."):
                silent = bool(self.ends) and not any(self.ends[-1] < s <= t for s in self.entries)
                yield "R5" if silent else "R2"
        if sum(now.values()) > self.instance.tasks:
            yield "R2"
        if self.is_ready(t):
            runs = all(self.states[q][t] == "u" for q, x in now.items() if x)
            if any(column[q] != ("C" if x and runs else "I") for q, x in now.items()):
                yield "R4"
            return
        if sum(letter in "PD" for letter in column) > self.instance.channels:
            yield "R3"
        for q in now:
            has = self.has_program(q, t)
            needs = "P" if not has else "D" if self.lacks_data(q, t) else "I"
            if column[q] != "I" and (column[q] != needs or self.states[q][t] != "u"):
                yield "R3"

    def judge(self) -> tuple[int | None, str | None, int]:
        for t in range(len(self.letters[0])):
            if t == self.instance.slots:
                return t, "R1", len(self.ends)
            if rules := list(self.broken_rules(t)):
                return t, min(rules), len(self.ends)
            now = self.enrolled[t]
            if self.is_ready(t) and self.computed(t) == max(x * self.instance.w[q] for q, x in now.items()):
                self.ends.append(t)
        late = [slot for slot, tasks in self.entries.items() if slot >= len(self.letters[0]) and tasks]
        return (min(late), "R2", len(self.ends)) if late else (None, None, len(self.ends))


def expected(instance: Instance, schedule: Schedule) -> tuple[int | None, str | None, int]:
    return Hindsight(instance, schedule).judge()


def found(instance: Instance, schedule: Schedule) -> tuple[int | None, str | None, int]:
    verdict = check(instance, schedule)
    assert replay(instance, schedule) == verdict
    known = min(schedule.slots, instance.slots)
    is_beyond = verdict.time is not None and verdict.time >= known  # no rule is broken where letters have a known state
    place = (None, None) if is_beyond else (verdict.time, verdict.rule)
    assert first_broken_rule(instance, schedule) == (*place, verdict.outcome.ends)
    return verdict.time, verdict.rule, verdict.outcome.iterations


def cases(seeds: range = SEEDS) -> Iterator[tuple[Instance, Schedule, random.Random]]:
    for seed in seeds:
        draw = random.Random(seed)
        instance = small(
            seed,
            p=draw.randint(1, 4),
            slots=draw.randint(1, 24),
            tasks=draw.randint(1, 4),
            iterations=draw.randint(1, 2),
            up=draw.choice([0.75, 0.85, 0.9]),
            down=draw.choice([0.0, 0.03, 0.1]),
        )
        yield instance, walk(instance, draw), draw


def test_random_legal_schedules_are_accepted() -> None:
    seen: Counter[str] = Counter()
    for instance, schedule, _ in cases():
        verdict = check(instance, schedule)
        assert verdict.is_valid, (verdict, instance, schedule)
        assert expected(instance, schedule) == (None, None, verdict.outcome.iterations)
        ends = [t for t in range(schedule.slots) if found(instance, cut(schedule, t + 1))[2] == instance.iterations]
        assert verdict.outcome.makespan == (ends[0] + 1 if ends else None)
        seen["iterations"] += verdict.outcome.iterations
        seen["finished"] += verdict.outcome.makespan is not None
        seen.update("".join(schedule.letters))
    assert seen["iterations"] > 200, seen
    assert seen["finished"] > 50, seen
    assert min(seen[letter] for letter in "PDCI.") > 200, seen


# ------------------------------------------------------------------------------------------------------- mutants


def cut(schedule: Schedule, slots: int) -> Schedule:
    entries = tuple(entry for entry in schedule.configurations if entry.slot < slots)
    return Schedule(schedule.instance, tuple(row[:slots] for row in schedule.letters), entries)


def with_letter(schedule: Schedule, q: int, t: int, letter: str) -> Schedule:
    rows = list(schedule.letters)
    rows[q] = rows[q][:t] + letter + rows[q][t + 1 :]
    return Schedule(schedule.instance, tuple(rows), schedule.configurations)


def with_entries(schedule: Schedule, entries: dict[int, Tasks]) -> Schedule:
    made = tuple(Configuration(slot, tasks) for slot, tasks in sorted(entries.items()))
    return Schedule(schedule.instance, schedule.letters, made)


def entries_of(schedule: Schedule) -> dict[int, Tasks]:
    return {entry.slot: dict(entry.tasks) for entry in schedule.configurations}


def places(schedule: Schedule, letters: str) -> list[tuple[int, int]]:
    return [(q, t) for q, row in enumerate(schedule.letters) for t, letter in enumerate(row) if letter in letters]


Mutant = tuple[Instance, Schedule] | None
Mutation = Callable[[Instance, Schedule, random.Random], Mutant]


def change_letter(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    q, t = draw.choice(places(schedule, "PDCI."))
    others = [letter for letter in "PDCI." if letter != schedule.letters[q][t]]
    return instance, with_letter(schedule, q, t, draw.choice(others))


def shift_slot(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    """Drop a slot, so that all later slots are too early."""
    t = draw.randrange(schedule.slots)
    rows = tuple(row[:t] + row[t + 1 :] for row in schedule.letters)
    entries = {slot - (slot > t): tasks for slot, tasks in entries_of(schedule).items() if slot != t}
    return instance, with_entries(Schedule(schedule.instance, rows, ()), entries)


def insert_slot(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    """Repeat a slot; the schedule is then often one slot longer than the instance."""
    t = draw.randrange(schedule.slots)
    rows = tuple(row[: t + 1] + row[t:] for row in schedule.letters)
    entries = {slot + (slot > t): tasks for slot, tasks in entries_of(schedule).items()}
    return instance, with_entries(Schedule(schedule.instance, rows, ()), entries)


def swap_workers(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    """Exchange letters and tasks of workers, which have different states, speeds or bounds."""
    order = list(range(instance.num_workers))
    draw.shuffle(order)
    rows = tuple(schedule.letters[q] for q in order)
    entries = {t: {order.index(q): x for q, x in tasks.items()} for t, tasks in entries_of(schedule).items()}
    return instance, with_entries(Schedule(schedule.instance, rows, ()), entries)


def swap_letters(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    order = draw.sample(range(instance.num_workers), instance.num_workers)
    return instance, Schedule(schedule.instance, tuple(schedule.letters[q] for q in order), schedule.configurations)


def fewer_tasks(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    entries = entries_of(schedule)
    able = [(slot, q) for slot, tasks in entries.items() for q, x in tasks.items() if x]
    if not able:
        return None
    slot, q = draw.choice(able)
    entries[slot][q] -= 1
    return instance, with_entries(schedule, entries)


def more_tasks(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    entries = entries_of(schedule)
    able = [(slot, q) for slot, tasks in entries.items() for q in tasks]
    if not able:
        return None
    slot, q = draw.choice(able)
    entries[slot][q] += 1
    return instance, with_entries(schedule, entries)


def move_entry(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    entries = entries_of(schedule)
    moves = [(slot, slot + d) for slot in entries for d in (-1, 1) if slot + d >= 0 and slot + d not in entries]
    if not moves:
        return None
    old, new = draw.choice(moves)
    return instance, with_entries(schedule, {new if slot == old else slot: x for slot, x in entries.items()})


def drop_entry(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    entries = entries_of(schedule)
    if not entries:
        return None
    del entries[draw.choice(list(entries))]
    return instance, with_entries(schedule, entries)


def program_after_down(instance: Instance, schedule: Schedule, draw: random.Random) -> Mutant:
    """Make a worker DOWN where it is not enrolled, so that it loses a program that it may use later."""
    able = [(q, t) for q, t in places(schedule, ".") if "P" in schedule.letters[q][:t]]
    able = [(q, t) for q, t in able if set(schedule.letters[q][t:]) & set("CD")]
    return (with_state(instance, *draw.choice(able), DOWN), schedule) if able else None


def with_state(instance: Instance, q: int, t: int, state: int) -> Instance:
    states = instance.states.copy()
    states[q, t] = state
    return instance.replace(states=states)


ANY = {"R1", "R2", "R3", "R4", "R5"}
#: Rules that a mutant of each kind can break first; ANY: all of them, depending on later slots.
KINDS: list[tuple[Mutation, set[str]]] = [
    (change_letter, ANY),
    (shift_slot, ANY),
    (insert_slot, ANY),
    (swap_workers, ANY),
    (swap_letters, ANY),
    (move_entry, ANY),
    (drop_entry, ANY),
    (fewer_tasks, {"R3"}),  # data for a missing task, or computation with one task too few
    (more_tasks, {"R2", "R4"}),  # too many tasks, or a complete configuration in which no worker computes
    (program_after_down, {"R3"}),  # data or computation without the program
]


@pytest.mark.parametrize(("mutate", "rules"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_mutants_break_the_rules_that_the_second_checker_finds(mutate: Mutation, rules: set[str]) -> None:
    refused: Counter[str] = Counter()
    for instance, schedule, draw in cases(range(1000)):
        mutant = mutate(instance, schedule, draw)
        if mutant is None:
            continue
        slot, rule, iterations = expected(*mutant)
        assert found(*mutant) == (slot, rule, iterations), (mutant, check(*mutant))
        refused.update([rule] if rule else [])
    assert refused.total() > 150
    assert set(refused) <= rules


# ------------------------------------------------------------------------- mutants whose slot and rule are known


def test_a_shortened_schedule_is_valid_and_completes_fewer_iterations() -> None:
    for instance, schedule, draw in cases():
        before = check(instance, schedule).outcome.iterations
        after = check(instance, cut(schedule, draw.randint(1, schedule.slots)))
        assert after.is_valid
        assert after.outcome.iterations <= before


def test_an_idle_member_in_a_computing_team_breaks_r4() -> None:
    count = 0
    for instance, schedule, draw in cases():
        for q, t in draw.sample(places(schedule, "C"), min(1, len(places(schedule, "C")))):
            assert found(instance, with_letter(schedule, q, t, "I"))[:2] == (t, "R4")
            count += 1
    assert count > 100


def test_computing_breaks_r3_in_communication_slots_and_r1_or_r2_without_enrolment() -> None:
    seen: Counter[str] = Counter()
    for instance, schedule, _ in cases():
        for q, t in places(schedule, "PD."):
            is_down = instance.states[q, t] == DOWN
            has_ended = check(instance, cut(schedule, t)).outcome.iterations > 0
            silent = has_ended and nobody_chosen_since(instance, schedule, t)
            rule = "R3" if schedule.letters[q][t] != "." else "R1" if is_down else "R5" if silent else "R2"
            assert found(instance, with_letter(schedule, q, t, "C"))[:2] == (t, rule)
            seen[rule] += 1
    assert min(seen[rule] for rule in ("R1", "R2", "R3", "R5")) > 50, seen


def nobody_chosen_since(instance: Instance, schedule: Schedule, t: int) -> bool:
    """Return whether no entry lies between the last end of an iteration before slot t and slot t."""
    done = check(instance, cut(schedule, t)).outcome.iterations
    end = next(s for s in range(t) if check(instance, cut(schedule, s + 1)).outcome.iterations == done)
    return not any(end < slot <= t for slot in entries_of(schedule))


def test_one_channel_fewer_breaks_r3_where_all_are_in_use() -> None:
    count = 0
    for instance, schedule, _ in cases():
        served = [sum(row[t] in "PD" for row in schedule.letters) for t in range(schedule.slots)]
        if max(served) < 2:
            continue
        narrow = instance.replace(n_com=max(served) - 1)
        assert found(narrow, schedule)[:2] == (served.index(max(served)), "R3")
        count += 1
    assert count > 50


@pytest.mark.parametrize(("letters", "state", "rule"), [("PDCI", DOWN, "R1"), ("PD", RECLAIMED, "R3")])
def test_a_state_that_contradicts_the_letter_breaks_its_rule(letters: str, state: int, rule: str) -> None:
    count = 0
    for instance, schedule, _ in cases():
        for q, t in places(schedule, letters):
            is_new = t == 0 or schedule.letters[q][t - 1] == "." or t in entries_of(schedule)
            if rule == "R3" and is_new:
                continue  # the enrolment of a RECLAIMED worker may break R2 first
            assert found(with_state(instance, q, t, state), schedule)[:2] == (t, rule)
            count += 1
    assert count > 300


def test_computing_with_a_reclaimed_member_breaks_r4() -> None:
    count = 0
    for instance, schedule, _ in cases():
        for q, t in places(schedule, "C"):
            if t not in entries_of(schedule):
                assert found(with_state(instance, q, t, RECLAIMED), schedule)[:2] == (t, "R4")
                count += 1
    assert count > 100
