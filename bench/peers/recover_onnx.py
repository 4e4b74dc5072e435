"""Recovery in onnxruntime, float32: two Gemm per layer, additions folded in; plain only."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from cases import LATENCY_ROWS, fastest_batch, fastest, main


def graph(case, transposed):
    """The network as a graph; `transposed` stores the weights as outputs x inputs."""
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def gemm(inputs, output, **attributes):
        nodes.append(helper.make_node("Gemm", inputs, [output], **attributes))

    def matrix(name, array):
        return constant(name, array.T if transposed else array)

    flags = {"transB": 1} if transposed else {}
    operator = matrix("operator", case.operator_t)
    for k in range(case.layers):
        weights = matrix(f"w{k}", case.weights_t[k].T)
        if k == 0:
            gemm(["y", weights], "z0", **flags)  # x_0 = 0
        else:
            gemm([f"x{k - 1}", operator, "y"], f"r{k}", beta=-1.0, **flags)
            gemm([f"r{k}", weights, f"x{k - 1}"], f"z{k}", alpha=-1.0, **flags)
        theta = float(case.theta[k])
        nodes.append(helper.make_node("Shrink", [f"z{k}"], [f"x{k}"], lambd=theta, bias=theta))
    last = f"x{case.layers - 1}"
    inputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", case.m])]
    outputs = [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["rows", case.n])]
    return helper.make_model(helper.make_graph(nodes, "network", inputs, outputs, constants),
                             opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def session(case, transposed, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph(case, transposed).SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def onnx_entries(case, threads, arguments):
    if not case.plain:
        return []
    sessions = {name: session(case, transposed, threads)
                for name, transposed in (("straight", False), ("transposed", True))}
    peer = f"onnxruntime {onnxruntime.__version__}"
    runs = {name: lambda y, s=s: s.run(None, {"y": y})[0] for name, s in sessions.items()}
    entries = []
    if threads == 1:
        rows = [case.y[i:i + 1].copy() for i in range(min(LATENCY_ROWS, len(case.y)))]
        calls = {name: lambda i, run=run: run(rows[i % len(rows)]) for name, run in runs.items()}
        name, times = fastest(calls, arguments.seconds, threads)
        x = np.concatenate([runs[name](row) for row in rows])
        entries.append(case.entry("latency", peer, 1, 1, times, x))
    calls = {name: lambda run=run: run(case.y) for name, run in runs.items()}
    name, times = fastest_batch(case, calls, arguments.seconds, threads)
    entries.append(case.entry("throughput", peer, len(case.y), threads, times, runs[name](case.y)))
    return entries


if __name__ == "__main__":
    main(onnx_entries, __doc__)
