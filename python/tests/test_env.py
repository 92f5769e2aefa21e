"""The learning environments: their libraries' own checks, repeatability, and a Reno-like agent beside Reno."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

gymnasium = pytest.importorskip("gymnasium", reason="skipped: gymnasium is not installed (pip install gymnasium)")
pytest.importorskip("pettingzoo", reason="skipped: pettingzoo is not installed (pip install pettingzoo)")

import numpy as np  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import parallel_api_test, parallel_seed_test  # noqa: E402

import tresse  # noqa: E402
from tresse.env import (  # noqa: E402
    FEATURES,
    LINK,
    CongestionEnv,
    ParallelCongestionEnv,
    Round,
    VectorCongestionEnv,
    utility,
)

SHORT = {"workloads.one.duration": "20ms"}
MESSAGE = {**LINK, "workloads": {"one": {"pattern": "flows", "flow": [{"from": "S1", "to": "D1", "size": "200kB"}]}}}
FOUR: dict[str, Any] = {
    **LINK,
    "fabric": {
        "topology": "fat-tree",
        "k": 4,
        "rate": "1Gbps",
        "delay": "20us",
        "queue": "100pkt",
        "mark": "10pkt",
        "host_queue": "100pkt",
    },
    "schemes": {"agent": {"controller": "xmp", "subflows": 2}},
    "workloads": {
        "two": {
            "pattern": "flows",
            "duration": "20ms",
            "flow": [{"from": 0, "to": 15}, {"from": 1, "to": 14}],
        }
    },
}


def play(env: CongestionEnv, actions: list[float], seed: int) -> list[tuple[Any, ...]]:
    seen, info = env.reset(seed=seed)
    path: list[tuple[Any, ...]] = [(seen.tobytes(), info["time_s"])]
    for value in actions:
        seen, reward, terminated, truncated, info = env.step(np.array([value], dtype=np.float32))
        path.append((seen.tobytes(), reward, terminated, truncated, info["time_s"], info["cwnd_packets"]))
        if terminated or truncated:
            break
    return path


def drawn(seed: int, count: int = 60) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).uniform(-1, 1, count)]


def test_gymnasium_finds_nothing_wrong() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*not wrapped|.*render|.*spec")
        check_env(CongestionEnv(set=SHORT), skip_render_check=True)


def test_pettingzoo_finds_nothing_wrong() -> None:
    parallel_api_test(ParallelCongestionEnv(FOUR), num_cycles=300)
    parallel_seed_test(lambda: ParallelCongestionEnv(FOUR), num_cycles=50)


def test_gymnasium_vectors_are_what_they_say() -> None:
    env = VectorCongestionEnv(3, set=SHORT)
    seen, _ = env.reset(seed=5)
    assert seen in env.observation_space
    ends = 0
    for _ in range(200):
        seen, rewards, terminated, truncated, _ = env.step(env.action_space.sample())
        assert seen in env.observation_space
        assert rewards.shape == terminated.shape == truncated.shape == (3,)
        ends += int(truncated.sum())
    assert ends >= 3, "an episode begins after each that is over"
    env.close()


@pytest.mark.parametrize("action", ["factor", "window", "increase"])
def test_a_random_agent_gets_through(action: Any) -> None:
    env = CongestionEnv(action=action, set=SHORT)
    env.action_space.seed(3)
    env.reset(seed=3)
    delivered, steps, truncated = 0.0, 0, False
    while not truncated:
        seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert seen in env.observation_space
        assert np.isfinite(reward)
        assert not terminated
        delivered += info["delivered_packets"]
        steps += 1
    assert info["time_s"] == pytest.approx(0.02)
    assert steps > 3
    assert delivered > 10
    with pytest.raises(tresse.TresseError, match="reset"):
        env.step(env.action_space.sample())


def test_the_same_seed_and_actions_make_the_same_trajectory() -> None:
    first = play(CongestionEnv(set=SHORT), drawn(1), 7)
    assert first == play(CongestionEnv(set=SHORT), drawn(1), 7)
    assert first != play(CongestionEnv(set=SHORT), drawn(2), 7)


def test_environments_in_threads_do_not_meet() -> None:
    def run(i: int) -> list[tuple[Any, ...]]:
        return play(CongestionEnv(set=SHORT), drawn(i), i)

    alone = [run(i) for i in range(1, 7)]
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(run, range(1, 7))) == alone


def test_a_vector_does_what_its_environments_would() -> None:
    actions = [drawn(i, 20) for i in range(3)]
    env = VectorCongestionEnv(3, set=SHORT)
    seen, _ = env.reset(seed=11)
    rows = [[own.tobytes()] for own in seen]
    for step in range(20):
        seen, *_ = env.step(np.array([[own[step]] for own in actions], dtype=np.float32))
        for place, own in enumerate(seen):
            rows[place].append(own.tobytes())
    for place in range(3):
        alone = play(CongestionEnv(set=SHORT), actions[place], 11 + place)
        assert [own[0] for own in alone] == rows[place][: len(alone)]


def test_a_message_that_is_through_terminates() -> None:
    env = CongestionEnv(MESSAGE)
    env.reset(seed=1)
    delivered, over = 0.0, False
    start = env._case.rounds[0].delivered
    while not over:
        _, _, over, truncated, info = env.step(np.array([0.2], dtype=np.float32))
        assert not truncated
        delivered += info["delivered_packets"]
    assert (start + delivered) * env._case.mss == pytest.approx(200e3, rel=1e-9)


def reno_like(window: int, congested: bool) -> np.ndarray[Any, Any]:
    factor = 0.5 if congested else (window + 1) / window
    return np.array([np.log2(factor)], dtype=np.float64)


@pytest.mark.parametrize("ecn", [False, True])
def test_a_reno_like_agent_gets_what_reno_gets(ecn: bool, tmp_path: Any) -> None:
    """On the same link, within 5 %: with a drop-tail queue, and with one that marks."""
    experiment = {**LINK, "schemes": {"agent": {"controller": "reno", "ecn": ecn}}}
    env = CongestionEnv(experiment)
    _, info = env.reset(seed=1)
    bits, since, over = 0.0, -10, False
    for step in range(100_000):
        congested = (info["marks"] > 0 or info["retransmissions"] > 0) and step > since + 1
        since = step if congested else since
        _, _, terminated, truncated, info = env.step(reno_like(info["cwnd_packets"], congested))
        bits += info["goodput_bps"] * info["step_s"]
        over = terminated or truncated
        if over:
            break
    assert over
    agent = bits / info["time_s"]
    run = tresse.run(experiment, replications=1, out=tmp_path / "run", progress=False)
    built_in = run.flows.to_pyarrow().column("goodput_bps")[0].as_py()
    print(f"ecn {ecn}: agent {agent / 1e6:.1f} Mbit/s, built-in {built_in / 1e6:.1f} Mbit/s")
    assert agent == pytest.approx(built_in, rel=0.05)


def test_a_window_is_what_was_asked_for() -> None:
    env = CongestionEnv(action="window")
    env.reset(seed=1)
    rates = []
    for packets in (4, 8):
        for _ in range(30):
            *_, info = env.step(np.array([2 * np.log(packets) / np.log(1024) - 1], dtype=np.float64))
        assert info["cwnd_packets"] == packets
        rates.append(info["goodput_bps"])
    # Below the BDP nothing queues: twice the window is twice the rate.
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.15)


@pytest.mark.parametrize("packets", [1, 2])
def test_an_increase_is_so_many_packets_a_round(packets: int) -> None:
    env = CongestionEnv(action="increase")
    env.reset(seed=1)
    windows, calm, cuts = [], 0, 0
    for _ in range(300):
        *_, info = env.step(np.array([packets / 16 - 1], dtype=np.float64))
        calm = 0 if info["marks"] else calm + 1
        windows.append(info["cwnd_packets"])
        if len(windows) > 20 and windows[-1] < 0.7 * windows[-2]:
            cuts += 1
        if calm == 8:
            # Since the mark, which halved it: slow start is over.
            assert windows[-1] - windows[-6] == pytest.approx(5 * packets, abs=packets + 1)
    assert cuts > 3, "a mark halves the window"


def test_siblings_are_seen() -> None:
    env = ParallelCongestionEnv(FOUR)
    seen, _ = env.reset(seed=1)
    assert sorted(seen) == ["flow0.subflow0", "flow0.subflow1", "flow1.subflow0", "flow1.subflow1"]
    for _ in range(5):
        seen, *_ = env.step({agent: np.array([0.1], dtype=np.float32) for agent in env.agents})
    own, sibling = seen["flow0.subflow0"], seen["flow0.subflow1"]
    n = len(FEATURES)
    assert own.shape == (2 * n,)
    assert (own[n:] == sibling[:n]).all()
    assert (own[:n] == sibling[n:]).all()


def test_the_reward_can_be_ones_own() -> None:
    def windows(own: Round) -> float:
        return own.cwnd

    env = CongestionEnv(reward=windows)
    env.reset(seed=1)
    _, reward, *_, info = env.step(np.array([0.0], dtype=np.float32))
    assert reward == info["cwnd_packets"]
    calm = Round(True, False, 1e-4, 8, 8, 0, 0, 0, 1e-4, 1e-4, 8, 8, 9e8)
    queued = Round(True, False, 1e-4, 8, 8, 0, 0, 0, 3e-4, 1e-4, 8, 8, 9e8)
    assert utility(calm) == pytest.approx(utility(queued) + 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scheme": "nobody"}, "no flow of this case has the scheme nobody"),
        ({"experiment": "xmp/table1"}, "an environment is one case"),
        ({"experiment": FOUR}, "steers one subflow"),
        ({"action": "rate"}, "action is one of factor, window, increase"),
        ({"interval": 0.0}, "interval is"),
        ({"set": {"fabric.mark": "20apples"}}, "20apples"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(tresse.TresseError, match=words):
        CongestionEnv(**arguments)
