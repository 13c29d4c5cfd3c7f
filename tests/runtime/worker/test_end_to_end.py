"""A job's whole way, on real parts: sender, two lanes, two workers, database, bucket, model."""

from headway.jobs import JobStatus, StepStatus, job_view, tally
from headway.producer import Producer
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until


def test_a_job_runs_from_its_drawing_to_its_results(stage: Stage) -> None:
    """Three blocks and two checks make six steps, six calls, six results and one metric line each."""
    with stage.worker("heavy") as heavy, stage.worker("fast") as fast:
        producer = Producer(stage.producer_env(fast_queue="fast"), stage.secret)
        job_id = producer.submit(drawing(3), "plan.png")
        producer.close()

        def finished() -> bool:
            view = job_view(stage.engine, job_id)
            return view is not None and view.summary.finished_at is not None

        until(finished, within_s=90, what="job finished")
        view = job_view(stage.engine, job_id)
        assert view is not None
        assert view.summary.status is JobStatus.SUCCEEDED
        assert view.summary.steps == {StepStatus.SUCCEEDED: 6}
        assert [block.number for block in view.blocks] == [1, 2, 3]
        assert {step.check_name for block in view.blocks for step in block.steps} == {"bars", "openings"}
        assert all(step.result == {"count": 3} for block in view.blocks for step in block.steps)
        # 1,000 tokens at 1 dollar and 10 at 2 dollars a million, six times.
        assert round(view.summary.cost_usd, 8) == round(6 * (1_000 * 1.0 + 10 * 2.0) / 1_000_000, 8)
        counted = tally(stage.engine)
        assert (counted.jobs, counted.jobs_succeeded, counted.jobs_open) == (1, 1, 0)
        assert (counted.model_calls, counted.steps_called_twice) == (6, 0)
        assert heavy.terminate() == 0
        assert fast.terminate() == 0
        assert [line["outcome"] for line in heavy.metrics] == ["ok"] * 6
        assert {line["job"] for line in heavy.metrics} == {str(job_id)}
        assert all(line["CallLatency"][0] >= 0 and line["CallInputTokens"] == [1_000.0] for line in heavy.metrics)
        assert stage.counts("heavy") == (0, 0)
