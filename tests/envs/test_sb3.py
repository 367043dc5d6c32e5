from __future__ import annotations

import gymnasium
import pytest

pytest.importorskip("sb3_contrib", reason="needs sb3-contrib: the extra 'sb3'")

import rookery.envs  # noqa: F401 (importing it registers)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rookery/Chess-v0", {"observation": "vector66", "max_plies": 80}),
        ("rookery/KPK-v0", {"level": "easy"}),
    ],
)
def test_maskable_ppo_trains(name: str, options) -> None:
    import torch
    from sb3_contrib import MaskablePPO

    torch.set_num_threads(1)
    # An action outside the mask would raise, so the masks arrive where they should.
    env = gymnasium.make(name, on_illegal="raise", **options)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=512,
        batch_size=128,
        n_epochs=2,
        seed=1,
        device="cpu",
        policy_kwargs={"net_arch": [32]},
    )
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(2048)
    assert model.num_timesteps == 2048
    after = model.policy.parameters()
    assert not all(torch.equal(old, new) for old, new in zip(before, after, strict=True))
    observation, _ = env.reset(seed=0)
    masks = env.get_wrapper_attr("action_masks")()
    action, _ = model.predict(observation, action_masks=masks, deterministic=True)
    assert masks[int(action)]
    env.close()
