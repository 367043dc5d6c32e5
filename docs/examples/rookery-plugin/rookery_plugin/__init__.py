"""What this package adds to Rookery: descriptions only, so that importing it is cheap."""

from rookery.nets.registry import NetworkFamily
from rookery.players.options import Option
from rookery.players.registry import PlayerKind
from rookery.players.spec import number
from rookery.runs.algorithms import Algorithm

FAMILY = NetworkFamily(
    name="points",
    network="rookery_plugin.network:Points",
    output="value",
    player="one-ply",  # what plays runs/points
    onnx=True,
)
ALGORITHM = Algorithm(
    name="points",
    recipe="rookery_plugin.algorithm:PointsRecipe",
    trainer="rookery_plugin.algorithm:PointsTrainer",
    recipes="rookery_plugin",  # its .toml files are recipes
)
NOISE = Option("noise", number(0.0, 1.0), "deviation of a random number added to each value (0)")
ONE_PLY = PlayerKind(
    name="one-ply",
    summary="of points",
    build="rookery_plugin.player:one_ply_player",
    options=(NOISE,),
    networks=True,
)
CLASSICAL = PlayerKind(
    name="classical",
    summary="one ply deep by the classical values 1, 3, 3, 5, 9",
    build="rookery_plugin.player:classical_player",
    options=(NOISE,),
)
