#!/usr/bin/env python3
"""Times one network in TensorFlow on the CPU and prints one line of JSON. See README.md.

    tf_peer.py --model=resnet50_v1.5 --mode=infer --batch=32 --frozen
"""

import argparse
import os
import sys
from typing import Any, Callable

from peerlib.measure import run_peer
from peerlib.work import LEARNING_RATE, NotSupportedError, Work, add_flags

Step = Callable[[], Any]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_flags(parser)
    parser.add_argument("--layout", choices=("NHWC",), default="NHWC",
                        help="the only layout of TensorFlow's convolutions on a CPU")
    parser.add_argument("--compile", action="store_true", help="XLA (jit_compile)")
    parser.add_argument("--frozen", action="store_true",
                        help="inference: turn variables into constants, so that Grappler can fold them")
    parser.add_argument("--noonednn", dest="onednn", action="store_false",
                        help="TF_ENABLE_ONEDNN_OPTS=0; on otherwise")
    return parser.parse_args(arguments)


def _training(network: Any, images: Any, classes: int, compiled: bool) -> Step:
    import keras
    import tensorflow as tf
    model = network.model
    labels = tf.random.uniform((images.shape[0],), 0, classes, tf.int32)
    optimizer = keras.optimizers.SGD(LEARNING_RATE, momentum=0.9)
    variables = model.trainable_variables
    optimizer.build(variables)
    decayed = [v for v in variables if "gamma" not in v.path and "beta" not in v.path]

    @tf.function(jit_compile=compiled)
    def train() -> Any:
        with tf.GradientTape() as tape:
            logits = tf.cast(model(images, training=True), tf.float32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            loss += 4e-5 * tf.add_n([tf.nn.l2_loss(v.value) for v in decayed])
        optimizer.apply(tape.gradient(loss, [v.value for v in variables]), variables)
        return loss

    return lambda: float(train())


def _inference(network: Any, images: Any, compiled: bool, frozen: bool) -> Step:
    import tensorflow as tf
    model = network.model

    @tf.function(jit_compile=compiled)
    def infer(x: Any) -> Any:
        return model(x, training=False)

    if not frozen:
        return lambda: infer(images).numpy()
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    constant = convert_variables_to_constants_v2(infer.get_concrete_function(images))
    return lambda: constant(images)[0].numpy()


def build(work: Work, options: argparse.Namespace) -> tuple[Step, dict[str, Any]]:
    if work.dtype == "int8":
        raise NotSupportedError("TensorFlow has int8 graphs on a CPU only in TensorFlow Lite")
    if options.frozen and (work.training or options.compile):
        raise NotSupportedError("--frozen is only for inference without --compile")
    # TensorFlow reads these variables when it is loaded.
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1" if options.onednn else "0"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(work.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    import keras
    if work.dtype == "bf16":
        keras.config.set_dtype_policy("mixed_bfloat16" if work.training else "bfloat16")
    from peerlib import tf_models
    network = tf_models.make(work.model, work.image_size)
    size = network.image_size
    images = tf.random.uniform((work.batch, size, size, 3))
    if work.dtype == "bf16" and not work.training:
        images = tf.cast(images, tf.bfloat16)
    facts = {"versions": {"tensorflow": tf.__version__, "keras": keras.__version__},
             "network": network.origin, "image_size": size}
    if work.training:
        return _training(network, images, network.num_classes, options.compile), facts
    return _inference(network, images, options.compile, options.frozen), facts


def main(arguments: list[str]) -> int:
    return run_peer("tensorflow", parse(arguments), build)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
