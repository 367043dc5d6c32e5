"""Inman and Ezra Marin, "Double Deep Q-Learning Chess Agent with Action Replay" (2022).

`network` is its convolutional value network, `recipe` its settings, `agent` its learning, `report`
its pie charts beside ours. `rookery.algorithms.ddqn` is the method made stronger.
"""
