"""Reads logs with Inspect's own reader, and prints their scores, as it read and as it computes them again."""

import json
import sys

from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries, recompute_metrics

found = []
for path in sys.argv[1:]:
    log = read_eval_log(path)
    stated = {score.name: score.metrics["mean"].value for score in log.results.scores}
    scored = [sample for sample in log.samples if sample.scores]
    means = {
        name: sum(sample.scores[name].as_float() for sample in scored) / len(scored)
        for name in (stated if scored else [])
    }
    recompute_metrics(log)
    again = {score.name: score.metrics["mean"].value for score in log.results.scores}
    first = log.samples[0]
    single = read_eval_log_sample(path, id=first.id, epoch=first.epoch)
    found.append(
        {
            "status": log.status,
            "task": log.eval.task,
            "model": log.eval.model,
            "samples": len(log.samples),
            "epochs": log.eval.config.epochs,
            "stated": stated,
            "means": means,
            "again": again,
            "errors": sum(1 for sample in log.samples if sample.error),
            "summaries": len(read_eval_log_sample_summaries(path)),
            "roles": [message.role for message in single.messages],
            "same": single.messages == first.messages,
        }
    )
print(json.dumps(found))
