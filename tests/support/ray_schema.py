"""The parts of KubeRay's RayCluster and RayJob (ray.io/v1) that our manifests may use.

Written from the Go types of the operator, KubeRay 1.4; unknown keys are refused. Pod templates are
left to the schema of Kubernetes itself.
"""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
SWITCH: dict[str, Any] = {"type": "boolean"}
# Parameters of `ray start` are strings, numbers too.
TEXTS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}
POD_TEMPLATE: dict[str, Any] = {"type": "object", "required": ["spec"]}


def record(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object with these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


HEAD = record(
    ["rayStartParams", "template"],
    serviceType={"enum": ["ClusterIP", "NodePort", "LoadBalancer"]},
    enableIngress=SWITCH,
    rayStartParams=TEXTS,
    template=POD_TEMPLATE,
)
WORKERS = record(
    ["groupName", "minReplicas", "maxReplicas", "rayStartParams", "template"],
    groupName=TEXT,
    replicas=COUNT,
    minReplicas=COUNT,
    maxReplicas=COUNT,
    numOfHosts=COUNT,
    rayStartParams=TEXTS,
    template=POD_TEMPLATE,
)
CLUSTER_SPEC = record(
    ["headGroupSpec"],
    headGroupSpec=HEAD,
    workerGroupSpecs={"type": "array", "items": WORKERS},
    rayVersion=TEXT,
    enableInTreeAutoscaling=SWITCH,
    headServiceAnnotations=TEXTS,
    suspend=SWITCH,
)
JOB_SPEC = record(
    [],
    entrypoint=TEXT,
    runtimeEnvYAML=TEXT,
    jobId=TEXT,
    submissionMode={"enum": ["K8sJobMode", "HTTPMode", "InteractiveMode"]},
    activeDeadlineSeconds=COUNT,
    backoffLimit=COUNT,
    shutdownAfterJobFinishes=SWITCH,
    ttlSecondsAfterFinished=COUNT,
    suspend=SWITCH,
    metadata=TEXTS,
    clusterSelector=TEXTS,
    rayClusterSpec=CLUSTER_SPEC,
    entrypointNumCpus={"type": "number"},
)
METADATA = record(["name"], name=TEXT, namespace=TEXT, labels=TEXTS, annotations=TEXTS)


def resource(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    """A whole resource."""
    return record(
        ["apiVersion", "kind", "metadata", "spec"],
        apiVersion={"const": "ray.io/v1"},
        kind={"const": kind},
        metadata=METADATA,
        spec=spec,
    )


SCHEMAS = {
    "RayCluster": resource("RayCluster", CLUSTER_SPEC),
    "RayJob": resource("RayJob", JOB_SPEC),
}
